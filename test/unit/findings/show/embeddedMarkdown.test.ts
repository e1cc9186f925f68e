import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Marked } from 'marked';
import { embeddedMarkdown } from '../../../../src/core/findings/show/embeddedMarkdown.ts';

const marked = new Marked({ gfm: true });

/** The headings of a document in which untrusted text stands before a heading of ours. */
function headings(text: string): [number, string][] {
  return marked
    .lexer(`## Description\n\n${embeddedMarkdown(text)}\n\n## Recommendation\n`)
    .flatMap((token) => (token.type === 'heading' ? [[token.depth as number, token.text as string]] : []));
}

describe('Markdown of a finding among its details', () => {
  for (const text of [
    '```',
    '````js\n```\ncode',
    '~~~\n```',
    '<!-- never closed',
    '<script>',
    '<pre>',
    '<style>',
    '<textarea>',
    '<![CDATA[',
    '<?php',
    '<!X',
    '- ```\n  in a list',
    '[x]:\n```js',
    '[x]: /a "\n```js\n"',
    '> ```\n> in a quote',
  ]) {
    test(`${JSON.stringify(text)} ends where its part ends`, () => {
      const found = headings(text);
      assert.deepEqual(found[0], [2, 'Description']);
      assert.deepEqual(found.at(-1), [2, 'Recommendation']);
    });
  }

  test('its headings stand below ours', () => {
    assert.deepEqual(headings('# One\n\n##### Five\n\n```\n# none\n```'), [
      [2, 'Description'],
      [3, 'One'],
      [6, 'Five'],
      [2, 'Recommendation'],
    ]);
  });

  test('code stays as it is, HTML becomes text', () => {
    const html = marked.parse(embeddedMarkdown('<b>x</b> a < b\n\n```\n<b>\n```'), { async: false });
    assert.match(html, /&lt;b>x&lt;\/b>|&lt;b&gt;x&lt;\/b&gt;/);
    assert.match(html, /a &lt; b/);
    assert.match(html, /<pre><code>&lt;b&gt;\n<\/code><\/pre>/);
  });

  for (const [name, text, code] of [
    [
      'a span',
      'It reflects `<script>alert(1)</script>` and ``a`<b>``.',
      '&lt;script&gt;alert(1)&lt;/script&gt;',
    ],
    ['a block of a list', '1. step\n\n    ```html\n    <img src=x>\n    ```\n2. next', '&lt;img src=x&gt;\n'],
    ['an indented block', 'Text\n\n    <div>x</div>\n', '&lt;div&gt;x&lt;/div&gt;\n'],
  ] as const) {
    test(`the code of ${name} is shown as it was written`, () => {
      const html = marked.parse(embeddedMarkdown(text), { async: false });
      assert.ok(html.includes(`>${code}</code>`), html);
    });
  }

  test('a code block that an item of a list leaves open ends with the item', () => {
    const text = '- item\n  ```js\n  let a;\n- next <b>\n\nprose';
    assert.equal(embeddedMarkdown(text), '- item\n  ```js\n  let a;\n  ```\n- next &lt;b>\n\nprose');
  });

  const pieces = '` `` ``` ```js ~~~ <b> <script> <!-- [a]( b) [x]: === --- | \\ > # text " \' )'.split(' ');
  const anyMarkdown = fc
    .array(fc.constantFrom(...pieces, ' ', '    ', '\t', '\n', '\n\n', '\n    ', '- ', '1. ', '10) '), {
      maxLength: 16,
    })
    .map((parts) => parts.join(''));

  test('whatever it is, no HTML comes alive, and no heading comes to stand among ours or goes', () => {
    fc.assert(
      fc.property(anyMarkdown, (text) => {
        const ours = headings(text).filter(([depth]) => depth <= 2);
        assert.deepEqual(ours, [
          [2, 'Description'],
          [2, 'Recommendation'],
        ]);
        const kinds: string[] = [];
        void marked.walkTokens(marked.lexer(embeddedMarkdown(text)), ({ type }) => void kinds.push(type));
        assert.ok(!kinds.includes('html'));
      }),
      {
        numRuns: 2_000,
        examples: [['- \n    `\n    \n    <script>'], ['10) \t`\n\n\n    <b>'], ['`\n1. \n    ~~~<b>']],
      },
    );
  });
});
