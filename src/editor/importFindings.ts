import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';
import type { Decision } from '../core/findings/decisions.ts';
import type { FindingStore, ShownFinding } from '../core/findings/findingStore.ts';
import { type ImportedFile, readImport } from '../core/findings/importFile.ts';
import { badImport, maxImportBytes } from '../core/findings/importFault.ts';
import { importRun } from '../core/findings/importRun.ts';
import { isUndecided } from '../core/findings/triage.ts';
import type { Clock } from '../core/ports.ts';
import type { Run } from '../core/run/run.ts';
import type { RunStore } from '../core/run/runStore.ts';
import { countFindings } from './formats.ts';
import { withProgress } from './progress.ts';
import { showInformation } from './showMessage.ts';

/** What imports work on; nothing of it speaks to the service. */
export interface ImportDeps {
  readonly runs: RunStore;
  readonly findings: FindingStore;
  readonly clock: Clock;
}

/** Takes in a file of findings that a person picks, as a run of a folder they pick, and shows it. */
export async function importFindings(deps: ImportDeps): Promise<void> {
  const t = vscode.l10n.t;
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) throw new AssessmentError('noFolder');
  const [file] =
    (await vscode.window.showOpenDialog({
      title: t('Import Findings or Bundle'),
      openLabel: t('Import'),
      filters: { [t('Findings')]: ['zip', 'sarif', 'json', 'csv'], [t('All files')]: ['*'] },
    })) ?? [];
  if (file === undefined) return;
  const fileName = file.path.slice(file.path.lastIndexOf('/') + 1);
  const imported = await withProgress(t('Importing {0}…', fileName), async (_report, signal) => {
    if ((await vscode.workspace.fs.stat(file)).size > maxImportBytes) throw badImport('tooLarge');
    return readImport(Buffer.from(await vscode.workspace.fs.readFile(file)), signal);
  });
  const targets = await targetsOf(imported, folders);
  if (targets === undefined) return;
  const run = await importRun(imported, { fileName, targets }, { store: deps.runs, clock: deps.clock });
  await deps.findings.show(run);
  await vscode.commands.executeCommand('whitebox.findings.focus');
  void showInformation(t('{0} imported from {1}.', countFindings(imported.findings), fileName));
  await offerDecisions(run, imported.decisions, deps.findings);
}

/** The folders that findings belong to: those of the same name as in the file, else one that a person picks. */
async function targetsOf(
  { run }: ImportedFile,
  folders: readonly vscode.WorkspaceFolder[],
): Promise<{ folder: string; name: string }[] | undefined> {
  const named = (run?.targets ?? []).map(({ name }) => folders.find((folder) => folder.name === name));
  const all = named.every((folder) => folder !== undefined) ? named : [];
  const own = new Set(all).size === all.length ? all : [];
  const chosen = own.length > 0 ? own : [await pickFolder(folders)];
  const targets = chosen.flatMap((folder) =>
    folder === undefined ? [] : [{ folder: folder.uri.fsPath, name: folder.name }],
  );
  return targets.length === 0 ? undefined : targets;
}

async function pickFolder(
  folders: readonly vscode.WorkspaceFolder[],
): Promise<vscode.WorkspaceFolder | undefined> {
  if (folders.length === 1) return folders[0];
  const placeHolder = vscode.l10n.t('Which folder are the findings about?');
  return vscode.window.showWorkspaceFolderPick({ placeHolder, ignoreFocusOut: true });
}

/** Decisions of others hide findings, so a person says whether they count here; what was decided here stays. */
async function offerDecisions(
  run: Run,
  decisions: readonly Decision[],
  findings: FindingStore,
): Promise<void> {
  const t = vscode.l10n.t;
  if (decisions.length === 0 || !vscode.workspace.isTrusted) return;
  const byFingerprint = new Map(decisions.map((decision) => [decision.fingerprint, decision]));
  const groups = new Map<string, { decision: Decision; shown: ShownFinding[] }>();
  for (const shown of (await findings.read(run)).shown) {
    const decision = byFingerprint.get(shown.fingerprint);
    if (decision === undefined || !isUndecided(shown.triage)) continue;
    const key = JSON.stringify([decision.state, decision.note]);
    const group = groups.get(key) ?? { decision, shown: [] };
    group.shown.push(shown);
    groups.set(key, group);
  }
  const count = [...groups.values()].reduce((sum, { shown }) => sum + shown.length, 0);
  if (count === 0) return;
  const take = t('Take Over');
  const message = t(
    'The file also says what was decided about {0}, with notes. Take these decisions over?',
    countFindings(count),
  );
  if ((await showInformation(message, take, t('Leave Open'))) !== take) return;
  for (const { decision, shown } of groups.values()) {
    await findings.setTriage(shown, decision.state, decision.note);
  }
}
