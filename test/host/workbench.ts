import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { editorsOf } from './workbench/editors.ts';
import { eventually, patienceMs } from './workbench/eventually.ts';
import { messagesOf } from './workbench/messages.ts';
import { problemsOf } from './workbench/problems.ts';
import { quickInputOf } from './workbench/quickInput.ts';
import { treesOf } from './workbench/trees.ts';
import { trustOf } from './workbench/trust.ts';

/** Screenshots are in this folder under the project root. Git ignores it. */
export const screenshotFolder: string = path.resolve(import.meta.dirname, '../../test-results/screenshots');

/** Every call waits for its condition. */
export type Workbench = Awaited<ReturnType<typeof openWorkbench>>;

/**
 * Opens a window at a URL from `VsCodeServer.urlFor` and waits until it is usable. Without a URL,
 * waits for a window that VS Code has opened.
 */
export async function openWorkbench(page: Page, url?: string) {
  const restored = async (): Promise<void> => {
    await page.locator('.monaco-workbench .statusbar').waitFor();
    // The workbench draws this part last, before it takes commands.
    await page.locator('.monaco-workbench .part.editor .editor-group-container').first().waitFor();
  };
  page.setDefaultTimeout(patienceMs);
  if (url !== undefined) await page.goto(url, { waitUntil: 'domcontentloaded' });
  await restored();
  const quickInput = quickInputOf(page);
  const { runCommand } = quickInput;
  return {
    page,
    ...quickInput,
    ...messagesOf(page),
    ...treesOf(page),
    ...problemsOf(page, runCommand),
    ...editorsOf(page),
    ...trustOf(page, runCommand),

    /** Does what Developer: Reload Window does. */
    reload: async (): Promise<void> => {
      await page.reload({ waitUntil: 'domcontentloaded' });
      await restored();
    },

    /**
     * Waits until VS Code has saved window state that matches the pattern. In a browser, it saves
     * state some seconds late, and may save a webview's title before the state of its page.
     */
    async stateKept(pattern: RegExp): Promise<void> {
      await eventually(
        () => page.evaluate<boolean>(`(${stateContains})(${String(pattern)})`),
        (isKept) => isKept,
      );
    },

    screenshot: async (file: string): Promise<string> => {
      const target = path.resolve(screenshotFolder, file);
      await mkdir(path.dirname(target), { recursive: true });
      await page.screenshot({ path: target, animations: 'disabled', caret: 'hide' });
      return target;
    },
  };
}

/** Runs in the page. */
const stateContains = `async (pattern) => {
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((resolve) => {
      indexedDB.open(name).onsuccess = (event) => resolve(event.target.result);
    });
    for (const store of database.objectStoreNames) {
      const values = await new Promise((resolve) => {
        database.transaction(store).objectStore(store).getAll().onsuccess = (event) => resolve(event.target.result);
      });
      if (pattern.test(JSON.stringify(values))) return true;
    }
    database.close();
  }
  return false;
}`;
