import * as vscode from 'vscode';

/** What the settings that these tests have changed were before. */
const former = new Map<string, unknown>();

/** Sets a person's own settings, such as `whitebox.baseUrl`; undefined takes one back. */
export async function setUserSettings(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const configuration = vscode.workspace.getConfiguration();
  for (const [key, value] of Object.entries(settings)) {
    if (!former.has(key)) former.set(key, configuration.inspect(key)?.globalValue);
    await configuration.update(key, value, vscode.ConfigurationTarget.Global);
  }
}

/** Takes back what was set; a setting that no test has changed is not written, which takes its time. */
export async function resetUserSettings(): Promise<void> {
  const changed = [...former];
  former.clear();
  for (const [key, value] of changed)
    await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
}

export function printing(token: string): string[] {
  return [process.execPath, '-e', `process.stdout.write(${JSON.stringify(token)})`];
}
