import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService, send, sha256, text, type ServiceCaller } from './serviceCaller.ts';

const content = Buffer.from('twelve bytes');

async function reserve({ post }: ServiceCaller, bytes = content.length) {
  const answer = await post('/input-files/get-upload-url', { content_length: bytes });
  assert.equal(answer.status, 200, answer.text);
  return { fileId: text(answer, 'file_id'), url: text(answer, 'upload_url'), answer };
}

const statesOf = ({ service }: ServiceCaller) => service.files().map(({ state }) => state);

describe('input files', () => {
  test('are reserved, uploaded, confirmed and deleted, with the documented members only', async (t) => {
    const caller = await callService(t, { uploadUrlSeconds: 60 });
    const { fileId, url, answer } = await reserve(caller);
    assert.deepEqual(answer.json, { file_id: fileId, upload_url: url, expires_in_seconds: 60 });
    assert.deepEqual(statesOf(caller), ['reserved']);
    await send('PUT', url, { body: content });
    assert.deepEqual(statesOf(caller), ['uploaded']);
    for (const [verb, state] of [
      ['confirm-upload', 'confirmed'],
      ['delete', 'deleted'],
    ] as const) {
      const moved = await caller.post(`/input-files/${verb}`, { file_id: fileId });
      assert.equal(moved.status, 200);
      assert.deepEqual(moved.json, { file_id: fileId });
      assert.deepEqual(statesOf(caller), [state]);
    }
    assert.equal(caller.service.files()[0]?.sha256, sha256(content));
  });

  /** Every transition from every state: 200 if section 3 has it, 409 in another state, 404 if the file is gone. */
  const verbs = ['confirm-upload', 'cancel-upload', 'delete', 'dispatch'];
  const moves: [string, string[], number[]][] = [
    ['reserved', [], [409, 200, 409, 409]],
    ['uploaded', ['PUT'], [200, 200, 409, 409]],
    ['confirmed', ['PUT', 'confirm-upload'], [409, 409, 200, 200]],
    ['cancelled', ['cancel-upload'], [404, 404, 404, 404]],
    ['deleted', ['PUT', 'confirm-upload', 'delete'], [404, 404, 404, 404]],
  ];
  test('accept each transition only in the documented state', async (t) => {
    for (const [state, steps, expected] of moves) {
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
        assert.equal(status, expected[index], `${verb} of a file that is ${state}: ${answer}`);
        if (status !== 200) assert.deepEqual(statesOf(caller), [state]);
      }
    }
  });

  test('count reservations against the capacity until they are cancelled or deleted', async (t) => {
    const organizations = { 'invented-a': ['invented-a-token'], 'invented-b': ['invented-b-token'] };
    const caller = await callService(t, { capacityBytes: 20, organizations });
    const first = await reserve(caller, 12);
    const tooMuch = await caller.post('/input-files/get-upload-url', { content_length: 9 });
    assert.equal(tooMuch.status, 413);
    const asB = { token: 'invented-b-token', organizationId: 'invented-b' };
    assert.equal((await caller.post('/input-files/get-upload-url', { content_length: 9 }, asB)).status, 200);
    await reserve(caller, 8);
    await caller.post('/input-files/cancel-upload', { file_id: first.fileId });
    const fileId = await caller.upload(content);
    assert.equal((await caller.post('/input-files/get-upload-url', { content_length: 1 })).status, 413);
    await caller.post('/input-files/delete', { file_id: fileId });
    await reserve(caller, 12);
  });

  test('are copied to a run, so that deleting one right after the dispatch is safe', async (t) => {
    const caller = await callService(t);
    const runId = await caller.start(tarGz([{ path: 'a.js', content: 'eval(x);\n' }]));
    const [file] = caller.service.files();
    assert.equal((await caller.post('/input-files/delete', { file_id: file?.fileId })).status, 200);
    await caller.service.settle();
    assert.equal((await caller.describe(runId))['status'], 'EXITED');
    assert.deepEqual(caller.service.runs()[0]?.archives[0]?.entries, [{ path: 'a.js', bytes: 9 }]);
  });
});
