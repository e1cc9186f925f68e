import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Network } from '../../../../src/core/api/connection.ts';
import { NetworkReturn } from '../../../../src/core/run/watch/poll.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { pass } from '../days.ts';
import { type Desk, openWindow, setUpDesk } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';
import { trackRemoteRun } from '../seededRuns.ts';

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

describe('the return of the network', () => {
  const offline = (baseUrl: string): Run => {
    const trouble = { kind: 'unsent', since: 0, times: 1, pollsInVain: 1, wakingMs: 0 };
    return { ...runOf.running, id: baseUrl, baseUrl, trouble } as Run;
  };
  const [one, other] = [offline('https://one.example'), offline('https://other.example')];

  test('is told once for each service that can be reached again', async () => {
    const reached = new Set<string>();
    const network = { reaches: (url: string) => Promise.resolve(reached.has(url)), addresses: () => '' };
    const back = new NetworkReturn(network);
    const ids = async (...runs: readonly Run[]): Promise<string[]> =>
      (await back.returned(runs)).map(({ id }) => id);
    assert.deepEqual(await ids(one, other, runOf.running), []);
    reached.add(one.baseUrl);
    assert.deepEqual(await ids(one, other), [one.id]);
    assert.deepEqual(await ids(one, other), []);
    assert.deepEqual(await ids(other), []);
    assert.deepEqual(await ids(one, other), [one.id], 'forgotten once nothing waited for it');
  });

  test('is told for all when the addresses of this machine change, as behind a proxy', async () => {
    let addresses = '';
    const back = new NetworkReturn({ reaches: () => Promise.resolve(false), addresses: () => addresses });
    const counts: number[] = [];
    for (addresses of ['', '10.0.0.1', '10.0.0.1', '', '10.0.0.1', '10.0.0.2', '10.0.0.2'])
      counts.push((await back.returned([one, other])).length);
    assert.deepEqual(counts, [0, 0, 0, 0, 0, 2, 0]);
  });

  test('asks nothing where no run waits for it, or nothing can tell', async () => {
    let looks = 0;
    const count = (): string => String((looks += 1));
    const back = new NetworkReturn({ reaches: () => Promise.resolve(count() !== ''), addresses: count });
    assert.deepEqual([await back.returned([]), await back.returned([runOf.running]), looks], [[], [], 0]);
    assert.deepEqual(await new NetworkReturn(undefined).returned([one]), []);
  });
});

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
    assert.equal(window.lines.filter((line) => line.startsWith('The network is back')).length, 1);
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
