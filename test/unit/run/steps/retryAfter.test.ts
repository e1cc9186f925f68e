import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FaultRule } from '../../../service/faults.ts';
import { minuteMs, pass, stride } from '../passTime.ts';
import { openWindow, setUpWindow } from '../runWindow.ts';
import { seedUnknownRun, setUpRun } from '../seededRuns.ts';
import { states } from '../uploads.ts';

const addresses = /artifact-download-url$/;

/** Answers this operation with 429 and Retry-After, some times or always. */
const limited = (path: string | RegExp, seconds: number, times?: number): FaultRule => ({
  match: { path, ...(times === undefined ? {} : { times }) },
  before: { kind: 'reply', status: 429, headers: { 'retry-after': String(seconds) } },
});

describe('a Retry-After answer', () => {
  test('F51 about one artifact delays all requests for artifacts', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    fixture.service.addFault({
      match: { path: addresses, times: 1 },
      before: { kind: 'reply', status: 500 },
    });
    const heal = fixture.service.addFault(limited(addresses, 3600));
    await fixture.service.finishRun(runId);
    const run = await window.until(id, (each) => 'trouble' in each && each.trouble !== undefined);
    assert.equal('trouble' in run && run.trouble?.kind, 'rateLimited');
    const asked = fixture.sent(addresses);
    await pass(fixture, 55 * minuteMs);
    assert.equal(fixture.sent(addresses), asked);
    heal();
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
  });

  test('F51 about a file deletion applies to every window and to manual retries', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const [target] = (await window.assessment()).targets;
    const run = await window.start({ targets: [target!, { ...target!, name: 'docs' }] });
    assert.ok(run.state === 'running');
    const heal = fixture.service.addFault(limited('/delete', 36_000));
    await fixture.service.finishRun(run.runId);
    await window.untilEnded(run.id);
    await pass(fixture, minuteMs);
    assert.equal(fixture.sent('/delete'), 1, 'nor is it asked about the second file');
    heal();
    const other = openWindow(t, fixture);
    await fixture.passUntil(other.tracker.resume());
    assert.equal((await other.tracker.deleteUploads(run.id))?.kind, 'rateLimited');
    assert.equal((await other.tracker.remove(run.id))?.kind, 'rateLimited');
    assert.equal(fixture.sent('/delete'), 1);
    fixture.clock.advance(36_000_000);
    await other.tracker.resume();
    await pass(fixture, minuteMs);
    assert.deepEqual(states(fixture), ['deleted', 'deleted']);
  });

  test('F51 F55 does not delay longer than its maximum after the clock was set back', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await seedUnknownRun(fixture, window);
    const day = 24 * 3600_000;
    const retryAt = fixture.clock.now() + 10 * day;
    await window.store.apply(id, {
      type: 'stepFailed',
      failure: { kind: 'rateLimited' },
      retryAt,
      at: retryAt - day,
    });
    await fixture.passUntil(window.tracker.abandon(id));
    await stride(fixture, day + minuteMs);
    assert.deepEqual(states(fixture), ['deleted']);
  });
});
