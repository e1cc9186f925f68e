import { after, afterEach, before, beforeEach } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../service/assessmentService.ts';
import { printing, resetUserSettings, setUserSettings } from './userSettings.ts';

/** Signs in to a service by user settings, with additional settings. */
export function signIn(
  { baseUrl, organizationId, token }: AssessmentService,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return setUserSettings({
    'whitebox.baseUrl': baseUrl,
    'whitebox.organizationId': organizationId,
    'whitebox.tokenCommand': printing(token),
    ...settings,
  });
}

/** A service for a suite; each test is signed in to it by user settings, which are reset afterwards. */
export function signInEachTest(settings: Readonly<Record<string, unknown>> = {}): () => AssessmentService {
  let service: AssessmentService | undefined;
  before(async () => {
    service = await startService();
  });
  beforeEach(() => signIn(service!, settings));
  afterEach(resetUserSettings);
  after(() => service?.close());
  return () => service!;
}

export function call(command: string, ...args: unknown[]): Thenable<unknown> {
  return vscode.commands.executeCommand(`whitebox.${command}`, ...args);
}
