import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FaultRule } from '../../service/faults.ts';
import { minuteMs, pass } from './days.ts';
import { openWindow, setUpDesk } from './runWindow.ts';
import { trackRemoteRun } from './seededRuns.ts';

const addresses = /artifact-download-url$/;

/** An operation that the service asks to leave alone for so long, so often or always. */
const limited = (path: string | RegExp, seconds: number, times?: number): FaultRule => ({
  match: { path, ...(times === undefined ? {} : { times }) },
  before: { kind: 'reply', status: 429, headers: { 'retry-after': String(seconds) } },
});

describe('a service that wants to be left alone', () => {
  test('F51 is, for as long as it said about any artifact', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, runId } = await trackRemoteRun(desk, window);
    desk.service.addFault({ match: { path: addresses, times: 4 }, before: { kind: 'reply', status: 500 } });
    const heal = desk.service.addFault(limited(addresses, 3600));
    await desk.service.finishRun(runId);
    const run = await window.until(id, (each) => 'trouble' in each && each.trouble !== undefined);
    assert.equal('trouble' in run && run.trouble?.kind, 'rateLimited');
    const asked = desk.sent(addresses);
    await pass(desk, 55 * minuteMs);
    assert.equal(desk.sent(addresses), asked);
    heal();
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
  });

  test('F51 is not asked for the next artifact either', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const { id, runId } = await trackRemoteRun(desk, window);
    const heal = desk.service.addFault(limited(addresses, 3600));
    await desk.service.finishRun(runId);
    await window.until(id, (each) => 'trouble' in each && each.trouble !== undefined);
    assert.equal(desk.sent(addresses), 1);
    heal();
    await window.untilEnded(id);
    const asked = desk.sent(addresses);
    const remove = desk.service.addFault(limited(addresses, 3600));
    t.after(remove);
    const again = desk.clock.passUntil(window.tracker.downloadAgain(id), desk.traffic);
    await assert.rejects(again, { kind: 'rateLimited' });
    assert.equal(desk.sent(addresses) - asked, 1);
    const run = window.store.get(id);
    assert.ok(run?.state === 'succeeded' && run.artifacts.every(({ file }) => file !== undefined));
  });
});
