import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { Accounts } from '../../../src/editor/accounts.ts';
import { describeFailure } from '../../../src/editor/messages.ts';
import { type Destination, readRawDestination } from '../../../src/editor/settings.ts';
import { signIn } from '../../../src/editor/signIn.ts';
import { watchMessages } from '../messages.ts';
import { endedRun } from '../storedRuns.ts';
import { resetUserSettings, setUserSettings } from '../userSettings.ts';

const former = { baseUrl: 'https://former.test/v1', organizationId: 'former' };
const run = endedRun({ id: 'invented', folder: '/shop', ...former });

describe('the token of a run whose service or organization the settings name no more', () => {
  const { createInputBox } = vscode.window;

  afterEach(async () => {
    vscode.window.createInputBox = createInputBox;
    await resetUserSettings();
  });

  it('F83 is asked for by name, with a button that passes the run', () => {
    for (const kind of ['unauthorized', 'notSignedIn'] as const) {
      const { message, remedies } = describeFailure({ kind, origin: 'https://former.test' }, run);
      assert.match(message, /https:\/\/former\.test, organization former/);
      assert.deepEqual(remedies[0]?.arguments, [{ kind: 'run', id: 'invented' }]);
    }
  });

  it('F83 is the one thing asked for, kept for the run, and leaves the settings as they are', async () => {
    await setUserSettings({
      'whitebox.baseUrl': 'https://present.test/v1',
      'whitebox.organizationId': 'present',
    });
    const prompts: string[] = [];
    vscode.window.createInputBox = () => {
      const input = createInputBox();
      const accepted = new vscode.EventEmitter<void>();
      Object.defineProperty(input, 'onDidAccept', { value: accepted.event });
      input.show = () => {
        prompts.push(input.prompt ?? '');
        input.value = ' invented-token ';
        accepted.fire();
      };
      return input;
    };
    const checked: [Destination, string][] = [];
    const kept: [Destination, string][] = [];
    const into =
      (list: [Destination, string][]) =>
      (place: Destination, token: string): Promise<void> => {
        list.push([place, token]);
        return Promise.resolve();
      };
    const messages = watchMessages();
    const accounts = { check: into(checked), keep: into(kept) } as unknown as Accounts;
    assert.equal(await signIn(accounts, run), true);
    messages.end();
    assert.equal(prompts.length, 1);
    assert.match(prompts[0] ?? '', /Access token or API key for https:\/\/former\.test, organization former/);
    assert.deepEqual([checked, kept], [[[former, 'invented-token']], [[former, 'invented-token']]]);
    assert.deepEqual(readRawDestination(), { baseUrl: 'https://present.test/v1', organizationId: 'present' });
  });
});
