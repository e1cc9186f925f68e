import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { holdTimers } from '../../api/heldTimers.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { archiveOf, puts, startWith, states } from '../uploads.ts';
import { eventually } from '../../core/eventually.ts';

describe('an upload', () => {
  test('F32 with a connection reset is replayed in full with the same SHA-256', async (t) => {
    const fixture = await setUpFixture(t);
    await writeFile(join(fixture.folder, 'large.bin'), randomBytes(900_000));
    const reset = { kind: 'reset' as const, afterBodyBytes: 300_000 };
    fixture.service.addFault({ match: { method: 'PUT', times: 2 }, before: reset });
    const window = openWindow(t, fixture);
    const run = await window.start();
    assert.equal(run.state, 'running');
    const { archive } = run.targets[0]!;
    assert.equal(fixture.service.files()[0]?.sha256, archive?.sha256);
    assert.deepEqual(
      puts(fixture).map(({ headers }) => Number(headers['content-length'])),
      [archive?.bytes, archive?.bytes, archive?.bytes],
    );
    assert.equal(fixture.sent('/get-upload-url'), 1);
  });

  test('F33 that nobody answers is given up after ten minutes and replayed', async (t) => {
    const fixture = await setUpFixture(t);
    const stall = { kind: 'stall' as const, afterBodyBytes: 1 };
    fixture.service.addFault({ match: { method: 'PUT', times: 1 }, before: stall });
    const timers = holdTimers(t, 600_000);
    const started = openWindow(t, fixture).start();
    await eventually(() => timers.count() > 0, 'all bytes have left');
    timers.pass(600_000);
    const run = await started;
    assert.equal(run.state, 'running');
    assert.equal(puts(fixture).length, 2);
    assert.equal(fixture.service.files()[0]?.sha256, run.targets[0]?.archive?.sha256);
  });

  const changes = [
    ['longer', (path: string) => appendFile(path, 'x')],
    ['shorter', (path: string) => truncate(path, 10)],
  ] as const;
  for (const [how, change] of changes) {
    test(`F37 of an archive that became ${how} fails before a byte is sent`, async (t) => {
      const { fixture, window } = await setUpWindow(t);
      const confirmUpload = async (run: Run): Promise<boolean> => {
        await change(archiveOf(window, run));
        return true;
      };
      const run = await startWith(window, fixture, { confirmUpload });
      assert.ok(run?.state === 'failed');
      assert.equal(run.failure.kind, 'lengthChanged');
      assert.deepEqual([puts(fixture).length, states(fixture)], [0, ['cancelled']]);
    });
  }

  test('F37 of an archive with the same length but other bytes is never stored', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const confirmUpload = async (run: Run): Promise<boolean> => {
      const bytes = await readFile(archiveOf(window, run));
      await writeFile(archiveOf(window, run), bytes.fill(0, 30, 40));
      return true;
    };
    const run = await startWith(window, fixture, { confirmUpload });
    assert.ok(run?.state === 'failed');
    assert.equal(run.failure.kind, 'lengthChanged');
    assert.deepEqual(
      fixture.service.files().map(({ state, sha256 }) => [state, sha256]),
      [['cancelled', undefined]],
    );
  });

  test('F38 with a lost reply to the transfer is replayed and confirmed once', async (t) => {
    const fixture = await setUpFixture(t);
    fixture.service.addFault({ match: { method: 'PUT', times: 1 }, after: { kind: 'reset' } });
    const run = await openWindow(t, fixture).start();
    assert.equal(run.state, 'running');
    assert.deepEqual(
      [puts(fixture).length, fixture.sent('/confirm-upload'), states(fixture)],
      [2, 1, ['confirmed']],
    );
  });

  for (const status of [404, 409]) {
    test(`F39 with a lost reply to the confirmation confirms again, and ${String(status)} is no failure`, async (t) => {
      const fixture = await setUpFixture(t);
      fixture.service.addFault({ match: { path: '/confirm-upload', nth: 1 }, after: { kind: 'reset' } });
      fixture.service.addFault({
        match: { path: '/confirm-upload', nth: 2 },
        after: { kind: 'reply', status },
      });
      const run = await openWindow(t, fixture).start();
      assert.equal(run.state, 'running');
      assert.deepEqual(
        [puts(fixture).length, fixture.sent('/confirm-upload'), states(fixture)],
        [1, 2, ['confirmed']],
      );
    });
  }

  test('F191 whose repeated confirmation a page answers with 409 is not confirmed, and the start ends', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    fixture.refuse('/confirm-upload', { status: 409, body: '<html>' });
    const run = await window.start();
    assert.ok(run.state === 'failed');
    assert.deepEqual(
      [run.failure.kind, run.failure.isPage, fixture.sent('/dispatch')],
      ['intercepted', true, 0],
    );
  });

  test('F40 with three 5xx for the reservation stops the start, with the reason', async (t) => {
    const fixture = await setUpFixture(t);
    fixture.refuse('/get-upload-url', { status: 503, body: '{"message":"Down for maintenance."}' });
    const run = await openWindow(t, fixture).start();
    assert.ok(run.state === 'failed');
    assert.deepEqual(
      [run.failure.kind, run.failure.status, run.failure.detail],
      ['serverError', 503, 'Down for maintenance.'],
    );
    assert.deepEqual([fixture.sent('/get-upload-url'), puts(fixture).length], [3, 0]);
  });

  test('F171 refused as too large before its body fails the run at once, with the reason', async (t) => {
    const fixture = await setUpFixture(t);
    const body = '<Error><Message>Too large.</Message></Error>';
    // A busy machine would end the wait for a request of the body before it reads the answer.
    holdTimers(t, 1_000);
    fixture.service.addFault({ match: { method: 'PUT' }, before: { kind: 'reply', status: 413, body } });
    const sent: number[] = [];
    const onUploading = (bytes: number): void => void sent.push(bytes);
    const run = await startWith(openWindow(t, fixture), fixture, { onUploading });
    assert.ok(run?.state === 'failed');
    assert.deepEqual([run.failure.kind, run.failure.detail], ['capacity', 'Too large.']);
    assert.deepEqual([puts(fixture).length, sent, states(fixture)], [1, [], ['cancelled']]);
  });

  test('F170 answered by a portal’s page is sent again, and the run starts once the portal is gone', async (t) => {
    const fixture = await setUpFixture(t);
    const reply = { kind: 'reply' as const, status: 200, body: '<html><title>Guest</title></html>' };
    for (const match of [
      { method: 'PUT', times: 2 },
      { path: '/confirm-upload', times: 2 },
    ])
      fixture.service.addFault({ match, before: reply });
    const run = await openWindow(t, fixture).start();
    assert.equal(run.state, 'running');
    assert.deepEqual(
      [puts(fixture).length, fixture.sent('/confirm-upload'), states(fixture)],
      [3, 3, ['confirmed']],
    );
  });

  test('F41 over the quota fails the run at once', async (t) => {
    const fixture = await setUpFixture(t, { capacityBytes: 10 });
    const run = await openWindow(t, fixture).start();
    assert.ok(run.state === 'failed');
    assert.equal(run.failure.kind, 'capacity');
    assert.match(run.failure.detail ?? '', /10 of 10 bytes are free/);
    assert.equal(fixture.service.requests.length, 1);
  });
});
