import assert from 'node:assert/strict';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { hungWorker } from '../hungWorker.ts';
import { withPipes } from '../../core/systemSkips.ts';
import { killHolder } from '../deadProcess.ts';
import { minuteMs, pass } from '../passTime.ts';
import { storeWithHook, storeWithoutSpaceFor } from '../hookedStore.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { puts, startWith, states } from '../uploads.ts';
import { VirtualClock } from '../virtualClock.ts';

describe('an interrupted start', () => {
  for (const [what, make, left] of [
    ['a partial file, which the next one removes', (path: string) => writeFile(path, '{'), []],
    // A sweep removes only files.
    ['something that cannot be removed', (path: string) => mkdir(path), ['left.tmp']],
  ] as const)
    test(`F25 killed by a window leaves ${what}, and the run is driven`, async (t) => {
      const fixture = await setUpFixture(t);
      const crashing = openWindow(t, fixture, { clock: new VirtualClock() });
      const { id } = (await crashing.tracker.start(await crashing.assessment()))!;
      const path = join(fixture.root, id, 'left.tmp');
      await make(path);
      const longAgo = fixture.clock.now() / 1000 - 120;
      await utimes(path, longAgo, longAgo);
      await killHolder(fixture, id);
      const asked = fixture.sent('/describe');
      const next = openWindow(t, fixture);
      await next.tracker.resume();
      await pass(fixture, minuteMs);
      const names = await readdir(join(fixture.root, id));
      assert.deepEqual(names.filter((name) => name.endsWith('.tmp')), left); // prettier-ignore
      assert.ok(fixture.sent('/describe') > asked, next.lines.join('\n'));
    });

  test('F42 with a reservation that the next start cannot cancel is cleaned up by the one after', async (t) => {
    const fixture = await setUpFixture(t);
    const removeFault = fixture.service.addFault({
      match: { path: '/cancel-upload' },
      before: { kind: 'reset' },
    });
    fixture.refuse({ method: 'PUT' }, 400);
    const first = openWindow(t, fixture);
    const { id } = await first.start();
    assert.deepEqual(states(fixture), ['reserved']);
    removeFault();
    await first.close();
    const second = openWindow(t, fixture);
    await fixture.passUntil(second.tracker.resume());
    await pass(fixture, minuteMs);
    assert.deepEqual(
      [second.store.get(id)?.targets[0]?.upload?.state, states(fixture)],
      ['cancelled', ['cancelled']],
    );
    assert.deepEqual(second.ended, [], 'its end was announced before');
  });

  const unforeseen = storeWithHook(({ type }) => {
    if (type === 'reserved') throw new Error('x is undefined');
  });
  const refusals = [
    ['cannot be saved on a full disk', 'diskFull', storeWithoutSpaceFor('reserved')],
    ['cannot be saved for an unknown reason', 'unexpected', unforeseen],
  ] as const;
  for (const [how, kind, store] of refusals) {
    test(`with a reservation that ${how} cancels it, and the run fails with that reason`, async (t) => {
      const fixture = await setUpFixture(t);
      const run = await openWindow(t, fixture, { store }).start();
      assert.ok(run.state === 'failed');
      assert.equal(run.failure.kind, kind);
      assert.deepEqual([puts(fixture).length, states(fixture)], [0, ['cancelled']]);
    });
  }

  test('F24 on a full disk before the first journal reports that to the user', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const noSpace = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    t.mock.method(window.store, 'create', () => Promise.reject(noSpace));
    await assert.rejects(window.start(), { kind: 'diskFull' });
    assert.deepEqual([fixture.service.requests, await readdir(fixture.root)], [[], []]);
  });

  test('F94 that fails leaves no file on the service, whatever it was believed to be, even if files are kept', async (t) => {
    const fixture = await setUpFixture(t);
    // A proxy before storage answers 200, but not with a page.
    fixture.service.addFault({
      match: { method: 'PUT', times: 1 },
      before: { kind: 'reply', status: 200, body: 'Welcome', afterBodyBytes: 1 },
    });
    const window = openWindow(t, fixture, { deleteSource: false });
    const refused = await window.start();
    assert.equal(refused.state, 'failed');
    assert.deepEqual([refused.targets[0]?.upload?.state, states(fixture)], ['cancelled', ['cancelled']]);
    fixture.refuse('/dispatch', { status: 403 });
    const unsent = await window.start();
    assert.deepEqual([unsent.targets[0]?.upload?.state, states(fixture)[1]], ['deleted', 'deleted']);
  });

  test('F105 cancelled on a dead network ends at once, cleans up in the background, and blocks no other start', async (t) => {
    const fixture = await setUpFixture(t);
    const stop = new AbortController();
    const swallow = ['/cancel-upload', /^\/storage\//].map((path) =>
      fixture.service.addFault({ match: { path }, before: { kind: 'stall' } }),
    );
    const window = openWindow(t, fixture);
    const began = fixture.clock.now();
    const onUploading = (): void => stop.abort();
    const cancelled = await window.tracker.start(await window.assessment(), {
      signal: stop.signal,
      onUploading,
    });
    assert.ok(cancelled?.state === 'cancelled');
    assert.deepEqual([fixture.clock.now() - began, states(fixture)], [0, ['reserved']]);
    for (const heal of swallow) heal();
    assert.equal((await window.start()).state, 'running');
    await window.close();
    const next = openWindow(t, fixture);
    await fixture.passUntil(next.tracker.resume());
    await next.until(cancelled.id, ({ targets: [target] }) => target?.upload?.state === 'cancelled');
    assert.deepEqual(states(fixture), ['cancelled', 'confirmed']);
  });

  const stop = new AbortController();
  const refuse = ({ targets: [target] }: Run): Promise<boolean> => {
    assert.equal(target?.coverage?.uploaded, 1, 'the question knows the archive');
    return Promise.resolve(false);
  };
  for (const [how, options] of [
    ['refused at the last question', { confirmUpload: refuse }],
    ['cancelled while packaging', { signal: stop.signal, onPackaging: () => stop.abort() }],
  ] as const)
    test(`${how} sends and stores nothing`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      assert.equal(await startWith(window, fixture, options), undefined);
      const left = [fixture.service.requests, window.store.all(), await readdir(fixture.root)];
      assert.deepEqual(left, [[], [], []]);
    });

  test(
    'F209 cancelled while a worker is in a read that never returns leaves nothing',
    withPipes,
    async (t) => {
      const { workerFile, untilReading } = await hungWorker(t);
      const { fixture, window } = await setUpWindow(t, { workerFile });
      const cancel = new AbortController();
      const starting = window.tracker.start(await window.assessment(), { signal: cancel.signal });
      await untilReading();
      cancel.abort();
      assert.equal(await starting, undefined);
      const left = [fixture.service.requests, window.store.all(), await readdir(fixture.root)];
      assert.deepEqual(left, [[], [], []]);
    },
  );
});
