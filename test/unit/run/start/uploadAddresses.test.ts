import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { storeWithHook } from '../hookedStore.ts';
import { type Fixture, openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { puts, startWith, states } from '../uploads.ts';

describe('an upload address', () => {
  test('F34 called expired by the service is cancelled and replaced, with one reservation left', async (t) => {
    let ahead = 0;
    const fixture: Fixture = await setUpFixture(t, {
      clock: { now: () => Date.now() + ahead },
      uploadUrlSeconds: 100,
    });
    const store = storeWithHook(({ type }) => {
      // The service's clock, not ours, runs ahead between the first reservation and its transfer.
      if (type === 'reserved' && ahead === 0) ahead = 200_000;
    });
    const window = openWindow(t, fixture, { store });
    const run = await window.start();
    assert.equal(run.state, 'running');
    assert.deepEqual(
      puts(fixture).map(({ status }) => status),
      [403, 200],
    );
    assert.deepEqual(states(fixture), ['cancelled', 'confirmed']);
    assert.equal(run.targets[0]?.upload?.fileId, fixture.service.files()[1]?.fileId);
  });

  const page = '<html><title>Blocked</title></html>';
  for (const [status, body] of [
    [400, ''],
    [401, ''],
    [404, ''],
    [403, page],
  ] as const) {
    test(`F34 answered ${String(status)} by storage${body && ', as a page,'} is replaced, too`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      fixture.service.addFault({ match: { method: 'PUT', nth: 1 }, before: { kind: 'reply', status, body } });
      assert.equal((await window.start()).state, 'running');
      assert.deepEqual(states(fixture), ['cancelled', 'confirmed']);
    });
  }

  const expired = '<Error><Message>Request has expired</Message></Error>';
  for (const [when, body, movesMs, failure] of [
    ['expired before every upload', '', 200_000, ['forbidden', 'upload', undefined]],
    ['never valid', expired, 0, ['addressRefused', 'files', 'Request has expired']],
  ] as const)
    test(`F34 ${when} is given up after three, with no reservation left`, async (t) => {
      const fixture = await setUpFixture(t, { uploadUrlSeconds: 100 });
      fixture.refuse({ method: 'PUT' }, { status: 403, body, afterBodyBytes: 1 });
      const onUploading = (): void => fixture.clock.moveWall(movesMs);
      const run = await startWith(openWindow(t, fixture), fixture, { onUploading });
      assert.ok(run?.state === 'failed');
      const { kind, status, subject, detail } = run.failure;
      assert.deepEqual([status, [kind, subject, detail]], [403, failure], 'not of the organization');
      assert.deepEqual(states(fixture), ['cancelled', 'cancelled', 'cancelled']);
    });

  test('F35 with too little validity left is renewed before bytes are sent again', async (t) => {
    const fixture = await setUpFixture(t, { uploadUrlSeconds: 100 });
    fixture.refuse({ method: 'PUT', times: 1 }, { status: 503, headers: { 'retry-after': '80' } });
    const run = await openWindow(t, fixture).start();
    assert.equal(run.state, 'running');
    assert.deepEqual(
      puts(fixture).map(({ status }) => status),
      [503, 200],
    );
    assert.deepEqual(states(fixture), ['cancelled', 'confirmed']);
  });

  test('F36 that expired while the machine slept is noticed by the wall clock', async (t) => {
    const fixture = await setUpFixture(t, { uploadUrlSeconds: 100 });
    fixture.service.addFault({
      match: { method: 'PUT', times: 1 },
      before: { kind: 'reset', afterBodyBytes: 1 },
    });
    let hasSlept = false;
    const onUploading = (): void => {
      if (!hasSlept) fixture.clock.moveWall(200_000);
      hasSlept = true;
    };
    const run = await startWith(openWindow(t, fixture), fixture, { onUploading });
    assert.equal(run?.state, 'running');
    assert.deepEqual(
      puts(fixture).map(({ status }) => status),
      [undefined, 200],
      'no bytes go to the expired address',
    );
    assert.deepEqual(states(fixture), ['cancelled', 'confirmed']);
  });

  test('F36 that expired is noticed despite a wall clock set back', async (t) => {
    const fixture = await setUpFixture(t, { clock: { now: () => 0 }, uploadUrlSeconds: 100 });
    fixture.refuse({ method: 'PUT', times: 1 }, { status: 503, headers: { 'retry-after': '110' } });
    let isSet = false;
    const onUploading = (): void => {
      if (!isSet) fixture.clock.moveWall(-24 * 3600_000);
      isSet = true;
    };
    const run = await startWith(openWindow(t, fixture), fixture, { onUploading });
    assert.equal(run?.state, 'running');
    assert.deepEqual(states(fixture), ['cancelled', 'confirmed']);
  });

  test('F43 that is not safe is refused', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const upload_url = 'http://storage.example/file?signature=canary';
    const body = JSON.stringify({ file_id: 'file-invented', upload_url, expires_in_seconds: 900 });
    const reply = { kind: 'reply' as const, status: 200, body };
    fixture.service.addFault({ match: { path: '/get-upload-url' }, after: reply });
    const run = await window.start();
    assert.ok(run.state === 'failed');
    assert.deepEqual([run.failure.kind, puts(fixture).length], ['insecureUrl', 0]);
    assert.doesNotMatch(JSON.stringify(run) + window.lines.join('\n'), /canary/);
  });

  test('F126 on another host than the service is recorded with the run', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const usual = await window.start();
    assert.equal(usual.targets[0]?.upload?.host, undefined);
    const upload_url = 'http://localhost:1/put?signature=canary';
    const body = JSON.stringify({ file_id: 'file-invented', upload_url, expires_in_seconds: 900 });
    const reply = { kind: 'reply' as const, status: 200, body };
    fixture.service.addFault({ match: { path: '/get-upload-url' }, after: reply });
    const run = await window.start();
    assert.equal(run.targets[0]?.upload?.host, 'localhost:1');
    const journal = await readFile(join(window.store.folderOf(run.id), 'run.json'), 'utf8');
    assert.match(journal, /localhost:1/);
    assert.doesNotMatch(journal, /canary/);
  });

  test('F44 that redirects is refused, and no Authorization goes to storage', async (t) => {
    const fixture = await setUpFixture(t);
    let visits = 0;
    const elsewhere = createServer((_request, response) => {
      visits += 1;
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    t.after(() => elsewhere.close());
    const location = `http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}/put`;
    fixture.refuse({ method: 'PUT' }, { status: 307, headers: { location } });
    const run = await openWindow(t, fixture).start();
    assert.ok(run.state === 'failed');
    assert.deepEqual([run.failure.kind, run.failure.subject], ['redirected', 'files']);
    assert.deepEqual([visits, puts(fixture).map(({ hasAuthorization }) => hasAuthorization)], [0, [false]]);
  });
});
