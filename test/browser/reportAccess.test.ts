import assert from 'node:assert/strict';
import { test } from '@playwright/test';
import { assertAccessible, reportStage, styleOf, until, type ThemeName } from './reportPage.ts';
import { changes, facts, locations, readFidelity, severities, trend } from './reportSample.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] satisfies ThemeName[]) {
  test(`axe finds no accessibility violation in the ${theme} theme, in a report and a trend of any width`, async () => {
    await stage.withPage({ theme }, async ({ page, show }) => {
      for (const width of [1280, 420, 320]) {
        // The window is high enough to show, and so lay out, every block.
        await page.setViewportSize({ width, height: 5_000 });
        await show({
          markdown: await readFidelity(),
          title: 'acme-shop',
          facts,
          severities: [...severities],
          changes,
          locations,
        });
        await until(page, `document.querySelectorAll('.code pre:not([data-colored])').length === 0`);
        await assertAccessible(page, width);
        await show({ title: 'Trend: acme-shop', trend });
        await assertAccessible(page, width);
        for (const bar of await page.locator('.stack').all()) {
          const box = await bar.boundingBox();
          assert.ok(box !== null && box.x >= 0 && box.x + box.width <= width, JSON.stringify(box));
        }
      }
    });
  });
}

test('the whole report is reachable by keyboard, with visible focus: contents, links, code blocks, copy buttons', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await page.setViewportSize({ width: 320, height: 6_000 });
    await show({ markdown: await readFidelity(), locations, title: 'acme-shop' });
    await until(page, `document.querySelectorAll('.code pre:not([data-colored])').length === 0`);
    const focus = (): Promise<string> =>
      page.evaluate(`{
        const at = document.activeElement;
        const outline = getComputedStyle(at);
        const seen = outline.outlineStyle !== 'none' && parseFloat(outline.outlineWidth) > 0 && at.getBoundingClientRect().width > 1;
        (seen ? '' : 'unseen ') + (at.matches('body') ? 'end' : at.matches('pre') ? 'code' : at.textContent);
      }`);
    await page.keyboard.press('Tab');
    assert.equal(await focus(), 'Skip the table of contents');
    await page.keyboard.press('Enter');
    assert.match(await focus(), /Security assessment of acme-shop/);
    const stops: string[] = [];
    do {
      await page.keyboard.press('Tab');
      stops.push(await focus());
    } while (stops.length < 40 && !stops.at(-1)!.endsWith('end'));
    assert.deepEqual(stops, [
      'the method',
      'src/search.ts:41',
      'Copy',
      'code',
      'the export',
      'src/plain.ts:3',
      'Request',
      'Copy',
      'src/検索/入力.ts:8',
      'Copy',
      'code',
      'Copy',
      'Copy',
      'unseen end',
    ]);
  });
});

test('landmarks, headings and tables have accessible names', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await show({ markdown: await readFidelity(), title: 'acme-shop', severities: [...severities], changes });
    assert.equal(await page.getByRole('banner').getByRole('heading', { level: 1 }).innerText(), 'acme-shop');
    assert.equal(await page.getByRole('main').getByRole('article').count(), 1);
    assert.equal(await page.getByRole('navigation', { name: 'Contents' }).count(), 1);
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['Severity', 'Count', 'Share']);
    assert.equal(await page.locator('thead th:not([scope=col])').count(), 0);
    assert.equal(await page.getByRole('rowheader').count(), severities.length + changes.counts.length);
  });
});

test('the page has no animation or smooth scrolling, with and without reduced motion', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await show({ markdown: await readFidelity(), severities: [...severities], locations });
    const moving = `[...document.querySelectorAll('*')].filter((element) => {
      const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
      return animationName !== 'none' || parseFloat(transitionDuration) > 0 || scrollBehavior === 'smooth';
    }).length + document.getAnimations().length`;
    assert.equal(await page.evaluate(moving), 0);
  });
});

test('bars, links and focus stay distinguishable with forced colors', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await page.emulateMedia({ forcedColors: 'active' });
    await show({ markdown: await readFidelity(), severities: [...severities], locations });
    assert.notEqual(
      await styleOf(page, '.bar', 'backgroundColor'),
      await styleOf(page, 'body', 'backgroundColor'),
    );
    assert.match(await styleOf(page, '.location', 'textDecorationLine'), /underline/);
    await page.locator('.location').first().focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    assert.equal(await styleOf(page, '.location', 'outlineStyle'), 'solid');
    assert.equal(await page.locator('.check[data-done=true]').isVisible(), true);
    await show({ title: 'Trend: acme-shop', trend });
    const body = await styleOf(page, 'body', 'backgroundColor');
    assert.notEqual(await styleOf(page, '.stack [data-kind=critical]', 'backgroundColor'), body);
    assert.notEqual(await styleOf(page, '.stack [data-kind=unexplained]', 'borderTopColor'), body);
  });
});
