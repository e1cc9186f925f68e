import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService, movableClock, send, text, type ServiceCaller } from './serviceCaller.ts';

const content = tarGz([{ path: 'a.js', content: 'eval(x);\n' }]);

async function reserve({ post }: ServiceCaller) {
  const answer = await post('/input-files/get-upload-url', { content_length: content.length });
  return { fileId: text(answer, 'file_id'), url: text(answer, 'upload_url') };
}

test('a file takes each step only in the documented state', async (t) => {
  const verbs = ['PUT', 'confirm-upload', 'cancel-upload', 'delete', 'dispatch'];
  const expected: [state: string, steps: string[], statuses: number[]][] = [
    ['reserved', [], [200, 409, 200, 409, 409]],
    ['uploaded', ['PUT'], [200, 200, 200, 409, 409]],
    ['confirmed', ['PUT', 'confirm-upload'], [409, 409, 409, 200, 200]],
    ['cancelled', ['cancel-upload'], [404, 404, 404, 404, 404]],
    ['deleted', ['PUT', 'confirm-upload', 'delete'], [404, 404, 404, 404, 404]],
  ];
  for (const [state, steps, statuses] of expected) {
    for (const [index, verb] of verbs.entries()) {
      const caller = await callService(t);
      const { fileId, url } = await reserve(caller);
      const move = (name: string) => {
        if (name === 'PUT') return send('PUT', url, { body: content });
        if (name !== 'dispatch') return caller.post(`/input-files/${name}`, { file_id: fileId });
        const targets = [{ file_upload: { file_id: fileId, archive_type: 'tar_gz' } }];
        return caller.whitebox('dispatch', { input: { targets, language: 'english' } });
      };
      for (const step of steps) await move(step);
      const { status, text: answer } = await move(verb);
      assert.equal(status, statuses[index], `${verb} of a file that is ${state}: ${answer}`);
      if (status !== 200) assert.equal(caller.service.files()[0]?.state, state);
    }
  }
});

test('a run has results and artifacts from its exit until their retention, and cannot be cancelled then', async (t) => {
  const clock = movableClock();
  const caller = await callService(t, { clock, runDurationMs: 1000, downloadUrlSeconds: 60 * 86_400 });
  const body = { workflow_run_id: await caller.start(content) };
  await caller.service.settle();
  const ask = async () => {
    const named = { ...body, artifact_name: 'report' };
    const { status, json } = await caller.whitebox('get-artifact-download-url', named);
    return [(await caller.whitebox('describe', body)).status, status, json['url'] as string] as const;
  };
  assert.deepEqual(await caller.describe(body.workflow_run_id), { status: 'RUNNING' });
  assert.deepEqual((await ask()).slice(0, 2), [200, 404]);
  clock.advance(1000);
  const [, , url] = await ask();
  assert.equal((await send('GET', url)).status, 200);
  assert.equal((await caller.whitebox('cancel', body)).status, 409);
  clock.advance(30 * 86_400_000);
  assert.deepEqual((await ask()).slice(0, 2), [404, 404]);
  assert.equal((await send('GET', url)).status, 404);
});

test('a presigned address takes only what it was signed for, until it expires', async (t) => {
  const clock = movableClock();
  const caller = await callService(t, { clock, uploadUrlSeconds: 60 });
  const [{ url }, other] = [await reserve(caller), await reserve(caller)];
  const put = async (address: string, body: string | Uint8Array = content, headers = {}) =>
    (await send('PUT', address, { body, headers })).status;
  assert.equal(await put(url, content.subarray(1)), 400);
  assert.equal(await put(url, content, { authorization: `Bearer ${caller.service.token}` }), 400);
  const forged = [
    url.replace(/signature=./, (start) => (start.endsWith('0') ? 'signature=1' : 'signature=0')),
    url.replace(/expires=\d+/, 'expires=9999999999999'),
    url.replace(/&signature=.*/, ''),
    `${url}&acl=public-read`,
    url.replace(new URL(url).pathname, new URL(other.url).pathname),
  ];
  for (const address of forged) assert.equal(await put(address), 403, address);
  assert.equal((await send('GET', url)).status, 403);
  clock.advance(59_999);
  assert.equal(await put(url), 200);
  clock.advance(1);
  assert.equal(await put(url), 403);
});
