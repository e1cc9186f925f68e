import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuMs } from '../core/cpuTime.ts';
import { readMarkdown } from '../../../webview-ui/report/markdown.ts';

/** Returns undefined if a section is shown as text. */
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

test('a link definition of any section applies to all of them, wherever CommonMark has one', () => {
  const filler = '# Filler\n\n'.repeat(1_000);
  for (const [definition, isOne = true] of [
    ['[x]: /x'],
    ['# References\n[x]: /x'],
    ['> Quote:\n>\n> [x]: /x'],
    ['- [x]: /x'],
    ['1. Item\n\n   [x]: /x'],
    ['[x]:\n  /x\n  "Title"'],
    ['```\ncode\n```\n[x]: /x'],
    ['[x]: /x\n[x]: /other'],
    ['Text\n[x]: /x', false],
    ['```\n[x]: /x\n```', false],
  ] as const) {
    const html = htmlOf(`[a][x]\n\n${filler}${definition}\n\n${filler}`);
    assert.equal(html.startsWith('<p><a href="/x">a</a></p>'), isOne, definition);
  }
});

test('F177 emphasis beside Japanese and Korean punctuation is as people mean it', () => {
  const right: readonly (readonly [markdown: string, html: string])[] = [
    ['**重大：**SQLインジェクション', '<strong>重大：</strong>SQLインジェクション'],
    ['これは**「認証」**の問題です', 'これは<strong>「認証」</strong>の問題です'],
    ['値が**(空)**のとき、**“不明”**です。', '値が<strong>(空)</strong>のとき、<strong>“不明”</strong>です。'],
    ['**危険。***至急*対応', '<strong>危険。</strong><em>至急</em>対応'],
    ['~~旧：~~新。𠮷**（注）**𠮷', '<del>旧：</del>新。𠮷<strong>（注）</strong>𠮷'],
    ['**스크립트(script)**라고', '<strong>스크립트(script)</strong>라고'],
    ['**`id`**を、**[型](#t)**で', '<strong><code>id</code></strong>を、<strong><a href="#t">型</a></strong>で'],
    ['名前_(注)_と a**"b"**c と 2 * 3 * 4', '名前_(注)_と a**&quot;b&quot;**c と 2 * 3 * 4'],
  ]; // prettier-ignore
  for (const [markdown, html] of right) assert.equal(htmlOf(markdown), `<p>${html}</p>\n`);
});

test('F177 a byte order mark and front matter come before the first heading', () => {
  const yaml = ['title: "Shop: a report"', 'tags:', '  - sql', '  - <b>', 'note: 日本'];
  for (const end of ['\n', '\r\n']) {
    const html = htmlOf(['\uFEFF---', ...yaml, '---', '# Report', ''].join(end));
    assert.deepEqual(
      [...html.matchAll(/<tr>(.*)<\/tr>/g)].map(([, cells]) => cells),
      [
        '<th>title</th><td>Shop: a report</td>',
        '<th>tags</th><td>- sql<br>- &lt;b&gt;</td>',
        '<th>note</th><td>日本</td>',
      ],
    );
    assert.match(html, /<h1>Report<\/h1>\n$/);
  }
  assert.equal(htmlOf('\uFEFF# Report'), '<h1>Report</h1>\n');
  assert.equal(htmlOf('---\n\nText: this\n\n---\n'), '<hr>\n<p>Text: this</p>\n<hr>\n');
});

test('F177 a footnote has its indented paragraphs and the lines that continue it, and no other text', () => {
  const html = htmlOf('Text[^a].\n[^a]: One\ntwo\n\n    three\n\nfour[^b]\n');
  assert.match(html, /<p>Text<sup id="fnref-a"><a href="#fn-a">a<\/a><\/sup>\.<\/p>/);
  assert.match(
    html,
    /<sup id="fn-a"><a href="#fnref-a">a<\/a><\/sup><div><p>One\ntwo<\/p>\n<p>three<\/p>\n<\/div>/,
  );
  assert.match(html, /<\/div>\n<p>four\[\^b\]<\/p>\n$/);
  assert.match(htmlOf(`${'[^a]: '.repeat(2_000)}\n`), /^<div data-footnote="">/);
});

