import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { putFile } from '../../../src/core/api/http.ts';
import { eventually } from '../core/eventually.ts';
import { archiveFile, failureOf, reservedUpload } from './clientCalls.ts';
import { listen, setUpClient } from './clientFixture.ts';
import { holdTimers } from './heldTimers.ts';

const tries = 12;
const refusal = '<Error><Code>Invented</Code><Message>Not here.</Message></Error>';

interface Storage {
  /** Answers this status after so many bytes of the body, and hangs up. */
  readonly status: number;
  readonly afterBytes: number;
  /** If this is true, storage asks for the body. */
  readonly asks: boolean;
}

/** This storage on a bare socket hangs up right after its answer, whatever is still arriving. */
async function startStorage(t: TestContext, { status, afterBytes, asks }: Storage) {
  const seen = { heads: [] as string[], bodyBytes: 0 };
  const server = net.createServer((socket) => {
    let head = '';
    let bytes = -1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      if (bytes >= 0) bytes += chunk.length;
      else {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n') + 4;
        if (end < 4) return;
        seen.heads.push(head.slice(0, end));
        bytes = head.length - end;
        if (asks) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      }
      if (bytes < afterBytes || socket.writableEnded) return;
      seen.bodyBytes += bytes;
      socket.pause();
      const type = 'Content-Type: application/xml';
      const length = `Content-Length: ${String(refusal.length)}`;
      // It shares the event loop with the client: without a turn in between, hanging up would
      // overtake the answer.
      const hangUp = () => setImmediate(() => socket.destroy());
      socket.end(`HTTP/1.1 ${String(status)} No\r\n${type}\r\n${length}\r\n\r\n${refusal}`, hangUp);
    });
  });
  const upload_url = `http://${await listen(t, server)}/upload`;
  return { seen, address: { file_id: 'file', upload_url, expires_in_seconds: 900 } };
}

describe('an upload that storage refuses', () => {
  for (const [status, kind] of [
    [403, 'addressRefused'],
    [413, 'capacity'],
  ] as const) {
    test(`F171 with ${String(status)} at its head, and hangs up: read each time, and no byte of the archive is sent`, async (t) => {
      // On a busy machine, the wait for a request of the body would be over before the answer is
      // read.
      holdTimers(t, 1_000);
      const { seen, address } = await startStorage(t, { status, afterBytes: 0, asks: false });
      const { client } = await setUpClient(t);
      const archive = await archiveFile(t, randomBytes(4e6));
      for (let count = 0; count < tries; count += 1) {
        const error = await failureOf(client.putArchive(address, archive));
        assert.deepEqual([error.kind, error.data.status, error.data.detail], [kind, status, 'Not here.']);
      }
      assert.deepEqual([seen.heads.length, seen.bodyBytes], [tries, 0]);
    });
  }

  test('F171 in the middle of its body, and hangs up: read each time, and no more of the archive is sent', async (t) => {
    const { seen, address } = await startStorage(t, { status: 413, afterBytes: 1e6, asks: true });
    const { client } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(8e6));
    for (let count = 0; count < tries; count += 1) {
      const error = await failureOf(client.putArchive(address, archive));
      assert.deepEqual([error.kind, error.data.detail], ['capacity', 'Not here.']);
    }
    assert.ok(seen.bodyBytes < tries * 3e6, String(seen.bodyBytes));
  });

  test('F171 in the middle of its body, with the reason some time later: both are read', async (t) => {
    let turns = 0;
    const server = http.createServer((request, response) => {
      const finish = (): unknown => ((turns += 1) < 50 ? setImmediate(finish) : response.end(refusal));
      request.once('data', () => {
        response.writeHead(413, { 'content-length': refusal.length }).flushHeaders();
        finish();
      });
      request.resume();
    });
    const upload_url = `http://${await listen(t, server)}/upload`;
    const { client } = await setUpClient(t);
    const archive = await archiveFile(t, randomBytes(8e6));
    const address = { file_id: 'file', upload_url, expires_in_seconds: 900 };
    const { kind, data } = await failureOf(client.putArchive(address, archive));
    assert.deepEqual([kind, data.detail], ['capacity', 'Not here.']);
  });

  test('F171 with 417 is sent once more without asking first', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t, randomBytes(1e6));
    const reply = { kind: 'reply' as const, status: 417 };
    service.addFault({ match: { method: 'PUT', times: 1 }, before: reply });
    await client.putArchive(address, archive);
    const puts = service.requests.filter(({ method }) => method === 'PUT');
    assert.deepEqual(
      puts.map(({ status, headers }) => [status, headers.expect]),
      [
        [417, '100-continue'],
        [200, undefined],
      ],
    );
    assert.equal(service.files()[0]?.sha256, archive.sha256);
  });

  test('F171 with 417 again is refused', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t);
    service.addFault({ match: { method: 'PUT' }, before: { kind: 'reply', status: 417 } });
    const { data } = await failureOf(client.putArchive(address, archive));
    assert.deepEqual([data.status, service.requests.length], [417, 3]);
  });
});

test('F171 storage that never asks for the body gets it after a second', async (t) => {
  const timers = holdTimers(t, 1_000);
  const { seen, address } = await startStorage(t, { status: 201, afterBytes: 1e6, asks: false });
  const { client } = await setUpClient(t);
  const sent = client.putArchive(address, await archiveFile(t, randomBytes(1e6)));
  await eventually(() => seen.heads.length > 0, 'the head has arrived');
  assert.equal(seen.bodyBytes, 0);
  timers.pass(1_000);
  await sent;
  assert.equal(seen.bodyBytes, 1e6);
});

test('Azure’s blob storage alone is told what kind of blob an upload is', async (t) => {
  const { seen, address } = await startStorage(t, { status: 201, afterBytes: 1, asks: true });
  const archive = await archiveFile(t);
  const port = new URL(address.upload_url).port;
  const real = http.request.bind(http) as (url: URL, options: object) => http.ClientRequest;
  t.mock.method(http, 'request', (url: URL, options: object) =>
    real(new URL(url.href.replace(url.hostname, '127.0.0.1')), options),
  );
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
  const hosts = [
    ['invented.blob.core.windows.net', true],
    ['invented.blob.core.usgovcloudapi.net', true],
    ['invented.blob.core.chinacloudapi.cn', true],
    ['invented.z01.blob.storage.azure.net', true],
    ['storage.googleapis.com', false],
    ['blob.core.windows.net.example', false],
    ['invented.file.core.windows.net', false],
  ] as const;
  for (const [host] of hosts)
    await putFile(new URL(`http://${host}:${port}/file`), archive, { idleMs: 10_000, clock, secrets: [] });
  assert.deepEqual(
    seen.heads.map((head) => /^x-ms-blob-type: BlockBlob\r$/m.test(head)),
    hosts.map(([, isAzure]) => isAzure),
  );
});
