import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type * as vscode from 'vscode';
import { Accounts } from '../../../../src/editor/account/accounts.ts';
import { signOut } from '../../../../src/editor/account/signIn.ts';
import { silent } from '../../../silentLog.ts';
import { watchMessages } from '../../dialogs.ts';
import { resetUserSettings, setUserSettings } from '../../userSettings.ts';

const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
const here = { baseUrl: 'https://here.test/v1', organizationId: 'present' };
const there = { baseUrl: 'https://there.test:8443/v1', organizationId: 'former' };

describe('signing out', () => {
  let kept: Map<string, string>;
  let accounts: Accounts;

  beforeEach(async () => {
    kept = new Map();
    const secrets = {
      keys: () => Promise.resolve([...kept.keys()]),
      store: (key: string, value: string) => Promise.resolve(void kept.set(key, value)),
      delete: (key: string) => Promise.resolve(void kept.delete(key)),
    } as unknown as vscode.SecretStorage;
    accounts = new Accounts(secrets, { clock, log: silent, random: () => 0.5 });
    await setUserSettings({
      'whitebox.baseUrl': here.baseUrl,
      'whitebox.organizationId': here.organizationId,
    });
  });

  afterEach(resetUserSettings);

  const said = async (): Promise<readonly string[]> => {
    const messages = watchMessages(() => undefined);
    await signOut(accounts);
    return messages.shown.map(({ text }) => text);
  };

  it('forgets the tokens of all accounts, without a question', async () => {
    await accounts.save(here, 'token-here');
    await accounts.save(there, 'token-there');
    const [text, ...more] = await said();
    assert.match(text ?? '', /^Signed out\. All tokens were removed from this machine/);
    assert.deepEqual([more, [...kept.keys()]], [[], []]);
    assert.deepEqual(await said(), ['You weren’t signed in.']);
  });
});
