import * as vscode from 'vscode';
import type { Logger } from '../../core/ports.ts';
import type { Run } from '../../core/run/state/run.ts';
import type { RunsNode } from '../runs/runsView.ts';

/** Something that can be done about an error, as a command. */
export interface Remedy {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

/** A button that asks for the service, the organization and the token anew, or for the token alone that this run needs. */
export function signInAgain(run?: Pick<Run, 'id'>): Remedy {
  const title = vscode.l10n.t('Sign In…');
  if (run === undefined) return { title, command: 'whitebox.signIn' };
  const node: RunsNode = { kind: 'run', id: run.id };
  return { title, command: 'whitebox.signInForRun', arguments: [node] };
}

/** A button that asks for a run's ID to watch it again. */
export function trackRun(): Remedy {
  return { title: vscode.l10n.t('Track Existing Run by ID…'), command: 'whitebox.trackRun' };
}

/** A button that opens the extension's log. */
export function showLog(): Remedy {
  return { title: vscode.l10n.t('Show Log'), command: 'whitebox.showLog' };
}

/** A button that opens a file of this machine. */
export function openFile(path = ''): Remedy {
  return { title: vscode.l10n.t('Open File'), command: 'vscode.open', arguments: [vscode.Uri.file(path)] };
}

/** A button that opens a file of this machine as text, whatever editor there is for its kind. */
export function openAsText(path = ''): Remedy {
  const title = vscode.l10n.t('Open as Text');
  return { title, command: 'vscode.openWith', arguments: [vscode.Uri.file(path), 'default'] };
}

/** A button that opens one setting. */
export function openSetting(key: string): Remedy {
  return {
    title: vscode.l10n.t('Open Settings'),
    command: 'workbench.action.openSettings',
    arguments: [key],
  };
}

/** A button that opens the file with the person's own settings. */
export function openSettingsFile(): Remedy {
  return {
    title: vscode.l10n.t('Open Settings File'),
    command: 'workbench.action.openSettingsJson',
  };
}

/** Does what the pressed button offers; nothing when none was pressed. */
export async function doRemedy(remedy: Remedy | undefined): Promise<void> {
  if (remedy !== undefined) await vscode.commands.executeCommand(remedy.command, ...(remedy.arguments ?? []));
}

/** Does what the button offers that is pressed in a message, which nobody waits for; a failure goes to the log. */
export function offerRemedies(pressed: Thenable<Remedy | undefined>, log: Logger): void {
  pressed.then(doRemedy).then(undefined, (error: unknown) => log.error(String(error)));
}
