import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { Accounts } from '../../../../src/editor/account/accounts.ts';
import { describeError, describeFailure } from '../../../../src/editor/errors/errorMessages.ts';
import { readRawDestination } from '../../../../src/editor/settings.ts';
import { signIn } from '../../../../src/editor/account/signIn.ts';
import { messages, replace } from '../../dialogs.ts';
import { partly } from '../../doubles.ts';
import { endedRun } from '../../storedRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

const former = { baseUrl: 'https://former.test/v1', organizationId: 'former' };
const run = endedRun({ id: 'invented', folder: '/shop', ...former });

const { createInputBox } = vscode.window;

/**
 * Accepts the default of each question, and answers the last with a token; returns the questions.
 */
function answerQuestions(): readonly string[] {
  const prompts: string[] = [];
  replace(vscode.window, {
    createInputBox: () => {
      const input = createInputBox();
      const accepted = new vscode.EventEmitter<void>();
      Object.defineProperty(input, 'onDidAccept', { value: accepted.event });
      input.show = () => {
        prompts.push(input.prompt ?? '');
        if (input.password) input.value = ' invented-token ';
        accepted.fire();
      };
      return input;
    },
  });
  return prompts;
}

/** Accounts that accept every token, with the checked and saved ones. */
function willingAccounts(save = (): Promise<void> => Promise.resolve()) {
  const checked: unknown[] = [];
  const kept: unknown[] = [];
  const accounts = partly<Accounts>({
    check: (location: object, { token }: { token?: string }) =>
      Promise.resolve(void checked.push([location, token])),
    save: (location: object, token: string) => save().then(() => void kept.push([location, token])),
  });
  return { accounts, checked, kept };
}

const configure = (account: typeof former): Promise<void> =>
  setUserSettings({
    'whitebox.baseUrl': account.baseUrl,
    'whitebox.organizationId': account.organizationId,
  });

describe('the token of a run whose service or organization is no longer configured', () => {
  it('F83 is asked for by name, with a button that passes the run', () => {
    for (const kind of ['unauthorized', 'notSignedIn'] as const) {
      const { message, actions } = describeFailure({ kind, origin: 'https://former.test' }, run);
      assert.match(message, /https:\/\/former\.test, organization former/);
      assert.deepEqual(actions[0]?.arguments, [{ kind: 'run', id: 'invented' }]);
    }
  });

  it('F83 is the only question, is saved for the run, and leaves the settings unchanged', async () => {
    const present = { baseUrl: 'https://present.test/v1', organizationId: 'present' };
    await configure(present);
    const prompts = answerQuestions();
    const { accounts, checked, kept } = willingAccounts();
    assert.equal(await signIn(accounts, run), true);
    assert.equal(prompts.length, 1);
    assert.match(prompts[0] ?? '', /Access token or API key for https:\/\/former\.test, organization former/);
    assert.deepEqual([checked, kept], [[[former, 'invented-token']], [[former, 'invented-token']]]);
    assert.deepEqual(readRawDestination(), present);
  });
});

describe('an accepted token', () => {
  it('F169 that the secret storage doesn’t save is named with what to do, and can be entered again', async () => {
    await configure(former);
    const prompts = answerQuestions();
    const refusals = [undefined, 'no keyring'];
    const { accounts, kept } = willingAccounts(() =>
      refusals.length === 0
        ? Promise.resolve()
        : Promise.reject(new AssessmentError('secretStorage', { subject: 'save', detail: refusals.shift() })),
    );
    messages.press = () => 'Retry';
    assert.equal(await signIn(accounts, run), true);
    assert.deepEqual(
      messages.shown.slice(0, 2).map(({ text }) => text),
      [
        'Sign-in failed: VS Code’s secret storage isn’t responding, so the token or password might not be saved. Unlock your system’s keyring, or set one up if there is none. Try again.',
        'Sign-in failed: VS Code’s secret storage can’t save the token or password (no keyring). Unlock your system’s keyring, or set one up if there is none. Try again.',
      ],
    );
    assert.deepEqual([prompts.length, kept.length], [3, 1]);
  });

  it('is saved even if an error in the settings file prevents the rest; the message links to the file', async () => {
    await configure(former);
    const refuse = (): Promise<void> => Promise.reject(new Error('Unable to write into user settings.'));
    const { getConfiguration } = vscode.workspace;
    replace(vscode.workspace, {
      getConfiguration: (section?: string) => ({ ...getConfiguration(section), update: refuse }),
    });
    answerQuestions();
    const { accounts, kept } = willingAccounts();
    const message = await signIn(accounts).then(() => undefined, describeError);
    assert.deepEqual(kept, [[former, 'invented-token']]);
    assert.match(message?.message ?? '', /settings file\. Correct .*: Unable to write into user settings\./);
    assert.deepEqual(
      message?.actions.map(({ command }) => command),
      ['workbench.action.openSettingsJson'],
    );
  });
});
