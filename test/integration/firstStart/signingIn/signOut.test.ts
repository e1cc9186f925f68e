import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'mocha';
import type * as vscode from 'vscode';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { Accounts } from '../../../../src/editor/account/accounts.ts';
import { signOut } from '../../../../src/editor/account/signIn.ts';
import { silent } from '../../../silentLog.ts';
import { type ShownMessage, watchMessages } from '../../dialogs.ts';
import { partly } from '../../doubles.ts';
import { setUserSettings } from '../../userSettings.ts';

const here = { baseUrl: 'https://here.test/v1', organizationId: 'present' };
const there = { baseUrl: 'https://there.test:8443/v1', organizationId: 'former' };

describe('signing out', () => {
  let kept: Map<string, string>;
  let accounts: Accounts;

  beforeEach(async () => {
    kept = new Map();
    const secrets = partly<vscode.SecretStorage>({
      keys: () => Promise.resolve([...kept.keys()]),
      store: (key: string, value: string) => Promise.resolve(void kept.set(key, value)),
      delete: (key: string) => Promise.resolve(void kept.delete(key)),
    });
    accounts = new Accounts(secrets, { clock, log: silent, random: () => 0.5 });
    await setUserSettings({
      'whitebox.baseUrl': here.baseUrl,
      'whitebox.organizationId': here.organizationId,
    });
  });

  const signedOut = async (pressed?: string): Promise<readonly ShownMessage[]> => {
    const { shown } = watchMessages(() => pressed);
    await signOut(accounts);
    return shown;
  };

  it('forgets the only saved token without a question', async () => {
    await accounts.save(here, 'token-here');
    const [said, ...more] = await signedOut();
    assert.match(said?.text ?? '', /^Signed out\. All tokens were removed from this machine/);
    assert.deepEqual([more, [...kept.keys()]], [[], []]);
    assert.equal((await signedOut())[0]?.text, 'You weren’t signed in.');
  });

  it('asks before it forgets the tokens of other accounts, naming them', async () => {
    await accounts.save(here, 'token-here');
    await accounts.save(there, 'token-there');
    const [question, ...more] = await signedOut();
    assert.match(question?.detail ?? '', /\nhttps:\/\/there\.test:8443, organization former$/);
    assert.deepEqual([question?.isModal, question?.buttons, more], [true, ['Sign Out of All Accounts'], []]);
    assert.deepEqual([...kept.values()], ['token-here', 'token-there']);
    const [, said] = await signedOut('Sign Out of All Accounts');
    assert.match(said?.text ?? '', /^Signed out\. All tokens were removed/);
    assert.equal(kept.size, 0);
  });

  it('says that a token command signs in again', async () => {
    await setUserSettings({ 'whitebox.tokenCommand': ['print-a-token'] });
    const [said] = await signedOut();
    assert.match(said?.text ?? '', /^The token command in your settings still signs you in\./);
    assert.deepEqual(said?.buttons, ['Open Settings']);
  });
});
