import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Marked } from 'marked';
import { splitSections } from '../../../webview-ui/report/sections.ts';

const blocks = [
  '# One\n',
  '## Two with `code` #\n',
  'Setext\n======\n',
  'A paragraph\n# ended by a heading\n',
  `A long paragraph. ${'word '.repeat(400)}\n`,
  '```js\n# not a heading\n\n## nor this\n```\n',
  '~~~~\n```\n\n# not a heading\n~~~\n\n## nor this\n~~~~\n',
  '- item\n\n  # heading in the item\n\n  more of it\n',
  '1. one\n\n   ```\n\n# after the list\n\n',
  '- loose\n\n- list\n\n\n- goes on\n',
  '> quote\n>\n> # heading in the quote\n',
  '<!-- a comment\n\n# not a heading\n\n-->\n',
  '<pre>\n\n# not a heading\n\n</pre>\n',
  '<div>\n\n# a heading\n\n</div>\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '    # indented code\n\n    still code\n',
  '---\n',
  '日本語の段落。\n',
  '\n\n\n',
];

const document = fc
  .array(fc.constantFrom(...blocks), { minLength: 5, maxLength: 120 })
  .map((parts) => parts.join('\n'));

test('a report read section by section is the report read as a whole', () => {
  const marked = new Marked();
  fc.assert(
    fc.property(document, (source) => {
      const { sections } = splitSections(source);
      const apart = sections.map((section) => marked.parse(section, { async: false })).join('');
      assert.equal(squeeze(apart), squeeze(marked.parse(source, { async: false })));
    }),
    { numRuns: 1_000 },
  );
});

test('a section never grows with the report', () => {
  const paragraphs = Array.from(
    { length: 5_000 },
    (_, index) => `Paragraph ${index} ${'x'.repeat(80)}\n`,
  ).join('\n');
  const headings = Array.from(
    { length: 5_000 },
    (_, index) => `## Heading ${index}\n\n- item ${'x'.repeat(60)}\n`,
  ).join('\n');
  for (const source of [paragraphs, headings, `${headings}\n${paragraphs}`]) {
    const { sections } = splitSections(source);
    assert.equal(sections.join(''), source);
    assert.ok(Math.max(...sections.map((section) => section.length)) < 30_000);
    assert.ok(sections.length < source.length / 2_000);
  }
});

test('a link definition anywhere in the report is known, one inside code is not', () => {
  const source =
    '[a]: https://a.example\n[b]: <https://b.example> "B"\n\n```\n[c]: https://c.example\n```\n\ntext\n[d]: no\n';
  assert.equal(splitSections(source).definitions, '[a]: https://a.example\n[b]: <https://b.example> "B"');
});

function squeeze(html: string): string {
  return html.replace(/\n+/g, '\n');
}
