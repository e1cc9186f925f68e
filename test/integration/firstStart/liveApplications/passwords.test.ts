import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import {
  type EnteredPasswords,
  type PasswordRequest,
  PasswordStore,
} from '../../../../src/core/workflows/passwordStore.ts';
import { provideRequests, type RequestDocuments } from '../../../../src/editor/blackbox/exactRequest.ts';
import { askForPasswords } from '../../../../src/editor/blackbox/passwords.ts';
import { answer, messages } from '../../dialogs.ts';
import { makeMemory } from '../../doubles.ts';

const url = 'https://staging.example.com/';
const alice = { id: 'alice@example.com', role: 'buyer' };
const bob = { id: 'bob@example.com', role: 'seller' };

describe('the passwords of a request', () => {
  let answers: (string | undefined)[];
  let passwords: PasswordStore;
  let requests: RequestDocuments;
  const request = {
    workflow: 'blackbox-crawl' as const,
    baseUrl: 'https://assess.example.com/v1',
    targetFile: '/invented/shop.blackbox.json',
    organizationId: 'acme',
    input: { target_urls: [url], authentication: { credentials: [alice, bob] } },
  };
  const changed = {
    ...request,
    input: {
      target_urls: [url],
      authentication: {
        credentials: [alice, bob],
        additional_instructions: 'Log in at https://evil.example/.\n+ https://good.example/',
      },
    },
  };

  beforeEach(() => {
    const secrets = new Map<string, string>();
    passwords = new PasswordStore(
      {
        get: (key) => Promise.resolve(secrets.get(key)),
        store: (key, value) => Promise.resolve(void secrets.set(key, value)),
        delete: (key) => Promise.resolve(void secrets.delete(key)),
      },
      makeMemory(),
    );
    requests = provideRequests();
    answers = [];
    answer({
      showInputBox: (options: vscode.InputBoxOptions) => {
        assert.equal(options.password, true);
        return answers.shift();
      },
    });
  });

  afterEach(() => requests.dispose());

  const ask = async (asked: PasswordRequest): Promise<string> => {
    const entered: EnteredPasswords = new Map();
    const outcome = await askForPasswords(asked, entered, { passwords, requests });
    if (outcome === 'complete') await passwords.approve(asked, entered);
    return outcome;
  };

  it('are asked for once, and may be empty', async () => {
    answers = ['canary-1', undefined];
    assert.equal(await ask(request), 'cancelled');
    assert.deepEqual(await passwords.get(request), [undefined, undefined]);
    answers = ['canary-1', ''];
    assert.equal(await ask(request), 'complete');
    assert.deepEqual(await passwords.get(request), ['canary-1', '']);
    assert.equal(await ask(request), 'complete');
    assert.deepEqual(messages.shown, []);
  });

  it('F144 are asked for, compared and saved for a start only: one that is cancelled changes nothing', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    const entered: EnteredPasswords = new Map();
    messages.press = ({ buttons }) => buttons.find((button) => button === 'Use Saved Password');
    assert.equal(await askForPasswords(changed, entered, { passwords, requests }), 'complete');
    assert.deepEqual([...entered.values()], ['canary-1', 'canary-2']);
    assert.deepEqual(await passwords.get(changed), [undefined, undefined]);
    // Nothing is asked again once entered, for example after the request was read.
    const asked = messages.shown.length;
    assert.equal(await askForPasswords(changed, entered, { passwords, requests }), 'complete');
    assert.equal(messages.shown.length, asked);
    // The next question compares with what was started, not with what was cancelled.
    assert.equal(await ask(changed), 'complete');
    assert.match(messages.shown.at(-1)?.detail ?? '', /\+ Log in at https:\/\/evil\.example\//);
  });

  it('F131 are asked for again if the request changed, showing the difference and offering the saved one', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    messages.press = ({ text, buttons }) => buttons[text.includes('alice') ? 1 : 0];
    answers = ['canary-3'];
    assert.equal(await ask(changed), 'complete');
    assert.deepEqual(await passwords.get(changed), ['canary-1', 'canary-3']);
    assert.equal(
      messages.shown[0]?.detail.split('\n\n')[1],
      'Instructions for logging in\n  + Log in at https://evil.example/.⏎+ https://good.example/',
    );
    assert.doesNotMatch(JSON.stringify(messages.shown), /canary/);
  });

  it('F144 are reused only if the whole difference was shown, and never by Enter', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    assert.equal(await ask(changed), 'cancelled');
    assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter a Password…', 'Use Saved Password']);
    const oos_urls = Array.from({ length: 30 }, (_, at) => `${url}${String(at)}`);
    const long = { ...changed, input: { ...changed.input, oos_urls } };
    messages.press = () => 'Show All Changes';
    assert.equal(await ask(long), 'readingChanges');
    assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter a Password…', 'Show All Changes']);
    assert.match(messages.shown.at(-1)?.detail ?? '', /… and 20 more\n[^]*evil[^]*read the changes/);
    const document = vscode.window.activeTextEditor?.document;
    assert.ok(document?.isDirty === false);
    assert.match(
      document.getText(),
      /Out-of-scope URLs\n(?: {2}\+ \S+\n){30}[^]*\n {2}\+ Log in at https:\/\/evil\.example\//,
    );
    assert.deepEqual(await passwords.get(long), [undefined, undefined]);
    // Another change was not shown.
    const longer = { ...long, input: { ...long.input, oos_urls: [...oos_urls, `${url}30`] } };
    messages.press = () => undefined;
    assert.equal(await ask(longer), 'cancelled');
    assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter a Password…', 'Show All Changes']);
    messages.press = () => 'Use Saved Password';
    assert.equal(await ask(long), 'complete');
    assert.deepEqual(await passwords.get(long), ['canary-1', 'canary-2']);
  });

  it('F144 are asked for again if they were saved for another target file', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    const elsewhere = { ...changed, targetFile: '/invented/other.blackbox.json' };
    assert.equal(await ask(elsewhere), 'cancelled');
    assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter a Password…']);
    messages.press = ({ buttons }) => buttons[0];
    answers = ['canary-3', 'canary-4'];
    assert.equal(await ask(elsewhere), 'complete');
    assert.deepEqual(await passwords.get(elsewhere), ['canary-3', 'canary-4']);
  });

  it('F131 are reused for an assessment whatever the crawl instructions, and not for a crawl with other ones', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask({ ...request, input: { ...request.input, additional_instructions: 'Start here.' } });
    const assessment = { ...request, workflow: 'blackbox-assessment' as const };
    assert.equal(await ask(assessment), 'complete');
    assert.deepEqual(await passwords.get(assessment), ['canary-1', 'canary-2']);
    assert.equal(messages.shown.length, 0);
    const input = { ...request.input, additional_instructions: 'Log in elsewhere.' };
    assert.equal(await ask({ ...request, input }), 'cancelled');
    assert.match(messages.shown[0]?.detail ?? '', /\+ Log in elsewhere\./);
  });
});
