import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { originOf } from '../../../../src/core/api/address.ts';
import { readTokenKey } from '../../../../src/core/api/credentials.ts';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { Accounts } from '../../../../src/editor/account/accounts.ts';
import { partly } from '../../doubles.ts';
import { signInEachTest } from '../../signedIn.ts';

describe('the accounts', () => {
  const service = signInEachTest({ 'whitebox.tokenCommand': undefined });
  let lines: string[];

  beforeEach(() => {
    lines = [];
  });

  const accountsWith = (
    get: () => Promise<string | undefined>,
    store?: (key: string) => Promise<void>,
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

  it('F56 store a token under its origin and organization', async () => {
    let key = '';
    const accounts = accountsWith(
      () => Promise.resolve(undefined),
      (given) => Promise.resolve(void (key = given)),
    );
    await accounts.save(service(), service().token);
    const { organizationId } = service();
    assert.deepEqual(readTokenKey(key), { origin: originOf(service().baseUrl), organizationId });
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
