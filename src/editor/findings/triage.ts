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
import { type TriagePlace, triagePlaceOf } from '../../core/findings/triage/triageDisk.ts';
import { TriageStore } from '../../core/findings/triage/triageStore.ts';
import type { Clock, Disposable, Logger } from '../../core/ports.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { describeError } from '../errors/messages.ts';
import { offerErrorActions, showLog } from '../errors/errorActions.ts';
import { countFindings, formatDate } from '../formats.ts';
import { severityLabel, titleOfFinding, triageLabel } from '../labels.ts';
import { readTriageStorage } from '../settings.ts';
import { showError, showInformation, showWarning } from '../showMessage.ts';

const noteKey = 'triage.note';

/** What setting a triage state needs. */
export interface TriageDeps {
  readonly findings: FindingStore;
  /** Keeps the note that was typed last. */
  readonly memory: vscode.Memento;
  readonly log: Logger;
}

/** Asks for a triage state and a note, stores them, and offers to undo that. */
export async function setTriage(shown: readonly ShownFinding[], deps: TriageDeps): Promise<void> {
  const t = vscode.l10n.t;
  const state = await pickState(shown);
  if (state === undefined) return;
  const note = state === 'open' ? '' : await askForNote(shown, state, deps.memory);
  if (note === undefined) return;
  const until = state === 'acceptedRisk' ? await askUntil(shown) : {};
  if (until === undefined) return;
  const takeBack = await deps.findings.setTriage(shown, state, note, until);
  const undo = t('Undo');
  const offer = async (): Promise<void> => {
    const message = t('{0}: {1}', subjectLabel(shown), triageLabel(state));
    if ((await showInformation(message, undo)) !== undo) return;
    const changed = await takeBack();
    if (changed > 0)
      void showInformation(
        t('Not undone because the triage state has changed since then: {0}.', countFindings(changed)),
      );
  };
  // Not awaited: the message may stay open for hours.
  offer().catch((error: unknown) => {
    deps.log.error(`The triage decision could not be undone: ${String(error)}`);
    const message = t('The triage decision couldn’t be undone. It is still in effect.');
    offerErrorActions(showError(message, showLog()), deps.log);
  });
}

/** Asks until when risks are accepted that have been accepted before, and keeps each one's note. */
export async function extendAcceptance(
  shown: readonly ShownFinding[],
  { findings }: Pick<TriageDeps, 'findings'>,
): Promise<void> {
  const t = vscode.l10n.t;
  const accepted = shown.filter(({ triage }) => asDecided(triage).state === 'acceptedRisk');
  if (accepted.length === 0) {
    void showInformation(t('None of these findings is an accepted risk.'));
    return;
  }
  const until = await askUntil(accepted);
  if (until === undefined) return;
  for (const [note, some] of Map.groupBy(accepted, ({ triage }) => triage.note))
    await findings.setTriage(some, 'acceptedRisk', note, until);
}

async function pickState(shown: readonly ShownFinding[]): Promise<TriageState | undefined> {
  const t = vscode.l10n.t;
  // Only a changed place of the code speaks for a fix, and only a person knows.
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
    const now = shown.length === 1 ? t('current') : t('current: {0}', countFindings(present.length));
    return {
      label: triageLabel(state),
      iconPath: new vscode.ThemeIcon(only === undefined ? 'blank' : 'check'),
      description: only === undefined ? proposal : now,
      detail: others.length === 0 ? (only?.triage.note ?? '') : '',
      state,
    };
  });
  const title = t('Set Triage State: {0}', subjectLabel(shown));
  return (await vscode.window.showQuickPick(items, { title }))?.state;
}

/** The note, undefined when the person cancels; where one is required, the last one is offered for editing. */
async function askForNote(
  shown: readonly ShownFinding[],
  state: TriageState,
  memory: vscode.Memento,
): Promise<string | undefined> {
  const t = vscode.l10n.t;
  const isRequired = needsNote(state);
  const known =
    shown.find(({ triage }) => triage.state === state || isAcceptanceEnded(triage))?.triage.note ?? '';
  const last = isRequired ? memory.get<string>(noteKey, '') : '';
  const note = await vscode.window.showInputBox({
    title: `${triageLabel(state)}: ${subjectLabel(shown)}`,
    prompt: isRequired
      ? t('Enter a reason. People who read the findings later need to know it.')
      : t('Enter a reason (optional).'),
    value: known === '' ? last : known,
    ignoreFocusOut: true,
    validateInput: (text) =>
      isRequired && text.trim() === '' ? t('A reason is needed for this state.') : undefined,
  });
  const trimmed = note?.trim();
  if (isRequired && trimmed !== undefined) await memory.update(noteKey, trimmed);
  return trimmed;
}

