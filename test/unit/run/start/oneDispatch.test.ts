import assert from 'node:assert/strict';
import http from 'node:http';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { bury } from '../buriedWindow.ts';
import { storeThat } from '../preparedStore.ts';
import { type Desk, openWindow, setUpDesk, setUpWindow } from '../runWindow.ts';
import { seedUnknownRun } from '../seededRuns.ts';
import { accepted, startWith } from '../uploads.ts';
import { stepOf } from '../sampleRuns.ts';
import { eventually } from '../../core/eventually.ts';

/** Less than it takes a lease to look abandoned. */
const waitMs = 12_000;

/** Has another window hold a run that looked abandoned; it has not written to the journal yet. */
async function takeOver(desk: Desk, id: string): Promise<void> {
  await bury(desk, id);
  assert.ok((await takeLease(join(desk.root, id, 'lease'), desk.clock)) !== undefined);
}

/** A start whose first dispatch has met a 429, and now waits to be sent again. */
async function startAndWait(t: TestContext) {
  const { desk, window } = await setUpWindow(t);
  const reply = { kind: 'reply' as const, status: 429, headers: { 'retry-after': String(waitMs / 1000) } };
  desk.service.addFault({ match: { path: '/dispatch', nth: 1 }, before: reply });
  const started = window.tracker.start(await window.assessment());
  await eventually(
    () => desk.clock.slept.some((ms) => ms >= waitMs),
    `a wait of at least ${waitMs} ms has begun`,
  );
  return { desk, started, id: window.store.all()[0]!.id };
}

describe('a dispatch', () => {
  test('F47 is neither intended nor sent by a window that lost the run during a question', async (t) => {
    const { desk, window } = await setUpWindow(t);
    const confirmUpload = async ({ id }: Run): Promise<boolean> => {
      await takeOver(desk, id);
      return true;
    };
    await assert.rejects(startWith(window, desk, { confirmUpload }), { kind: 'busyElsewhere' });
    assert.equal(desk.sent('/dispatch'), 0);
    assert.equal(stepOf(window.store.all()[0]), 'confirming', 'for the other window to end');
  });

  test('F47 that waits to be sent again is not, once another window holds the run', async (t) => {
    const { desk, started, id } = await startAndWait(t);
    await takeOver(desk, id);
    await assert.rejects(desk.clock.passUntil(started, desk.traffic), { kind: 'busyElsewhere' });
    assert.deepEqual([desk.sent('/dispatch'), accepted(desk)], [1, 0]);
  });

  test('F47 that waits to be sent again is not, once the run is to be dispatched by a later decision', async (t) => {
    const { desk, started, id } = await startAndWait(t);
    const at = desk.clock.now() + 1;
    const { store } = openWindow(t, desk);
    await store.reload();
    await store.apply(id, { type: 'dispatchLost', reason: { kind: 'interrupted' }, at });
    await store.apply(id, { type: 'dispatchIntended', at });
    await assert.rejects(desk.clock.passUntil(started, desk.traffic), { kind: 'busyElsewhere' });
    assert.deepEqual([desk.sent('/dispatch'), accepted(desk)], [1, 0]);
  });

  test('F45 F49 whose TLS breaks in its middle is sent once, for the service may have accepted it', async (t) => {
    const { desk, window } = await setUpWindow(t);
    desk.service.addFault({ match: { path: '/dispatch', times: 1 }, after: { kind: 'stall' } });
    const requests: http.ClientRequest[] = [];
    const real = http.request.bind(http) as (url: URL, options: object) => http.ClientRequest;
    t.mock.method(http, 'request', (url: URL, options: object) => {
      const request = real(url, options);
      requests.push(request);
      return request;
    });
    const started = window.start();
    await eventually(() => accepted(desk) > 0, 'the service has accepted a run');
    requests.at(-1)!.destroy(Object.assign(new Error('write EPROTO'), { code: 'EPROTO', syscall: 'write' }));
    const run = await started;
    assert.ok(run.state === 'unknown');
    assert.deepEqual([run.reason.kind, desk.sent('/dispatch'), accepted(desk)], ['tls', 1, 1]);
  });

  test('F47 is sent again for the first of two clicks, however close the second follows', async (t) => {
    const desk = await setUpDesk(t);
    let isFirst = true;
    const store = storeThat(async ({ type }) => {
      if (type !== 'dispatchIntended' || !isFirst) return;
      isFirst = false;
      await assert.rejects(window.tracker.resend(id), { kind: 'busyElsewhere' });
    });
    const window = openWindow(t, desk, { store });
    const { id } = await seedUnknownRun(desk, window);
    const run = await desk.clock.passUntil(window.tracker.resend(id), desk.traffic);
    assert.equal(run.state, 'running');
    assert.deepEqual([desk.sent('/dispatch'), accepted(desk)], [1, 1]);
  });
});
