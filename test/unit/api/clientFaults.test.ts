import assert from 'node:assert/strict';
import http, { createServer } from 'node:http';
import https from 'node:https';
import { createServer as createTcpServer, Socket } from 'node:net';
import { describe, test } from 'node:test';
import { wasRefused } from '../../../src/core/api/failure.ts';
import { defaultIdleLimits } from '../../../src/core/api/http.ts';
import type { AssessmentError } from '../../../src/core/errors.ts';
import { cpuMs } from '../core/cpuTime.ts';
import { eventually } from '../core/eventually.ts';
import { archiveFile, exitedRun, failureOf, reservedUpload, workflow } from './clientCalls.ts';
import { listen, setUpClient, withToken } from './clientFixture.ts';
import { type HeldTimers, holdTimers } from './heldTimers.ts';
import { whitebox } from '../../../src/core/workflows/whitebox.ts';

const { jsonMs } = defaultIdleLimits;
const target = { file_upload: { file_id: 'f', archive_type: 'zip' as const } };
const start = { input: { targets: [target], language: 'japanese' as const } };

describe('responses to the client', () => {
  const bodies = [
    ['a text', 'Sign in', 'Sign in'],
    ['nothing', '', undefined],
    ['half of the JSON', '{"status":"RUNN', '{"status":"RUNN'],
    ['JSON of another shape', '["RUNNING"]', '["RUNNING"]'],
    ['null', 'null', 'null'],
  ] as const;
  for (const [what, body, detail] of bodies) {
    test(`F61 ${what} instead of an answer is a typed error`, async (t) => {
      const { client, service } = await setUpClient(t);
      service.addFault({ match: {}, before: { kind: 'reply', status: 200, body } });
      const { kind, data } = await failureOf(client.describe(workflow, 'run'));
      assert.deepEqual([kind, data.status, data.detail], ['badResponse', 200, detail]);
    });
  }

  test('F61 with a byte order mark are read', async (t) => {
    const { client, service } = await setUpClient(t);
    service.addFault({
      match: {},
      before: { kind: 'reply', status: 200, body: '\uFEFF{"status":"RUNNING"}' },
    });
    assert.deepEqual(await client.describe(workflow, 'run'), { status: 'RUNNING' });
  });

  /**
   * Lets the limit pass for each try of a call, once the try has arrived; resolves to its failure.
   */
  async function expireEach(timers: HeldTimers, ms: number, call: Promise<unknown>, tries: () => number) {
    let isOver = false as boolean;
    const failure = failureOf(call).finally(() => (isOver = true));
    for (let tried = 1; !isOver; tried += 1) {
      await eventually(() => isOver || tries() >= tried, 'the next try has arrived, or it was the last');
      timers.pass(ms);
    }
    return failure;
  }

  test('F33 that stay silent end the call after its idle limit', async (t) => {
    const timers = holdTimers(t, jsonMs);
    const { client, service } = await setUpClient(t);
    service.addFault({ match: {}, before: { kind: 'stall' } });
    const call = client.describe(workflow, 'run');
    const { kind, data } = await expireEach(timers, jsonMs, call, () => service.requests.length);
    assert.deepEqual([kind, data.limit], ['timeout', jsonMs]);
  });

  test('F33 that trickle do not hold up a call for ever', async (t) => {
    const totalMs = 4 * jsonMs;
    const timers = holdTimers(t, totalMs);
    let begun = 0;
    const trickle = createServer((_request, response) => {
      response.writeHead(200);
      response.write(' ', () => (begun += 1));
    });
    const { client } = await setUpClient(t, { baseUrl: `http://${await listen(t, trickle)}/v1` });
    const call = client.describe(workflow, 'run');
    const { kind, data } = await expireEach(timers, totalMs, call, () => begun);
    assert.deepEqual([kind, data.limit], ['timeout', totalMs]);
  });

  test('are abandoned on cancellation, with the reason of the signal', async (t) => {
    const { client, service } = await setUpClient(t);
    service.addFault({ match: {}, before: { kind: 'stall' } });
    const stop = new AbortController();
    const reason = new DOMException('Enough', 'AbortError');
    const asked = client.describe(workflow, 'run', { signal: stop.signal });
    setImmediate(() => stop.abort(reason));
    await assert.rejects(asked, (error) => error === reason);
    await assert.rejects(
      client.describe(workflow, 'run', { signal: stop.signal }),
      (error) => error === reason,
    );
  });

  test('F49 a call that was never sent is distinguished from one that may have arrived', async (t) => {
    const gone = await setUpClient(t);
    await gone.service.close();
    assert.equal((await failureOf(gone.client.describe(workflow, 'run'))).kind, 'unsent');
    const nowhere = await setUpClient(t, { baseUrl: 'https://no..host/v1' });
    assert.equal((await failureOf(nowhere.client.describe(workflow, 'run'))).kind, 'unsent');
    const { client, service } = await setUpClient(t);
    service.addFault({ match: {}, before: { kind: 'reset' } });
    assert.equal((await failureOf(client.describe(workflow, 'run'))).kind, 'connectionLost');
  });

  const nowhere = [
    ['no DNS resolver answers', { hostname: 'service.example', lookup: () => undefined }],
    ['the proxy opens no tunnel', { agent: { addRequest: () => undefined } }],
  ] as const;
  for (const [what, options] of nowhere) {
    test(`F49 a call that waits in vain because ${what} was never sent`, async (t) => {
      const { client, service } = await setUpClient(t, { idle: { jsonMs: 100, transferMs: 100 } });
      const real = http.request.bind(http) as (url: URL, options: object) => http.ClientRequest;
      t.mock.method(http, 'request', (url: URL, usual: object) => real(url, { ...usual, ...options }));
      const { kind, data } = await failureOf(client.describe(workflow, 'run'));
      assert.deepEqual([kind, data.detail, data.limit], ['unsent', 'ETIMEDOUT', 100]);
      assert.equal(service.requests.length, 0);
    });
  }

  test('F49 a call that waits in vain for the end of a TLS handshake was never sent', async (t) => {
    const silent = createTcpServer();
    const baseUrl = `https://${await listen(t, silent)}/v1`;
    const { client } = await setUpClient(t, { baseUrl, idle: { jsonMs: 300, transferMs: 300 } });
    const { kind, data } = await failureOf(client.describe(workflow, 'run'));
    assert.deepEqual([kind, data.detail], ['unsent', 'ETIMEDOUT']);
  });

  const cuts = [
    ['is closed', (socket: Socket) => void socket.end()],
    ['is reset', (socket: Socket) => void socket.resetAndDestroy()],
  ] as const;
  for (const [how, cut] of cuts)
    test(`F193 a start whose TLS handshake ${how} was never sent, and is tried again`, async (t) => {
      let handshakes = 0;
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined).once('data', () => cut(socket));
        handshakes += 1;
      });
      const { client } = await setUpClient(t, { baseUrl: `https://${await listen(t, server)}/v1` });
      const error = await failureOf(client.dispatch(whitebox, start));
      assert.deepEqual([error.kind, error.data.detail, handshakes], ['unsent', 'ECONNRESET', 4]);
      assert.equal(wasRefused(error), true);
    });

  for (const status of [403, 407, 502])
    test(`F193 a start that the proxy refuses to tunnel with ${String(status)} was never sent, and fails at once`, async (t) => {
      const { client } = await setUpClient(t, { baseUrl: 'https://service.example/v1' });
      const real = https.request.bind(https) as (url: URL, options: object) => http.ClientRequest;
      // VS Code's agent passes on an answer to CONNECT like this.
      const addRequest = (request: http.ClientRequest & { onSocket: (socket: Socket) => void }): void => {
        const socket = Object.assign(new Socket({ writable: false }), { readable: true });
        request.once('socket', () => {
          socket.push(`HTTP/1.1 ${String(status)} No\r\nContent-Length: 0\r\n\r\n`);
          socket.push(null);
        });
        request.onSocket(socket);
      };
      let sent = 0;
      t.mock.method(https, 'request', (url: URL, usual: object) => {
        sent += 1;
        return real(url, { ...usual, agent: { addRequest } });
      });
      const error = await failureOf(client.dispatch(whitebox, start));
      assert.deepEqual([error.kind, error.data.status, wasRefused(error), sent], ['proxy', status, true, 1]);
    });

  test('a server without TLS is distinguished from an unreachable one', async (t) => {
    const plain = createServer();
    const { client } = await setUpClient(t, { baseUrl: `https://${await listen(t, plain)}/v1` });
    assert.equal((await failureOf(client.describe(workflow, 'run'))).kind, 'tls');
  });

  test('F90 an echoed token is in no error and no log line', async (t) => {
    const token = 'canary"token\\with-odd-characters';
    const { client, service, lines } = await setUpClient(t, ...withToken(token));
    const said = `Got ${token} as Bearer ${token} at https://x.example/a?token=canary#canary`;
    const errors: AssessmentError[] = [];
    for (const [status, body] of [
      [400, said],
      [403, JSON.stringify({ message: said })],
      [403, JSON.stringify({ reason: said })],
      [500, `<html><title>${said}</title></html>`],
      [200, JSON.stringify({ odd: said })],
      [200, said],
    ] as const) {
      const remove = service.addFault({ match: {}, before: { kind: 'reply', status, body } });
      errors.push(await failureOf(client.describe(workflow, 'run')));
      errors.push(await failureOf(client.dispatch(whitebox, start)));
      remove();
    }
    assertRedacted(errors, lines, ['canary']);
  });

  test('F115 a token echoed by storage is in no error and no log line', async (t) => {
    const token = 'canary:of+the"service';
    const { client, service, lines, download } = await exitedRun(t, ...withToken(token));
    const archive = await archiveFile(t);
    const address = await client.getUploadUrl(archive.bytes);
    const errors: AssessmentError[] = [];
    for (const status of [302, 400, 403, 500]) {
      const body = `<Error><Message>Got ${token} in ${encodeURIComponent(token)}</Message></Error>`;
      const before = { kind: 'reply' as const, status, body };
      const remove = ['PUT', 'GET'].map((method) => service.addFault({ match: { method }, before }));
      errors.push(await failureOf(client.putArchive(address, archive)));
      errors.push(await failureOf(download()));
      for (const undo of remove) undo();
    }
    assertRedacted(errors, lines, ['canary']);
  });

  test('F115 a token echoed as a status or as the end of a run is in none of them', async (t) => {
    const token = 'canary-of-the-service';
    const { client, service } = await setUpClient(t, ...withToken(token));
    const said = `${'x'.repeat(490)}${token}`;
    const output = { kind: token, abortedReason: { code: said, detail: { text: token } } };
    const body = JSON.stringify({ status: token, output });
    service.addFault({ match: {}, before: { kind: 'reply', status: 200, body } });
    const description = await client.describe(workflow, 'run');
    assert.equal(description.status, '[redacted]');
    assert.doesNotMatch(JSON.stringify(description), /canary/);
  });

  test('words of the API are kept even if a password is part of them', async (t) => {
    const { client, service } = await setUpClient(t, ...withToken('s'));
    const detail = { scan_progress: { artifact_name: 'scan_progress' }, text: 'as' };
    const output = { kind: 'ABORTED', abortedReason: { code: 'credit_limit_reached', detail } };
    const body = JSON.stringify({ status: 'EXITED', output });
    service.addFault({ match: {}, before: { kind: 'reply', status: 200, body } });
    const description = await client.describe(workflow, 'run');
    const redacted = { ...detail, text: 'a[redacted]' };
    assert.deepEqual(description, {
      status: 'EXITED',
      output: { ...output, abortedReason: { ...output.abortedReason, detail: redacted } },
    });
  });

  test('F119 redaction takes no longer for a hostile reply', async (t) => {
    const { client, service } = await setUpClient(t);
    const bait = 'http://-'.repeat(32 << 10);
    for (const [status, body] of [
      [200, JSON.stringify([bait])],
      [200, JSON.stringify({ status: bait })],
      [200, bait],
      [400, JSON.stringify({ message: bait })],
      [500, `<p>${bait}</p>`],
    ] as const) {
      const remove = service.addFault({ match: {}, before: { kind: 'reply', status, body } });
      const before = cpuMs();
      await client.describe(workflow, 'run').catch(() => undefined);
      const tookMs = cpuMs() - before;
      assert.ok(tookMs < 500, `${String(status)} ${body.slice(0, 20)} took ${String(tookMs)} ms`);
      remove();
    }
  });

  test('F119 a long reply is redacted to its end, wherever it is cut', async (t) => {
    const token = 'canary-token-of-some-length';
    const { client, service, lines } = await setUpClient(t, ...withToken(token));
    const errors: AssessmentError[] = [];
    for (const length of [16, 64].map((kib) => kib << 10)) {
      for (let before = length - token.length; before < length; before += 5) {
        const body = `${token}${' '.repeat(before - token.length)}${token}${' '.repeat(length)}`;
        const remove = service.addFault({ match: {}, before: { kind: 'reply', status: 400, body } });
        errors.push(await failureOf(client.describe(workflow, 'run')));
        remove();
      }
    }
    assertRedacted(errors, lines, ['canary']);
  });

  test('F90 a signature echoed by storage is in no error and no log line', async (t) => {
    const { client, service, lines, archive, address } = await reservedUpload(t);
    const signature = new URL(address.upload_url).searchParams.get('signature')!;
    const errors: AssessmentError[] = [];
    for (const said of [address.upload_url, `SignatureProvided: ${signature}`]) {
      const body = `<Error><Message>${said}</Message></Error>`;
      const remove = service.addFault({ match: {}, before: { kind: 'reply', status: 403, body } });
      errors.push(await failureOf(client.putArchive(address, archive)));
      remove();
    }
    assertRedacted(errors, lines, [signature]);
  });
});

function assertRedacted(
  errors: readonly AssessmentError[],
  lines: readonly string[],
  canaries: readonly string[],
): void {
  for (const error of errors) {
    assert.match(error.message, /\[redacted\]/);
    const everything = `${error.stack ?? ''} ${JSON.stringify(error.data)} ${String(error.cause)}`;
    for (const canary of canaries) assert.ok(!everything.includes(canary), everything);
  }
  assert.ok(lines.length >= errors.length);
  for (const canary of canaries) assert.ok(!lines.join('\n').includes(canary));
}
