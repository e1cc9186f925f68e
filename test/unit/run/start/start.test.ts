import assert from 'node:assert/strict';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { bury } from '../buriedWindow.ts';
import { minuteMs, pass } from '../days.ts';
import { storeThat, storeWithoutSpaceFor } from '../preparedStore.ts';
import { openWindow, setUpDesk, setUpWindow } from '../runWindow.ts';
import { puts, startAsking, startUnkept, startWith, states } from '../uploads.ts';
import { VirtualClock } from '../virtualClock.ts';

describe('a start that comes to its end early', () => {
  test('F25 a window killed while it packages leaves nothing behind the next start', async (t) => {
    const desk = await setUpDesk(t);
    const dying = openWindow(t, desk, { clock: new VirtualClock() });
    const packaged = new Promise<Run>((resolve) => {
      const confirmUpload = (run: Run): Promise<boolean> => {
        resolve(run);
        return new Promise(() => undefined);
      };
      dying.assessment().then(
        (assessment) => startAsking(dying, assessment, confirmUpload),
        () => undefined,
      );
    });
    const { id } = await packaged;
    assert.ok((await readdir(join(desk.root, id))).includes('archive-0.tar.gz'));
    await bury(desk, id);
    await openWindow(t, desk).tracker.resume();
    assert.deepEqual(await readdir(desk.root), []);
  });

  test('F25 half a file that a killed window left in a run’s folder goes with the next start', async (t) => {
    const desk = await setUpDesk(t);
    const dying = openWindow(t, desk, { clock: new VirtualClock() });
    const { id } = (await dying.tracker.start(await dying.assessment())) ?? { id: '' };
    const left = join(desk.root, id, 'run.json.0123456789ab.tmp');
    await writeFile(left, '{');
    const longAgo = desk.clock.now() / 1000 - 120;
    await utimes(left, longAgo, longAgo);
    await bury(desk, id);
    await openWindow(t, desk).tracker.resume();
    assert.deepEqual(
      (await readdir(join(desk.root, id))).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  test('F25 what a sweep of a run’s folder cannot remove keeps no run from being taken up', async (t) => {
    const desk = await setUpDesk(t);
    const dying = openWindow(t, desk, { clock: new VirtualClock() });
    const { id } = (await dying.tracker.start(await dying.assessment())) ?? { id: '' };
    // A folder is none of what is swept.
    const left = join(desk.root, id, 'left.tmp');
    await mkdir(left);
    const longAgo = desk.clock.now() / 1000 - 120;
    await utimes(left, longAgo, longAgo);
    await bury(desk, id);
    const asked = desk.sent('/describe');
    const next = openWindow(t, desk);
    await next.tracker.resume();
    await pass(desk, minuteMs);
    assert.ok(desk.sent('/describe') > asked, next.lines.join('\n'));
  });

  test('F42 a window killed in mid-upload leaves a reservation that the next start cancels from the journal', async (t) => {
    const desk = await setUpDesk(t);
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
    const dying = openWindow(t, desk, { clock: new VirtualClock() });
    const reserved = new Promise<Run>((resolve) => {
      dying.store.onDidChange((run) => {
        if (run.targets[0]?.upload !== undefined) resolve(run);
      });
    });
    dying.tracker.start(await dying.assessment()).catch(() => undefined);
    const { id } = await reserved;
    await bury(desk, id);
    const next = openWindow(t, desk);
    await next.tracker.resume();
    const run = next.store.get(id);
    assert.ok(run?.state === 'failed');
    assert.equal(run.failure.kind, 'interrupted');
    assert.deepEqual([run.targets[0]?.upload?.state, states(desk)], ['cancelled', ['cancelled']]);
    assert.deepEqual(
      next.ended.map((each) => each.id),
      [id],
    );
    const left = await readdir(next.store.folderOf(id));
    assert.deepEqual(
      left.filter((name) => name.startsWith('archive')),
      [],
      'the local archive is gone',
    );
  });

  test('F42 a reservation that cannot be cancelled at the next start is cancelled at the one after', async (t) => {
    const desk = await setUpDesk(t);
    const removeFault = desk.service.addFault({
      match: { path: '/cancel-upload' },
      before: { kind: 'reset' },
    });
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'reply', status: 400 } });
    const first = openWindow(t, desk);
    const { id } = await first.start();
    assert.deepEqual(states(desk), ['reserved']);
    removeFault();
    first.tracker.dispose();
    const second = openWindow(t, desk);
    await desk.clock.passUntil(second.tracker.resume(), desk.traffic);
    assert.deepEqual(
      [second.store.get(id)?.targets[0]?.upload?.state, states(desk)],
      ['cancelled', ['cancelled']],
    );
    assert.deepEqual(second.ended, [], 'its end was told before');
  });

  const unforeseen = storeThat(({ type }) => {
    if (type === 'reserved') throw new Error('x is undefined');
  });
  const refusals = [
    ['a full disk does not take', 'diskFull', storeWithoutSpaceFor('reserved')],
    ['cannot be noted', 'unexpected', unforeseen],
  ] as const;
  for (const [how, kind, store] of refusals) {
    test(`a reservation that ${how} is given back, and the run has failed by that`, async (t) => {
      const desk = await setUpDesk(t);
      const run = await openWindow(t, desk, { store }).start();
      assert.ok(run.state === 'failed');
      assert.equal(run.failure.kind, kind);
      assert.deepEqual([puts(desk).length, states(desk)], [0, ['cancelled']]);
    });
  }

  test('F24 a disk that is full before the first journal is what a person is told', async (t) => {
    const { desk, window } = await setUpWindow(t);
    const noSpace = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    t.mock.method(window.store, 'create', () => Promise.reject(noSpace));
    await assert.rejects(window.start(), { kind: 'diskFull' });
    assert.deepEqual([desk.service.requests, await readdir(desk.root)], [[], []]);
  });

  test('F94 a reservation that was taken for a confirmed file is given back, though confirmed files are to stay', async (t) => {
    const desk = await setUpDesk(t);
    // A portal on the way to storage says that all is well.
    desk.service.addFault({
      match: { method: 'PUT', times: 1 },
      before: { kind: 'reply', status: 200, body: 'Welcome' },
    });
    const window = openWindow(t, desk, { deleteSource: false });
    const refused = await window.start();
    assert.equal(refused.state, 'failed');
    assert.deepEqual([refused.targets[0]?.upload?.state, states(desk)], ['cancelled', ['cancelled']]);
    const reply = { kind: 'reply' as const, status: 403 };
    desk.service.addFault({ match: { path: '/dispatch' }, before: reply });
    const kept = await window.start();
    assert.deepEqual([kept.targets[0]?.upload?.state, states(desk)[1]], ['confirmed', 'confirmed']);
    window.tracker.dispose();
    const asked = desk.sent('/cancel-upload');
    await openWindow(t, desk, { deleteSource: false }).tracker.resume();
    assert.equal(desk.sent('/cancel-upload') - asked, 0, 'it is known to be confirmed by now');
  });

  test('F94 such a reservation that cannot be given back at once is at the next start', async (t) => {
    const desk = await setUpDesk(t);
    const welcome = { kind: 'reply' as const, status: 200, body: 'Welcome' };
    desk.service.addFault({ match: { method: 'PUT', times: 1 }, before: welcome });
    const plug = desk.service.addFault({ match: { path: '/cancel-upload' }, before: { kind: 'reset' } });
    const window = openWindow(t, desk, { deleteSource: false });
    assert.equal((await window.start()).state, 'failed');
    assert.deepEqual(states(desk), ['reserved']);
    window.tracker.dispose();
    plug();
    await openWindow(t, desk, { deleteSource: false }).tracker.resume();
    assert.deepEqual(states(desk), ['cancelled']);
  });

  test('a cancellation while bytes are sent ends the run as cancelled and cancels the upload', async (t) => {
    const desk = await setUpDesk(t);
    const stop = new AbortController();
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
    const onUploading = (): void => stop.abort();
    const window = openWindow(t, desk);
    const run = await startWith(window, desk, { signal: stop.signal, onUploading });
    assert.equal(run?.state, 'cancelled');
    await window.until(run.id, ({ targets: [target] }) => target?.upload?.state === 'cancelled');
    assert.deepEqual([states(desk), desk.sent('/dispatch')], [['cancelled'], 0]);
  });

  test('F105 a cancellation on a network that swallows everything is answered at once, cleaned up in the background, and keeps no other start from beginning', async (t) => {
    const desk = await setUpDesk(t);
    const stop = new AbortController();
    const swallow = ['/cancel-upload', /^\/storage\//].map((path) =>
      desk.service.addFault({ match: { path }, before: { kind: 'stall' } }),
    );
    const window = openWindow(t, desk);
    const began = desk.clock.now();
    const onUploading = (): void => stop.abort();
    const cancelled = await window.tracker.start(await window.assessment(), {
      signal: stop.signal,
      onUploading,
    });
    assert.ok(cancelled?.state === 'cancelled');
    assert.deepEqual([desk.clock.now() - began, states(desk)], [0, ['reserved']]);
    for (const heal of swallow) heal();
    assert.equal((await window.start()).state, 'running');
    window.tracker.dispose();
    const next = openWindow(t, desk);
    await desk.clock.passUntil(next.tracker.resume(), desk.traffic);
    await next.until(cancelled.id, ({ targets: [target] }) => target?.upload?.state === 'cancelled');
    assert.deepEqual(states(desk), ['cancelled', 'confirmed']);
  });

  test('a refusal at the last question sends nothing and keeps nothing', async (t) => {
    const { desk, window } = await setUpWindow(t);
    let asked: Run | undefined;
    const confirmUpload = (run: Run): Promise<boolean> => {
      asked = run;
      return Promise.resolve(false);
    };
    assert.equal(await startWith(window, desk, { confirmUpload }), undefined);
    assert.equal(asked?.targets[0]?.coverage?.uploaded, 1, 'the question knows the archive');
    assert.deepEqual([desk.service.requests, window.store.all(), await readdir(desk.root)], [[], [], []]);
  });

  test('a cancellation while packaging sends nothing and keeps nothing', async (t) => {
    const { desk, window } = await setUpWindow(t);
    const stop = new AbortController();
    const run = await startWith(window, desk, { signal: stop.signal, onPackaging: () => stop.abort() });
    assert.equal(run, undefined);
    assert.deepEqual([desk.service.requests, await readdir(desk.root)], [[], []]);
  });

  test('an archive over the limit is thrown to the person, and nothing is sent or kept', async (t) => {
    const { desk, window } = await setUpWindow(t);
    await assert.rejects(window.start({ maxArchiveBytes: 10 }), { kind: 'archiveTooLarge' });
    assert.deepEqual([desk.service.requests, await readdir(desk.root)], [[], []]);
  });

  test('F45 an accepted dispatch that cannot be put on disk before its window goes is neither failed nor sent again', async (t) => {
    const { desk, window } = await setUpWindow(t, { store: storeWithoutSpaceFor('dispatched') });
    await startUnkept(window);
    const [accepted] = desk.service.runs();
    assert.ok(
      window.lines.some((line) => line.includes(accepted!.id)),
      'the log has the run ID',
    );
    assert.deepEqual(states(desk), ['confirmed']);
    const next = openWindow(t, desk);
    await next.tracker.resume();
    assert.deepEqual(
      next.store.all().map(({ state }) => state),
      ['unknown'],
    );
    assert.equal(desk.sent('/dispatch'), 1);
  });

  test('F47 a start whose run another window has taken over dispatches nothing', async (t) => {
    const { desk, window } = await setUpWindow(t, { clock: new VirtualClock() });
    const other = openWindow(t, desk);
    const confirmUpload = async (): Promise<boolean> => {
      // The machine slept; the other window woke first and found a stale lease.
      const { id } = window.store.all()[0]!;
      await window.store.apply(id, { type: 'packaged', at: 1 });
      await bury(desk, id);
      await other.tracker.resume();
      return true;
    };
    await assert.rejects(startWith(window, desk, { confirmUpload }), { kind: 'busyElsewhere' });
    assert.deepEqual([desk.service.requests, other.ended.map(({ state }) => state)], [[], ['failed']]);
  });

  test('F47 a window that knew a run when it was packaging does not discard it once it runs', async (t) => {
    const desk = await setUpDesk(t);
    const owner = openWindow(t, desk);
    const other = openWindow(t, desk);
    const confirmUpload = async (): Promise<boolean> => {
      await other.tracker.resume();
      return true;
    };
    const run = await startWith(owner, desk, { confirmUpload });
    assert.ok(run?.state === 'running');
    owner.tracker.dispose();
    await desk.service.finishRun((run as { runId: string }).runId);
    await other.untilState(run.id, 'succeeded');
  });
});
