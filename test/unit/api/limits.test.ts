import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AssessmentError } from '../../../src/core/errors.ts';
import { defaultIdleLimits } from '../../../src/core/api/http.ts';
import { type HeldTimers, holdTimers } from './heldTimers.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { archiveFile, failureOf, workflow } from './clientCalls.ts';
import { type ClientChanges, listen, setUpClient } from './clientFixture.ts';
import { eventually } from '../core/eventually.ts';

const { transferMs } = defaultIdleLimits;

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  const host = await listen(t, server);
  t.after(() => server.closeAllConnections());
  return `http://${host}`;
}

/** Starts the download of an artifact at `url` into a new folder. */
async function beginDownload(t: TestContext, url: string, changes: ClientChanges = {}) {
  const { client, service } = await setUpClient(t, changes);
  const body = JSON.stringify({ url, expires_in_seconds: 900 });
  const match = { path: /artifact-download-url$/ };
  service.addFault({ match, before: { kind: 'reply', status: 200, body } });
  const folder = await tempFolder(t);
  const path = join(folder, 'report.md');
  return {
    path,
    done: client.downloadArtifact(workflow, 'run', 'report', path, { maxBytes: 1e6 }),
    /** Resolves when this many bytes are on disk. */
    untilHere: async (bytes: number): Promise<void> => {
      const sizes = async (): Promise<number[]> =>
        Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
      await eventually(async () => (await sizes()).includes(bytes), 'the file has its size');
    },
  };
}

describe('the limit of a transfer', () => {
  test('F33 limits silence only: a steady upload may take as long as it needs', async (t) => {
    const timers = holdTimers(t, transferMs);
    const { client, service } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(3e6));
    let pieces = 0;
    await client.putArchive(await client.getUploadUrl(archive.bytes), archive, {
      onBytes: () => {
        pieces += 1;
        timers.pass(0.9 * transferMs);
      },
    });
    assert.ok(pieces > 2);
    assert.equal(service.files()[0]?.sha256, archive.sha256);
  });

  test('F33 differs from that of calls, and ends an upload that nobody reads', async (t) => {
    const timers = holdTimers(t, transferMs);
    const { client, service } = await setUpClient(t);
    service.addFault({ match: { method: 'PUT' }, before: { kind: 'stall', afterBodyBytes: 1_000 } });
    // The content is more than the buffers of the system take.
    const archive = await archiveFile(t, Buffer.alloc(5e7));
    const failure = failureOf(client.putArchive(await client.getUploadUrl(archive.bytes), archive));
    await eventually(() => service.requests.some(({ method }) => method === 'PUT'), 'the upload has begun');
    timers.pass(transferMs);
    const { kind, data } = await failure;
    assert.deepEqual([kind, data.limit], ['timeout', transferMs]);
  });

  /** All bytes of the upload are stored, but its answer waits. */
  async function uploadWithoutAnswer(t: TestContext) {
    const { client, service } = await setUpClient(t);
    const answer = Promise.withResolvers<undefined>();
    t.after(() => answer.resolve(undefined));
    service.addFault({ match: { method: 'PUT' }, after: { kind: 'hold', until: answer.promise } });
    const archive = await archiveFile(t, randomBytes(1e5));
    const upload = client.putArchive(await client.getUploadUrl(archive.bytes), archive);
    await eventually(() => service.files()[0]?.sha256 === archive.sha256, 'all bytes are stored');
    const puts = (): number => service.requests.filter(({ method }) => method === 'PUT').length;
    return { upload, answer: () => answer.resolve(undefined), puts };
  }

  test('F195 of its bytes does not hold for its answer, which may come minutes later', async (t) => {
    const timers = holdTimers(t, transferMs);
    const { upload, answer, puts } = await uploadWithoutAnswer(t);
    timers.pass(4 * transferMs);
    answer();
    await upload;
    assert.equal(puts(), 1);
  });

  test('F195 of its answer is ten minutes of silence', async (t) => {
    const timers = holdTimers(t, 600_000);
    const { upload, puts } = await uploadWithoutAnswer(t);
    const failure = failureOf(upload);
    await eventually(() => timers.count() > 0, 'all bytes have left');
    timers.pass(600_000);
    const { kind, data } = await failure;
    assert.deepEqual([kind, data.limit, puts()], ['timeout', 600_000, 1]);
  });

  test('F33 ends a stalled download and removes its partial file', async (t) => {
    const timers = holdTimers(t, transferMs);
    const origin = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half');
    });
    const { path, done, untilHere } = await beginDownload(t, origin);
    const failure = failureOf(done);
    await untilHere(4);
    const over = failure.then(() => true);
    // It is retried, as after any transient failure.
    while (!(await Promise.race([over, setImmediate(false)]))) timers.pass(transferMs);
    const { kind, data } = await failure;
    assert.deepEqual([kind, data.limit], ['timeout', transferMs]);
    assert.deepEqual(await readdir(join(path, '..')), []);
  });
});