test('F177 of a picture the image is shown, and other tags of that kind stay as text', () => {
  const image = '<picture>\n<source srcset="dark.png">\n<img src="a.png" alt="Plan">\n</picture>\n';
  assert.equal(htmlOf(image).replaceAll('\n', ''), '<img src="a.png" alt="Plan">');
  assert.equal(htmlOf('a <source src="x"> b'), '<p>a &lt;source src="x"> b</p>\n');
  assert.match(htmlOf('a <picture onclick=x> b'), /&lt;picture onclick=x>/);
});

test('F177 a report that is wholly in a fence is shown without it, with the code in it', () => {
  const report = '# Report\n\nText.\n';
  const inside = '# Report\n\n```js\nlet a;\n```\n\n```\nb\n```\n\nText.\n';
  const fenced = [
    ['```markdown', report, '```'],
    ['\uFEFF\n```md', report, '````\n\n'],
    ['~~~', report, '~~~'],
    ['```', report.replaceAll('\n', '\r\n'), '```\r\n'],
    ['````', inside, '````'],
    ['```Markdown', inside, '```'],
    ['```', '# Report\n\n```js\nlet a;\n```\n', '```'],
  ] as const;
  for (const [opening, content, closing] of fenced)
    assert.equal(htmlOf(`${opening}\n${content}${closing}`), htmlOf(content), opening);
  const front = '```markdown\n---\ntitle: Shop\n---\n# Report\n```';
  assert.match(htmlOf(front), /<th>title<\/th>[^]*<h1>Report<\/h1>/);
  const notWhole = [
    '```\na\n```\n\n# Report\n\n```\nb\n```', '```js\nlet a;\n```', '```markdown\n# Report\n```\n\nAfter.',
    '```markdown\n# Report\n~~~', '```markdown\n# Report\n```js\n```', '```',
  ]; // prettier-ignore
  for (const source of notWhole) assert.match(htmlOf(source), /^<pre data-language/, source);
});

test('F177 a picture that is in the report is shorter than its data, inline, by reference, and in HTML', () => {
  const data = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20_000)}`;
  const short = '<img src="data:image/png;165000," alt="Plan">';
  for (const markdown of [
    `![Plan](${data})`,
    `![Plan](<${data}> "Title")`,
    `![Plan][1]\n\n[1]: ${data}`,
    `<img src="${data}" alt="Plan">`,
    `<img src='${data.replace(/(.{76})/g, '$1\n')}' alt="Plan">`,
    `<img src=${data} alt="Plan">`,
  ]) {
    const html = htmlOf(markdown);
    assert.doesNotMatch(html, /iVBORw/);
    assert.ok(html.length < 100, html);
    if (markdown.startsWith('!')) assert.equal(html, `<p>${short}</p>\n`);
  }
  const svg = `![a](data:image/svg+xml,%3Csvg${'%20'.repeat(500)}%3E)`;
  assert.equal(htmlOf(svg), '<p><img src="data:image/svg+xml;1509," alt="a"></p>\n');
  const evidence = '```html\n<img src="data:image/svg+xml;base64,PHN2Zz4=">\n```';
  assert.match(htmlOf(evidence), /PHN2Zz4=/);
});

test('F128 reports of one line, fence, or picture without an end are read in time that grows with their length', () => {
  const before = cpuMs();
  for (const source of [
    'word '.repeat(4_000_000),
    `\`\`\`\n${'`'.repeat(1_000_000)}x\n\`\`\``,
    '<img src="data:image/a,'.repeat(100_000),
    `<img src='data:image/a,${'](data:image/a,"'.repeat(100_000)}`,
    `data:image/${']:'.repeat(500_000)}${' src'.repeat(500_000)}${' '.repeat(1_000_000)}`,
  ])
    readMarkdown(source);
  const tookMs = cpuMs() - before;
  assert.ok(tookMs < 2_000, `${String(tookMs)} ms`);
});
