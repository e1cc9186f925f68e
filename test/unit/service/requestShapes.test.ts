import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService, send, sendRaw } from './serviceCaller.ts';

const files = '/input-files';
const whitebox = '/workflows/whitebox-assessment';
const workflows = ['/workflows/blackbox-assessment', '/workflows/blackbox-crawl', whitebox];
const longest = 'x'.repeat(256);

const target = (change: object = {}) => ({ file_upload: { file_id: 'f', archive_type: 'zip', ...change } });
const dispatchBody = (change: object = {}, beside: object = {}) => ({
  input: { targets: [target()], language: 'english', ...change },
  ...beside,
});
const notification = (ids: unknown) => dispatchBody({}, { notification: { webhook_endpoint_ids: ids } });
const strings = (count: number) => Array.from({ length: count }, (_, index) => `hook-${index}`);

/** Bodies that do not fit sections 2, 4 and 8. */
const refused: [string, string, unknown][] = [
  [`${files}/get-upload-url`, 'no content_length', {}],
  [`${files}/get-upload-url`, 'content_length 0', { content_length: 0 }],
  [`${files}/get-upload-url`, 'content_length negative', { content_length: -1 }],
  [`${files}/get-upload-url`, 'content_length fractional', { content_length: 1.5 }],
  [`${files}/get-upload-url`, 'content_length as text', { content_length: '1' }],
  [`${files}/get-upload-url`, 'content_length null', { content_length: null }],
  [`${files}/get-upload-url`, 'an unknown property', { content_length: 1, file_name: 'a.zip' }],
  [`${files}/get-upload-url`, 'an array', [{ content_length: 1 }]],
  ...['confirm-upload', 'cancel-upload', 'delete'].flatMap((verb): [string, string, unknown][] => [
    [`${files}/${verb}`, 'no file_id', {}],
    [`${files}/${verb}`, 'file_id empty', { file_id: '' }],
    [`${files}/${verb}`, 'file_id of 257 characters', { file_id: `${longest}x` }],
    [`${files}/${verb}`, 'file_id a number', { file_id: 1 }],
    [`${files}/${verb}`, 'an unknown property', { file_id: 'f', force: true }],
  ]),
  ...workflows.flatMap((workflow) =>
    ['describe', 'cancel'].flatMap((verb): [string, string, unknown][] => [
      [`${workflow}/${verb}`, 'no workflow_run_id', {}],
      [`${workflow}/${verb}`, 'workflow_run_id empty', { workflow_run_id: '' }],
      [`${workflow}/${verb}`, 'workflow_run_id of 257 characters', { workflow_run_id: `${longest}x` }],
      [`${workflow}/${verb}`, 'an unknown property', { workflow_run_id: 'r', reason: 'x' }],
    ]),
  ),
  ...workflows.flatMap((workflow) =>
    [
      ['no workflow_run_id', { artifact_name: 'a' }],
      ['no artifact_name', { workflow_run_id: 'r' }],
      ['artifact_name empty', { workflow_run_id: 'r', artifact_name: '' }],
      ['artifact_name of 257 characters', { workflow_run_id: 'r', artifact_name: `${longest}x` }],
      ['an unknown property', { workflow_run_id: 'r', artifact_name: 'a', format: 'x' }],
    ].map(([what, body]): [string, string, unknown] => [
      `${workflow}/get-artifact-download-url`,
      what as string,
      body,
    ]),
  ),
  ...(
    [
      ['no input', {}],
      ['no targets', { input: { language: 'english' } }],
      ['targets empty', dispatchBody({ targets: [] })],
      ['a target without file_upload', dispatchBody({ targets: [{}] })],
      ['an unknown property in a target', dispatchBody({ targets: [{ ...target(), name: 'x' }] })],
      ['an unknown property in file_upload', dispatchBody({ targets: [target({ size: 1 })] })],
      ['file_id empty', dispatchBody({ targets: [target({ file_id: '' })] })],
      ['file_id of 257 characters', dispatchBody({ targets: [target({ file_id: `${longest}x` })] })],
      ['archive_type tar.gz', dispatchBody({ targets: [target({ archive_type: 'tar.gz' })] })],
      ['no language', { input: { targets: [target()] } }],
      ['language ja', dispatchBody({ language: 'ja' })],
      ['language in capitals', dispatchBody({ language: 'English' })],
      ['an unknown input', dispatchBody({ name: 'x' })],
      ['an unknown property', dispatchBody({}, { idempotency_key: 'x' })],
      ['notification without IDs', dispatchBody({}, { notification: {} })],
      ['no webhook endpoint IDs', notification([])],
      ['101 webhook endpoint IDs', notification(strings(101))],
      ['a number as webhook endpoint ID', notification([1])],
    ] as const
  ).map(([what, body]): [string, string, unknown] => [`${whitebox}/dispatch`, what, body]),
];

