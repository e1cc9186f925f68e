import type { Page } from '@playwright/test';
import { eventually, readWithin } from './eventually.ts';

export function codeOf(page: Page) {
  const hover = page
    .locator('.monaco-editor .monaco-resizable-hover:visible, .monaco-editor .monaco-hover:visible')
    .first();
  return {
    /** Hovers over the line with this text until the hover contains `expected`; returns its text. */
    hoverText: async (code: string, expected: string): Promise<string> => {
      const line = page.locator('.monaco-editor .view-line').filter({ hasText: code }).first();
      return eventually(
        async () => {
          // Its middle may be right of its text.
          await line.hover({ position: { x: 60, y: 5 } });
          const read = async (): Promise<string | undefined> => {
            const text = await hover.innerText({ timeout: 1000 }).catch(() => '');
            return text.includes(expected) ? text : undefined;
          };
          const text = await readWithin(5000, read);
          // The hover reappears only after a pointer move.
          if (text === undefined) await page.mouse.move(0, 0);
          return text ?? '';
        },
        (text) => text !== '',
      );
    },

    hoverLinks: async (): Promise<readonly string[]> => {
      return hover
        .locator('.markdown-hover a, .markdown-hover img')
        .evaluateAll((elements: { outerHTML: string }[]) => elements.map(({ outerHTML }) => outerHTML));
    },
  };
}
