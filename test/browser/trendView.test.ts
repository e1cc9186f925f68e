import assert from 'node:assert/strict';
import { test } from '@playwright/test';
import { reportStage, styleOf } from './reportPage.ts';
import { trend } from './reportSample.ts';

const stage = reportStage();

test.afterAll(() => stage.dispose());

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
    const colors = ['critical', 'closed', 'unexplained', 'review'].map((kind) =>
      styleOf(page, `.stack [data-kind=${kind}]`, 'background'),
    );
    assert.equal(new Set(await Promise.all(colors)).size, 3);
    assert.deepEqual([...events, ...requests], []);
  });
});

test('a severity has the color that it has in Problems, and no two parts of a bar look the same', async () => {
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
