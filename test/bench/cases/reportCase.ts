import { largeReport, openReport, type ReportOpening } from '../../browser/reportOpening.ts';
import { reportStage } from '../../browser/reportPage.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';

/**
 * Opens reports of 1 and 5 MB in the view as it is shipped, in Chromium, under the view's own
 * policy.
 */
export async function measureReports(rounds: number): Promise<Row[]> {
  const stage = reportStage();
  const rows: Row[] = [];
  try {
    for (const megabytes of [1, 5]) {
      const corpus = `report of ${megabytes} MB`;
      const markdown = largeReport(megabytes * 1_000_000);
      const openings: ReportOpening[] = [];
      for (let round = 0; round < rounds; round++) {
        await stage.withPage({}, async (view) => void openings.push(await openReport(view, markdown)));
      }
      const row = (what: string, ours: number, atMost?: number): Row => ({
        what,
        corpus,
        unit: 'ms',
        ours,
        ...(atMost === undefined ? {} : { target: { atMost } }),
      });
      rows.push(
        row('open → first screen', median(openings.map(({ readyMs, firstMs }) => readyMs + firstMs)), 500),
        row(
          'longest time without an answer',
          median(openings.map(({ longestTaskMs }) => longestTaskMs)),
          200,
        ),
      );
    }
  } finally {
    await stage.dispose();
  }
  return rows;
}
