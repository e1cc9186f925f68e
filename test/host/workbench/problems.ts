import type { Locator, Page } from '@playwright/test';
import { readRows, showRow } from './lists.ts';
import type { PageElement } from './pageElement.ts';

export interface ProblemReading {
  readonly severity: 'error' | 'warning' | 'info';
  /** All lines of it. */
  readonly message: string;
  readonly source: string;
  readonly code: string;
  /** The file's name, and its path as the panel's row names it. */
  readonly file: string;
  readonly path: string;
  /** From 1, as shown. */
  readonly line: number;
  readonly column: number;
}

interface MarkerRow {
  readonly index: number;
  /** 1 for a file, 2 for a problem, 3 for a place related to it. */
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
  const shownProblem = async (message: string): Promise<Locator> => {
    await open();
    const row = list
      .locator('.monaco-list-rows .monaco-list-row[aria-level="2"]')
      .filter({ hasText: message })
      .first();
    await showRow(page, list, row);
    return row;
  };
  return {
    /** Opens the Problems panel and reads its rows; not the related places below them. */
    problems: async (): Promise<readonly ProblemReading[]> => {
      await open();
      if (!(await list.isVisible())) return [];
      let file = { file: '', path: '' };
      return (await readRows(page, list, readMarkerRows)).flatMap((row) => {
        if (row.level === 1) file = { file: row.label, path: row.path };
        return row.level === 2 ? [{ ...row.problem, ...file }] : [];
      });
    },

    /** The number in the row of this file, without reading each problem. */
    problemCount: async (file: string): Promise<number> => {
      await open();
      const row = list.locator('.monaco-list-row[aria-level="1"]').filter({ hasText: file }).first();
      await showRow(page, list, row);
      return Number(await row.locator('.monaco-count-badge').innerText());
    },

    openProblem: async (message: string): Promise<void> => {
      // Not in the middle, where a code link may be.
      await (await shownProblem(message)).locator('.marker-message').first().dblclick();
    },
  };
}

function readMarkerRows(rows: PageElement[]): MarkerRow[] {
  return rows.map((row) => {
    const text = (selector: string): string => (row.querySelector(selector)?.textContent ?? '').trim();
    const severity = (['error', 'warning'] as const).find(
      (name) => row.querySelector(`.marker-icon.${name}`) !== null,
    );
    const place = /(\d+)\D+(\d+)/u.exec(text('.marker-line'));
    return {
      index: Number(row.getAttribute('data-index')),
      level: Number(row.getAttribute('aria-level')),
      label: text('.label-name'),
      path: row.querySelector('.monaco-icon-label')?.getAttribute('aria-label') ?? '',
      problem: {
        severity: severity ?? 'info',
        message: [...row.querySelectorAll('.marker-message')]
          .map((line) => line.textContent ?? '')
          .join('\n'),
        source: text('.marker-source'),
        code: text('.marker-code'),
        line: Number(place?.[1]),
        column: Number(place?.[2]),
      },
    };
  });
}
