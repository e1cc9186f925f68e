import type { Frame, Locator, Page } from '@playwright/test';
import { patienceMs, readWithin } from './eventually.ts';

/** The active editor. `line` and `column` are missing where there is no text cursor. */
export interface EditorReading {
  readonly title: string;
  readonly isDirty: boolean;
  readonly line?: number;
  readonly column?: number;
}

export function editorsOf(page: Page) {
  const group = page.locator('.editor-group-container.active');
  // A file's extension may be a separate element.
  const titles = page.locator('.tab .monaco-icon-label-container');
  const titleOf = async (label: Locator): Promise<string> =>
    (await label.locator('.label-name, .label-suffix').allInnerTexts()).join('');

  return {
    editor: async (): Promise<EditorReading> => {
      const active = group.locator('.tab.active');
      await active.waitFor();
      const place = page.locator('[id="status.editor.selection"]');
      const found = /(\d+)\D+(\d+)/u.exec((await place.allInnerTexts()).join(''));
      return {
        title: await titleOf(active),
        isDirty: /\bdirty\b/u.test((await active.getAttribute('class')) ?? ''),
        ...(found === null ? {} : { line: Number(found[1]), column: Number(found[2]) }),
      };
    },

    editorTitles: async (): Promise<readonly string[]> => {
      return Promise.all((await titles.all()).map(titleOf));
    },

    /** Focuses the webview editor with this title and returns the frame of the extension's page. */
    webviewFrame: async (title: string): Promise<Frame> => {
      // The webview overlays the editor from elsewhere in the page; `aria-flowto` of the editor names it.
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
