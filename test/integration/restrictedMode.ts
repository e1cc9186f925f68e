import * as vscode from 'vscode';

/**
 * Does something while the extension sees an untrusted workspace; the test window itself is always
 * trusted.
 */
export async function inRestrictedMode<T>(work: () => Thenable<T>): Promise<T> {
  Object.defineProperty(vscode.workspace, 'isTrusted', { get: () => false, configurable: true });
  try {
    return await work();
  } finally {
    Object.defineProperty(vscode.workspace, 'isTrusted', { get: () => true, configurable: true });
  }
}
