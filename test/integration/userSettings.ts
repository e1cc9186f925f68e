import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { afterTest } from './dialogs.ts';

export type UserSettings = Readonly<Record<string, unknown>>;

/** Sets user settings such as `whitebox.baseUrl` until the test ends; undefined removes one. */
export async function setUserSettings(settings: UserSettings): Promise<void> {
  const former = await changeUserSettings(settings);
  afterTest(() => changeUserSettings(former));
}

/**
 * Returns the former values of the changed settings. A setting that already has its value is not
 * written, since writing is slow.
 */
export async function changeUserSettings(settings: UserSettings): Promise<UserSettings> {
  const former: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings)) {
    const configuration = vscode.workspace.getConfiguration();
    const now = configuration.inspect(key)?.globalValue;
    if (isDeepStrictEqual(now, value)) continue;
    await configuration.update(key, value, vscode.ConfigurationTarget.Global);
    former[key] = now;
  }
  return former;
}

export function printing(token: string): string[] {
  return [process.execPath, '-e', `process.stdout.write(${JSON.stringify(token)})`];
}
