import type { Locator, Page } from '@playwright/test';
import type { PageElement } from './pageElement.ts';

/**
 * Visits a Monaco list from its first row to its last, also where it is longer than its view:
 * `visit` gets the rows in view and returns true to stop there.
 */
export async function visitRows(
  page: Page,
  list: Locator,
  visit: (rows: Locator) => Promise<boolean>,
): Promise<boolean> {
  // Sticky headings are copies of rows.
  const rows = list.locator('.monaco-list-rows .monaco-list-row');
  await scroll(page, list, -1_000_000);
  for (;;) {
    if (await visit(rows)) return true;
    const height = (await list.boundingBox())?.height ?? 0;
    if (!(await scroll(page, list, Math.max(22, height - 44)))) return false;
  }
}

/** Reads every row of a Monaco list in order, including hidden ones. `read` runs in the page. */
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
 * Scrolls a row of a Monaco list fully into view, since a covering element would receive its click.
 */
export async function showRow(page: Page, list: Locator, row: Locator): Promise<void> {
  if ((await row.count()) === 0) await visitRows(page, list, async () => (await row.count()) > 0);
  // Sticky headings depend on the rows below them.
  for (let attempt = 0; attempt < 5; attempt++) {
    const pixels = await row.evaluate(pixelsOutOfView);
    if (pixels === 0 || !(await scroll(page, list, pixels))) return;
  }
}

/**
 * Runs in the page: measures how far a row is above (negative) or below the uncovered part of its
 * list.
 */
function pixelsOutOfView(row: PageElement): number {
  const list = row.closest('.monaco-list');
  if (list === null) return 0;
  const { top, bottom } = row.getBoundingClientRect();
  const view = list.getBoundingClientRect();
  const sticky = list.querySelector('.monaco-tree-sticky-container:not(.empty)')?.getBoundingClientRect();
  const above = top - Math.max(view.top, sticky?.bottom ?? 0);
  return above < 0 ? Math.floor(above) : Math.max(0, Math.ceil(bottom - view.bottom));
}

/**
 * Turns the wheel over a list, and returns whether its rows moved. The event is dispatched to the
 * list itself, because an event from the mouse can take many frames on a busy machine.
 */
export async function scroll(page: Page, list: Locator, pixels: number): Promise<boolean> {
  const view = list.locator('.monaco-list-rows').first();
  const top = (): Promise<string> => view.evaluate((rows: PageElement) => rows.style.top);
  const before = await top();
  // VS Code reads `wheelDeltaY`, which has 120 units for 50 pixels and the opposite sign. A
  // synthetic event has it only if it is set.
  const wheel = { deltaY: pixels, wheelDeltaY: -pixels * 2.4, bubbles: true, cancelable: true };
  await view.dispatchEvent('wheel', wheel);
  await page.evaluate(
    `(async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); })()`,
  );
  return (await top()) !== before;
}
