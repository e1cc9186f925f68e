import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Marked, type Token } from 'marked';
import { codeBlock, codeSpan } from '../../../../src/core/visibleText.ts';
import { escapeMarkdown, inertMarkdown } from '../../../../src/core/findings/view/findingMarkdown.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

/** VS Code renders the Markdown of hovers like this. */
const marked = new Marked({ gfm: true, breaks: true });
const alive = new Set(['link', 'image', 'html', 'def', 'table', 'heading', 'blockquote', 'checkbox']);

function tokensOf(markdown: string): Token[] {
  const found: Token[] = [];
  void marked.walkTokens(marked.lexer(markdown), (token) => {
    found.push(token);
  });
  return found;
}

function assertInert(source: string): void {
  const markdown = inertMarkdown(source, 10_000);
  const living = tokensOf(markdown).filter(({ type }) => alive.has(type));
  assert.deepEqual(living, [], `${JSON.stringify(source)} became ${JSON.stringify(markdown)}`);
}

describe('Markdown of a finding in a hover', () => {
  test('F80 contains no active link, image, HTML or command of an attack list', async () => {
    const file = path.join(import.meta.dirname, '../../../fixtures/report/attacks.json');
    const attacks = JSON.stringify(JSON.parse(await readFile(file, 'utf8')));
    const texts = attacks.matchAll(/"((?:[^"\\]|\\.)*)"/g);
    const payloads = Array.from(texts, ([text]) => JSON.parse(text) as string);
    assert.ok(payloads.length >= 300);
    for (const payload of payloads) assertInert(payload);
    for (const payload of [
      '[a](command:x)',
      '![](https://x.test/a.png)',
      '<https://x.test>',
      'www.x.test',
      'a@x.test',
      '~~~\n```\n[a](command:x)\n~~~',
      '````\n```\n[a](command:x)\n````',
    ])
      assertInert(payload);
  });

  test('F80 contains no active Markdown syntax of finding text', () => {
    const pieces = [
      ...'`*[)!<>a \n\\#|\t'.split(''),
      ...['``', '```', '~~~', '**', '](', '\n\n', '- ', '1. ', '    ', '[x] ', '[a]: /x', '===', '---'],
      ...['https://x.test', 'www.x.test', 'command:x', '&lt;'],
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) =>
        assertInert(parts.join('')),
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('keeps paragraphs, lists, code and bold text', () => {
    const source =
      'Use **bound** values in `query()`:\n\n```js\ndb.query(sql, [id]); // <b>\n```\n\n- one\n- two';
    const html = marked.parse(inertMarkdown(source, 1_000), { async: false });
    assert.match(html, /Use <strong>bound<\/strong> values in <code>query\(\)<\/code>:/);
    assert.match(html, /<pre><code>db\.query\(sql, \[id\]\); \/\/ &lt;b&gt;\n<\/code><\/pre>/);
    assert.match(html, /<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>/);
  });

  test('cuts long text and closes an open code block', () => {
    const markdown = inertMarkdown(`\`\`\`\n${'x'.repeat(500)}`, 100);
    assert.ok(markdown.length < 120);
    assert.deepEqual(
      tokensOf(`${markdown}\n\nafter`)
        .map(({ type }) => type)
        .filter((type) => type !== 'space'),
      ['code', 'paragraph', 'text'],
    );
  });

  test('F79 shows characters that hide or turn text', () => {
    assert.equal(inertMarkdown('a\u202eb', 100), 'a\\\\u\\{202E\\}b');
  });

  test('shows text unchanged in code and outside', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), (given) => {
        const text = `${given}.`;
        const block = tokensOf(codeBlock([text])).find(({ type }) => type === 'code');
        assert.equal(block && 'text' in block ? block.text : undefined, text);
        const span = tokensOf(`x ${codeSpan(text)} x`).find(({ type }) => type === 'codespan');
        assert.equal(span && 'text' in span ? span.text : undefined, text);
        const inline = marked.Lexer.lexInline(`x${escapeMarkdown(text)}x`, { gfm: true });
        const texts = inline.map((token) => ('text' in token ? String(token.text) : token.raw));
        assert.equal(texts.join(''), `x${text}x`);
      }),
    );
  });
});
