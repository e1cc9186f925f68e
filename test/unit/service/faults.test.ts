import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { request } from 'undici';
import { tarGz } from './archiveMaker.ts';
import { callService, send, text } from './serviceCaller.ts';
import { eventually } from '../core/eventually.ts';

const archive = tarGz([{ path: 'a.js', content: 'eval(x);\n' }]);
const broken = { name: /SocketError|Error/ };

describe('fault rules', () => {
  test('a lost reply leaves the operation done', async (t) => {
    const faults = [{ match: { path: '/dispatch' }, after: { kind: 'reset' as const } }];
    const { service, start } = await callService(t, { faults });
    await assert.rejects(start(archive), broken);
    assert.equal(service.runs().length, 1);
    assert.equal(service.requests.at(-1)?.status, undefined);
  });

  test('a reset before the operation leaves it undone', async (t) => {
    const { service, start } = await callService(t);
    service.addFault({ match: { path: '/dispatch' }, before: { kind: 'reset' } });
    await assert.rejects(start(archive), broken);
    assert.deepEqual(service.runs(), []);
  });

  test('a reply can stand in for the operation, or hide that it was done', async (t) => {
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

  test('a rule can pick its match by number, by count, by method and by pattern', async (t) => {
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

  test('a body can be cut short of its announced length, after a head that tells its status', async (t) => {
    const { service, post } = await callService(t);
    service.addFault({ match: {}, after: { kind: 'truncate', bytes: 5 } });
    await assert.rejects(post('/input-files/get-upload-url', { content_length: 1 }), broken);
    assert.deepEqual([service.files().length, service.requests.at(-1)?.status], [1, 200]);
  });

  test('a cut download sends exactly the bytes asked for', async (t) => {
    const { service, start, whitebox } = await callService(t);
    const runId = await start(archive);
    await service.settle();
    const body = { workflow_run_id: runId, artifact_name: 'report' };
    const url = text(await whitebox('get-artifact-download-url', body), 'url');
    service.addFault({ match: { method: 'GET' }, after: { kind: 'truncate', bytes: 9 } });
    const answer = await request(url);
    let received = 0;
    await assert.rejects(async () => {
      for await (const chunk of answer.body as AsyncIterable<Buffer>) received += chunk.length;
    }, broken);
    assert.equal(received, 9);
    assert.ok(Number(answer.headers['content-length']) > 9);
  });

  test('an operation can be performed twice for one request', async (t) => {
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

  test('a body can be made larger than anybody wants', async (t) => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    t.after(() => process.off('warning', onWarning));
    const { service, post } = await callService(t);
    service.addFault({ match: {}, after: { kind: 'oversize', bytes: 3_000_000 } });
    const answer = await post('/input-files/get-upload-url', { content_length: 1 });
    assert.equal(answer.text.length, 3_000_000);
    assert.equal(answer.json['file_id'], service.files()[0]?.fileId);
    await setImmediate();
    assert.deepEqual(warnings, []);
  });

  test('a stalled request is never answered, and does not keep the service from closing', async (t) => {
    const { service } = await callService(t);
    service.addFault({ match: { method: 'GET' }, before: { kind: 'stall' } });
    const outcome = send('GET', `${service.baseUrl}/docs/openapi.json`).then(
      () => 'answered',
      () => 'broken',
    );
    await eventually(() => service.requests.length > 0, 'a request arrives');
    await service.close();
    assert.equal(await outcome, 'broken');
  });

  test('a held operation is done once it is let go, and its reply comes then', async (t) => {
    const { service, post } = await callService(t);
    const [held, kept] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const [before, after] = [held, kept].map(({ promise: until }) => ({ kind: 'hold' as const, until }));
    service.addFault({ match: {}, before: before!, after: after! });
    let isAnswered = false;
    const answer = post('/input-files/get-upload-url', { content_length: 1 });
    void answer.then(() => (isAnswered = true));
    await eventually(() => service.requests.length > 0, 'a request arrives');
    assert.equal(service.files().length, 0);
    held.resolve(undefined);
    await eventually(() => service.files().length > 0, 'the service has a file');
    await setImmediate();
    assert.equal(isAnswered, false);
    kept.resolve(undefined);
    assert.equal((await answer).status, 200);
  });

  test('a delayed operation is done after the delay', async (t) => {
    const { service, post } = await callService(t);
    service.addFault({ match: {}, before: { kind: 'delay', ms: 30 } });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const answer = post('/input-files/get-upload-url', { content_length: 1 });
    await eventually(() => service.requests.length > 0, 'a request arrives');
    t.mock.timers.tick(29);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    assert.equal(service.files().length, 0);
    t.mock.timers.tick(1);
    assert.equal((await answer).status, 200);
  });
});
