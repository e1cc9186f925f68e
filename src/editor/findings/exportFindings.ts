import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { isDisplayed } from '../../core/findings/view/filter.ts';
import type { Run } from '../../core/run/state/run.ts';
import { countShown } from '../formats.ts';
import { pickShownRun } from '../runs/pickRun.ts';
import { withProgress } from '../progress.ts';
import { askInDialog } from '../showMessage.ts';
import { readDisplaySettings } from '../settings.ts';
import {
  type ExportDeps,
  type ExportFormat,
  offerToOpen,
  pickExportFile,
  readToExport,
  saveExport,
} from './exportFile.ts';
import { exportForCodeScanning } from './exportForCodeScanning.ts';
import { titleOf } from '../runs/runLabels.ts';

const t = vscode.l10n.t;

function formatOf(format: ExportFormat) {
  return {
    sarif: { ending: 'sarif', title: t('Export Findings as SARIF'), filter: 'SARIF' },
    csv: { ending: 'csv', title: t('Export Findings as CSV'), filter: 'CSV' },
    bundle: { ending: 'zip', title: t('Export Offline Bundle'), filter: t('Bundle') },
  }[format];
}

export async function exportFindings(
  format: ExportFormat,
  chosen: Run | undefined,
  deps: ExportDeps,
): Promise<void> {
  const which = t('Export Findings of Which Run?');
  const none = t('There are no findings to export yet.');
  const run = chosen ?? (await pickShownRun(deps, 'findings', which, none));
  if (run === undefined) return;
  if (format === 'bundle' && !(await agreesToContents(run))) return;
  const scope = format === 'sarif' ? await pickScope(deps) : everything;
  if (scope === undefined) return;
  if (scope === 'codeScanning') {
    await exportForCodeScanning(run, deps);
    return;
  }
  const { ending, ...texts } = formatOf(format);
  const to = await pickExportFile(run, ending, texts);
  if (to === undefined) return;
  const count = await withProgress(t('Exporting findings…'), async (_report, signal) => {
    const { shown, absent = [], cut, ...facts } = await readToExport(run, deps.findings, signal);
    const passing = shown.filter(scope.passes);
    const isPart = passing.length < shown.length;
    const written = isPart ? { shown: passing.length, total: cut?.total ?? shown.length } : cut;
    const source = { ...facts, cut: written, shown: passing, absent: absent.filter(scope.passes) };
    await saveExport(to, { source, form: { kind: format } }, deps, signal);
    return countShown(passing.length, isPart ? undefined : cut);
  });
  const saved = t('{0} saved to {1}.', count, posix.basename(to.path));
  await offerToOpen(scope.note === '' ? saved : `${saved} ${scope.note}`, to, format);
}

interface ExportScope {
  readonly passes: (shown: ShownFinding) => boolean;
  readonly note: string;
}

const everything: ExportScope = { passes: () => true, note: '' };

async function pickScope({ filtering }: ExportDeps): Promise<ExportScope | 'codeScanning' | undefined> {
  const display = readDisplaySettings();
  const all = {
    label: 'SARIF',
    description: t('Everything'),
    detail: t('All findings, including triage decisions, notes, and the comparison with earlier runs.'),
    scope: { ...everything, note: t('The file contains everything, regardless of the filters.') },
  };
  const filtered = {
    label: t('SARIF, Filtered'),
    description: t('What the filters show'),
    detail: t('Only findings that match the filters and settings of the Findings view.'),
    scope: {
      passes: (shown: ShownFinding) => isDisplayed(shown, display) && filtering.passes(shown),
      note: t('The file contains only what the filters and settings show.'),
    },
  };
  const codeScanning = {
    label: t('SARIF for Code Scanning'),
    description: t('For upload to GitHub'),
    detail: t('Without false positives and accepted risks.'),
    scope: 'codeScanning' as const,
  };
  const items = [all, filtered, codeScanning];
  const picked = await vscode.window.showQuickPick<(typeof items)[number]>(items, {
    title: t('Export as SARIF'),
    placeHolder: t('Choose a format. Suspected secrets are masked.'),
  });
  return picked?.scope;
}

async function agreesToContents(run: Run): Promise<boolean> {
  const yes = t('Save Bundle…');
  const detail = [
    t(
      'Contains:\n- the findings, with the code that they quote\n- the report\n- your triage decisions, with notes and times\n- the list of assessed files, with hashes\n- folder names, commits, and target URLs\n- type, ID, language, times, and outcome of the run\n- how many files were uploaded and excluded',
    ),
    t('Doesn’t contain source files, tokens, or the base URL of the service.'),
    t('Secrets in the findings, the report, and the list of files aren’t masked.'),
  ];
  const question = t('Save the results of {0} as one file that you can share?', titleOf(run));
  return (await askInDialog({ question, detail, icon: 'info' }, yes)) === yes;
}
