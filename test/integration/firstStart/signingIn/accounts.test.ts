import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { Accounts } from '../../../../src/editor/account/accounts.ts';
import { signOut } from '../../../../src/editor/account/signIn.ts';
import { silent } from '../../../silentLog.ts';
import { type ShownMessage, temporaryFolder, watchMessages } from '../../dialogs.ts';
import { partly } from '../../doubles.ts';
import { signInEachTest } from '../../signedIn.ts';
import { setUserSettings } from '../../userSettings.ts';

describe('the accounts', () => {
  const service = signInEachTest({ 'whitebox.tokenCommand': undefined });
  let lines: string[];

  beforeEach(() => {
    lines = [];
  });

  const accountsWith = (
    get: () => Promise<string | undefined>,
    store: (key: string, value: string) => Promise<void> = () => Promise.resolve(),
  ): Accounts => {
    const write = (line: string): void => void lines.push(line);
    const log = { debug: write, info: write, warn: write, error: write };
    const secrets = partly<vscode.SecretStorage>({
      get,
      store,
      onDidChange: new vscode.EventEmitter().event,
    });
    return new Accounts(secrets, { clock, log, random: () => 0.5 });
  };

  it('F169 are not available yet while the secret storage fails, and signed in once it answers', async () => {
    let isLocked = true;
    const accounts = accountsWith(() =>
      isLocked ? Promise.reject(new AssessmentError('secretStorage')) : Promise.resolve(service().token),
    );
    const states: unknown[] = [];
    accounts.onDidChangeState(() => states.push(accounts.state));
    await accounts.findState();
    await assert.rejects(accounts.isSignedIn(), { kind: 'secretStorage' });
    isLocked = false;
    await accounts.findState();
    assert.deepEqual(states, ['unavailable', 'signedIn']);
  });

  it('F89 are signed out if the storage has no token, as after a restart without a keyring', async () => {
    const accounts = accountsWith(() => Promise.resolve(undefined));
    assert.equal(await accounts.findState(), 'signedOut');
  });

  it('accept a valid token even if the reservation that checks it cannot be cancelled', async () => {
    service().addFault({ match: { path: '/cancel-upload' }, before: { kind: 'reply', status: 503 } });
    await accountsWith(() => Promise.resolve(undefined)).check(service(), { token: service().token });
    const [file] = service().files();
    assert.equal(file?.state, 'reserved');
    assert.ok(lines.some((line) => line.includes(file.fileId)));
  });

  it('F194 renew an expired token once for all its uses', async () => {
    const file = path.join(await temporaryFolder(), 'runs');
    const script = `require('fs').appendFileSync(process.argv[1], 'x'); process.stdout.write(process.argv[2])`;
    await setUserSettings({
      'whitebox.tokenCommand': [process.execPath, '-e', script, file, service().token],
    });
    let stored = 'expired-invented-token';
    const accounts = accountsWith(
      () => Promise.resolve(stored),
      (_key, fresh) => Promise.resolve(void (stored = fresh)),
    );
    await Promise.all([1, 2, 3].map(() => accounts.check(service(), {})));
    const refusals = service().requests.filter(({ status }) => status === 401);
    assert.deepEqual([refusals.length >= 3, await readFile(file, 'utf8')], [true, 'x']);
  });

  it('cancel the reservation when the user cancels the check', async () => {
    const stop = new AbortController();
    let asked = 0;
    const accounts = accountsWith(() => {
      asked += 1;
      // The second call cancels the reservation.
      if (asked === 2) stop.abort();
      return Promise.resolve(service().token);
    });
    await assert.rejects(accounts.check(service(), { signal: stop.signal }), { name: 'AbortError' });
    assert.deepEqual(
      service()
        .files()
        .map(({ state }) => state),
      ['cancelled'],
    );
  });
});

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
    assert.match(said?.text ?? '', /^Signed out\. All tokens were deleted from this machine/);
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
    assert.match(said?.text ?? '', /^Signed out\. All tokens were deleted/);
    assert.equal(kept.size, 0);
  });

  it('says that a token command signs in again', async () => {
    await setUserSettings({ 'whitebox.tokenCommand': ['print-a-token'] });
    const [said] = await signedOut();
    assert.match(said?.text ?? '', /^The token command in your settings still signs you in\./);
    assert.deepEqual(said?.buttons, ['Open Settings']);
  });
});
