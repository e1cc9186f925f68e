import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AssessmentError } from '../../../src/core/errors.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { archiveFile, exitedRun, failureOf, startRun, workflow } from './clientCalls.ts';
import { fixedToken, listen, setUpClient, withToken } from './clientFixture.ts';

describe('the client', () => {
  test('makes each call as the strict service requires', async (t) => {
    const { service, client } = await setUpClient(t);
    const runId = await startRun(t, client);
    await service.finishRun(runId);
    const { status, output, artifacts } = await client.describe(workflow, runId);
    assert.deepEqual(
      [status, output?.kind, artifacts?.map((artifact) => artifact?.name)],
      ['EXITED', 'SUCCESS', ['findings', 'report']],
    );
    const path = join(await tempFolder(t), 'report.md');
    const bytes = await client.downloadArtifact(workflow, runId, 'report', path, { maxBytes: 1e6 });
    assert.equal((await readFile(path)).length, bytes);
    await client.deleteFile(service.files()[0]!.fileId);
    const second = await client.getUploadUrl(7);
    await client.cancelUpload(second.file_id);
    assert.ok(service.requests.every((request) => request.status === 200));
    assert.deepEqual(
      service.requests.map(({ method, hasAuthorization }) => `${method} ${String(hasAuthorization)}`),
      [
        'POST true',
        'PUT false',
        ...Array<string>(4).fill('POST true'),
        'GET false',
        ...Array<string>(3).fill('POST true'),
      ],
      'storage never gets the token',
    );
  });

  test('cancels a run', async (t) => {
    const { service, client } = await setUpClient(t, {}, { runDurationMs: 1e9, cancelDelayMs: 1e9 });
    const runId = await startRun(t, client);
    await client.cancel(workflow, runId);
    assert.equal(service.runs()[0]?.cancelRequested, true);
  });

  test('percent-encodes an organization with special characters', async (t) => {
    const organization = 'ä/b c?#%';
    const { client, service } = await setUpClient(t, {}, { organizations: { [organization]: ['t'] } });
    await client.getUploadUrl(1);
    assert.equal(service.files()[0]?.organizationId, organization);
  });

  test('refuses input outside the reference before sending it', async (t) => {
    const { client, service } = await setUpClient(t);
    for (const bytes of [0, -1, 1.5, Number.NaN]) {
      assert.equal((await failureOf(client.getUploadUrl(bytes))).kind, 'badSetting');
    }
    assert.equal((await failureOf(client.describe(workflow, 'r'.repeat(257)))).kind, 'badSetting');
    assert.equal((await failureOf(client.confirmUpload(''))).kind, 'badSetting');
    assert.deepEqual(service.requests, []);
  });

  test('sends nothing without a token', async (t) => {
    const { client, service } = await setUpClient(t, { token: fixedToken(undefined) });
    assert.equal((await failureOf(client.getUploadUrl(1))).kind, 'notSignedIn');
    assert.deepEqual(service.requests, []);
  });

  test('F169 names the secret storage that fails before a request, or after a 401', async (t) => {
    const locked = (): Promise<never> => Promise.reject(new AssessmentError('secretStorage'));
    const get = (): Promise<string> => Promise.resolve('stale-invented-token');
    const [before, afterwards] = [
      await setUpClient(t, { token: { get: locked, refresh: locked } }),
      await setUpClient(t, { token: { get, refresh: locked } }),
    ];
    for (const { client } of [before, afterwards])
      assert.equal((await failureOf(client.getUploadUrl(1))).kind, 'secretStorage');
    assert.deepEqual([before, afterwards].map(({ service }) => service.requests.length), [0, 1]); // prettier-ignore
  });

  test('sends a fresh token once after a 401', async (t) => {
    const asked: string[] = [];
    const { client, service } = await setUpClient(t, {
      token: {
        get: () => Promise.resolve('stale-invented-token'),
        refresh: (rejected) => {
          asked.push(rejected);
          return Promise.resolve('fresh-invented-token');
        },
      },
    });
    assert.equal((await failureOf(client.getUploadUrl(1))).kind, 'unauthorized');
    service.setTokens(['fresh-invented-token']);
    await client.getUploadUrl(1);
    assert.deepEqual(asked, ['stale-invented-token', 'stale-invented-token']);
    assert.deepEqual(
      service.requests.map(({ status }) => status),
      [401, 401, 401, 200],
    );
  });

  test('keeps the valid artifacts if the service lists an invalid one', async (t) => {
    const { client, service } = await setUpClient(t);
    const artifacts = [{ name: 'report' }, { name: '' }, 7, { name: 'findings', size: 1 }];
    const body = JSON.stringify({ status: 'EXITED', artifacts });
    service.addFault({ match: { path: '/describe' }, before: { kind: 'reply', status: 200, body } });
    const description = await client.describe(workflow, 'run');
    assert.deepEqual(
      description.artifacts?.flatMap((artifact) => artifact?.name ?? []),
      ['report', 'findings'],
    );
  });

  test('F90 keeps a shortened answer of the service about a run, without secrets', async (t) => {
    const { client, service } = await setUpClient(t);
    const said = `https://store.example/a?signature=canary ${'x'.repeat(1e5)}`;
    const abortedReason = { code: said, detail: { said } };
    const body = JSON.stringify({ status: said, output: { kind: said, abortedReason } });
    service.addFault({ match: { path: '/describe' }, before: { kind: 'reply', status: 200, body } });
    const { status, output } = await client.describe(workflow, 'run');
    for (const word of [status, output?.kind, output?.abortedReason?.code, output?.abortedReason?.detail]) {
      assert.ok(typeof word === 'string');
      assert.equal(word.length, 500);
      assert.match(word, /https:\/\/store\.example\/a\?\[redacted\]/);
    }
  });

  test('F90 warns of each failed operation with what its provider needs, and without token and query', async (t) => {
    const { client, service, warnings, download, runId } = await exitedRun(
      t,
      ...withToken('canary-of-the-service'),
    );
    const archive = await archiveFile(t);
    const address = await client.getUploadUrl(archive.bytes);
    const said = 'No: canary-of-the-service at https://x.example/?signature=canary';
    const json = JSON.stringify({ message: said, request_id: 'in-json' });
    const xml = `<Error><Message>${said}</Message><RequestId>in-xml</RequestId></Error>`;
    const ask = { path: /(describe|confirm-upload|download-url)$/ };
    for (const [match, reply, call] of [
      [ask, { status: 400, body: json }, () => client.describe(workflow, runId)],
      [ask, { status: 503, headers: { 'x-request-id': 'of-retry' } }, () => client.confirmUpload('f')],
      [{ method: 'PUT' }, { status: 403, body: xml }, () => client.putArchive(address, archive)],
      [{ method: 'GET' }, { status: 500, headers: { 'x-amz-request-id': 'of-storage' } }, download],
    ] as const) {
      const undo = service.addFault({ match, before: { kind: 'reply', ...reply } });
      await failureOf(call());
      undo();
    }
    const { origin } = new URL(service.baseUrl);
    const expected = [
      'POST workflows/whitebox-assessment/describe: HTTP 400, rejected: No: [redacted] at https://x.example/?[redacted], request ID in-json',
      'POST input-files/confirm-upload: HTTP 503, serverError, request ID of-retry',
      `PUT ${origin} (upload): HTTP 403, addressRefused: No: [redacted] at https://x.example/?[redacted], request ID in-xml`,
      ...Array<string>(4).fill(`GET ${origin} (artifact): HTTP 500, serverError, request ID of-storage`),
    ];
    assert.deepEqual(
      warnings.map((line) => line.replace(/, \d+ ms$/, '')),
      expected,
    );
  });

  test('aborts the creation of a token with the call that needs it', async (t) => {
    const stop = new AbortController();
    const get = (signal?: AbortSignal): Promise<string> =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        stop.abort();
      });
    const { client, service } = await setUpClient(t, {
      token: { get, refresh: () => Promise.resolve(undefined) },
    });
    await assert.rejects(client.describe(workflow, 'run', { signal: stop.signal }), { name: 'AbortError' });
    assert.equal(service.requests.length, 0);
  });

  test('tries safe calls four times with growing jittered delays, reservations three times, and a poll once', async (t) => {
    const { client, service, waits } = await setUpClient(t);
    service.addFault({ match: {}, before: { kind: 'reply', status: 503 } });
    await failureOf(client.confirmUpload('file'));
    assert.deepEqual([service.requests.length, waits], [4, [500, 1_000, 2_000]]);
    await failureOf(client.getUploadUrl(1));
    assert.equal(service.requests.length, 7);
    await failureOf(client.describe(workflow, 'run'));
    assert.equal(service.requests.length, 8);
  });

  test('F51 never retries before Retry-After, and returns a long one to its caller', async (t) => {
    const now = Date.UTC(2030, 0, 1);
    // Our clock is an hour ahead of the service's.
    const { client, service, waits } = await setUpClient(t, { now: () => now + 3600_000 });
    const asks = [
      ['30', 30_500],
      [new Date(now + 40_000).toUTCString(), 40_500],
      ['garbage 2090', 500],
    ] as const;
    for (const [header, wait] of asks) {
      waits.length = 0;
      const headers = { 'retry-after': header, date: new Date(now).toUTCString() };
      const reply = { kind: 'reply' as const, status: 429, headers };
      const remove = service.addFault({ match: { times: 1 }, before: reply });
      await failureOf(client.confirmUpload('file'));
      assert.deepEqual(waits, [wait], header);
      remove();
    }
    for (const header of ['121', String(10 * 365 * 24 * 3600)]) {
      const reply = { kind: 'reply' as const, status: 429, headers: { 'retry-after': header } };
      const remove = service.addFault({ match: {}, before: reply });
      const before = service.requests.length;
      const { kind, data } = await failureOf(client.confirmUpload('file'));
      assert.deepEqual([kind, service.requests.length - before], ['rateLimited', 1]);
      assert.ok(data.retryAfterMs! >= 121_000 && data.retryAfterMs! <= 24 * 3600_000);
      remove();
    }
  });

  test('F86 refuses a redirect and does not send the token on', async (t) => {
    const { client, service } = await setUpClient(t);
    const visits: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      visits.push(request.headers.authorization);
      response.end('{}');
    });
    const location = `http://${await listen(t, elsewhere)}/v1`;
    for (const status of [301, 302, 303, 307, 308]) {
      const reply = { kind: 'reply' as const, status, headers: { location } };
      const remove = service.addFault({ match: {}, before: reply });
      const { kind, data } = await failureOf(client.describe(workflow, 'run'));
      assert.deepEqual([kind, data.status], ['redirected', status]);
      remove();
    }
    assert.deepEqual(visits, []);
  });
});
