import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import http from 'node:http';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { storeWithHook, storeWithoutSpaceFor } from '../hookedStore.ts';
import { type Fixture, openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { seedUnknownRun } from '../seededRuns.ts';
import { accepted, startWith } from '../uploads.ts';
import { eventually } from '../../core/eventually.ts';

const waitMs = 12_000;

/** Lets another window take the lease of a run without writing its journal. */
async function takeOver(fixture: Fixture, id: string): Promise<void> {
  await writeFile(join(fixture.root, id, 'lease', 'lease-9.json'), '');
}

/** The dispatch of the start got a 429 and waits for its retry. */
async function startAndWait(t: TestContext) {
  const { fixture, window } = await setUpWindow(t);
  fixture.refuse(
    { path: '/dispatch', nth: 1 },
    { status: 429, headers: { 'retry-after': String(waitMs / 1000) } },
  );
  const started = window.tracker.start(await window.assessment());
  await eventually(
    () => fixture.clock.slept.some((ms) => ms >= waitMs),
    `a wait of at least ${waitMs} ms has begun`,
  );
  return { fixture, started, id: window.store.all()[0]!.id };
}

describe('a dispatch', () => {
  test('F47 is neither intended nor sent by a window that lost the run during a question', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const confirmUpload = async ({ id }: Run): Promise<boolean> => {
      await takeOver(fixture, id);
      return true;
    };
    await assert.rejects(startWith(window, fixture, { confirmUpload }), { kind: 'busyElsewhere' });
    assert.equal(fixture.sent('/dispatch'), 0);
    assert.equal(window.store.all()[0]?.state, 'preparing', 'for the other window to end');
  });

  test('F47 that waits to be sent again is dropped once another window holds the run', async (t) => {
    const { fixture, started, id } = await startAndWait(t);
    await takeOver(fixture, id);
    await assert.rejects(fixture.passUntil(started), { kind: 'busyElsewhere' });
    assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [1, 0]);
  });

  test('F47 that waits to be sent again is dropped after a later decision to dispatch', async (t) => {
    const { fixture, started, id } = await startAndWait(t);
    const at = fixture.clock.now() + 1;
    const { store } = openWindow(t, fixture);
    await store.reload();
    await store.apply(id, { type: 'dispatchLost', reason: { kind: 'interrupted' }, at });
    await store.apply(id, { type: 'dispatchIntended', at });
    await assert.rejects(fixture.passUntil(started), { kind: 'busyElsewhere' });
    assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [1, 0]);
  });

  test('F45 F49 with a TLS failure in its middle is sent once, since it may have been accepted', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    fixture.service.addFault({ match: { path: '/dispatch', times: 1 }, after: { kind: 'stall' } });
    const requests: http.ClientRequest[] = [];
    const real = http.request.bind(http) as (url: URL, options: object) => http.ClientRequest;
    t.mock.method(http, 'request', (url: URL, options: object) => {
      const request = real(url, options);
      requests.push(request);
      return request;
    });
    const started = window.start();
    await eventually(() => accepted(fixture) > 0, 'the service has accepted a run');
    requests.at(-1)!.destroy(Object.assign(new Error('write EPROTO'), { code: 'EPROTO', syscall: 'write' }));
    const run = await started;
    assert.ok(run.state === 'unknown');
    assert.deepEqual(
      [run.reason.kind, fixture.sent('/dispatch'), accepted(fixture)],
      ['connectionLost', 1, 1],
    );
  });

  test('F47 is sent again by a window that is just taking the run for another step', async (t) => {
    const fixture = await setUpFixture(t);
    const window = openWindow(t, fixture, { store: storeWithoutSpaceFor('endNotified') });
    const { id } = await seedUnknownRun(fixture, window);
    const path = join(fixture.root, id, 'run.json');
    for (let tries = 0; tries < 20; tries += 1) {
      const journal = await readFile(path, 'utf8');
      await writeFile(path, journal.replace('"noticeDue": false', '"noticeDue": true'));
      const resumed = window.tracker.resume();
      for (let turns = 0; turns < tries; turns += 1) await setImmediate();
      const resent = window.tracker.resend(id, AbortSignal.abort());
      await fixture.passUntil(Promise.all([resent, resumed]));
    }
  });

  test('F47 is sent again for the first of two clicks, however close the second is', async (t) => {
    const fixture = await setUpFixture(t);
    let isFirst = true;
    const store = storeWithHook(async ({ type }) => {
      if (type !== 'dispatchIntended' || !isFirst) return;
      isFirst = false;
      await assert.rejects(window.tracker.resend(id), { kind: 'busyElsewhere' });
    });
    const window = openWindow(t, fixture, { store });
    const { id } = await seedUnknownRun(fixture, window);
    const run = await fixture.passUntil(window.tracker.resend(id));
    assert.equal(run.state, 'running');
    assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [1, 1]);
  });
});
