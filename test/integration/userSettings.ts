import * as vscode from 'vscode';

/** Previous values of changed settings. */
const former = new Map<string, unknown>();

/** Sets user settings such as `whitebox.baseUrl`; undefined removes one. */
export async function setUserSettings(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const configuration = vscode.workspace.getConfiguration();
  for (const [key, value] of Object.entries(settings)) {
    if (!former.has(key)) former.set(key, configuration.inspect(key)?.globalValue);
    await configuration.update(key, value, vscode.ConfigurationTarget.Global);
  }
}

/** Restores changed settings; unchanged ones are not written, since that is slow. */
export async function resetUserSettings(): Promise<void> {
  const changed = [...former];
  former.clear();
  for (const [key, value] of changed)
    await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
}

export function printing(token: string): string[] {
  return [process.execPath, '-e', `process.stdout.write(${JSON.stringify(token)})`];
}
