import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
});
