import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { pass } from '../passTime.ts';
import { type Fixture, openWindow, setUpFixture, type WindowOptions } from '../runWindow.ts';
import { trackRemoteRun } from '../seededRuns.ts';
import { eventually } from '../../core/eventually.ts';

/** The window's workbench stops to answer once it is torn away. */
function openTearable(t: TestContext, fixture: Fixture, options: WindowOptions = {}) {
  let answer: Promise<undefined> = Promise.resolve(undefined);
  const window = openWindow(t, fixture, { ...options, askWorkbench: () => answer });
  const tear = (): ((value: Promise<undefined>) => void) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    answer = promise;
    return (value) => {
      resolve(value);
      answer = Promise.resolve(undefined);
    };
  };
  return { window, tear };
}

/** A tearable window drives the run, and there is another window. */
async function setUpTwo(t: TestContext) {
  const fixture = await setUpFixture(t);
  const { window, tear } = openTearable(t, fixture);
  const { id, runId } = await trackRemoteRun(fixture, window);
  const other = openWindow(t, fixture);
  await other.tracker.resume();
  return { fixture, window, other, tear, id, runId };
}

describe('F172 a window whose workbench does not answer', () => {
  test('gives its lease back, and another window drives the run and announces its end', async (t) => {
    const { fixture, window, other, tear, id, runId } = await setUpTwo(t);
    tear();
    // These are the question, its 10 s without an answer, and 15 s for the other window.
    await pass(fixture, 30_000);
    await fixture.service.finishRun(runId);
    const asked = fixture.clock.now();
    await other.untilEnded(id);
    assert.ok(fixture.clock.now() - asked <= 30_000, `${String(fixture.clock.now() - asked)} ms`);
    assert.deepEqual([window.ended.length, other.ended.length], [0, 1]);
  });

  test('does not announce an end that another window has announced meanwhile', async (t) => {
    const { fixture, window, other, tear, id, runId } = await setUpTwo(t);
    const mend = tear();
    await fixture.service.finishRun(runId);
    await other.untilEnded(id);
    mend(Promise.resolve(undefined));
    await pass(fixture, 60_000);
    assert.deepEqual([window.ended.length, other.ended.length], [0, 1]);
  });

  test('takes no run again because its clock jumps', async (t) => {
    const { fixture, window, other, tear, id, runId } = await setUpTwo(t);
    tear();
    await pass(fixture, 30_000);
    fixture.clock.advance(3_600_000);
    await pass(fixture, 30_000);
    await other.close();
    await fixture.service.finishRun(runId);
    await pass(fixture, 10 * 60_000);
    assert.equal(window.store.get(id)?.state, 'running');
  });

  test('keeps a start that waits for the user', async (t) => {
    const fixture = await setUpFixture(t);
    const { window, tear } = openTearable(t, fixture);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    const packed = await fixture.passUntil(window.tracker.pack(await window.assessment(), {}));
    const mend = tear();
    await pass(fixture, 60_000);
    mend(Promise.resolve(undefined));
    const started = await fixture.passUntil(window.tracker.startPacked(packed!, {}));
    assert.equal(started?.state, 'running');
  });

  test('keeps the lease of a start that makes progress', async (t) => {
    const fixture = await setUpFixture(t);
    const { window, tear } = openTearable(t, fixture);
    const other = openWindow(t, fixture);
    await other.tracker.resume();
    fixture.service.addFault({ match: { method: 'PUT', times: 1 }, before: { kind: 'stall' } });
    const stop = new AbortController();
    const started = window.tracker.start(await window.assessment(), { signal: stop.signal });
    await eventually(() => window.store.all()[0]?.targets[0]?.upload !== undefined, 'the upload has begun');
    tear();
    await other.store.reload();
    for (let seconds = 0; seconds < 60; seconds += 5) {
      fixture.clock.advance(5_000);
      // The stalled request and its timers do not count.
      await fixture.clock.rest({ ...fixture.traffic, isBusy: () => false, othersTimers: Infinity });
    }
    assert.deepEqual([other.store.all()[0]?.state, other.ended], ['preparing', []]);
    stop.abort();
    await started;
  });

  for (const [what, answer] of [
    ['its workbench answers again', () => Promise.resolve(undefined)],
    ['the question after a refused one has an answer', () => Promise.reject(new Error('Canceled'))],
  ] as const)
    test(`takes no run until ${what}`, async (t) => {
      const fixture = await setUpFixture(t);
      const { window, tear } = openTearable(t, fixture);
      const { id, runId } = await trackRemoteRun(fixture, window);
      const mend = tear();
      await pass(fixture, 30_000);
      await fixture.service.finishRun(runId);
      await pass(fixture, 60_000);
      assert.equal(window.store.get(id)?.state, 'running');
      mend(answer());
      await window.untilEnded(id);
      assert.equal(window.ended.length, 1);
    });
});
