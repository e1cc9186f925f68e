import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService, movableClock, send, sha256, text, type ServiceCaller } from './serviceCaller.ts';

const content = Buffer.from('twelve bytes');

async function uploadUrl({ post }: ServiceCaller): Promise<string> {
  return text(await post('/input-files/get-upload-url', { content_length: content.length }), 'upload_url');
}

async function downloadUrl(caller: ServiceCaller): Promise<string> {
  const runId = await caller.start(tarGz([{ path: 'a.js', content: '' }]));
  await caller.service.settle();
  const body = { workflow_run_id: runId, artifact_name: 'report' };
  return text(await caller.whitebox('get-artifact-download-url', body), 'url');
}

describe('presigned addresses', () => {
  test('require exactly the reserved upload length', async (t) => {
    const caller = await callService(t);
    const url = await uploadUrl(caller);
    for (const body of ['eleven byte', 'thirteen byte', '']) {
      assert.equal(
        (await send('PUT', url, { body, headers: { 'content-length': String(body.length) } })).status,
        400,
      );
    }
    assert.equal(caller.service.files()[0]?.state, 'reserved');
  });

  test('refuse an Authorization header on upload and download', async (t) => {
    const caller = await callService(t);
    const headers = { authorization: `Bearer ${caller.service.token}` };
    assert.equal((await send('PUT', await uploadUrl(caller), { headers, body: content })).status, 400);
    assert.equal((await send('GET', await downloadUrl(caller), { headers })).status, 400);
  });

  test('are refused with XML if changed or used with the wrong method', async (t) => {
    const caller = await callService(t);
    const url = await uploadUrl(caller);
    const other = await uploadUrl(caller);
    const forged = [
      url.replace(/signature=./, (start) => (start.endsWith('0') ? 'signature=1' : 'signature=0')),
      url.replace(/expires=\d+/, 'expires=9999999999999'),
      url.replace(/&signature=.*/, ''),
      `${url}&acl=public-read`,
      url.replace(new URL(url).pathname, new URL(other).pathname),
    ];
    for (const address of forged) {
      const answer = await send('PUT', address, { body: content });
      assert.equal(answer.status, 403, address);
      assert.match(answer.text, /^<\?xml [^]*<Code>SignatureDoesNotMatch</);
    }
    assert.equal((await send('GET', url)).status, 403);
    assert.equal((await send('PUT', await downloadUrl(caller), { body: content })).status, 403);
    assert.equal(
      (await send('GET', `${new URL(url).origin}/storage/0000?expires=1&signature=1`)).status,
      404,
    );
  });

  test('expire at their announced time', async (t) => {
    const clock = movableClock();
    const caller = await callService(t, { clock, uploadUrlSeconds: 60, downloadUrlSeconds: 30 });
    const upload = await uploadUrl(caller);
    const download = await downloadUrl(caller);
    clock.advance(29_999);
    assert.equal((await send('GET', download)).status, 200);
    clock.advance(1);
    assert.equal((await send('GET', download)).status, 403);
    clock.advance(29_999);
    assert.equal((await send('PUT', upload, { body: content })).status, 200);
    clock.advance(1);
    const late = await send('PUT', upload, { body: content });
    assert.equal(late.status, 403);
    assert.match(late.text, /<Message>Request has expired</);
  });

  test('allow repeated uploads until the file is confirmed or cancelled, and the last one counts', async (t) => {
    const caller = await callService(t);
    const url = await uploadUrl(caller);
    const second = Buffer.from('TWELVE BYTES');
    assert.equal((await send('PUT', url, { body: content })).status, 200);
    assert.equal((await send('PUT', url, { body: second })).status, 200);
    assert.equal(caller.service.files()[0]?.sha256, sha256(second));
    await caller.post('/input-files/confirm-upload', { file_id: caller.service.files()[0]?.fileId });
    assert.equal((await send('PUT', url, { body: content })).status, 409);
    assert.equal(caller.service.files()[0]?.sha256, sha256(second));
    const cancelled = await uploadUrl(caller);
    await caller.post('/input-files/cancel-upload', { file_id: caller.service.files()[1]?.fileId });
    const refused = await send('PUT', cancelled, { body: content });
    assert.equal(refused.status, 404);
    assert.match(refused.text, /<Code>NoSuchUpload</);
  });
});
