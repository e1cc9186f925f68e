import * as vscode from 'vscode';
import type { Logger } from '../../core/ports.ts';
import type { Run } from '../../core/run/state/run.ts';
import { onRun } from '../runs/pickRun.ts';

const t = vscode.l10n.t;

export interface ErrorAction {
  readonly title: string;
  readonly command: string;
  readonly arguments?: unknown[];
}

export interface ErrorMessage {
  readonly message: string;
  readonly actions: readonly ErrorAction[];
}

export type Message = readonly [message: string, ...actions: readonly ErrorAction[]];

export type Messages<Kind extends string> = Readonly<Record<Kind, () => Message>>;

/** Signs in to the account of the run, else to the one in the settings. */
export function signInAgain(run?: Pick<Run, 'id'>): ErrorAction {
  const title = t('Sign In…');
  return run === undefined
    ? { title, command: 'whitebox.signIn' }
    : onRun(run, title, 'whitebox.signInForRun');
}

export function trackRun(): ErrorAction {
  return { title: t('Track Existing Run by ID…'), command: 'whitebox.trackRun' };
}

export function showLog(): ErrorAction {
  return { title: t('Show Log'), command: 'whitebox.showLog' };
}

export function showRuns(): ErrorAction {
  return { title: t('Show Runs'), command: 'whitebox.runs.focus' };
}

export function openFile(path = ''): ErrorAction {
  return { title: t('Open File'), command: 'vscode.open', arguments: [vscode.Uri.file(path)] };
}

/** Opens a file in the text editor, even if a different editor is the default for its type. */
export function openAsText(path = ''): ErrorAction {
  const title = t('Open as Text');
  return { title, command: 'vscode.openWith', arguments: [vscode.Uri.file(path), 'default'] };
}

export function openSetting(key: string): ErrorAction {
  const title = t('Open Settings');
  return { title, command: 'workbench.action.openSettings', arguments: [key] };
}

export function openSettingsFile(): ErrorAction {
  const title = t('Open Settings File');
  return { title, command: 'workbench.action.openSettingsJson' };
}

/** Does work for a person; errors are logged with `id` and shown, not thrown. */
export type Attempt = (id: string, work: () => Promise<void>) => Promise<unknown>;

export async function doErrorAction(action: ErrorAction | undefined): Promise<void> {
  if (action !== undefined) await vscode.commands.executeCommand(action.command, ...(action.arguments ?? []));
}

/** Runs the pressed button without waiting for the person; failures are logged. */
export function offerErrorActions(pressed: Thenable<ErrorAction | undefined>, log: Logger): void {
  pressed.then(doErrorAction).then(undefined, (error: unknown) => log.error(String(error)));
}
