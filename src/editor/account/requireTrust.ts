import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { Handler } from '../commands.ts';

/** The commands; those that the manifest disables in Restricted Mode throw `restricted` there: keys, links and tasks reach a command that menus do not offer. */
export function requireTrust(
  commands: ReadonlyMap<string, Handler>,
  contributed: readonly { readonly command: string; readonly enablement?: string }[],
): ReadonlyMap<string, Handler> {
  const needTrust = new Set(
    contributed.flatMap(({ command, enablement }) =>
      enablement?.includes('isWorkspaceTrusted') === true ? [command] : [],
    ),
  );
  return new Map(
    Array.from(commands, ([id, handler]) => [
      id,
      (...args) => {
        if (needTrust.has(id) && !vscode.workspace.isTrusted) throw new AssessmentError('restricted');
        return handler(...args);
      },
    ]),
  );
}
