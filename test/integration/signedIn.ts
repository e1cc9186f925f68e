import { after, afterEach, beforeEach } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, type ServiceOptions, startService } from '../service/assessmentService.ts';
import { changeUserSettings, printing, setUserSettings, type UserSettings } from './userSettings.ts';

const settingsFor = ({ baseUrl, organizationId, token }: AssessmentService): UserSettings => ({
  'whitebox.baseUrl': baseUrl,
  'whitebox.organizationId': organizationId,
  'whitebox.tokenCommand': printing(token),
});

/** Signs in to a service by user settings until the test ends, with additional settings. */
export function signIn(service: AssessmentService, settings: UserSettings = {}): Promise<void> {
  return setUserSettings({ ...settingsFor(service), ...settings });
}

/**
 * Each test has a service, whose runs take an hour by default. All tests of the suite are signed in
 * to the same account by user settings.
 */
export function signInEachTest(
  settings: UserSettings = {},
  options: ServiceOptions = {},
): () => AssessmentService {
  let service: AssessmentService | undefined;
  let same: ServiceOptions = { runDurationMs: 3_600_000, ...options };
  let former: UserSettings = {};
  beforeEach(async () => {
    service = await startService(same);
    const { baseUrl, organizationId, token } = service;
    same = { ...same, port: Number(new URL(baseUrl).port), organizations: { [organizationId]: [token] } };
    former = { ...(await changeUserSettings({ ...settingsFor(service), ...settings })), ...former };
  });
  afterEach(() => service?.close());
  after(() => changeUserSettings(former));
  return () => service!;
}

export function call(command: string, ...args: unknown[]): Thenable<unknown> {
  return vscode.commands.executeCommand(`whitebox.${command}`, ...args);
}

export const rowOf = (id: string) => ({ kind: 'run', id });
