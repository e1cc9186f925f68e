import * as vscode from 'vscode';
import type { Run } from '../../core/run/state/run.ts';
import { onRun } from '../runs/pickRun.ts';
import type { MessageAction } from '../showMessage.ts';

const t = vscode.l10n.t;

export interface ErrorMessage {
  readonly message: string;
  readonly actions: readonly MessageAction[];
}

export type Message = readonly [message: string, ...actions: readonly MessageAction[]];

export type Messages<Kind extends string> = Readonly<Record<Kind, () => Message>>;

export function signInAgain(run?: Pick<Run, 'id'>): MessageAction {
  const title = t('Sign In…');
  return run === undefined
    ? { title, command: 'whitebox.signIn' }
    : onRun(run, title, 'whitebox.signInForRun');
}

export function trackRunAction(): MessageAction {
  return { title: t('Track Existing Run by ID…'), command: 'whitebox.trackRun' };
}

export function showLog(): MessageAction {
  return { title: t('Show Log'), command: 'whitebox.showLog' };
}

export function showRunsAction(): MessageAction {
  return { title: t('Show Runs'), command: 'whitebox.runs.focus' };
}

export function openFile(path = ''): MessageAction {
  return { title: t('Open File'), command: 'vscode.open', arguments: [vscode.Uri.file(path)] };
}

export function openAsText(path = ''): MessageAction {
  const title = t('Open as Text');
  return { title, command: 'vscode.openWith', arguments: [vscode.Uri.file(path), 'default'] };
}

export function openSetting(key: string): MessageAction {
  const title = t('Open Settings');
  return { title, command: 'workbench.action.openSettings', arguments: [key] };
}

/** The sentences are empty where VS Code retries by itself. */
export type RetryAdvice = Readonly<Record<'again' | 'later', string>>;

export function retryAdvice(isRetried: boolean): RetryAdvice {
  return isRetried
    ? { again: '', later: '' }
    : { again: ` ${t('Try again.')}`, later: ` ${t('Try again later.')}` };
}

/** Logs errors with `id` and shows them, rather than throwing them. */
export type Attempt = (id: string, work: () => Promise<void>) => Promise<unknown>;
