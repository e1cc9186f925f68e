import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import { test } from '@playwright/test';
import type { TrendContent } from '../../src/core/report/protocol.ts';
import { reportStage, styleOf, type ThemeName } from './reportPage.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

const critical = { kind: 'critical', label: 'Critical', count: 2 } as const;
const trend: TrendContent = {
  notes: ['Counts use the current triage decisions and acceptance end dates.'],
  headings: ['Run', 'Reported', 'Of these, closed', 'Cause unknown', 'Code changed', 'Findings'],
  legend: 'Findings by run',
  rows: [
    {
      label: 'Nov 3, 2026',
      notes: ['Covers 1 of 2 folders.'],
      counts: ['2 (Critical: 2)', '0', '3', '5'],
      review: { index: 0, label: 'Review' },
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
const places = [{ index: 0, label: '' }];

for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] satisfies ThemeName[]) {
  test(`axe finds no violation in the trend in the ${theme} theme, and the page does not overflow`, async () => {
    await stage.withPage({ theme }, async ({ page, show }) => {
      for (const width of [1280, 420, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await show({ title: 'Trend: acme-shop', trend, places });
        assert.deepEqual((await new AxeBuilder({ page }).analyze()).violations, [], `${width} px wide`);
        assert.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
      }
    });
  });
}

test('each row of the trend has a run, its counts as text, a bar to scale, and a review button', async () => {
  await stage.withPage({}, async ({ page, show, posted, events, requests }) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await show({ title: 'Trend: acme-shop', trend, places });
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), trend.headings);
    assert.deepEqual(
      await page.getByRole('list', { name: 'Findings by run' }).getByRole('listitem').allInnerTexts(),
      ['Critical', 'High', 'Closed', 'Cause unknown', 'Code changed'],
    );
    const first = page.getByRole('row', { name: 'Nov 3, 2026' });
    assert.equal(await first.getByRole('rowheader').innerText(), 'Nov 3, 2026\nCovers 1 of 2 folders.');
    assert.deepEqual(await first.getByRole('cell').allInnerTexts(), [
      '2 (Critical: 2)',
      '0',
      '3',
      '5 Review',
    ]);
    const widths = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.stack .segment')].map((each) => each.getBoundingClientRect().width)",
    );
    assert.ok(Math.abs((widths[4] ?? 0) / (widths[3] ?? 1) - 6.5) < 0.1, String(widths));
    assert.equal(widths[0], widths[3]);
    const colours = ['critical', 'settled', 'unexplained', 'review'].map((kind) =>
      styleOf(page, `.stack [data-kind=${kind}]`, 'background'),
    );
    assert.equal(new Set(await Promise.all(colours)).size, 3);
    await page.getByRole('button', { name: 'Review Nov 3, 2026' }).click();
    assert.deepEqual((await posted()).at(-1), { type: 'openPlace', index: 0 });
    assert.deepEqual([...events, ...requests], []);
  });
});

test('the parts of a bar stay visible with forced colours', async () => {
  await stage.withPage({}, async ({ page, show }) => {
    await page.emulateMedia({ forcedColors: 'active' });
    await show({ title: 'Trend: acme-shop', trend, places });
    const body = await styleOf(page, 'body', 'backgroundColor');
    assert.notEqual(await styleOf(page, '.stack [data-kind=critical]', 'backgroundColor'), body);
    assert.notEqual(await styleOf(page, '.stack [data-kind=unexplained]', 'borderTopColor'), body);
  });
});
