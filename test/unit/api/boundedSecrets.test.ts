import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BoundedSecrets, type HostSecrets } from '../../../src/core/api/boundedSecrets.ts';
import { storedToken } from '../../../src/core/api/credentials.ts';
import { AssessmentError } from '../../../src/core/errors.ts';
import { Emitter } from '../../../src/core/ports.ts';
import { silent } from '../../silentLog.ts';
import { VirtualClock } from '../run/virtualClock.ts';

const never = (): Promise<never> => new Promise<never>(() => undefined);

/** The storage's reads are answered one by one. Another one refuses to write. */
function setUp(changes: Partial<HostSecrets> = {}) {
  const reads: PromiseWithResolvers<string | undefined>[] = [];
  const hostChanges = new Emitter<{ key: string }>(silent);
  const clock = new VirtualClock();
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const log = {
    debug: ignore,
    info: ignore,
    warn: (line: string) => void warnings.push(line),
    error: ignore,
  };
  const host: HostSecrets = {
    get: () => {
      const read = Promise.withResolvers<string | undefined>();
      reads.push(read);
      return read.promise;
    },
    keys: never,
    store: never,
    delete: never,
    onDidChange: hostChanges.event,
    ...changes,
  };
  const secrets = new BoundedSecrets(host, { clock, log });
  const changed: string[] = [];
  secrets.onDidChange(({ key }) => changed.push(key));
  /** Lets 10 s pass, and returns how the wait has failed. */
  const failure = async (wait: Promise<unknown>) => {
    clock.advance(10_000);
    const error: unknown = await wait.then(() => undefined, (reason: unknown) => reason); // prettier-ignore
    assert.ok(error instanceof AssessmentError);
    return [error.kind, error.data.subject, error.data.detail];
  };
  return { secrets, reads, changed, hostChanges, warnings, failure };
}

describe('F169 a secret storage', () => {
  test('that does not answer within 10 s fails each read, write and deletion by name', async () => {
    const { secrets, failure, warnings } = setUp();
    assert.deepEqual(await failure(secrets.get('token')), ['secretStorage', 'read', undefined]);
    assert.deepEqual(await failure(secrets.keys()), ['secretStorage', 'read', undefined]);
    assert.deepEqual(await failure(secrets.store('token', 'value')), ['secretStorage', 'save', undefined]);
    assert.deepEqual(await failure(secrets.delete('token')), ['secretStorage', 'delete', undefined]);
    assert.equal(warnings.length, 1, 'it may fail for days');
  });

  test('that refuses is named with its reason, never with the secret', async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error('no keyring for invented-secret'));
    const { secrets, failure, warnings } = setUp({ get: refuse, store: refuse, delete: refuse });
    const reason = 'Error: no keyring for invented-secret';
    assert.deepEqual(await failure(secrets.get('token')), ['secretStorage', 'read', reason]);
    const [, action, detail] = await failure(secrets.store('token', 'invented-secret'));
    assert.deepEqual([action, detail], ['save', 'Error: no keyring for [redacted]']);
    assert.deepEqual(await failure(secrets.delete('token')), ['secretStorage', 'delete', reason]);
    assert.equal(warnings.length, 1);
  });

  test('that answers late announces it, and the answer is used although the next read hangs, too', async () => {
    const { secrets, reads, changed, failure } = setUp();
    await failure(secrets.get('token'));
    await failure(secrets.get('token'));
    assert.deepEqual(changed, []);
    reads[0]?.resolve('value');
    await Promise.resolve().then(() => Promise.resolve());
    const again = secrets.get('token');
    assert.equal(await again, 'value');
    assert.deepEqual(changed, ['token']);
    await failure(secrets.get('token'));
  });

  test('is not waited for after a cancellation, which is no failure of it', async () => {
    const { secrets, warnings } = setUp();
    const stop = new AbortController();
    const read = storedToken(secrets, 'token', () => assert.fail('no command runs, either')).get(stop.signal);
    stop.abort();
    await assert.rejects(read, { name: 'AbortError' });
    assert.deepEqual(warnings, []);
  });

  test('whose late answer is older than a change does not use it', async () => {
    for (const change of ['event', 'store', 'delete'] as const) {
      const done = (): Promise<void> => Promise.resolve();
      const { secrets, reads, hostChanges, failure } = setUp({ store: done, delete: done });
      await failure(secrets.get('token'));
      if (change === 'event') hostChanges.fire({ key: 'token' });
      else await secrets[change]('token', 'new');
      reads[0]?.resolve('old');
      const read = secrets.get('token');
      reads[1]?.resolve('new');
      assert.equal(await read, 'new', change);
    }
  });

  test('that fails late is asked anew', async () => {
    const { secrets, reads, changed, failure } = setUp();
    await failure(secrets.get('token'));
    reads[0]?.reject(new Error('no keyring'));
    await Promise.resolve().then(() => Promise.resolve());
    const read = secrets.get('token');
    reads[1]?.resolve('value');
    assert.deepEqual([await read, changed], ['value', []]);
  });
});
