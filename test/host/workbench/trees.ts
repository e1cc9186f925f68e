import type { Locator, Page } from '@playwright/test';
import { eventually } from './eventually.ts';
import { readRows, scroll, showRow, visitRows } from './lists.ts';
import type { PageElement } from './pageElement.ts';

interface TreeRowReading {
  readonly index: number;
  /** A root has level 1. */
  readonly level: number;
  readonly label: string;
  readonly description: string;
  readonly ariaLabel: string;
}

export function treesOf(page: Page) {
  const pane = (view: string): Locator =>
    // A view's description follows its title.
    page.locator('.pane').filter({ has: page.locator(`.pane-header[aria-label^="${view} "]`) });
  /** A view's actions are in its header, or in the side bar title if it is the only view. */
  const header = async (view: string): Promise<Locator> => {
    const own = pane(view).locator('.pane-header');
    const shown = (await own.isVisible()) ? own : page.locator('.part.sidebar > .title');
    await shown.hover();
    return shown;
  };
  const tree = async (view: string): Promise<Locator> => {
    const own = pane(view).locator('.pane-header');
    await own.waitFor({ state: 'attached' });
    if ((await own.getAttribute('aria-expanded')) === 'false') await own.click();
    const list = pane(view).locator('.pane-body [role="tree"]');
    await list.waitFor({ state: 'attached' });
    return list;
  };
  const row = async (view: string, label: string): Promise<Locator> => {
    const list = await tree(view);
    const wanted = list
      .locator('.monaco-list-rows .monaco-list-row')
      .filter({ has: page.locator('.label-name').getByText(label, { exact: true }) })
      .first();
    await list.locator('.monaco-list-row').first().waitFor();
    await showRow(page, list, wanted);
    return wanted;
  };

  const openView = async (container: string): Promise<void> => {
    const entry = page.locator('.activitybar .action-item').filter({
      has: page.locator(`.action-label[aria-label^="${container}"]`),
    });
    await entry.waitFor();
    const title = page.locator('.sidebar .composite.title').getByText(container, { exact: false }).first();
    const open = async (): Promise<boolean> => {
      if ((await entry.getAttribute('aria-expanded')) !== 'true') await entry.click();
      await title.waitFor({ timeout: 3000 }).catch(() => undefined);
      return title.isVisible();
    };
    // While a window is restored, a click may hide the view that it has just brought back.
    await eventually(open, (isOpen) => isOpen);
  };

  return {
    openView,

    /**
     * Opens a file of the folder in the Explorer: under Wine, VS Code's search for files does not
     * start.
     */
    openFile: async (file: string): Promise<void> => {
      await openView('Explorer');
      const folders = file.split('/');
      const name = folders.pop() ?? '';
      for (const folder of folders) {
        const found = await row('Explorer Section:', folder);
        if ((await found.getAttribute('aria-expanded')) === 'false') await found.click();
      }
      // A single click opens it as a preview, which the next file replaces.
      await (await row('Explorer Section:', name)).locator('.label-name').dblclick();
      await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
    },

    /** Returns an empty text without a badge. */
    containerBadge: async (container: string): Promise<string> => {
      return page.locator(`.activitybar .badge[aria-label^="${container}"] .badge-content`).innerText();
    },

    /** Includes rows outside the viewport. */
    treeRows: async (view: string): Promise<readonly TreeRowReading[]> => {
      return readRows(page, await tree(view), readTreeRows);
    },

    /** Waits until a row of a view's tree satisfies the condition; returns all rows. */
    untilRow: (view: string, isExpected: (row: TreeRowReading) => boolean) =>
      eventually(
        async () => readRows(page, await tree(view), readTreeRows),
        (rows) => rows.some(isExpected),
      ),

    /** Waits until the message above a tree, or the welcome content, contains this text. */
    untilViewText: (view: string, text: string): Promise<string> =>
      eventually(
        () => pane(view).locator('.pane-body').innerText(),
        (shown) => shown.includes(text),
      ),

    /** Expands every row of a view's tree, and scrolls back to the top. */
    expandAll: async (view: string): Promise<void> => {
      const list = await tree(view);
      const collapsed = list.locator('.monaco-list-row[aria-expanded="false"]');
      await list.locator('.monaco-list-row').first().waitFor();
      await visitRows(page, list, async () => {
        // Rows move while children load; a missed row is clicked in the next pass.
        await eventually(
          async () => {
            const label = await collapsed
              .first()
              .getAttribute('aria-label', { timeout: 1000 })
              .catch(() => null);
            if (label === null) return collapsed.count();
            const same = list.locator(
              `.monaco-list-row[aria-expanded="false"][aria-label=${JSON.stringify(label)}]`,
            );
            // The event is dispatched, since the view's message may cover a row at the edge.
            const twistie = same.first().locator('.monaco-tl-twistie');
            await twistie.dispatchEvent('click', undefined, { timeout: 1000 }).catch(() => undefined);
            await same
              .first()
              .waitFor({ state: 'detached', timeout: 1000 })
              .catch(() => undefined);
            return collapsed.count();
          },
          (left) => left === 0,
        );
        return false;
      });
      await scroll(page, list, -1_000_000);
    },

    /**
     * Scrolls to the row with this label and clicks it; with a key held, it is added to the
     * selection.
     */
    treeRowClick: async (view: string, label: string, key?: 'ControlOrMeta'): Promise<void> => {
      const modifiers = key === undefined ? [] : [key];
      await (await row(view, label)).locator('.label-name').click({ modifiers });
    },

    treeRowCheckbox: async (view: string, label: string): Promise<void> => {
      await (await row(view, label)).locator('.custom-view-tree-node-item-checkbox').click();
    },

    treeRowMenu: async (view: string, label: string, entry: string): Promise<void> => {
      await (await row(view, label)).locator('.label-name').click({ button: 'right' });
      // The entry is not found by its accessible name, which includes its keyboard shortcut.
      const text = page.locator('.action-label').getByText(entry, { exact: true });
      const item = page.locator('.monaco-menu .action-menu-item').filter({ has: text });
      await item.waitFor();
      // A menu ignores clicks just after it opened.
      await eventually(
        async () => {
          await item.click({ timeout: 1000 }).catch(() => undefined);
          return item.isVisible();
        },
        (isVisible) => !isVisible,
      );
    },

    viewActions: async (view: string): Promise<readonly string[]> => {
      const actions = (await header(view)).locator('.action-label[aria-label]');
      return actions.evaluateAll((all) =>
        (all as PageElement[]).map((each) => each.getAttribute('aria-label') ?? ''),
      );
    },

    viewAction: async (view: string, action: string): Promise<void> => {
      await (await header(view)).locator(`.action-label[aria-label^="${action}"]`).click();
    },
  };
}

function readTreeRows(rows: PageElement[]): TreeRowReading[] {
  return rows.map((row) => {
    const text = (selector: string): string => (row.querySelector(selector)?.textContent ?? '').trim();
    return {
      index: Number(row.getAttribute('data-index')),
      level: Number(row.getAttribute('aria-level')),
      label: text('.label-name'),
      description: text('.label-description'),
      ariaLabel: row.getAttribute('aria-label') ?? '',
    };
  });
}
