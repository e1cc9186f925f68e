import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMarkdown } from '../../../webview-ui/report/markdown.ts';

/** The HTML of a report; undefined if a section is shown as text. */
function htmlOf(markdown: string): string {
  const report = readMarkdown(markdown);
  return report.sections.flatMap((section) => (section.isText ? [] : report.html(section))).join('');
}

const row = (cells: number, cell: string): string => `|${`${cell}|`.repeat(cells)}\n`;

test('F128 a table of more than 20,000 cells is shown as text, also with short rows', () => {
  const table = (columns: number, rows: string): string => row(columns, 'a') + row(columns, '-') + rows;
  assert.match(htmlOf(table(10, row(10, 'b').repeat(1_000))), /^<table>/);
  for (const large of [table(10, row(10, 'b').repeat(2_100)), table(300, row(1, 'b').repeat(100))]) {
    const html = htmlOf(`${large}\n# After\n`);
    assert.ok(!html.includes('<table>'));
    assert.ok(html.startsWith(`<pre data-language=""><code>${large.trimEnd()}`));
    assert.match(html, /<h1>After<\/h1>/);
  }
});

test('F128 a paragraph of more than 16,000 characters is shown as text', () => {
  assert.match(htmlOf('**bold** word '.repeat(1_000)), /<strong>/);
  const long = '**bold** word '.repeat(1_200).trim();
  assert.ok(htmlOf(long).includes(`<code>${long}</code>`));
});

test('a link definition of any section applies to all of them', () => {
  const html = htmlOf(`[a][x]\n\n${'# Filler\n\n'.repeat(1_000)}[x]: https://x.example\n`);
  assert.match(html, /<a href="https:\/\/x\.example">a<\/a>/);
});