describe('request shapes', () => {
  test('every body outside the documented bounds is refused and changes nothing', async (t) => {
    const { service, post } = await callService(t);
    for (const [path, what, body] of refused) {
      const answer = await post(path, body);
      assert.equal(answer.status, 422, `${path} with ${what}: ${answer.text}`);
      assert.deepEqual(Object.keys(answer.json), ['error'], what);
    }
    assert.deepEqual(service.files(), []);
    assert.deepEqual(service.runs(), []);
  });

  test('identifiers of 256 characters are accepted, counted in characters and not in bytes', async (t) => {
    const { post } = await callService(t);
    for (const identifier of [longest, '診'.repeat(256), '😀'.repeat(256)]) {
      assert.equal((await post(`${files}/delete`, { file_id: identifier })).status, 404);
      assert.equal((await post(`${whitebox}/describe`, { workflow_run_id: identifier })).status, 404);
    }
  });

  test('100 webhook endpoint IDs are accepted', async (t) => {
    const webhooks = strings(100);
    const endpoints = Object.fromEntries(webhooks.map((id) => [id, 'http://127.0.0.1:9/']));
    const { service, start } = await callService(t, { webhookEndpoints: endpoints });
    await start(tarGz([{ path: 'a.js', content: '' }]), { webhooks });
    await service.settle();
    assert.equal(service.deliveries.length, 100);
  });

  test('a body that is not JSON, not UTF-8, missing or too large is refused', async (t) => {
    const { service } = await callService(t);
    const url = `${service.baseUrl}/o/${service.organizationId}${files}/delete`;
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
    const statusOf = async (body: string | Uint8Array) => (await send('POST', url, { headers, body })).status;
    assert.equal(await statusOf('<html>'), 400);
    assert.equal(await statusOf(''), 400);
    assert.equal(await statusOf(Buffer.from('{"file_id":"\xff"}', 'latin1')), 400);
    assert.equal(await statusOf('\uFEFF{"file_id":"f"}'), 400);
    assert.equal(await statusOf(JSON.stringify({ file_id: 'f'.repeat(16 * 1024 * 1024) })), 413);
  });

  test('only POST with a JSON content type is an operation', async (t) => {
    const { service } = await callService(t);
    const url = `${service.baseUrl}/o/${service.organizationId}${files}/delete`;
    const authorization = `Bearer ${service.token}`;
    const body = '{"file_id":"f"}';
    assert.equal((await send('GET', url, { headers: { authorization } })).status, 405);
    assert.equal((await send('POST', url, { headers: { authorization }, body })).status, 400);
    assert.equal(
      (await send('POST', url, { headers: { authorization, 'content-type': 'text/plain' }, body })).status,
      400,
    );
    const withCharset = { authorization, 'content-type': 'application/json; charset=utf-8' };
    assert.equal((await send('POST', url, { headers: withCharset, body })).status, 404);
  });

  test('undocumented paths do not exist', async (t) => {
    const { service, post } = await callService(t);
    assert.equal((await post('/workflows/blackbox-scan/describe', { workflow_run_id: 'r' })).status, 404);
    assert.equal((await post('/input-files/list', {})).status, 404);
    assert.equal((await send('GET', `${new URL(service.baseUrl).origin}/`)).status, 404);
    const twice = await sendRaw(
      service,
      'GET /v1/v1/docs/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assert.match(twice, /^HTTP\/1\.1 404 /);
  });

  test('an operation has exactly the documented path: no query, no dot segments', async (t) => {
    const { service } = await callService(t);
    const { organizationId, token } = service;
    const operation = `/o/${organizationId}${files}/get-upload-url`;
    const body = '{"content_length":1}';
    for (const path of [`/v1${operation}?dry_run=1`, `/v1${operation}?`, `/v1/x/..${operation}`]) {
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`;
      const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      assert.match(await sendRaw(service, head + type + body), /^HTTP\/1\.1 400 [^]*malformed_path/, path);
    }
    assert.deepEqual(service.files(), []);
  });
});

describe('authentication', () => {
  test('a missing, malformed or unknown token is 401', async (t) => {
    const { service, post } = await callService(t);
    const url = `${service.baseUrl}/o/${service.organizationId}${files}/delete`;
    const json = { 'content-type': 'application/json' };
    const body = '{"file_id":"f"}';
    assert.equal((await send('POST', url, { headers: json, body })).status, 401);
    for (const authorization of [service.token, `bearer ${service.token}`]) {
      const headers = { ...json, authorization };
      assert.equal((await send('POST', url, { headers, body })).status, 401, authorization);
    }
    assert.equal((await post(`${files}/delete`, { file_id: 'f' }, { token: 'invented-other' })).status, 401);
  });

  test('a token of another organization is 403, an unknown organization 404; files and runs are not shared', async (t) => {
    const organizations = { 'invented-a': ['invented:a'], 'invented b': ['invented-b'] };
    const { post, upload, start } = await callService(t, { organizations });
    const archive = tarGz([{ path: 'a.js', content: '' }]);
    const fileId = await upload(archive);
    const runId = await start(archive);
    const body = { file_id: fileId };
    assert.equal((await post(`${files}/delete`, body, { token: 'invented-b' })).status, 403);
    assert.equal((await post(`${files}/delete`, body, { organizationId: 'invented-c' })).status, 404);
    const asB = { token: 'invented-b', organizationId: 'invented b' };
    assert.equal((await post(`${files}/delete`, body, asB)).status, 404);
    assert.equal((await post(`${whitebox}/describe`, { workflow_run_id: runId }, asB)).status, 404);
    assert.equal(
      (await post(`${whitebox}/dispatch`, dispatchBody({ targets: [target(body)] }), asB)).status,
      404,
    );
  });

  test('a revoked token is refused at once', async (t) => {
    const { service, post } = await callService(t);
    const body = { file_id: 'f' };
    assert.equal((await post(`${files}/delete`, body)).status, 404);
    service.setTokens(['invented-renewed']);
    assert.equal((await post(`${files}/delete`, body)).status, 401);
    assert.equal((await post(`${files}/delete`, body, { token: 'invented-renewed' })).status, 404);
  });

  test('the request log says whether a token was sent, not which', async (t) => {
    const { service, upload } = await callService(t);
    await upload(Buffer.from('content'));
    assert.deepEqual(
      service.requests.map(({ method, hasAuthorization, status }) => [method, hasAuthorization, status]),
      [
        ['POST', true, 200],
        ['PUT', false, 200],
        ['POST', true, 200],
      ],
    );
    assert.deepEqual(service.requests[0]?.body, { content_length: 7 });
    assert.ok(!JSON.stringify(service.requests).includes(service.token));
    assert.ok(!JSON.stringify(service.requests).includes('signature='));
  });
});
