import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Network } from '../../../src/core/api/reach.ts';
import { mayStopWatching } from '../../../src/core/run/attention.ts';
import { type Desk, openWindow, type RunWindow, setUpDesk } from './runWindow.ts';
import { trackRemoteRun } from './seededRuns.ts';

const dayMs = 24 * 3600_000;

/** Lets time pass in heartbeats. */
async function pass(desk: Desk, ms: number): Promise<void> {
  const until = desk.clock.now() + ms;
  await desk.clock.passUntil(
    (async () => {
      while (desk.clock.now() < until) await desk.clock.sleep(5_000);
    })(),
    desk.traffic,
  );
}

/** Lets days pass in one leap, as while the machine sleeps, and then a minute of heartbeats. */
async function leap(desk: Desk, ms: number): Promise<void> {
  await desk.clock.whenAsleep();
  desk.clock.advance(ms);
  await pass(desk, 60_000);
}

describe('a service that fails for long', () => {
  test('F52 with 5xx for a day is asked ever less, told of once in the log, and the run recovers', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk, { random: Math.random });
    const { id, runId } = await trackRemoteRun(desk, window);
    const heal = desk.service.addFault({
      match: { path: '/describe' },
      before: { kind: 'reply', status: 503 },
    });
    const asked = desk.sent('/describe');
    const started = desk.clock.now();
    while (desk.clock.now() - started < dayMs / 4) {
      // As much as passes for one heartbeat and no sleep.
      desk.clock.advance(20_000);
      await pass(desk, 5_000);
    }
    const looks = desk.sent('/describe') - asked;
    assert.ok(
      looks > 22 && looks <= 60,
      `${String(looks)} looks in six hours, the first and busiest of the day`,
    );
    await leap(desk, (3 * dayMs) / 4);
    const troubled = window.store.get(id);
    assert.ok(troubled?.state === 'running' && troubled.trouble?.kind === 'serverError');
    assert.deepEqual(window.ended, []);
    heal();
    await window.until(id, (run) => run.state === 'running' && run.trouble === undefined);
    await desk.service.finishRun(runId);
    await window.untilEnded(id);
    assert.equal(window.ended.length, 1, 'one notice');
  });

  test('F52 each distinct trouble is named once where warnings are', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    for (const status of [503, 403]) {
      const heal = desk.service.addFault({ match: { path: '/describe' }, before: { kind: 'reply', status } });
      const times = 4;
      let seen = 0;
      await window.until(id, (run) => {
        if ('trouble' in run && run.trouble?.status === status) seen += 1;
        return seen >= times;
      });
      heal();
    }
    const warned = window.warnings.filter((line) => line.includes('asking failed'));
    assert.equal(warned.length, 2, warned.join('\n'));
  });
});

/** A cable that a test pulls: while it is out, no connection to the service comes about. */
function cableOf(
  t: TestContext,
  desk: Desk,
): { network: Network; pull: () => void; plug: () => void; looks: () => number } {
  let isIn = true;
  let looks = 0;
  let heal: (() => void) | undefined;
  t.after(() => heal?.());
  return {
    network: {
      reaches: () => {
        looks += 1;
        return Promise.resolve(isIn);
      },
      addresses: () => '',
    },
    pull: () => {
      isIn = false;
      heal = desk.pullCable();
    },
    plug: () => {
      isIn = true;
      heal?.();
    },
    looks: () => looks,
  };
}

describe('a machine without a network', () => {
  test('F53 pauses its run, says that it is offline, and asks within 10 s after the network is back', async (t) => {
    const desk = await setUpDesk(t);
    const cable = cableOf(t, desk);
    const window = openWindow(t, desk, { network: cable.network });
    const { id, runId } = await trackRemoteRun(desk, window);
    await pass(desk, 60_000);
    assert.equal(cable.looks(), 0, 'nobody looks for the network while it is there');
    cable.pull();
    const offline = await window.until(id, (run) => 'trouble' in run && run.trouble !== undefined);
    assert.equal('trouble' in offline && offline.trouble?.kind, 'unsent');
    const asked = desk.sent('/describe');
    await pass(desk, 1800_000);
    assert.equal(desk.sent('/describe'), asked);
    await desk.service.finishRun(runId);
    cable.plug();
    const before = desk.clock.now();
    await window.untilEnded(id);
    assert.ok(desk.clock.now() - before <= 10_000, `${String(desk.clock.now() - before)} ms`);
    assert.equal(window.ended.length, 1);
  });

  test('F53 asks a service that takes connections and no requests no more often than any that fails', async (t) => {
    const desk = await setUpDesk(t);
    const cable = cableOf(t, desk);
    const reached = { ...cable.network, reaches: () => Promise.resolve(true) };
    const window = openWindow(t, desk, { network: reached });
    const { id } = await trackRemoteRun(desk, window);
    cable.pull();
    await window.until(id, (run) => 'trouble' in run && run.trouble !== undefined);
    let tries = 0;
    window.store.onDidChange(() => (tries += 1));
    await pass(desk, 3600_000);
    assert.ok(tries > 2 && tries < 20, `${String(tries)} tries in an hour`);
  });

  test('F53 behind a proxy sees the return by the machine’s own addresses', async (t) => {
    const desk = await setUpDesk(t);
    const cable = cableOf(t, desk);
    let addresses = '192.0.2.7';
    const network = { reaches: () => Promise.resolve(false), addresses: () => addresses };
    const window = openWindow(t, desk, { network });
    const { id, runId } = await trackRemoteRun(desk, window);
    cable.pull();
    await window.until(id, (run) => 'trouble' in run && (run.trouble?.times ?? 0) > 5);
    await pass(desk, 10_000);
    await desk.service.finishRun(runId);
    cable.plug();
    addresses = '192.0.2.8';
    const before = desk.clock.now();
    await window.untilEnded(id);
    assert.ok(desk.clock.now() - before <= 10_000);
  });
});

