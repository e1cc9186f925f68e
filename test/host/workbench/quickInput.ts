import { existsSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { eventually } from './eventually.ts';
import type { PageElement } from './pageElement.ts';

/** A long list is read only as far as it is visible. */
interface QuickInputReading {
  readonly title: string;
  readonly value: string;
  readonly message: string;
  readonly isRefused: boolean;
  readonly isMasked: boolean;
  readonly items: readonly string[];
}

export function quickInputOf(page: Page) {
  // The widget is visible but inert while it fades out.
  const widget = page.locator('.quick-input-widget:not([inert]):visible');
  const input = widget.locator('.quick-input-box input');
  const rows = widget.locator('.quick-input-list .monaco-list-row');
  const rowLabelled = (label: string): Locator =>
    rows.filter({
      has: page.locator('.quick-input-list-row:first-child .label-name').getByText(label, { exact: true }),
    });

  const openPalette = async (text: string): Promise<void> => {
    await eventually(
      async () => {
        await page.keyboard.press('F1');
        return input.fill(text, { timeout: 1000 }).then(
          () => true,
          () => false,
        );
      },
      (isOpen) => isOpen,
    );
  };

  const currentQuickInput = async (): Promise<QuickInputReading> => {
    await input.waitFor();
    const shown = (await widget.evaluateAll(readQuickInputs))[0];
    if (shown === undefined) throw new Error('The quick input went away while it was read.');
    return shown.reading;
  };
  return {
    /** Runs a command by its title in the palette (`Category: Title`), once it is listed. */
    runCommand: async (title: string): Promise<void> => {
      const row = rowLabelled(title).first();
      // The palette lists only commands that exist when it opens, so it is opened again for an
      // extension that loads later.
      await eventually(
        async () => {
          await openPalette(`>${title}`);
          // The palette is reopened, since an editor that takes the focus closes it.
          const isRun = await row.click({ timeout: 5_000 }).then(
            () => true,
            () => false,
          );
          const shown = isRun ? [] : await rows.locator('.label-name').allInnerTexts();
          if (!isRun) await page.keyboard.press('Escape');
          return { wanted: title, isRun, shown };
        },
        ({ isRun }) => isRun,
      );
      await row.waitFor({ state: 'hidden' });
    },

    listsCommand: async (title: string): Promise<boolean> => {
      await openPalette(`>${title}`);
      await rows.first().waitFor();
      const listed = (await rowLabelled(title).count()) > 0;
      await page.keyboard.press('Escape');
      await widget.waitFor({ state: 'hidden' });
      return listed;
    },

    /** Accepts the path in the save dialog, which must be this one. */
    saveAs: async (file: string): Promise<void> => {
      await eventually(currentQuickInput, ({ value }) => value === file);
      // The dialog accepts no answer while it reads the folder.
      await eventually(
        async () => {
          if (await page.locator('.quick-input-widget').isVisible()) await page.keyboard.press('Enter');
          return existsSync(file);
        },
        (isThere) => isThere,
      );
    },

    currentQuickInput,

    /**
     * Waits for an input box (with this title, if given), answers it, and returns when the answer
     * was accepted or refused. A refused answer stays in the box: see `currentQuickInput()`.
     */
    answer: async (text: string, title?: string): Promise<void> => {
      if (title !== undefined) await widget.locator('.quick-input-title').getByText(title).waitFor();
      await input.fill(text);
      await input.press('End');
      const asked = await input.getAttribute('aria-label');
      await input.press('Enter');
      await eventually(
        async () => (await widget.evaluateAll(readQuickInputs))[0],
        (shown) =>
          shown === undefined ||
          shown.ariaLabel !== asked ||
          shown.reading.value !== text ||
          shown.reading.isRefused,
      );
    },

    pick: async (label: string): Promise<void> => {
      await rowLabelled(label).first().click();
    },

    /** Selects exactly these items of a multi-select quick pick, and accepts. */
    pickSeveral: async (labels: readonly string[]): Promise<void> => {
      await rows.first().waitFor();
      for (const row of await rows.all()) {
        const label = await row.locator('.label-name').first().innerText();
        const isChecked = (await row.getAttribute('aria-checked')) === 'true';
        if (isChecked !== labels.includes(label)) await row.click();
      }
      await input.press('Enter');
      await widget.locator('.quick-input-list .monaco-checkbox').first().waitFor({ state: 'hidden' });
    },

    dismissQuickInput: async (): Promise<void> => {
      await input.press('Escape');
      await widget.waitFor({ state: 'hidden' });
    },
  };
}

function readQuickInputs(widgets: PageElement[]): { ariaLabel: string | null; reading: QuickInputReading }[] {
  const text = (from: PageElement, selector: string): string =>
    (from.querySelector(selector)?.textContent ?? '').replaceAll('\u00a0', ' ').trim();
  return widgets.map((widget) => {
    const input = widget.querySelector('.quick-input-box input');
    const items = [...widget.querySelectorAll('.quick-input-list .monaco-list-row')].map((row) =>
      text(row, '.quick-input-list-row:first-child .label-name'),
    );
    return {
      ariaLabel: input?.getAttribute('aria-label') ?? null,
      reading: {
        title: text(widget, '.quick-input-title'),
        value: input?.value ?? '',
        message: text(widget, '.quick-input-message'),
        isRefused: widget.querySelector('.quick-input-box .monaco-inputbox.error') !== null,
        isMasked: input?.getAttribute('type') === 'password',
        items,
      },
    };
  });
}
