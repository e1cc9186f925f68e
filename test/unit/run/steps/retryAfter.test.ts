import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minuteMs, pass } from '../passTime.ts';
import { openWindow, setUpWindow } from '../runWindow.ts';
import { setUpRun } from '../seededRuns.ts';
import { states } from '../uploads.ts';

const addresses = /artifact-download-url$/;

const limited = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } });

describe('a Retry-After answer', () => {
  test('F51 about one artifact delays all requests for artifacts', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    fixture.refuse({ path: addresses, times: 1 }, 500);
    const heal = fixture.refuse(addresses, limited(3600));
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
    const heal = fixture.refuse('/delete', limited(36_000));
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
});
