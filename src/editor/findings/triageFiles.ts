import * as vscode from 'vscode';
import { type TriagePlace, triagePlaceOf } from '../../core/findings/triage/triageDisk.ts';
import { TriageStore } from '../../core/findings/triage/triageStore.ts';
import type { Clock, Logger } from '../../core/ports.ts';
import { countFindings } from '../formats.ts';
import { describeError } from '../errors/messages.ts';
import { offerRemedies } from '../errors/remedies.ts';
import { readTriageStorage } from '../settings.ts';
import { showError, showInformation, showWarning } from '../showMessage.ts';

/** The decisions of all folders; those that are not shared in their folder are files of `storageFolder`. */
export function createTriage(storageFolder: string, deps: { clock: Clock; log: Logger }): TriageStore {
  const placeFor = (folder: string): TriagePlace =>
    triagePlaceOf(folder, storageFolder, readTriageStorage(vscode.Uri.file(folder)));
  return new TriageStore({ ...deps, placeFor, lockFolder: storageFolder });
}

/** Reads decisions again when another window, git or a person has changed them, or when the setting moves them. */
export function watchTriage(triage: TriageStore, storageFolder: string, log: Logger): vscode.Disposable {
  const reload = (): void => void triage.reload();
  const storage = new vscode.RelativePattern(vscode.Uri.file(storageFolder), '*.json');
  const watchers = [storage, '**/.vscode/whitebox-triage/**'].map((pattern) =>
    vscode.workspace.createFileSystemWatcher(pattern),
  );
  return vscode.Disposable.from(
    ...watchers,
    ...watchers.flatMap((watcher) => [
      watcher.onDidChange(reload),
      watcher.onDidCreate(reload),
      watcher.onDidDelete(reload),
    ]),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('whitebox.triage'))
        offerToCopy(triage).catch((error: unknown) => void showError(describeError(error).message));
    }),
    warnOfFailures(triage, log),
    // Watchers miss excluded files and some network disks, so decisions are read again when the window gets the focus.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) reload();
    }),
  );
}

/** After the setting has moved the decisions, offers to copy those that the new place does not have. */
async function offerToCopy(triage: TriageStore): Promise<void> {
  const before = triage.decisions();
  await triage.reload();
  const lacking = triage.lacking(before);
  const count = [...lacking.values()].reduce((sum, { length }) => sum + length, 0);
  if (count === 0) return;
  const t = vscode.l10n.t;
  const copy = t('Copy Decisions');
  const message = t(
    'Triage decisions are kept in another place now, where nothing is decided about {0} that had a decision. Copy these decisions there?',
    countFindings(count),
  );
  if ((await showInformation(message, copy, t('Leave Open'))) === copy) await triage.takeOver(lacking);
}

/** Warns once about each file that cannot be read, and again if it becomes unreadable again. */
function warnOfFailures(triage: TriageStore, log: Logger): vscode.Disposable {
  let warned: ReadonlySet<string> = new Set();
  const subscription = triage.onDidChange(() => {
    const failures = triage.failures();
    const nameOf = ({ kind, data }: (typeof failures)[number]): string => `${kind} ${data.subject ?? ''}`;
    for (const failure of failures.filter((each) => !warned.has(nameOf(each)))) {
      const { message, remedies } = describeError(failure);
      offerRemedies(showWarning(message, ...remedies), log);
    }
    warned = new Set(failures.map(nameOf));
  });
  return vscode.Disposable.from(subscription);
}
