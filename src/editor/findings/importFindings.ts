import { posix } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import {
  importRun,
  type ImportTarget,
  readImport,
  undecidedBy,
} from '../../core/findings/importExport/importFile.ts';
import { badImport, maxImportBytes } from '../../core/findings/importExport/readContent.ts';
import type { TriageEntry } from '../../core/findings/triage/book.ts';
import type { TriageStore } from '../../core/findings/triage/triageStore.ts';
import type { Clock } from '../../core/ports.ts';
import type { Run } from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { maxTransferMs } from '../../core/yieldingWork.ts';
import { answerAbout, type Folder, pickFolder } from '../folders.ts';
import { countFindings, countShown } from '../formats.ts';
import { focusView } from '../../lazyView.ts';
import { withProgress } from '../progress.ts';
import { showInformation } from '../showMessage.ts';
import { type FindingStores, readRun } from './findingArguments.ts';

const t = vscode.l10n.t;

interface ImportDeps extends FindingStores {
  readonly triage: TriageStore;
  readonly clock: Clock;
  readonly parseWorkerFile: string;
}

export async function importFindings(deps: ImportDeps): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) throw new AssessmentError('noFolder');
  const [file] =
    (await vscode.window.showOpenDialog({
      title: t('Import Findings or Bundle'),
      openLabel: t('Import'),
      filters: { [t('Findings')]: ['zip', 'sarif', 'json'], [t('All files')]: ['*'] },
    })) ?? [];
  if (file === undefined) return;
  const fileName = posix.basename(file.path);
  const imported = await withProgress(t('Importing {0}…', fileName), async (_report, signal) => {
    const { size } = await answerAbout(file, vscode.workspace.fs.stat(file), { signal });
    if (size > maxImportBytes) throw badImport('tooLarge');
    const options = { signal, maxMs: maxTransferMs };
    const content = await answerAbout(file, vscode.workspace.fs.readFile(file), options);
    return readImport(Buffer.from(content), deps.parseWorkerFile, { signal });
  });
  const targets = await targetsOf(imported.run?.targets.map(({ name }) => visibleLine(name)) ?? [], folders);
  if (targets === undefined) return;
  const run = await importRun(imported, { fileName, targets }, { store: deps.runs, clock: deps.clock });
  await deps.findings.show(run);
  await focusView('findings');
  void showInformation(t('{0} imported from {1}.', countShown(imported.findings, imported.cut), fileName));
  await offerDecisions(run, imported.decisions, deps);
}

async function targetsOf(
  names: readonly string[],
  open: readonly vscode.WorkspaceFolder[],
): Promise<readonly ImportTarget[] | undefined> {
  const named = names.map((name) => {
    const [same, ...others] = open.filter((folder) => folder.name === name);
    return others.length === 0 && names.indexOf(name) === names.lastIndexOf(name) ? same : undefined;
  });
  if (names.length <= 1) {
    const folder = named[0] ?? (await pickFolder(t('Which folder do the findings belong to?')));
    return folder && [toTarget(folder)];
  }
  const remaining = new Set(open.filter((folder) => !named.includes(folder)));
  const targets: ImportTarget[] = [];
  for (const [index, name] of names.entries()) {
    const target = named[index] ?? (await pickFolderNamed(name, remaining));
    if (target === undefined) return undefined;
    if (target !== 'none') remaining.delete(target);
    targets.push(target === 'none' ? { name } : toTarget(target));
  }
  return targets;
}

function toTarget({ uri, name }: Folder): ImportTarget {
  return { folder: uri.fsPath, name };
}

async function pickFolderNamed(
  name: string,
  folders: ReadonlySet<vscode.WorkspaceFolder>,
): Promise<vscode.WorkspaceFolder | 'none' | undefined> {
  if (folders.size === 0) return 'none';
  const items = [...folders].map((folder) => ({
    label: folder.name,
    description: folder.uri.fsPath,
    folder,
  }));
  const skip = {
    label: t('None of These'),
    detail: t('The findings are listed without a location.'),
    folder: 'none' as const,
  };
  const title = t('Which folder do the findings of {0} belong to?', name);
  const picked = await vscode.window.showQuickPick([...items, skip], { title, ignoreFocusOut: true });
  return picked?.folder;
}

/**
 * Decisions by other people can hide findings, so the user is asked. Decisions that were made on
 * this machine are kept.
 */
async function offerDecisions(
  run: Run,
  decisions: readonly TriageEntry[],
  { findings, triage }: ImportDeps,
): Promise<void> {
  if (decisions.length === 0 || !vscode.workspace.isTrusted) return;
  const made = undecidedBy(decisions, (await readRun(run, findings)).shown);
  if (made.length === 0) return;
  const take = t('Import Decisions');
  const message = t(
    'The file also contains triage decisions with notes for {0}. Import them?',
    countFindings(made.length),
  );
  if ((await showInformation(message, take, t('Leave Findings Open'))) === take)
    await triage.importDecisions(run, made.flat());
}
