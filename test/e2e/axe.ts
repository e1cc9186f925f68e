import { readFile } from 'node:fs/promises';
import type { Frame, Page } from 'playwright-core';

interface AxeResult {
  readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
}

/** What axe finds wrong with a page, one line for each element. */
export async function findViolations(page: Page | Frame): Promise<readonly string[]> {
  await page.evaluate(await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8'));
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
