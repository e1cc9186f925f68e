import * as vscode from 'vscode';
import { AssessmentError } from '../core/errors.ts';

/** Throws `restricted` in Restricted Mode: buttons, links and tools reach a command that menus do not offer there. */
export function requireTrust(): void {
  if (!vscode.workspace.isTrusted) throw new AssessmentError('restricted');
}
