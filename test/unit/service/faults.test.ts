import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService } from './serviceCaller.ts';

const archive = tarGz([{ path: 'a.js', content: 'eval(x);\n' }]);
const broken = { name: /SocketError|Error/ };

describe('fault rules', () => {
  test('can lose a reply after the operation', async (t) => {
    const faults = [{ match: { path: '/dispatch' }, after: { kind: 'reset' as const } }];
    const { service, start } = await callService(t, { faults });
    await assert.rejects(start(archive), broken);
    assert.equal(service.runs().length, 1);
    assert.equal(service.requests.at(-1)?.status, undefined);
  });

  test('can reset a connection before the operation', async (t) => {
    const { service, start } = await callService(t);
    service.addFault({ match: { path: '/dispatch' }, before: { kind: 'reset' } });
    await assert.rejects(start(archive), broken);
    assert.deepEqual(service.runs(), []);
  });

  test('can replace the reply, with or without the operation', async (t) => {
    const { service, post } = await callService(t);
    const reserve = () => post('/input-files/get-upload-url', { content_length: 1 });
    const reply = { kind: 'reply' as const, status: 503, headers: { 'retry-after': '120' }, body: 'later' };
    const removeFirst = service.addFault({ match: { path: '/get-upload-url' }, before: reply });
    const instead = await reserve();
    assert.deepEqual([instead.status, instead.headers['retry-after'], instead.text], [503, '120', 'later']);
    assert.equal(service.files().length, 0);
    removeFirst();
    service.addFault({ match: { path: '/get-upload-url' }, after: reply });
    assert.equal((await reserve()).status, 503);
    assert.equal(service.files().length, 1);
  });

  test('match by number, count, method and pattern', async (t) => {
    const { service, post } = await callService(t);
    const statuses = async (count: number) => {
      const answers: number[] = [];
      for (let index = 0; index < count; index++)
        answers.push((await post('/input-files/delete', { file_id: 'f' })).status);
      return answers;
    };
    const teapot = { kind: 'reply' as const, status: 418 };
    let remove = service.addFault({ match: { path: /\/input-files\//, nth: 2 }, before: teapot });
    assert.deepEqual(await statuses(3), [404, 418, 404]);
    remove();
    remove = service.addFault({ match: { times: 2 }, before: teapot });
    assert.deepEqual(await statuses(3), [418, 418, 404]);
    remove();
    service.addFault({ match: { method: 'PUT' }, before: teapot });
    assert.deepEqual(await statuses(1), [404]);
  });

  test('can perform an operation twice for one request', async (t) => {
    const { service, post } = await callService(t);
    service.addFault({ match: {}, after: { kind: 'duplicate' } });
    assert.equal((await post('/input-files/get-upload-url', { content_length: 1 })).status, 200);
    const [first, second] = service.files();
    assert.ok(first !== undefined && second !== undefined);
    const cancelled = await post('/input-files/cancel-upload', { file_id: second.fileId });
    assert.deepEqual(
      [cancelled.status, service.files().map(({ state }) => state)],
      [404, ['reserved', 'cancelled']],
    );
  });
});
