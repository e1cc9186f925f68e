import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import type { Logger } from '../../core/ports.ts';
import { needsNote, TRIAGE_STATES, type TriageState } from '../../core/findings/triage/triage.ts';
import { countFindings } from '../formats.ts';
import { severityLabel, titleOfFinding, triageLabel } from '../labels.ts';
import { showError, showInformation } from '../showMessage.ts';

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
  const takeBack = await deps.findings.setTriage(shown, state, note);
  const undo = t('Undo');
  const offer = async (): Promise<void> => {
    const message = t('{0}: {1}', subjectLabel(shown), triageLabel(state));
    if ((await showInformation(message, undo)) !== undo) return;
    const changed = await takeBack();
    if (changed > 0)
      void showInformation(t('Decided again since, and left as it is: {0}.', countFindings(changed)));
  };
  // Not awaited: the message may stay open for hours.
  offer().catch((error: unknown) => {
    deps.log.error(`The decision could not be taken back: ${String(error)}`);
    void showError(t('The decision could not be taken back. It stands as it was made.'));
  });
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
    const [only] = present;
    return {
      label: triageLabel(state),
      iconPath: new vscode.ThemeIcon(present.length > 0 ? 'check' : 'blank'),
      description:
        present.length === 0
          ? state === 'fixed' && isProposed
            ? t('proposed: not found any more, and the code changed')
            : ''
          : shown.length === 1
            ? t('now')
            : t('now: {0}', countFindings(present.length)),
      ...(present.length === 1 && only !== undefined && only.triage.note !== ''
        ? { detail: only.triage.note }
        : {}),
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
  const known = shown.find(({ triage }) => triage.state === state)?.triage.note ?? '';
  const last = isRequired ? memory.get<string>(noteKey, '') : '';
  const note = await vscode.window.showInputBox({
    title: `${triageLabel(state)}: ${subjectLabel(shown)}`,
    prompt: isRequired ? t('Why? Whoever reads the findings later has to know.') : t('Why? May stay empty.'),
    value: known === '' ? last : known,
    ignoreFocusOut: true,
    validateInput: (text) =>
      isRequired && text.trim() === '' ? t('A reason is needed for this state.') : undefined,
  });
  const trimmed = note?.trim();
  if (isRequired && trimmed !== undefined) await memory.update(noteKey, trimmed);
  return trimmed;
}

/** What a command calls its findings: one by its title, several by their number. */
export function subjectLabel(shown: readonly ShownFinding[]): string {
  const [only] = shown;
  if (shown.length !== 1 || only === undefined) return countFindings(shown.length);
  const { finding } = only;
  return `${severityLabel(finding.severity)}: ${titleOfFinding(finding)}`;
}
