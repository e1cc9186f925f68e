import type { Page } from '@playwright/test';
import { readRows, showRow } from './lists.ts';
import type { PageElement } from './pageElement.ts';

export interface ProblemReading {
  /** The message has all its lines. */
  readonly message: string;
  readonly source: string;
  /** This is the file's name, and `path` is its path as the panel's row shows it. */
  readonly file: string;
  readonly path: string;
  /** The line counts from 1, as shown. */
  readonly line: number;
}

interface MarkerRow {
  readonly index: number;
  /** The level is 1 for a file, 2 for a problem, and 3 for a location related to it. */
  readonly level: number;
  readonly label: string;
  readonly path: string;
  readonly problem: Omit<ProblemReading, 'file' | 'path'>;
}

export function problemsOf(page: Page, runCommand: (title: string) => Promise<void>) {
  const panel = page.locator('.markers-panel-container');
  const list = panel.locator('.monaco-list');
  const open = async (): Promise<void> => {
    if (await panel.isVisible()) return;
    await runCommand('Problems: Focus on Problems View');
    await panel.waitFor();
  };
  return {
    /** Opens the Problems panel and reads its rows, but not the related locations below them. */
    problems: async (): Promise<readonly ProblemReading[]> => {
      await open();
      if (!(await list.isVisible())) return [];
      let file = { file: '', path: '' };
      return (await readRows(page, list, readMarkerRows)).flatMap((row) => {
        if (row.level === 1) file = { file: row.label, path: row.path };
        return row.level === 2 ? [{ ...row.problem, ...file }] : [];
      });
    },

    openProblem: async (message: string): Promise<void> => {
      await open();
      const row = list
        .locator('.monaco-list-rows .monaco-list-row[aria-level="2"]')
        .filter({ hasText: message })
        .first();
      await showRow(page, list, row);
      // The click is not in the middle, where a code link may be.
      await row.locator('.marker-message').first().dblclick();
    },
  };
}

function readMarkerRows(rows: PageElement[]): MarkerRow[] {
  return rows.map((row) => {
    const text = (selector: string): string => (row.querySelector(selector)?.textContent ?? '').trim();
    return {
      problem: {
        message: [...row.querySelectorAll('.marker-message')]
          .map((line) => line.textContent ?? '')
          .join('\n'),
        source: text('.marker-source'),
        line: Number(/\d+/u.exec(text('.marker-line'))?.[0]),
      },
      path: row.querySelector('.monaco-icon-label')?.getAttribute('aria-label') ?? '',
      label: text('.label-name'),
      level: Number(row.getAttribute('aria-level')),
      index: Number(row.getAttribute('data-index')),
    };
  });
}
