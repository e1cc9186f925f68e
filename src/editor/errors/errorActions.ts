import * as vscode from 'vscode';
import type { Logger } from '../../core/ports.ts';
import type { Run } from '../../core/run/state/run.ts';
import { onRun } from '../runs/pickRun.ts';

/** What a button in an error message runs. */
export interface ErrorAction {
  readonly title: string;
  readonly command: string;
  readonly arguments?: unknown[];
}

/** A sentence that says what to do next, and the buttons that do it. */
export interface ErrorMessage {
  readonly message: string;
  readonly actions: readonly ErrorAction[];
}

/** A sentence and its buttons, as they are written down. */
export type Message = readonly [message: string, ...actions: readonly ErrorAction[]];

/** The message for each kind of error. */
export type Messages<Kind extends string> = Readonly<Record<Kind, () => Message>>;

/** Signs in to the account in the settings, or, for a run, to the run's own account. */
export function signInAgain(run?: Pick<Run, 'id'>): ErrorAction {
  const title = vscode.l10n.t('Sign In…');
  return run === undefined
    ? { title, command: 'whitebox.signIn' }
    : onRun(run, title, 'whitebox.signInForRun');
}

/** Tracks a run that was started elsewhere. */
export function trackRun(): ErrorAction {
  return { title: vscode.l10n.t('Track Existing Run by ID…'), command: 'whitebox.trackRun' };
}

/** Opens the log. */
export function showLog(): ErrorAction {
  return { title: vscode.l10n.t('Show Log'), command: 'whitebox.showLog' };
}

/** Brings the Runs view to the front. */
export function showRuns(): ErrorAction {
  return { title: vscode.l10n.t('Show Runs'), command: 'whitebox.runs.focus' };
}

/** Opens a file as its default editor shows it. */
export function openFile(path = ''): ErrorAction {
  return { title: vscode.l10n.t('Open File'), command: 'vscode.open', arguments: [vscode.Uri.file(path)] };
}

/** Opens a file in the text editor, also where another editor is the default for its type. */
export function openAsText(path = ''): ErrorAction {
  const title = vscode.l10n.t('Open as Text');
  return { title, command: 'vscode.openWith', arguments: [vscode.Uri.file(path), 'default'] };
}

/** Opens the settings at one of them. */
export function openSetting(key: string): ErrorAction {
  const title = vscode.l10n.t('Open Settings');
  return { title, command: 'workbench.action.openSettings', arguments: [key] };
}

/** Opens the user's `settings.json`. */
export function openSettingsFile(): ErrorAction {
  const title = vscode.l10n.t('Open Settings File');
  return { title, command: 'workbench.action.openSettingsJson' };
}

/** Does work for a person: errors are logged with `id`, and shown, not thrown. */
export type Attempt = (id: string, work: () => Promise<void>) => Promise<unknown>;

/** Runs the pressed button's command; undefined where the message was dismissed. */
export async function doErrorAction(action: ErrorAction | undefined): Promise<void> {
  if (action !== undefined) await vscode.commands.executeCommand(action.command, ...(action.arguments ?? []));
}

/** Runs the button that is pressed in a message, without waiting for it; failures are logged. */
export function offerErrorActions(pressed: Thenable<ErrorAction | undefined>, log: Logger): void {
  pressed.then(doErrorAction).then(undefined, (error: unknown) => log.error(String(error)));
}
