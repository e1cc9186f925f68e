import * as vscode from 'vscode';

/** Does something while the extension is told that the workspace is not trusted; the tests' own window always is. */
export async function inRestrictedMode<T>(work: () => Thenable<T>): Promise<T> {
  Object.defineProperty(vscode.workspace, 'isTrusted', { get: () => false, configurable: true });
  try {
    return await work();
  } finally {
    Object.defineProperty(vscode.workspace, 'isTrusted', { get: () => true, configurable: true });
  }
}
