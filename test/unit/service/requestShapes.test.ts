import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService, send, sendRaw } from './serviceCaller.ts';

const files = '/input-files';
const whitebox = '/workflows/whitebox-assessment';
const longest = 'x'.repeat(256);

const target = (change: object = {}) => ({ file_upload: { file_id: 'f', archive_type: 'zip', ...change } });
const input = (change: object = {}) => ({ targets: [target()], language: 'english', ...change });

describe('requests to the service', () => {
  // The bounds are those of its OpenAPI description, which `checkService.test` compares with what
  // the extension sends.
  test('with a body outside the schema are refused and change nothing', async (t) => {
    const { service, post } = await callService(t);
    const id = { workflow_run_id: 'r' };
    const refused: readonly (readonly [path: string, body: unknown])[] = [
      [`${files}/get-upload-url`, { content_length: 0 }],
      [`${files}/get-upload-url`, { content_length: '1' }],
      [`${files}/get-upload-url`, [{ content_length: 1 }]],
      [`${files}/confirm-upload`, {}],
      [`${files}/cancel-upload`, { file_id: '' }],
      [`${files}/delete`, { file_id: `${longest}x` }],
      [`${whitebox}/describe`, { ...id, reason: 'x' }],
      [`${whitebox}/cancel`, { workflow_run_id: 1 }],
      [`${whitebox}/get-artifact-download-url`, id],
      [`${whitebox}/dispatch`, { input: input({ targets: [] }) }],
      [`${whitebox}/dispatch`, { input: input({ targets: [target({ archive_type: 'tar.gz' })] }) }],
      [`${whitebox}/dispatch`, { input: input({ name: 'x' }) }],
      [`${whitebox}/dispatch`, { input: input(), idempotency_key: 'x' }],
      [`${whitebox}/dispatch`, { input: input(), notification: { webhook_endpoint_ids: [] } }],
      ['/workflows/blackbox-crawl/dispatch', { input: { language: 'english', target_urls: ['/catalogue'] } }],
      ['/workflows/blackbox-assessment/dispatch', { input: { language: 'english', target_urls: [] } }],
    ];
    for (const [path, body] of refused) {
      const answer = await post(path, body);
      assert.equal(answer.status, 422, `${path} with ${JSON.stringify(body)}: ${answer.text}`);
      assert.deepEqual(Object.keys(answer.json), ['error']);
    }
    assert.deepEqual([service.files(), service.runs()], [[], []]);
  });

  test('may have identifiers of 256 characters, counted as characters, and 10,000 pairs', async (t) => {
    const { post } = await callService(t);
    for (const identifier of [longest, '診'.repeat(256), '😀'.repeat(256)])
      assert.equal((await post(`${files}/delete`, { file_id: identifier })).status, 404);
    const reference = { workflow_id: 'blackbox-crawl', workflow_run_id: 'r' };
    const body = {
      language: 'english',
      target_urls: ['http://127.0.0.1:9/'],
      resume: { kind: 'assess_crawled_features', assess_crawled_features: reference },
      pairs: Array<object>(10_000).fill({ feature_name: 'x'.repeat(500), perspective: 'XSS' }),
    };
    const { status, text } = await post('/workflows/blackbox-assessment/dispatch', { input: body });
    assert.deepEqual([status, /workflow_run_not_found/.test(text)], [404, true], text);
  });

  test('need verified ownership of every application', async (t) => {
    const verifiedOrigins = ['http://127.0.0.1:9'];
    const { post } = await callService(t, { verifiedOrigins });
    for (const other of ['http://127.0.0.1:10/', 'https://example.com/', 'ftp://127.0.0.1:9/']) {
      const body = { language: 'english', target_urls: ['http://127.0.0.1:9/', other] };
      const { status, text } = await post('/workflows/blackbox-crawl/dispatch', { input: body });
      assert.deepEqual([status, /ownership/.test(text)], [403, true], `${other}: ${text}`);
    }
  });

  test('need a registered webhook endpoint', async (t) => {
    const { upload, whitebox } = await callService(t);
    const file_id = await upload(tarGz([{ path: 'a.js', content: '' }]));
    const targets = [target({ file_id, archive_type: 'tar_gz' })];
    const notification = { webhook_endpoint_ids: ['hook'] };
    assert.equal((await whitebox('dispatch', { input: input({ targets }), notification })).status, 422);
  });

  test('need JSON in UTF-8 of bounded size, by POST with its content type', async (t) => {
    const { service } = await callService(t);
    const url = `${service.baseUrl}/o/${service.organizationId}${files}/delete`;
    const authorization = `Bearer ${service.token}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const statusOf = async (body: string | Uint8Array) => (await send('POST', url, { headers, body })).status;
    assert.equal(await statusOf('<html>'), 400);
    assert.equal(await statusOf(Buffer.from('{"file_id":"\xff"}', 'latin1')), 400);
    assert.equal(await statusOf(JSON.stringify({ file_id: 'f'.repeat(16 * 1024 * 1024) })), 413);
    assert.equal((await send('GET', url, { headers: { authorization } })).status, 405);
    const untyped = { headers: { authorization }, body: '{"file_id":"f"}' };
    assert.equal((await send('POST', url, untyped)).status, 400);
  });

  test('need exactly a documented path: no query, no dot segments', async (t) => {
    const { service, post } = await callService(t);
    assert.equal((await post('/input-files/list', {})).status, 404);
    const operation = `/o/${service.organizationId}${files}/get-upload-url`;
    for (const path of [`/v1${operation}?dry_run=1`, `/v1/x/..${operation}`]) {
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${service.token}\r\n`;
      const type = 'Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"content_length":1}';
      assert.match(await sendRaw(service, head + type), /^HTTP\/1\.1 400 [^]*malformed_path/, path);
    }
    assert.deepEqual(service.files(), []);
  });

  test('need a token of the organization, which sees its own files and runs only', async (t) => {
    const organizations = { 'invented-a': ['invented:a'], 'invented b': ['invented-b'] };
    const { service, post, upload, start } = await callService(t, { organizations });
    const archive = tarGz([{ path: 'a.js', content: '' }]);
    const body = { file_id: await upload(archive) };
    const runId = await start(archive);
    const statusOf = async (as: { token?: string; organizationId?: string }) =>
      (await post(`${files}/delete`, body, as)).status;
    assert.equal(await statusOf({ token: 'invented-other' }), 401);
    assert.equal(await statusOf({ token: 'invented-b' }), 403);
    assert.equal(await statusOf({ organizationId: 'invented-c' }), 404);
    const asB = { token: 'invented-b', organizationId: 'invented b' };
    assert.equal(await statusOf(asB), 404);
    assert.equal((await post(`${whitebox}/describe`, { workflow_run_id: runId }, asB)).status, 404);
    service.setTokens(['invented-renewed']);
    assert.equal(await statusOf({}), 401);
  });
});
