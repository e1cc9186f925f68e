import assert from 'node:assert/strict';
import path from 'node:path';
import { type Page, test } from '@playwright/test';
import { countHead, provoke, readAttacks } from './attacks.ts';
import { assertAccessible, reportStage, type ShownContent, styleOf } from './reportPage.ts';
import { facts, readFidelity, readGitHubSample } from './reportSample.ts';

const origin = 'http://saved.localhost';

const stage = reportStage();

test.afterAll(() => stage.dispose());

/** Shows a report, saves it, and opens the file in a recording page. */
async function withSaved(
  content: ShownContent,
  use: (page: Page, html: string, events: readonly string[]) => Promise<void>,
): Promise<void> {
  await stage.withPage({}, async ({ show, save }) => {
    await show(content);
    const html = await save();
    const page = await (await stage.browser()).newPage();
    const events: string[] = [];
    await page.route('**/*', (route) => {
      if (route.request().url() === `${origin}/`)
        return route.fulfill({ contentType: 'text/html', body: html });
      events.push(`request ${route.request().url()}`);
      return route.abort();
    });
    for (const name of ['dialog', 'popup', 'frameattached', 'pageerror', 'worker', 'download'] as const) {
      page.on(name as 'pageerror', () => events.push(name));
    }
    page.on('console', (message) => events.push(`console ${message.text()}`));
    await page.goto(`${origin}/`);
    await use(page, html, events);
    await page.close();
  });
}

const summary: ShownContent = {
  title: 'acme-shop',
  facts,
  severities: [
    { severity: 'high', label: 'High', count: 4 },
    { severity: 'low', label: 'Low', count: 1 },
  ],
  changes: { label: 'Since the last run', counts: [{ label: 'New', count: 2 }] },
  locations: [{ label: 'src/search.ts:41', index: 0 }],
};

test('a saved report is one file with styles, highlighted code and working internal links', async () => {
  const content = { ...summary, markdown: await readFidelity() };
  let shown = '';
  await stage.withPage({}, async ({ page, show }) => {
    await show(content);
    shown = await page.evaluate(
      `{ for (const button of document.querySelectorAll('.copy')) button.remove(); document.querySelector('article').innerText }`,
    );
  });
  await withSaved(content, async (page, _html, events) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    assert.equal(await page.innerText('article'), shown);
    assert.equal(await page.title(), 'Report: acme-shop');
    assert.equal(await page.locator('button, [data-location], [tabindex], script, img').count(), 0);
    assert.notEqual(await styleOf(page, '.hljs-keyword', 'color'), await styleOf(page, '.code pre', 'color'));
    const widths = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.bar')].map((bar) => bar.getBoundingClientRect().width)`,
    );
    assert.ok(Math.abs(widths[0]! - widths[1]! * 4) < 1, String(widths));

    await page.getByRole('navigation').getByRole('link', { name: 'Method' }).click();
    assert.ok((await page.locator('h2', { hasText: 'Method' }).boundingBox())!.y < 800);
    assert.equal(await page.evaluate(`document.querySelector(':target').textContent`), 'Method');
    await page.getByRole('link', { name: 'the method' }).click();
    assert.equal(await page.evaluate(`document.querySelector(':target').textContent`), 'Method');
    assert.deepEqual(events, []);
  });
});

test('F177 a saved report has alerts and footnotes with their names, colors, and links', async () => {
  const content = { ...summary, markdown: `${await readGitHubSample()}\n\u202E` };
  let shown = '';
  await stage.withPage({}, async ({ page, show }) => {
    await show(content);
    shown = await page.innerText('article');
  });
  assert.match(shown, /Caution[^]*The first note[^]*\\u\{202E\}/);
  await withSaved(content, async (page, _html, events) => {
    assert.equal(await page.innerText('article'), shown);
    const colors = await page.evaluate<string[]>(
      `[...document.querySelectorAll('blockquote')].map((quote) => getComputedStyle(quote).borderInlineStartColor)`,
    );
    assert.equal(new Set(colors).size, 6);
    await page.getByRole('link', { name: 'owasp', exact: true }).first().click();
    assert.match(
      await page.evaluate(`document.querySelector(':target').parentElement.textContent`),
      /owasp\.example/,
    );
    assert.deepEqual(events, []);
  });
});

test('a saved report has no accessibility violation and no overflow in light, dark and narrow windows', async () => {
  const content = { ...summary, markdown: await readFidelity() };
  await withSaved(content, async (page) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 3_000 });
        await assertAccessible(page, width);
      }
      await page.setViewportSize({ width: 1280, height: 1_600 });
      await page.screenshot({ path: screenshot(`report-saved-${colorScheme}.png`) });
    }
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    assert.equal(await page.locator('nav').isVisible(), false);
    assert.equal(
      await page.evaluate(`getComputedStyle(document.body).backgroundColor`),
      'rgb(255, 255, 255)',
    );
    await page.setViewportSize({ width: 794, height: 1_123 });
    await page.screenshot({ path: screenshot('report-saved-print.png') });
  });
});

test('F75 F76 F77 a saved report with every attack in it is inert and makes no request', async () => {
  const attacks = await readAttacks();
  const markdown = attacks
    .map(({ markdown }, index) => `\n\n<!-- -->\n\n# ${index}\n\n${markdown}\n`)
    .join('');
  await withSaved({ markdown }, async (page, html, events) => {
    await countHead(page);
    const { wrong } = await provoke(page);
    assert.deepEqual([...wrong, ...events], []);
    // Unclosed ones swallow the next heading.
    assert.ok((await page.locator('h1').count()) > attacks.length - 20);
    assert.doesNotMatch(
      html.slice(html.indexOf('</head>')),
      /<(?:script|style|link|meta|base|img|svg|math|iframe|form|input)[\s>]/i,
    );
    assert.equal(new URL(page.url()).origin, origin);
  });
});

function screenshot(name: string): string {
  return path.join(import.meta.dirname, '..', '..', 'test-results', 'screenshots', name);
}