describe('a trickling answer', () => {
  /** The server starts each answer and never ends it. */
  async function serveBytes(t: TestContext, status: number) {
    const begun = Promise.withResolvers<ServerResponse>();
    const origin = await serve(t, (request, response) => {
      request.resume().on('end', () => {
        response.writeHead(status).flushHeaders();
        begun.resolve(response);
      });
    });
    return { origin, begun: begun.promise };
  }

  /**
   * Sends a byte per half limit until the call ends, at most for ten limits; resolves to the number
   * of limits.
   */
  async function trickle(timers: HeldTimers, response: ServerResponse, call: Promise<unknown>) {
    let hasEnded = false as boolean;
    void call.then(() => (hasEnded = true));
    let halves = 0;
    for (; halves < 20; halves += 1) {
      const before = timers.refreshes();
      response.write('x');
      await eventually(() => hasEnded || timers.refreshes() > before, 'the byte has arrived');
      if (hasEnded) break;
      timers.pass(transferMs / 2);
    }
    return halves / 2;
  }

  for (const status of [200, 503]) {
    test(`F149 with ${String(status)} to an upload ends it within two limits`, async (t) => {
      const timers = holdTimers(t, transferMs);
      const { client } = await setUpClient(t);
      const { origin, begun } = await serveBytes(t, status);
      const address = { file_id: 'file', upload_url: `${origin}/file`, expires_in_seconds: 900 };
      const failure = failureOf(client.putArchive(address, await archiveFile(t)));
      const limits = await trickle(timers, await begun, failure);
      assert.ok(limits <= 2, `${String(limits)} limits`);
      const { kind, data } = await failure;
      assert.deepEqual([kind, data.limit], ['timeout', transferMs]);
    });
  }
});

describe('the minimum rate of a download', () => {
  test('F125 ends a download of occasional bytes and removes its partial file', async (t) => {
    let monotonic = 0;
    const origin = await serve(t, (_request, response) => {
      const send = (): void => {
        if (response.destroyed) return;
        monotonic += 30_000;
        response.write('x', () => void setImmediate().then(send));
      };
      send();
    });
    const { path, done } = await beginDownload(t, origin, { monotonic: () => monotonic });
    const { kind, data } = await failureOf(done);
    assert.deepEqual([kind, data.limit], ['timeout', 300_000]);
    assert.deepEqual(await readdir(join(path, '..')), []);
  });

  test('F33 F125 a steady download may take as long as it needs', async (t) => {
    let monotonic = 0;
    const timers = holdTimers(t, transferMs);
    const writes: ((text: string) => void)[] = [];
    const [piece, all] = [40_000, 960_000];
    const origin = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-length': all });
      response.flushHeaders();
      writes.push((text) => void response.write(text));
    });
    const { path, done, untilHere } = await beginDownload(t, origin, { monotonic: () => monotonic });
    await eventually(() => writes.length > 0, 'bytes are written');
    for (let bytes = piece; bytes <= all; bytes += piece) {
      monotonic += 30_000;
      writes[0]!('x'.repeat(piece));
      if (bytes === all) break;
      await untilHere(bytes);
      timers.pass(0.9 * transferMs);
    }
    assert.equal(await done, all);
    assert.deepEqual([(await readFile(path, 'utf8')).length, writes.length], [all, 1]);
  });
});

describe('an endless answer', () => {
  const muchBytes = 100e6;

  /**
   * Calls a service with an endless answer; resolves to the failure and the number of sent bytes.
   */
  async function callChatty(
    t: TestContext,
    status: number,
  ): Promise<{ error: AssessmentError; sent: number }> {
    const sent = Promise.withResolvers<number>();
    const piece = Buffer.alloc(64 << 10, 'x');
    const origin = await serve(t, (request, response) => {
      const write = (): void => {
        while (request.socket.bytesWritten < muchBytes && !response.destroyed)
          if (!response.write(piece)) return;
        response.end();
      };
      response.writeHead(status).on('drain', write);
      response.on('close', () => sent.resolve(request.socket.bytesWritten));
      write();
    });
    const { client } = await setUpClient(t, { baseUrl: `${origin}/v1` });
    const error = await failureOf(client.describe(workflow, 'run'));
    return { error, sent: await sent.promise };
  }

  test('F61 is cut off at its limit, and an error much earlier', async (t) => {
    const [answer, refusal] = [await callChatty(t, 200), await callChatty(t, 400)];
    assert.deepEqual([answer.error.kind, answer.error.data.limit], ['badResponse', 1 << 20]);
    assert.ok(answer.sent < 0.3 * muchBytes, `${String(answer.sent)} bytes`);
    assert.deepEqual([refusal.error.kind, refusal.error.data.detail?.length], ['rejected', 500]);
    assert.ok(refusal.sent < 0.2 * muchBytes, `${String(refusal.sent)} bytes`);
  });
});
