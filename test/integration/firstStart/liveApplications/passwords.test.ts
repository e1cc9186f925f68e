import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'mocha';
import type * as vscode from 'vscode';
import {
  type EnteredPasswords,
  type PasswordRequest,
  PasswordStore,
} from '../../../../src/core/workflows/passwordStore.ts';
import { askForPasswords } from '../../../../src/editor/blackbox/passwords.ts';
import { answer, messages } from '../../dialogs.ts';
import { makeMemory } from '../../doubles.ts';

const url = 'https://staging.example.com/';
const alice = { id: 'alice@example.com', role: 'buyer' };
const bob = { id: 'bob@example.com', role: 'seller' };

describe('the passwords of a request', () => {
  let answers: (string | undefined)[];
  let passwords: PasswordStore;
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
    answers = [];
    answer({
      showInputBox: (options: vscode.InputBoxOptions) => {
        assert.equal(options.password, true);
        return answers.shift();
      },
    });
  });

  const ask = async (asked: PasswordRequest): Promise<boolean> => {
    const entered: EnteredPasswords = new Map();
    const isComplete = await askForPasswords(asked, entered, passwords);
    if (isComplete) await passwords.approve(asked, entered);
    return isComplete;
  };

  it('are asked for once, and may be empty', async () => {
    answers = ['canary-1', undefined];
    assert.equal(await ask(request), false);
    assert.deepEqual(await passwords.get(request), [undefined, undefined]);
    answers = ['canary-1', ''];
    assert.equal(await ask(request), true);
    assert.deepEqual(await passwords.get(request), ['canary-1', '']);
    assert.equal(await ask(request), true);
    assert.deepEqual(messages.shown, []);
  });

  it('F144 are asked for, compared and saved for a start only: one that is cancelled changes nothing', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    const entered: EnteredPasswords = new Map();
    messages.press = ({ buttons }) => buttons.find((button) => button === 'Use Saved Password');
    assert.equal(await askForPasswords(changed, entered, passwords), true);
    assert.deepEqual([...entered.values()], ['canary-1', 'canary-2']);
    assert.deepEqual(await passwords.get(changed), [undefined, undefined]);
    // Not asked again once entered, for example after the request was read.
    const asked = messages.shown.length;
    assert.equal(await askForPasswords(changed, entered, passwords), true);
    assert.equal(messages.shown.length, asked);
    // The next question compares with what was started, not with what was cancelled.
    assert.equal(await ask(changed), true);
    assert.match(messages.shown.at(-1)?.detail ?? '', /\+ Log in at https:\/\/evil\.example\//);
  });

  it('F131 are asked for again if the request changed, showing the difference and offering the saved one', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    messages.press = ({ text, buttons }) => buttons[text.includes('alice') ? 1 : 0];
    answers = ['canary-3'];
    assert.equal(await ask(changed), true);
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
    assert.equal(await ask(changed), false);
    assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter a Password…', 'Use Saved Password']);
    const oos_urls = Array.from({ length: 30 }, (_, at) => `${url}${String(at)}`);
    const long = { ...changed, input: { ...changed.input, oos_urls } };
    messages.press = ({ buttons: [first] }) => first;
    answers = ['canary-3', 'canary-4'];
    assert.equal(await ask(long), true);
    assert.deepEqual(messages.shown.at(-1)?.buttons, ['Enter a Password…']);
    assert.match(messages.shown.at(-1)?.detail ?? '', /… and 20 more\n[^]*evil[^]*too long to show\. Enter/);
    assert.deepEqual(await passwords.get(long), ['canary-3', 'canary-4']);
  });

  it('F144 are asked for again if they were saved for another target file', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask(request);
    const elsewhere = { ...changed, targetFile: '/invented/other.blackbox.json' };
    answers = ['canary-3', 'canary-4'];
    assert.equal(await ask(elsewhere), true);
    assert.deepEqual(await passwords.get(elsewhere), ['canary-3', 'canary-4']);
  });

  it('are reused from a crawl for an assessment that differs only in the crawl instructions', async () => {
    answers = ['canary-1', 'canary-2'];
    await ask({ ...request, input: { ...request.input, additional_instructions: 'Start here.' } });
    const assessment = { ...request, workflow: 'blackbox-assessment' as const };
    assert.equal(await ask(assessment), true);
    assert.deepEqual(await passwords.get(assessment), ['canary-1', 'canary-2']);
    assert.deepEqual(messages.shown, []);
  });
});
