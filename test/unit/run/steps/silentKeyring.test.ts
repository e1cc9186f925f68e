import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { BoundedSecrets, type HostSecrets } from '../../../../src/core/api/boundedSecrets.ts';
import { storedToken } from '../../../../src/core/api/credentials.ts';
import { Emitter } from '../../../../src/core/ports.ts';
import { isLive, type Run } from '../../../../src/core/run/state/run.ts';
import { needsUser } from '../../../../src/core/run/state/trouble.ts';
import { silent } from '../../../silentLog.ts';
import { openWindow, setUpFixture } from '../runWindow.ts';
import { trackRemoteRun } from '../seededRuns.ts';

const troubleOf = (run: Run | undefined) => (run !== undefined && isLive(run) ? run.trouble : undefined);

/**
 * The token of the run is in a keyring that stops answering once the run is tracked. `reads` are
 * the unanswered ones.
 */
async function setUpSilentKeyring(t: TestContext) {
  const fixture = await setUpFixture(t);
  const reads: PromiseWithResolvers<string | undefined>[] = [];
  let isSilent = false;
  const done = (): Promise<void> => Promise.resolve();
  const host: HostSecrets = {
    get: () => {
      if (!isSilent) return Promise.resolve(fixture.service.token);
      const read = Promise.withResolvers<string | undefined>();
      reads.push(read);
      return read.promise;
    },
    keys: () => Promise.resolve([]),
    store: done,
    delete: done,
    onDidChange: new Emitter<{ key: string }>(silent).event,
  };
  const secrets = new BoundedSecrets(host, { clock: fixture.clock, log: silent });
  const window = openWindow(t, fixture, { tokenSource: storedToken(secrets, 'token') });
  // The editor does this for every change of a token.
  secrets.onDidChange(() => void window.tracker.tokenChanged());
  const { id } = await trackRemoteRun(fixture, window);
  isSilent = true;
  const asked = fixture.sent('/describe');
  const before = fixture.clock.monotonic();
  const troubled = await window.until(id, (run) => troubleOf(run) !== undefined);
  return { fixture, window, id, reads, asked, before, troubled, heal: () => (isSilent = false) };
}

describe('F169 a run whose keyring does not answer', () => {
  test('is in trouble after 10 s, waits for nobody, and goes on at once with a late answer', async (t) => {
    const { fixture, window, id, reads, asked, troubled } = await setUpSilentKeyring(t);
    assert.deepEqual(
      [troubled.state, troubleOf(troubled)?.kind, needsUser(troubled)],
      ['running', 'secretStorage', false],
    );
    assert.equal(fixture.sent('/describe'), asked);
    assert.ok(fixture.clock.slept.includes(10_000));
    const next = window.tracker.nextCheckAt(id);
    assert.ok(next !== undefined && next > fixture.clock.now(), 'the next check is in the future');
    const now = fixture.clock.now();
    reads[0]?.resolve(fixture.service.token);
    await window.until(id, (run) => troubleOf(run) === undefined);
    assert.equal(fixture.sent('/describe'), asked + 1);
    assert.ok(fixture.clock.now() < next && fixture.clock.now() - now < 10_000, 'before the next check');
  });
});