/** A run that the service answers with 404. */
async function forgottenRun(
  t: TestContext,
): Promise<{ desk: Desk; window: RunWindow; id: string; heal: () => void }> {
  const desk = await setUpDesk(t);
  const window = openWindow(t, desk);
  const { id } = await trackRemoteRun(desk, window);
  const heal = desk.service.addFault({
    match: { path: '/describe' },
    before: { kind: 'reply', status: 404 },
  });
  await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notFound');
  return { desk, window, id, heal };
}

describe('a run that answers no more', () => {
  test('F95 can be let go after 24 h of 404, not before', async (t) => {
    const { desk, window, id } = await forgottenRun(t);
    const mayStop = (): boolean => mayStopWatching(window.store.get(id)!, desk.clock.now());
    await leap(desk, 23 * 3600_000);
    assert.equal(mayStop(), false);
    await leap(desk, 3600_000);
    assert.equal(mayStop(), true);
    await desk.clock.passUntil(window.tracker.stopWatching(id), desk.traffic);
    const run = window.store.get(id);
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure.kind, run.noticeDue, window.ended.length], ['unanswered', false, 0]);
    const asked = desk.sent('/describe');
    await pass(desk, 3600_000);
    assert.equal(desk.sent('/describe'), asked, 'it is asked about no more');
  });

  test('F95 can be let go after 24 h of 404, whatever trouble there was before or between', async (t) => {
    const { desk, window, id, heal } = await forgottenRun(t);
    const offered: boolean[] = [];
    const meet = async (status: number, ms: number): Promise<void> => {
      const match = { path: '/describe' };
      const again = desk.service.addFault({ match, before: { kind: 'reply', status } });
      await leap(desk, ms);
      again();
      offered.push(mayStopWatching(window.store.get(id)!, desk.clock.now()));
    };
    heal();
    await leap(desk, 60_000);
    await meet(503, 1.1 * dayMs);
    await meet(404, 60_000);
    await meet(503, 0.5 * dayMs);
    await meet(404, 0.6 * dayMs);
    assert.deepEqual(offered, [false, false, false, true]);
  });

  test('F95 that was let go can be tracked again by its ID', async (t) => {
    const { desk, window, id, heal } = await forgottenRun(t);
    await desk.clock.passUntil(window.tracker.stopWatching(id), desk.traffic);
    heal();
    const { baseUrl, organizationId } = desk.service;
    const [remote] = desk.service.runs();
    const place = { workflow: 'whitebox-assessment', baseUrl, organizationId, language: 'english' } as const;
    const again = await window.tracker.track({
      ...place,
      runId: remote!.id,
      folder: desk.folder,
      name: 'shop',
    });
    assert.equal(again.state, 'running');
    assert.notEqual(again.id, id);
  });

  test('F95 can be let go 24 h after a cancel that the service took and never carried out', async (t) => {
    const desk = await setUpDesk(t, { cancelDelayMs: 400 * dayMs });
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    await desk.clock.passUntil(window.tracker.cancel(id), desk.traffic);
    const mayStop = (): boolean => mayStopWatching(window.store.get(id)!, desk.clock.now());
    await leap(desk, dayMs - 120_000);
    assert.equal(mayStop(), false);
    await leap(desk, 120_000);
    assert.equal(mayStop(), true);
  });

  test('F95 is asked about for 30 days after its last good answer, and then let go with one notice', async (t) => {
    const { desk, window, id } = await forgottenRun(t);
    await leap(desk, 29.9 * dayMs);
    assert.equal(window.store.get(id)?.state, 'running');
    const asked = desk.sent('/describe');
    await leap(desk, 0.2 * dayMs);
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'failed' && run.failure.kind === 'unanswered');
    assert.equal(window.ended.length, 1);
    assert.ok(desk.sent('/describe') - asked <= 1);
  });

  test('F95 while it goes on answering is watched, however long it runs', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    for (let week = 0; week < 6; week += 1) await leap(desk, 7 * dayMs);
    assert.equal(window.store.get(id)?.state, 'running');
  });

  test('F95 that waits for a token is let go as well, without being asked about', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id } = await trackRemoteRun(desk, window);
    window.setToken(undefined);
    await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notSignedIn');
    await leap(desk, 31 * dayMs);
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'failed' && run.failure.kind === 'unanswered');
  });
});

