import type { Frame, Locator, Page } from '@playwright/test';
import { patienceMs, readWithin } from './eventually.ts';

export function editorsOf(page: Page) {
  const group = page.locator('.editor-group-container.active');

  return {
    /** `line` is 0 where there is no text cursor. */
    editor: async (): Promise<{ readonly title: string; readonly line: number }> => {
      const active = group.locator('.tab.active');
      await active.waitFor();
      const location = await page.locator('[id="status.editor.selection"]').allInnerTexts();
      // A file's extension may be a separate element.
      const title = await active.locator('.label-name, .label-suffix').allInnerTexts();
      return { title: title.join(''), line: Number(/\d+/u.exec(location.join(''))?.[0] ?? 0) };
    },

    /** Focuses the webview editor with this title and returns the frame of the extension's page. */
    webviewFrame: async (title: string): Promise<Frame> => {
      // The webview overlays the editor from elsewhere in the page; `aria-flowto` of the editor
      // names it.
      const owner = group.locator('[id^="webview-editor-element-"][aria-flowto]').first();
      const id = await readWithin(patienceMs, async () => {
        // A window that is still restoring its editors may bring another one to the front again.
        await page.locator('.tab').filter({ hasText: title }).click();
        return (await owner.getAttribute('aria-flowto', { timeout: 4000 }).catch(() => null)) ?? undefined;
      });
      if (id === undefined) throw new Error(`The webview "${title}" is not shown.`);
      const outer = page.frameLocator(`[id="${id}"] iframe.webview.ready`);
      const inner = await outer.locator('iframe#active-frame').elementHandle();
      const frame = await inner.contentFrame();
      if (!frame) throw new Error(`The webview "${title}" has no page.`);
      return frame;
    },

    statusBarItem: (idOrText: string): Locator => {
      return page
        .locator(`.statusbar-item[id$=${JSON.stringify(idOrText)}]`)
        .or(page.locator('.statusbar-item').filter({ hasText: idOrText }))
        .first();
    },
  };
}
