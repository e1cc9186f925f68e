import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { test } from '@playwright/test';
import type { TrendContent } from '../../src/core/report/protocol.ts';
import { reportStage, styleOf, type ThemeName } from './reportPage.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

const critical = { kind: 'critical', label: 'Critical', count: 2 } as const;
const trend: TrendContent = {
  notes: ['The counts use today’s triage decisions.'],
  headings: ['Run', 'Reported', 'Of these, closed', 'Cause unknown', 'Code changed'],
  legend: 'Findings by run',
  rows: [
    {
      label: 'Nov 3, 2026',
      notes: ['Covers 1 of 2 folders.'],
      counts: ['2 (Critical: 2)', '0', '3', '5'],
      segments: [
        critical,
        { kind: 'unexplained', label: 'Cause unknown', count: 3 },
        { kind: 'review', label: 'Code changed', count: 5 },
      ],
    },
    {
      label: 'Nov 1, 2026',
      notes: [],
      counts: ['20 (Critical: 2, High: 18)', '5', '0', '0'],
      segments: [
        critical,
        { kind: 'high', label: 'High', count: 13 },
        { kind: 'settled', label: 'Closed', count: 5 },
      ],
    },
  ],
};

for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] satisfies ThemeName[]) {
  test(`axe finds no violation in the trend in the ${theme} theme, and the bars are in view at any width`, async () => {
    await stage.withPage({ theme }, async ({ page, show }) => {
      for (const width of [1280, 900, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await show({ title: 'Trend: acme-shop', trend });
        assert.deepEqual((await new AxeBuilder({ page }).analyze()).violations, [], `${width} px wide`);
        assert.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
        for (const bar of await page.locator('.stack').all()) {
          const box = await bar.boundingBox();
          assert.ok(box !== null && box.x >= 0 && box.x + box.width <= width, JSON.stringify(box));
        }
      }
    });
  });
}

test('each row of the trend has a run, its counts as text, and a bar to scale', async () => {
  await stage.withPage({}, async ({ page, show, events, requests }) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await show({ title: 'Trend: acme-shop', trend });
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), trend.headings);
    assert.deepEqual(
      await page.getByRole('list', { name: 'Findings by run' }).getByRole('listitem').allInnerTexts(),
      ['Critical', 'High', 'Closed', 'Cause unknown', 'Code changed'],
    );
    const first = page.getByRole('row', { name: 'Nov 3, 2026' });
    assert.equal(await first.getByRole('rowheader').innerText(), 'Nov 3, 2026\nCovers 1 of 2 folders.');
    assert.deepEqual(await first.getByRole('cell').allInnerTexts(), ['2 (Critical: 2)', '0', '3', '5']);
    const widths = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.stack .segment')].map((each) => each.getBoundingClientRect().width)",
    );
    assert.ok(Math.abs((widths[4] ?? 0) / (widths[3] ?? 1) - 6.5) < 0.1, String(widths));
    assert.equal(widths[0], widths[3]);
    const colours = ['critical', 'settled', 'unexplained', 'review'].map((kind) =>
      styleOf(page, `.stack [data-kind=${kind}]`, 'background'),
    );
    assert.equal(new Set(await Promise.all(colours)).size, 3);
    assert.deepEqual([...events, ...requests], []);
  });
});

test('a severity has the colour that it has in Problems, and no two parts of a bar look the same', async () => {
  const severities = ['critical', 'high', 'medium', 'low'] as const;
  const segments = severities.map((kind) => ({ kind, label: kind, count: 1 }));
  const [, last] = trend.rows;
  for (const theme of ['light', 'dark'] as const)
    await stage.withPage({ theme }, async ({ page, show }) => {
      await show({ title: 'Trend: acme-shop', trend: { ...trend, rows: [{ ...last!, segments }] } });
      const styles = (property: 'background' | 'backgroundColor'): Promise<string[]> =>
        Promise.all(severities.map((kind) => styleOf(page, `.stack [data-kind=${kind}]`, property)));
      const inProblems = await page.evaluate<string[]>(
        `['Error', 'Error', 'Warning', 'Info'].map((icon) => {
          const { style } = document.body;
          style.backgroundColor = 'var(--vscode-problems' + icon + 'Icon-foreground)';
          return getComputedStyle(document.body).backgroundColor;
        })`,
      );
      assert.deepEqual(await styles('backgroundColor'), inProblems);
      assert.equal(new Set(await styles('background')).size, severities.length);
    });
});

test('the parts of a bar stay visible with forced colours', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await page.emulateMedia({ forcedColors: 'active' });
    await show({ title: 'Trend: acme-shop', trend });
    const body = await styleOf(page, 'body', 'backgroundColor');
    assert.notEqual(await styleOf(page, '.stack [data-kind=critical]', 'backgroundColor'), body);
    assert.notEqual(await styleOf(page, '.stack [data-kind=unexplained]', 'borderTopColor'), body);
  });
});
