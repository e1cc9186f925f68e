import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Marked } from 'marked';
import { splitSections } from '../../../webview-ui/report/sections.ts';
import { propertyRuns } from '../core/propertyRuns.ts';

const blocks = [
  '# One\n', '## Two with `code` #\n', 'Setext\n======\n', 'A paragraph\n# ended by a heading\n',
  `A long paragraph. ${'word '.repeat(400)}\n`, '```js\n# not a heading\n\n## nor this\n```\n',
  '~~~~\n```\n\n# not a heading\n~~~\n\n## nor this\n~~~~\n', '- item\n\n  # heading in the item\n\n  more of it\n',
  '1. one\n\n   ```\n\n# after the list\n\n', '- loose\n\n- list\n\n\n- goes on\n',
  '> quote\n>\n> # heading in the quote\n', '<!-- a comment\n\n# not a heading\n\n-->\n',
  '<pre>\n\n# not a heading\n\n</pre>\n', '<div>\n\n# a heading\n\n</div>\n', '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '    # indented code\n\n    still code\n', '---\n', '日本語の段落。\n', '\n\n\n',
]; // prettier-ignore

const document = fc
  .array(fc.constantFrom(...blocks), { minLength: 5, maxLength: 120 })
  .map((parts) => parts.join('\n'));

test('a report parsed in sections equals the report parsed as a whole', () => {
  const marked = new Marked();
  fc.assert(
    fc.property(document, (source) => {
      const { sections } = splitSections(source);
      const apart = sections.map((section) => marked.parse(section.source, { async: false })).join('');
      assert.equal(squeeze(apart), squeeze(marked.parse(source, { async: false })));
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('the size of a section is independent of the report', () => {
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
    assert.equal(sections.map((section) => section.source).join(''), source);
    assert.ok(Math.max(...sections.map((section) => section.source.length)) < 30_000);
    assert.ok(sections.every(({ isText }) => !isText));
    assert.ok(sections.length < source.length / 2_000);
  }
});

const beforeIt = '# Before\n\nA paragraph.\n\n';
const afterIt = '# After\n\nAnother.\n';
const most = 64_000;

for (const [what, block] of [
  ['an unbroken sequence of more than 10,000 characters', `${'a'.repeat(10_001)}@ b`],
  ['a list of more than 64 kB', '- item\n\n  ```js\n  let a;\n  ```\n\n'.repeat(2_000)],
  ['a paragraph of more than 64 kB', 'word '.repeat(13_000)],
  ['a list of more than 4,000 lines', `- x\n${'y\n'.repeat(4_001)}`],
  ['a code block that is never closed', `\`\`\`\n${'# no heading\n\n'.repeat(10_000)}`],
] as const)
  test(`F128 ${what} becomes text in pieces of bounded size, without affecting its neighbours`, () => {
    const isOpen = block.startsWith('```');
    const source = `${beforeIt}${block}\n\n${isOpen ? '' : afterIt}`;
    const { sections } = splitSections(source);
    const texts = sections.filter(({ isText }) => isText).map((section) => section.source);
    assert.equal(texts.join('').trim(), block.trim());
    assert.ok(texts.every(({ length }) => length <= most));
    const others = sections.filter(({ isText }) => !isText).map((section) => section.source);
    assert.deepEqual(others, isOpen ? [beforeIt] : [beforeIt, afterIt]);
  });

test('F128 no Markdown section exceeds the size of a block, for any report', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...blocks, 'x'.repeat(9_000), '- a\n'.repeat(3_000)), { maxLength: 40 }),
      (parts) => {
        const source = parts.join('\n');
        const { sections } = splitSections(source);
        assert.equal(sections.map((section) => section.source).join(''), source);
        for (const section of sections)
          assert.ok(section.source.length <= most, String(section.source.length));
      },
    ),
    { numRuns: 200 },
  );
});

function squeeze(html: string): string {
  return html.replace(/\n+/g, '\n');
}
