import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { startService } from '../../../service/assessmentService.ts';
import { defaultIdleLimits } from '../../../../src/core/api/http.ts';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { type Fixture, openWindow, type RunWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { seedUnknownRun } from '../seededRuns.ts';
import { accepted } from '../uploads.ts';
import { holdTimers } from '../../api/heldTimers.ts';
import { eventually } from '../../core/eventually.ts';

const { jsonMs } = defaultIdleLimits;

/** Dispatches a run with a confirmed file, skipping the earlier steps. */
async function dispatchOnly(fixture: Fixture, window: RunWindow): Promise<Run> {
  const { id } = await seedUnknownRun(fixture, window);
  return fixture.passUntil(window.tracker.resend(id));
}

describe('a dispatch', () => {
  test('F45 without any answer makes the run unknown, without a second request', async (t) => {
    const fixture = await setUpFixture(t);
    fixture.service.addFault({ match: { path: '/dispatch' }, before: { kind: 'stall' } });
    const timers = holdTimers(t, jsonMs);
    const started = openWindow(t, fixture).start();
    await eventually(() => fixture.sent('/dispatch') > 0, 'the dispatch is sent');
    timers.pass(jsonMs);
    const run = await started;
    assert.ok(run.state === 'unknown');
    assert.equal(run.reason.kind, 'timeout');
    assert.equal(fixture.sent('/dispatch'), 1);
  });

  const page = '<html><title>Please sign in</title></html>';
  for (const [what, kind, statuses, body] of [
    // Proxies send these after forwarding.
    ['F101 answered', undefined, [408, 499], undefined],
    ['F48 answered', 'serverError', [500, 502, 503, 504, 599], 'overloaded'],
    ['F48 answered with a page', 'serverError', [500, 503], page],
    ['F170 answered with a page', 'intercepted', [200, 403, 404, 409, 511], page],
  ] as const)
    for (const status of statuses)
      test(`${what} ${String(status)} makes the run unknown, without a second request`, async (t) => {
        const { fixture, window } = await setUpWindow(t);
        const headers = { 'retry-after': '1' };
        const reply = { kind: 'reply' as const, status, headers, ...(body !== undefined && { body }) };
        fixture.service.addFault({ match: { path: '/dispatch' }, after: reply });
        const run = await dispatchOnly(fixture, window);
        assert.ok(run.state === 'unknown');
        assert.deepEqual([run.reason.kind, run.reason.status], [kind ?? run.reason.kind, status]);
        if (body === page) assert.equal(run.reason.detail, 'Please sign in');
        assert.deepEqual([run.refusal, fixture.sent('/dispatch'), accepted(fixture)], [undefined, 1, 1]);
      });

  for (const [status, kind, sent] of [
    [401, 'unauthorized', 1],
    [407, 'proxy', 1],
    [413, 'capacity', 1],
    [429, 'rateLimited', 4],
  ] as const)
    test(`F191 answered ${String(status)} with a page before it is passed on has surely started nothing`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      fixture.refuse('/dispatch', { status, headers: { 'retry-after': '60' }, body: page });
      const began = fixture.clock.now();
      const run = await window.start();
      assert.ok(run.state === 'failed');
      assert.deepEqual([run.failure.kind, run.failure.status, run.failure.isPage], [kind, status, true]);
      assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [sent, 0]);
      assert.ok(fixture.clock.now() - began >= (sent - 1) * 60_000, 'asked earlier than the page wanted');
    });

  for (const status of [201, 202]) {
    test(`F50 answered ${String(status)} with a run ID is accepted, and without one the run is unknown`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      const reply = { kind: 'reply' as const, status, body: '{"workflow_run_id":"run-invented"}' };
      const undo = fixture.service.addFault({ match: { path: '/dispatch' }, before: reply });
      const run = await window.start();
      assert.ok(run.state === 'running');
      assert.equal(run.runId, 'run-invented');
      undo();
      fixture.service.addFault({ match: { path: '/dispatch' }, before: { ...reply, body: '{}' } });
      const lost = await window.start();
      assert.ok(lost.state === 'unknown');
      assert.deepEqual([lost.reason.kind, lost.reason.status], ['badResponse', status]);
      assert.equal(fixture.sent('/dispatch'), 2);
    });
  }

  for (const [row, code] of [
    ['F102', 'EMFILE'],
    ['F49', undefined],
  ] as const)
    test(`${row} with ${code ?? 'no answer to a name'} before a connection exists is retried, and the run starts once`, async (t) => {
      const fixture = await setUpFixture(t);
      const real = http.request.bind(http) as (url: URL, options: object) => http.ClientRequest;
      const timers = holdTimers(t, jsonMs);
      let tries = 0;
      t.mock.method(http, 'request', (url: URL, options: object) => {
        if (!url.pathname.endsWith('/dispatch') || (tries += 1) >= 3) return real(url, options);
        const lookup = (_name: string, _options: object, done: (error: Error) => void): void => {
          if (code !== undefined) done(Object.assign(new Error(`getaddrinfo ${code}`), { code }));
          else setImmediate(() => timers.pass(jsonMs));
        };
        return real(url, { ...options, hostname: 'service.example', lookup });
      });
      const run = await openWindow(t, fixture).start();
      assert.equal(run.state, 'running');
      assert.deepEqual([tries, fixture.sent('/dispatch'), accepted(fixture)], [3, 1, 1]);
    });

  for (const times of [2, Infinity]) {
    test(`F102 without a file descriptor has sent nothing, ${times === 2 ? 'and is sent later' : 'and the run fails'}`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      const { mock } = t.mock.method(window.store, 'refresh', (id: string) => {
        if (window.store.get(id)?.state === 'dispatching' && mock.callCount() < times)
          return Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
        return RunStore.prototype.refresh.call(window.store, id);
      });
      const run = await window.start();
      const [state, sent] = times === 2 ? ['running', 1] : ['failed', 0];
      assert.deepEqual([run.state, fixture.sent('/dispatch'), accepted(fixture)], [state, sent, sent]);
    });
  }

  test('F49 answered 429 waits as long as requested, and the run starts once', async (t) => {
    const fixture = await setUpFixture(t);
    fixture.refuse({ path: '/dispatch', times: 2 }, { status: 429, headers: { 'retry-after': '7' } });
    const before = fixture.clock.now();
    const run = await openWindow(t, fixture).start();
    assert.equal(run.state, 'running');
    assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [3, 1]);
    assert.ok(fixture.clock.now() - before >= 14_000, 'asked earlier than the service wanted');
  });

  test('F49 with a refused connection is retried until the service is back', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const { id } = await seedUnknownRun(fixture, window);
    const { organizationId, token } = fixture.service;
    const port = Number(new URL(fixture.service.baseUrl).port);
    await fixture.service.close();
    const resent = window.tracker.resend(id);
    await fixture.clock.whenAsleep();
    const back = await startService({ port, organizations: { [organizationId]: [token] } });
    t.after(() => back.close());
    const run = await fixture.passUntil(resent);
    // The new service does not know the file: a clear refusal shows that the request arrived.
    assert.ok(run.state === 'unknown');
    assert.equal(run.refusal?.status, 404);
    assert.equal(back.requests.filter(({ path }) => path.endsWith('/dispatch')).length, 1);
  });

  test('F49 with a connection refused for ever fails the run, since nothing was started', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    window.store.onDidChange(([run]) => {
      if (run?.state === 'dispatching') t.after(fixture.pullCable());
    });
    const run = await window.start();
    assert.ok(run.state === 'failed');
    assert.equal(run.failure.kind, 'unsent');
  });

  const odd = [
    ['no run ID', '{"id":"run-1"}', 'run-1'],
    ['an oversized run ID', JSON.stringify({ workflow_run_id: 'r'.repeat(5_000) }), 'rrrr'],
    ['an empty run ID', '{"workflow_run_id":""}', 'workflow_run_id'],
    ['an empty body', '', undefined],
  ] as const;
  for (const [what, body, kept] of odd) {
    test(`F50 answered 200 with ${what} makes the run unknown and stores the body`, async (t) => {
      const fixture = await setUpFixture(t);
      fixture.service.addFault({ match: { path: '/dispatch' }, after: { kind: 'reply', status: 200, body } });
      const run = await dispatchOnly(fixture, openWindow(t, fixture));
      assert.ok(run.state === 'unknown');
      assert.equal(run.reason.kind, 'badResponse');
      if (kept === undefined) assert.equal(run.reason.detail, undefined);
      else assert.ok(run.reason.detail?.includes(kept), run.reason.detail);
      assert.ok((run.reason.detail?.length ?? 0) <= 500, 'and not all of a long one');
      assert.equal(fixture.sent('/dispatch'), 1);
    });
  }

  for (const [what, refresh, sent, kind] of [
    ['is refused as well', () => Promise.resolve('another-invented-token'), 2, 'unauthorized'],
    [
      'is withheld by a locked keyring',
      () => Promise.reject(new AssessmentError('secretStorage')),
      1,
      'secretStorage',
    ],
  ] as const) {
    test(`F96 answered 401 with a fresh token that ${what} fails the run after requests: ${String(sent)}`, async (t) => {
      const { fixture, window } = await setUpWindow(t, { refresh });
      fixture.refuse('/dispatch', 401);
      const run = await window.start();
      assert.ok(run.state === 'failed');
      assert.equal(run.failure.kind, kind);
      assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [sent, 0]);
    });
  }

  test('F96 with a reply lost after the resend makes the run unknown', async (t) => {
    const { fixture, window } = await setUpWindow(t, {
      refresh: () => Promise.resolve(fixture.service.token),
    });
    fixture.refuse({ path: '/dispatch', nth: 1 }, 401);
    fixture.service.addFault({ match: { path: '/dispatch', nth: 2 }, after: { kind: 'reset' } });
    const run = await dispatchOnly(fixture, window);
    assert.equal(run.state, 'unknown');
    assert.deepEqual([fixture.sent('/dispatch'), accepted(fixture)], [2, 1]);
  });

  for (const status of [400, 403, 404, 409, 413, 422]) {
    test(`F94 refused with ${String(status)} fails the run and deletes the confirmed file`, async (t) => {
      const fixture = await setUpFixture(t);
      const body = JSON.stringify({ error: { code: 'no', message: 'Not today.' } });
      fixture.refuse('/dispatch', { status, body });
      const run = await openWindow(t, fixture).start();
      assert.ok(run.state === 'failed');
      assert.deepEqual([run.failure.status, run.failure.detail], [status, 'Not today. (no)']);
      assert.equal(fixture.service.files()[0]?.state, 'deleted');
      assert.equal(run.targets[0]?.upload?.state, 'deleted');
      assert.equal(fixture.sent('/dispatch'), 1);
    });
  }
});
