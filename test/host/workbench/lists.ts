import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';

/**
 * Visits a Monaco list from its first row to its last, also where it is longer than its view: `visit` gets the rows in view
 * and returns true to stop there.
 */
export async function visitRows(
  page: Page,
  list: Locator,
  visit: (rows: Locator) => Promise<boolean>,
): Promise<boolean> {
  const rows = list.locator('.monaco-list-row');
  await scroll(page, list, -1_000_000);
  for (;;) {
    if (await visit(rows)) return true;
    const height = (await list.boundingBox())?.height ?? 0;
    if (!(await scroll(page, list, Math.max(22, height - 44)))) return false;
  }
}

/** Reads every row of a Monaco list, also those out of view, in their order. `read` runs in the page. */
export async function readRows<T extends { readonly index: number }>(
  page: Page,
  list: Locator,
  read: (rows: PageElement[]) => T[],
): Promise<readonly T[]> {
  const byIndex = new Map<number, T>();
  await visitRows(page, list, async (rows) => {
    for (const reading of await rows.evaluateAll(read)) byIndex.set(reading.index, reading);
    return false;
  });
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

/**
 * Turns the wheel over a list; says whether that moved its rows. The event is given to the list itself: one that comes through
 * the mouse takes as many frames as the machine is busy.
 */
async function scroll(page: Page, list: Locator, pixels: number): Promise<boolean> {
  const view = list.locator('.monaco-list-rows').first();
  const top = (): Promise<string> => view.evaluate((rows: PageElement) => rows.style.top);
  const before = await top();
  await view.dispatchEvent('wheel', { deltaY: pixels, bubbles: true, cancelable: true });
  await page.evaluate(
    `(async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); })()`,
  );
  return (await top()) !== before;
}
