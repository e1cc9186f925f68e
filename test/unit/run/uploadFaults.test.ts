import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Run } from '../../../src/core/run/run.ts';
import { bury } from './buriedWindow.ts';
import { type Desk, openWindow, type RunWindow, setUpDesk } from './runWindow.ts';
import { VirtualClock } from './virtualClock.ts';

const puts = (desk: Desk) => desk.service.requests.filter(({ method }) => method === 'PUT');
const states = (desk: Desk): string[] => desk.service.files().map(({ state }) => state);
const archiveOf = (window: RunWindow, run: Run): string =>
  join(window.store.folderOf(run.id), run.targets[0]!.archive!.file);

/** Starts with a person at the last question. */
async function startWith(
  window: RunWindow,
  desk: Desk,
  options: Parameters<RunWindow['tracker']['start']>[1],
): Promise<Run | undefined> {
  const started = window.tracker.start(await window.assessment(), options);
  return desk.clock.passUntil(started, desk.traffic);
}

describe('an upload', () => {
  test('F32 a connection reset in the middle leads to a full replay with the same SHA-256', async (t) => {
    const desk = await setUpDesk(t);
    await writeFile(join(desk.folder, 'large.bin'), randomBytes(900_000));
    const reset = { kind: 'reset' as const, afterBodyBytes: 300_000 };
    desk.service.addFault({ match: { method: 'PUT', times: 2 }, before: reset });
    const window = openWindow(t, desk);
    const run = await window.start();
    assert.equal(run.state, 'running');
    const { archive } = run.targets[0]!;
    assert.equal(desk.service.files()[0]?.sha256, archive?.sha256);
    assert.deepEqual(
      puts(desk).map(({ headers }) => Number(headers['content-length'])),
      [archive?.bytes, archive?.bytes, archive?.bytes],
    );
    assert.equal(desk.sent('/get-upload-url'), 1);
  });

  test('F33 a stalled transfer is given up after its idle limit and replayed', async (t) => {
    const desk = await setUpDesk(t);
    await writeFile(join(desk.folder, 'large.bin'), randomBytes(900_000));
    const stall = { kind: 'stall' as const, afterBodyBytes: 100_000 };
    desk.service.addFault({ match: { method: 'PUT', times: 1 }, before: stall });
    const run = await openWindow(t, desk, { idle: { jsonMs: 5_000, transferMs: 250 } }).start();
    assert.equal(run.state, 'running');
    assert.equal(puts(desk).length, 2);
    assert.equal(desk.service.files()[0]?.sha256, run.targets[0]?.archive?.sha256);
  });

  test('F34 an address that the service calls expired is cancelled and replaced, and one reservation is left', async (t) => {
    let ahead = 0;
    const desk: Desk = await setUpDesk(t, { clock: { now: () => Date.now() + ahead }, uploadUrlSeconds: 100 });
    const window = openWindow(t, desk);
    const original = window.store.apply.bind(window.store);
    t.mock.method(window.store, 'apply', async (id: string, event: Parameters<typeof original>[1]) => {
      // The service's clock, not ours, runs ahead between the first reservation and its transfer.
      if (event.type === 'reserved' && ahead === 0) ahead = 200_000;
      return original(id, event);
    });
    const run = await window.start();
    assert.equal(run.state, 'running');
    assert.deepEqual(
      puts(desk).map(({ status }) => status),
      [403, 200],
    );
    assert.deepEqual(states(desk), ['cancelled', 'confirmed']);
    assert.equal(run.targets[0]?.upload?.fileId, desk.service.files()[1]?.fileId);
  });

  test('F34 an address that never holds is given up after three, with no reservation left', async (t) => {
    const desk = await setUpDesk(t);
    const reply = { kind: 'reply' as const, status: 403, body: '<Error><Message>Request has expired</Message></Error>' };
    desk.service.addFault({ match: { method: 'PUT' }, before: reply });
    const run = await openWindow(t, desk).start();
    assert.ok(run.state === 'failed');
    assert.equal(run.failure.detail, 'Request has expired');
    assert.deepEqual(states(desk), ['cancelled', 'cancelled', 'cancelled']);
  });

  test('F35 with too little validity left the address is renewed before bytes are sent again', async (t) => {
    const desk = await setUpDesk(t, { uploadUrlSeconds: 100 });
    const reply = { kind: 'reply' as const, status: 503, headers: { 'retry-after': '80' } };
    desk.service.addFault({ match: { method: 'PUT', times: 1 }, before: reply });
    const run = await openWindow(t, desk).start();
    assert.equal(run.state, 'running');
    assert.deepEqual(
      puts(desk).map(({ status }) => status),
      [503, 200],
    );
    assert.deepEqual(states(desk), ['cancelled', 'confirmed']);
  });

  test('F35 an address that is short-lived from the start is used', async (t) => {
    const desk = await setUpDesk(t, { uploadUrlSeconds: 10 });
    const run = await openWindow(t, desk).start();
    assert.equal(run.state, 'running');
    assert.deepEqual(states(desk), ['confirmed']);
  });

  test('F36 an expiry that passed while the machine slept is noticed by the wall clock', async (t) => {
    const desk = await setUpDesk(t, { uploadUrlSeconds: 100 });
    desk.service.addFault({ match: { method: 'PUT', times: 1 }, before: { kind: 'reset', afterBodyBytes: 1 } });
    let hasSlept = false;
    const onUploading = (): void => {
      if (!hasSlept) desk.clock.moveWall(200_000);
      hasSlept = true;
    };
    const run = await startWith(openWindow(t, desk), desk, { onUploading });
    assert.equal(run?.state, 'running');
    assert.deepEqual(
      puts(desk).map(({ status }) => status),
      [undefined, 200],
      'no bytes go to the expired address',
    );
    assert.deepEqual(states(desk), ['cancelled', 'confirmed']);
  });

  test('F36 a wall clock set back does not hide that an address has expired', async (t) => {
    const desk = await setUpDesk(t, { clock: { now: () => 0 }, uploadUrlSeconds: 100 });
    const reply = { kind: 'reply' as const, status: 503, headers: { 'retry-after': '110' } };
    desk.service.addFault({ match: { method: 'PUT', times: 1 }, before: reply });
    let isSet = false;
    const onUploading = (): void => {
      if (!isSet) desk.clock.moveWall(-24 * 3600_000);
      isSet = true;
    };
    const run = await startWith(openWindow(t, desk), desk, { onUploading });
    assert.equal(run?.state, 'running');
    assert.deepEqual(states(desk), ['cancelled', 'confirmed']);
  });

  const changes = [
    ['longer', (path: string) => appendFile(path, 'x')],
    ['shorter', (path: string) => truncate(path, 10)],
  ] as const;
  for (const [how, change] of changes) {
    test(`F37 an archive that has become ${how} fails before a byte is sent`, async (t) => {
      const desk = await setUpDesk(t);
      const window = openWindow(t, desk);
      const confirmUpload = async (run: Run): Promise<boolean> => {
        await change(archiveOf(window, run));
        return true;
      };
      const run = await startWith(window, desk, { confirmUpload });
      assert.ok(run?.state === 'failed');
      assert.equal(run.failure.kind, 'lengthChanged');
      assert.deepEqual([puts(desk).length, states(desk)], [0, ['cancelled']]);
    });
  }

  test('F37 an archive of the same length but other bytes is never stored', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const confirmUpload = async (run: Run): Promise<boolean> => {
      const bytes = await readFile(archiveOf(window, run));
      await writeFile(archiveOf(window, run), bytes.fill(0, 30, 40));
      return true;
    };
    const run = await startWith(window, desk, { confirmUpload });
    assert.ok(run?.state === 'failed');
    assert.equal(run.failure.kind, 'lengthChanged');
    assert.deepEqual(
      desk.service.files().map(({ state, sha256 }) => [state, sha256]),
      [['cancelled', undefined]],
    );
  });

  test('F38 a transfer whose reply was lost is replayed and confirmed once', async (t) => {
    const desk = await setUpDesk(t);
    desk.service.addFault({ match: { method: 'PUT', times: 1 }, after: { kind: 'reset' } });
    const run = await openWindow(t, desk).start();
    assert.equal(run.state, 'running');
    assert.deepEqual([puts(desk).length, desk.sent('/confirm-upload'), states(desk)], [2, 1, ['confirmed']]);
  });

  for (const status of [404, 409]) {
    test(`F39 a confirmation whose reply was lost is sent again, and ${String(status)} to it is no failure`, async (t) => {
      const desk = await setUpDesk(t);
      desk.service.addFault({ match: { path: '/confirm-upload', nth: 1 }, after: { kind: 'reset' } });
      desk.service.addFault({ match: { path: '/confirm-upload', nth: 2 }, after: { kind: 'reply', status } });
      const run = await openWindow(t, desk).start();
      assert.equal(run.state, 'running');
      assert.deepEqual([puts(desk).length, desk.sent('/confirm-upload'), states(desk)], [1, 2, ['confirmed']]);
    });
  }

  test('F40 three 5xx to the reservation stop the start, and the run says why', async (t) => {
    const desk = await setUpDesk(t);
    const reply = { kind: 'reply' as const, status: 503, body: '{"message":"Down for maintenance."}' };
    desk.service.addFault({ match: { path: '/get-upload-url' }, before: reply });
    const run = await openWindow(t, desk).start();
    assert.ok(run.state === 'failed');
    assert.deepEqual(
      [run.failure.kind, run.failure.status, run.failure.detail],
      ['serverError', 503, 'Down for maintenance.'],
    );
    assert.deepEqual([desk.sent('/get-upload-url'), puts(desk).length], [3, 0]);
  });

  test('F41 a full quota fails the run at once', async (t) => {
    const desk = await setUpDesk(t, { capacityBytes: 10 });
    const run = await openWindow(t, desk).start();
    assert.ok(run.state === 'failed');
    assert.equal(run.failure.kind, 'capacity');
    assert.match(run.failure.detail ?? '', /10 of 10 bytes are free/);
    assert.equal(desk.service.requests.length, 1);
  });

  test('F42 a window killed in mid-upload leaves a reservation that the next start cancels from the journal', async (t) => {
    const desk = await setUpDesk(t);
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
    const dying = openWindow(t, desk, { clock: new VirtualClock() });
    const reserved = new Promise<Run>((resolve) => {
      dying.store.onDidChange((run) => {
        if (run.targets[0]?.upload !== undefined) resolve(run);
      });
    });
    dying.tracker.start(await dying.assessment()).catch(() => undefined);
    const { id } = await reserved;
    await bury(desk, id);
    const next = openWindow(t, desk);
    await next.tracker.resume();
    const run = next.store.get(id);
    assert.ok(run?.state === 'failed');
    assert.equal(run.failure.kind, 'interrupted');
    assert.deepEqual([run.targets[0]?.upload?.state, states(desk)], ['cancelled', ['cancelled']]);
    assert.deepEqual(
      next.ended.map((each) => each.id),
      [id],
    );
    const left = await readdir(next.store.folderOf(id));
    assert.deepEqual(left.filter((name) => name.startsWith('archive')), [], 'the local archive is gone');
  });

  test('F42 a reservation that cannot be cancelled at the next start is cancelled at the one after', async (t) => {
    const desk = await setUpDesk(t);
    const removeFault = desk.service.addFault({ match: { path: '/cancel-upload' }, before: { kind: 'reset' } });
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'reply', status: 400 } });
    const first = openWindow(t, desk);
    const { id } = await first.start();
    assert.deepEqual(states(desk), ['reserved']);
    removeFault();
    first.tracker.dispose();
    const second = openWindow(t, desk);
    await desk.clock.passUntil(second.tracker.resume(), desk.traffic);
    assert.deepEqual([second.store.get(id)?.targets[0]?.upload?.state, states(desk)], ['cancelled', ['cancelled']]);
    assert.deepEqual(second.ended, [], 'its end was told before');
  });

  const unsafe = [
    'http://storage.example/put?signature=canary',
    'file:///etc/passwd',
    'https://user:secret@storage.example/put?signature=canary',
    'ftp://127.0.0.1/put',
    'not an address',
  ];
  for (const upload_url of unsafe) {
    test(`F43 the upload address ${upload_url.replace(/\?.*/, '')} is refused`, async (t) => {
      const desk = await setUpDesk(t);
      const body = JSON.stringify({ file_id: 'file-invented', upload_url, expires_in_seconds: 900 });
      desk.service.addFault({ match: { path: '/get-upload-url' }, after: { kind: 'reply', status: 200, body } });
      const window = openWindow(t, desk);
      const run = await window.start();
      assert.ok(run.state === 'failed');
      assert.equal(run.failure.kind, 'insecureUrl');
      assert.equal(puts(desk).length, 0);
      assert.doesNotMatch(JSON.stringify(run) + window.lines.join('\n'), /canary|secret/);
    });
  }

  test('F44 a redirect of the transfer is refused, and no Authorization goes to storage', async (t) => {
    const desk = await setUpDesk(t);
    let visits = 0;
    const elsewhere = createServer((_request, response) => {
      visits += 1;
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    t.after(() => elsewhere.close());
    const location = `http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}/put`;
    const reply = { kind: 'reply' as const, status: 307, headers: { location } };
    desk.service.addFault({ match: { method: 'PUT' }, before: reply });
    const run = await openWindow(t, desk).start();
    assert.ok(run.state === 'failed');
    assert.equal(run.failure.kind, 'redirected');
    assert.deepEqual([visits, puts(desk).map(({ hasAuthorization }) => hasAuthorization)], [0, [false]]);
  });

  test('a reservation that cannot be put on disk is given back', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const original = window.store.apply.bind(window.store);
    t.mock.method(window.store, 'apply', (id: string, event: Parameters<typeof original>[1]) =>
      event.type === 'reserved' ? Promise.reject(new Error('no space')) : original(id, event),
    );
    const run = await window.start();
    assert.ok(run.state === 'failed');
    assert.equal(run.failure.kind, 'storage');
    assert.deepEqual([puts(desk).length, states(desk)], [0, ['cancelled']]);
  });

  test('F29 a cancellation while bytes are sent ends the run as cancelled and cancels the upload', async (t) => {
    const desk = await setUpDesk(t);
    const stop = new AbortController();
    desk.service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall' } });
    const onUploading = (): void => stop.abort();
    const run = await startWith(openWindow(t, desk), desk, { signal: stop.signal, onUploading });
    assert.equal(run?.state, 'cancelled');
    assert.deepEqual([states(desk), desk.sent('/dispatch')], [['cancelled'], 0]);
  });

  test('a refusal at the last question sends nothing and keeps nothing', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    let asked: Run | undefined;
    const confirmUpload = (run: Run): Promise<boolean> => {
      asked = run;
      return Promise.resolve(false);
    };
    assert.equal(await startWith(window, desk, { confirmUpload }), undefined);
    assert.equal(asked?.targets[0]?.archive?.files, 1, 'the question knows the archive');
    assert.deepEqual(
      [desk.service.requests, window.store.all(), await readdir(desk.root)],
      [[], [], []],
    );
  });

  test('a cancellation while packaging sends nothing and keeps nothing', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    const stop = new AbortController();
    const run = await startWith(window, desk, { signal: stop.signal, onPackaging: () => stop.abort() });
    assert.equal(run, undefined);
    assert.deepEqual([desk.service.requests, await readdir(desk.root)], [[], []]);
  });

  test('an archive over the limit is thrown to the person, and nothing is sent or kept', async (t) => {
    const desk = await setUpDesk(t);
    const window = openWindow(t, desk);
    await assert.rejects(window.start({ maxArchiveBytes: 10 }), { kind: 'archiveTooLarge' });
    assert.deepEqual([desk.service.requests, await readdir(desk.root)], [[], []]);
  });
});
