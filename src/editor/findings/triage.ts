import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import {
  asDecided,
  dayAfter,
  isAcceptanceEnded,
  isDay,
  needsNote,
  TRIAGE_STATES,
  type TriageDecision,
  type TriageState,
} from '../../core/findings/triage/triage.ts';
import { type TriagePaths, triagePathsOf } from '../../core/findings/triage/triageFiles.ts';
import { TriageStore } from '../../core/findings/triage/triageStore.ts';
import type { Clock, Disposable, Logger } from '../../core/ports.ts';
import { type FolderCalls, inBackground } from '../../core/yieldingWork.ts';
import { describeError } from '../errors/errorMessages.ts';
import { showLog } from '../errors/errorActions.ts';
import { countFindings, formatDate } from '../formats.ts';
import { severityLabel, titleOfFinding, triageLabel } from '../findingLabels.ts';
import { readTriageStorage } from '../settings.ts';
import { showError, showInformation, showWarning } from '../showMessage.ts';

const t = vscode.l10n.t;

const noteKey = 'triage.note';

export interface TriageDeps {
  readonly findings: FindingStore;
  readonly memory: vscode.Memento;
  readonly log: Logger;
}

export async function setTriage(shown: readonly ShownFinding[], deps: TriageDeps): Promise<void> {
  const state = await pickState(shown);
  if (state === undefined) return;
  const note = state === 'open' ? '' : await askForNote(shown, state, deps.memory);
  if (note === undefined) return;
  const until = state === 'acceptedRisk' ? await askForEnd(shown) : {};
  if (until === undefined) return;
  const undoTriage = await deps.findings.setTriage(shown, state, note, until);
  const undo = t('Undo');
  const offer = async (): Promise<void> => {
    const message = t('{0}: {1}', subjectLabel(shown), triageLabel(state));
    if ((await showInformation(message, undo)) !== undo) return;
    const changed = await undoTriage();
    if (changed > 0)
      void showInformation(
        t(
          'VS Code didn’t undo the triage state of findings whose state has changed since then: {0}.',
          countFindings(changed),
        ),
      );
  };
  // Nothing awaits this, because the message may stay open for hours.
  offer().catch((error: unknown) => {
    deps.log.error(`The triage decision could not be undone: ${String(error)}`);
    const message = t('The triage decision couldn’t be undone. It is still in effect.');
    inBackground(showError(message, showLog()), deps.log);
  });
}

export async function extendAcceptance(
  shown: readonly ShownFinding[],
  { findings }: Pick<TriageDeps, 'findings'>,
): Promise<void> {
  const accepted = shown.filter(({ triage }) => asDecided(triage).state === 'acceptedRisk');
  if (accepted.length === 0) {
    void showInformation(t('None of these findings is an accepted risk.'));
    return;
  }
  const until = await askForEnd(accepted);
  if (until === undefined) return;
  for (const [note, withNote] of Map.groupBy(accepted, ({ triage }) => triage.note))
    await findings.setTriage(withNote, 'acceptedRisk', note, until);
}

async function pickState(shown: readonly ShownFinding[]): Promise<TriageState | undefined> {
  // Changed code suggests a fix, but only the user knows.
  const isProposed = shown.every(
    ({ verdict, triage }) => verdict === 'codeChanged' && triage.state === 'open',
  );
  const states = isProposed
    ? (['fixed', ...TRIAGE_STATES.filter((each) => each !== 'fixed')] as const)
    : TRIAGE_STATES;
  const items = states.map((state) => {
    const present = shown.filter(({ triage }) => triage.state === state);
    const [only, ...others] = present;
    const proposal =
      state === 'fixed' && isProposed ? t('suggested: no longer found, and the code changed') : '';
    const current = shown.length === 1 ? t('current') : t('current: {0}', countFindings(present.length));
    return {
      label: triageLabel(state),
      iconPath: new vscode.ThemeIcon(only === undefined ? 'blank' : 'check'),
      description: only === undefined ? proposal : current,
      detail: others.length === 0 ? (only?.triage.note ?? '') : '',
      state,
    };
  });
  const title = t('Set Triage State: {0}', subjectLabel(shown));
  return (await vscode.window.showQuickPick(items, { title }))?.state;
}

