import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { test } from '@playwright/test';
import { reportStage, until } from './reportPage.ts';
import { readGitHubSample } from './reportSample.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

for (const theme of ['light', 'dark'] as const) {
  test(`F177 alerts have a name and a color, and the rest of GitHub’s Markdown is readable, in ${theme}`, async () => {
    await stage.withPage({ theme }, async ({ page, show, events, requests }) => {
      await show({ markdown: await readGitHubSample() });
      const quotes = await page.locator('blockquote').allInnerTexts();
      assert.deepEqual(
        quotes.map((text) => text.trim().split(/\n+/)),
        [
          ['Note', '補足の本文。'],
          ['Tip', 'A tip.'],
          ['Important', 'Read this.'],
          ['Warning', '危険です。', 'one'],
          ['Caution', 'Take care.'],
          ['[!NOTE] is only mentioned.'],
        ],
      );
      const colors = await page.evaluate<string[]>(
        `[...document.querySelectorAll('blockquote')].map((quote) => getComputedStyle(quote).borderInlineStartColor)`,
      );
      assert.equal(new Set(colors).size, 6);
      assert.deepEqual(await page.locator('[data-image]').allInnerTexts(), ['構成図', 'b.png']);
      assert.deepEqual(await page.locator('tr').first().locator('th, td').allInnerTexts(), ['title', 'Shop']);
      assert.deepEqual((await new AxeBuilder({ page }).analyze()).violations, []);
      assert.deepEqual([...events, ...requests], []);
    });
  });
}

test('F177 a picture that is in the report is its alternative text, or its type, and its size', async () => {
  const data = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20_000)}`;
  const small = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
  await stage.withPage({}, async ({ page, show, save, events, requests }) => {
    await show({
      markdown: `![Plan](${data})\n\n![][1]\n\n<img src="${small}" alt="Dot">\n\n![far](https://x.example/a.png)\n\n[1]: ${data}`,
    });
    assert.deepEqual(await page.locator('[data-image]').allInnerTexts(), [
      'Plan (165 kB)',
      'image/png (165 kB)',
      'Dot (15 byte)',
      'far',
    ]);
    assert.doesNotMatch(await page.innerText('body'), /iVBORw|R0lGOD/);
    assert.match(await save(), /Plan \(165 kB\)/);
    assert.deepEqual([...events, ...requests], []);
  });
});

test('F177 a footnote’s mark leads to the footnote in another section, and the footnote’s mark back', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({
      markdown: `# R\n\nClaim[^Source].\n\n${'## Filler\n\nText.\n\n'.repeat(2_000)}## End\n\n[^source]: The proof.\n`,
    });
    await until(page, `document.querySelector('article').hasAttribute('aria-busy') === false`);
    assert.ok((await page.locator('article > section').count()) > 2);
    const focused = (): Promise<string> =>
      page.evaluate(`document.activeElement.closest('[data-footnote], p').textContent.trim()`);
    await page.getByText('Source', { exact: true }).click();
    assert.match(await focused(), /^source\s*The proof\.$/);
    await page.locator('[data-footnote] a').click();
    assert.equal(await focused(), 'ClaimSource.');
  });
});

test('F177 invisible characters of text, code, links, and labels are visible, and harmless ones unchanged', async () => {
  const [rtl, zero, byteOrderMark] = ['\u202E', '\u200B', '\uFEFF'];
  const code = `a${rtl}b${zero}c`;
  const markdown = `# T${byteOrderMark}t\n\np${rtl}q &#x202E; 👩\u200D💻 \`${code}\` [l](https://x.example/${rtl})\n\n\`\`\`j${zero}s\n${code}\n\`\`\`\n`;
  await stage.withPage({}, async ({ page, show }) => {
    await show({ markdown });
    assert.equal(await page.innerText('article h1'), 'T\\u{FEFF}t');
    assert.match(
      await page.innerText('article p'),
      /^p\\u\{202E\}q \\u\{202E\} 👩\u200D💻 a\\u\{202E\}b\\u\{200B\}c l/,
    );
    assert.equal((await page.innerText('.code pre')).trim(), 'a\\u{202E}b\\u{200B}c');
    assert.equal(await page.innerText('.code-bar span'), 'j\\u{200B}s');
    assert.equal(await page.getAttribute('.outside', 'title'), 'https://x.example/\\u{202E}');
    assert.doesNotMatch(await page.innerText('body'), /[\u202E\u200B\uFEFF]/);
    await show({ markdown: `${zero}${'x'.repeat(11_000)}` });
    assert.match(await page.innerText('article pre'), /^\\u\{200B\}x/);
  });
});
