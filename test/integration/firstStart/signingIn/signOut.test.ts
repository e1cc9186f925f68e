import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type * as vscode from 'vscode';
import { Accounts } from '../../../../src/editor/account/accounts.ts';
import { signOut } from '../../../../src/editor/account/signIn.ts';
import { silent } from '../../../silentLog.ts';
import { type ShownMessage, watchMessages } from '../../dialogs.ts';
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

  /** The messages shown after this button is pressed. */
  const shownWhen = async (pressed?: string): Promise<readonly ShownMessage[]> => {
    const messages = watchMessages(() => pressed);
    await signOut(accounts);
    return messages.shown;
  };
  const tokens = (): string[] => [...kept.values()];

  it('forgets the only saved token without a question', async () => {
    await accounts.save(here, 'token-here');
    const [said, ...more] = await shownWhen();
    assert.match(said?.text ?? '', /^Signed out\. The token was removed from this machine/);
    assert.deepEqual([more, tokens()], [[], []]);
  });

  it('asks for the account if tokens of other accounts are saved, naming them', async () => {
    await accounts.save(here, 'token-here');
    await accounts.save(there, 'token-there');
    const [question, ...more] = await shownWhen();
    assert.match(question?.detail ?? '', /\nhttps:\/\/there\.test:8443, organization former$/);
    assert.deepEqual(
      [question?.isModal, question?.buttons, more],
      [true, ['This Account', 'All Accounts'], []],
    );
    assert.deepEqual(tokens(), ['token-here', 'token-there'], 'a question that is dismissed forgets nothing');
    await shownWhen('This Account');
    assert.deepEqual(tokens(), ['token-there']);
  });

  it('forgets every token on request, also if none belongs to this account', async () => {
    await accounts.save(there, 'token-there');
    const shown = await shownWhen('All Accounts');
    assert.deepEqual(shown[0]?.buttons, ['All Accounts']);
    assert.match(shown[1]?.text ?? '', /^Signed out\. All tokens were removed/);
    assert.deepEqual(tokens(), []);
    assert.deepEqual(
      (await shownWhen()).map(({ text }) => text),
      ['You weren’t signed in.'],
    );
  });
});