async function askForNote(
  shown: readonly ShownFinding[],
  state: TriageState,
  memory: vscode.Memento,
): Promise<string | undefined> {
  const isRequired = needsNote(state);
  const current =
    shown.find(({ triage }) => triage.state === state || isAcceptanceEnded(triage))?.triage.note ?? '';
  const last = isRequired ? memory.get<string>(noteKey, '') : '';
  const note = await vscode.window.showInputBox({
    title: `${triageLabel(state)}: ${subjectLabel(shown)}`,
    prompt: isRequired
      ? t('Enter a reason for people who read the finding later.')
      : t('Enter a reason (optional).'),
    value: current === '' ? last : current,
    ignoreFocusOut: true,
    validateInput: (text) =>
      isRequired && text.trim() === '' ? t('Enter a reason for this state.') : undefined,
  });
  const trimmed = note?.trim();
  if (isRequired && trimmed !== undefined) await memory.update(noteKey, trimmed);
  return trimmed;
}

async function askForEnd(shown: readonly ShownFinding[]): Promise<Pick<TriageDecision, 'until'> | undefined> {
  const now = Date.now();
  const toItem = (label: string, until: string) => ({ label, description: formatDate(until), until });
  const items: { label: string; description?: string; until?: string }[] = [
    toItem(t('30 days'), dayAfter(now, 30)),
    toItem(t('90 days'), dayAfter(now, 90)),
    toItem(t('1 year'), dayAfter(now, 365)),
    { label: t('Until a date…'), until: '' },
    { label: t('No end date') },
  ];
  const title = `${triageLabel('acceptedRisk')}: ${subjectLabel(shown)}`;
  const placeHolder = t('Choose how long the risk is accepted. After that, the finding is open again.');
  const picked = await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true });
  if (picked?.until !== '') return picked && (picked.until === undefined ? {} : { until: picked.until });
  const day = await vscode.window.showInputBox({
    title,
    prompt: t('Enter the last day of the acceptance as YYYY-MM-DD.'),
    value: dayAfter(now, 30),
    ignoreFocusOut: true,
    validateInput: (text) =>
      isDay(text.trim()) && text.trim() >= dayAfter(now)
        ? undefined
        : t('Enter today’s date or a later date as YYYY-MM-DD.'),
  });
  return day === undefined ? undefined : { until: day.trim() };
}

export function subjectLabel(shown: readonly ShownFinding[]): string {
  const [only] = shown;
  if (shown.length !== 1 || only === undefined) return countFindings(shown.length);
  const { finding } = only;
  return `${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`;
}

export function createTriage(
  storageFolder: string,
  deps: { calls: FolderCalls; clock: Clock; log: Logger },
): TriageStore {
  const pathsFor = (folder: string): TriagePaths =>
    triagePathsOf(folder, storageFolder, readTriageStorage(vscode.Uri.file(folder)) === 'shared');
  return new TriageStore({ ...deps, pathsFor });
}

/** Another window, Git, or the user may change decisions on disk. */
export function watchTriage(triage: TriageStore, storageFolder: string, log: Logger): vscode.Disposable {
  const reload = (): void => inBackground(triage.reload(), log);
  const storage = new vscode.RelativePattern(vscode.Uri.file(storageFolder), '*.jsonl');
  let midnight: NodeJS.Timeout | undefined;
  const waitForMidnight = (): void => {
    clearTimeout(midnight);
    const ms = new Date().setHours(24, 0, 0, 0) - Date.now();
    midnight = triage.hasFutureEnds ? setTimeout(reloadAtMidnight, ms) : undefined;
  };
  const reloadAtMidnight = (): void => {
    reload();
    waitForMidnight();
  };
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
        offerToShare(triage).catch((error: unknown) => void showError(describeError(error).message));
    }),
    warnOfFailures(triage, log),
    triage.onDidChange(waitForMidnight),
    new vscode.Disposable(() => clearTimeout(midnight)),
    // Watchers miss excluded files and some network disks.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) reload();
    }),
  );
}

async function offerToShare(triage: TriageStore): Promise<void> {
  await triage.reload();
  const unshared = triage.unshared();
  if (unshared.length === 0) return;
  const share = t('Share Existing Decisions');
  const message = t(
    'From now on, your triage decisions are also written to .vscode/whitebox-triage. Also write your existing decisions for {0}?',
    countFindings(unshared.length),
  );
  if ((await showInformation(message, share, t('Only New Decisions'))) === share)
    await triage.share(unshared);
}

function warnOfFailures(triage: TriageStore, log: Logger): Disposable {
  let warned: ReadonlySet<string> = new Set();
  return triage.onDidChange(() => {
    const failures = triage.failures();
    const nameOf = ({ kind, data }: (typeof failures)[number]): string => `${kind} ${data.subject ?? ''}`;
    for (const failure of failures.filter((candidate) => !warned.has(nameOf(candidate)))) {
      const { message, actions } = describeError(failure);
      inBackground(showWarning(message, ...actions), log);
    }
    warned = new Set(failures.map(nameOf));
  });
}