/** Asks for the last day of an acceptance; undefined when the person cancels. */
async function askUntil(shown: readonly ShownFinding[]): Promise<Pick<TriageDecision, 'until'> | undefined> {
  const t = vscode.l10n.t;
  const now = Date.now();
  const toItem = (label: string, until: string) => ({
    label,
    description: formatDate(until),
    until,
  });
  const items: { label: string; description?: string; until?: string }[] = [
    toItem(t('30 days'), dayAfter(now, 30)),
    toItem(t('90 days'), dayAfter(now, 90)),
    toItem(t('1 year'), dayAfter(now, 365)),
    { label: t('Until a date…'), until: '' },
    { label: t('No end') },
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
        : t('Enter today or a later day as YYYY-MM-DD.'),
  });
  return day === undefined ? undefined : { until: day.trim() };
}

/** What a command calls its findings: one by its title, several by their number. */
export function subjectLabel(shown: readonly ShownFinding[]): string {
  const [only] = shown;
  if (shown.length !== 1 || only === undefined) return countFindings(shown.length);
  const { finding } = only;
  return `${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`;
}

/** The decisions of all folders; those that are not shared in their folder are files of `storageFolder`. */
export function createTriage(storageFolder: string, deps: { clock: Clock; log: Logger }): TriageStore {
  const placeFor = (folder: string): TriagePlace =>
    triagePlaceOf(folder, storageFolder, readTriageStorage(vscode.Uri.file(folder)));
  return new TriageStore({ ...deps, placeFor, lockFolder: storageFolder });
}

/** Reads decisions again when another window, git or a person has changed them, or when the setting moves them. */
export function watchTriage(triage: TriageStore, storageFolder: string, log: Logger): vscode.Disposable {
  const reload = (): void => inBackground(triage.reload(), log);
  const storage = new vscode.RelativePattern(vscode.Uri.file(storageFolder), '*.json');
  let midnight: NodeJS.Timeout | undefined;
  // Only where an acceptance can end.
  const waitForMidnight = (): void => {
    clearTimeout(midnight);
    midnight = triage.hasFutureEnds ? setTimeout(reloadAtMidnight, msToMidnight(Date.now())) : undefined;
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
        offerToCopy(triage).catch((error: unknown) => void showError(describeError(error).message));
    }),
    warnOfFailures(triage, log),
    triage.onDidChange(waitForMidnight),
    new vscode.Disposable(() => clearTimeout(midnight)),
    // Watchers miss excluded files and some network disks, so decisions are read again when the window gets the focus.
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) reload();
    }),
  );
}

function msToMidnight(now: number): number {
  return new Date(now).setHours(24, 0, 0, 0) - now;
}

/** After the setting has moved the decisions, offers to copy those that the new place does not have. */
async function offerToCopy(triage: TriageStore): Promise<void> {
  const before = triage.decisions();
  await triage.reload();
  const lacking = triage.withoutDecision(before);
  const count = [...lacking.values()].reduce((sum, { length }) => sum + length, 0);
  if (count === 0) return;
  const t = vscode.l10n.t;
  const copy = t('Copy Decisions');
  const message = t(
    'Triage decisions are now saved in a different place. It has no decisions yet for {0}. Copy them there?',
    countFindings(count),
  );
  if ((await showInformation(message, copy, t('Leave Findings Open'))) === copy)
    await triage.importDecisions(lacking);
}

/** Warns once about each file that cannot be read, and again if it becomes unreadable again. */
function warnOfFailures(triage: TriageStore, log: Logger): Disposable {
  let warned: ReadonlySet<string> = new Set();
  return triage.onDidChange(() => {
    const failures = triage.failures();
    const nameOf = ({ kind, data }: (typeof failures)[number]): string => `${kind} ${data.subject ?? ''}`;
    for (const failure of failures.filter((each) => !warned.has(nameOf(each)))) {
      const { message, actions } = describeError(failure);
      offerErrorActions(showWarning(message, ...actions), log);
    }
    warned = new Set(failures.map(nameOf));
  });
}