describe('results that the service will soon keep no more', () => {
  const breakStorage = (desk: Desk): (() => void) =>
    desk.service.addFault({
      match: { method: 'GET', path: /\/storage\// },
      before: { kind: 'reply', status: 404 },
    });

  test('F64 and are not here are told of once, near the end, and can be downloaded again', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, runId } = await trackRemoteRun(desk, window);
    const heal = breakStorage(desk);
    await desk.service.finishRun(runId);
    await window.untilEnded(id);
    window.tracker.dispose();
    const second = openWindow(t, desk);
    desk.clock.advance(24 * dayMs);
    await second.tracker.resume();
    assert.deepEqual(second.nearing, []);
    desk.clock.advance(2 * dayMs);
    const windows = [openWindow(t, desk), openWindow(t, desk), openWindow(t, desk)];
    for (const each of windows) await each.tracker.resume();
    assert.equal(windows.flatMap(({ nearing }) => nearing).length, 1, 'once, in one window');
    heal();
    const [one] = windows;
    await desk.clock.passUntil(one!.tracker.downloadAgain(id), desk.traffic);
    const run = one!.store.get(id);
    assert.ok(run?.state === 'succeeded');
    assert.deepEqual(
      run.artifacts.map(({ file, failure }) => [file, failure]),
      [
        ['findings.json', undefined],
        ['report.md', undefined],
      ],
    );
  });

  test('F64 and were lost from this machine are told of; those that are here are not', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const ids: string[] = [];
    for (let runs = 0; runs < 2; runs += 1) {
      const { id, runId } = await trackRemoteRun(desk, window);
      await desk.service.finishRun(runId);
      await window.untilEnded(id);
      ids.push(id);
    }
    const [, lost = ''] = ids;
    await rm(join(window.store.folderOf(lost), 'findings.json'));
    window.tracker.dispose();
    desk.clock.advance(26 * dayMs);
    const later = openWindow(t, desk);
    await later.tracker.resume();
    assert.deepEqual(
      later.nearing.map(({ id }) => id),
      [lost],
    );
  });

  test('F64 of a run that has waited for a token since are told of while a window is open', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    await window.tracker.resume();
    const { id } = await trackRemoteRun(desk, window);
    window.setToken(undefined);
    await window.until(id, (run) => 'trouble' in run && run.trouble?.kind === 'notSignedIn');
    await leap(desk, 26 * dayMs);
    assert.deepEqual(
      window.nearing.map((run) => run.id),
      [id],
    );
    await leap(desk, 2 * dayMs);
    assert.equal(window.nearing.length, 1);
  });

  test('F67 a download again that fails keeps what is here, and says why', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, runId } = await trackRemoteRun(desk, window);
    await desk.service.finishRun(runId);
    await window.untilEnded(id);
    const findings = join(window.store.folderOf(id), 'findings.json');
    await writeFile(findings, '[]');
    breakStorage(desk);
    const before = window.store.get(id);
    const again = desk.clock.passUntil(window.tracker.downloadAgain(id), desk.traffic);
    await assert.rejects(again, { kind: 'notFound' });
    assert.deepEqual(window.store.get(id), before);
  });

  test('F67 a download again that a person stops, while it waits for the service, keeps what is here', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, runId } = await trackRemoteRun(desk, window);
    await desk.service.finishRun(runId);
    await window.untilEnded(id);
    await pass(desk, 10_000);
    const before = window.store.get(id);
    desk.service.addFault({
      match: { path: '/get-artifact-download-url' },
      before: { kind: 'reply', status: 429, headers: { 'retry-after': '100' } },
    });
    const began = desk.clock.now();
    const stop = new AbortController();
    const again = window.tracker.downloadAgain(id, stop.signal);
    while (!desk.clock.slept.some((ms) => ms >= 100_000)) await setImmediate();
    stop.abort();
    await assert.rejects(again, { name: 'AbortError' });
    assert.deepEqual([window.store.get(id), desk.clock.now()], [before, began]);
    const other = openWindow(t, desk);
    await other.store.reload();
    await assert.rejects(desk.clock.passUntil(other.tracker.downloadAgain(id), desk.traffic), {
      kind: 'rateLimited',
    });
  });
});
