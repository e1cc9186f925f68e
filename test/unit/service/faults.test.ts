import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callService } from './serviceCaller.ts';

test('a fault rule matches by number, count, method and pattern, before or after the operation', async (t) => {
  const { service, post } = await callService(t);
  const statuses = async (count: number) => {
    const answers: number[] = [];
    for (let index = 0; index < count; index++)
      answers.push((await post('/input-files/get-upload-url', { content_length: 1 })).status);
    return answers;
  };
  const teapot = { kind: 'reply' as const, status: 418 };
  const played = async (rule: Parameters<typeof service.addFault>[0], count: number) => {
    const [before, remove] = [service.files().length, service.addFault(rule)];
    const answers = await statuses(count);
    remove();
    return [...answers, service.files().length - before];
  };
  const path = /\/input-files\//;
  assert.deepEqual(await played({ match: { path, nth: 2 }, before: teapot }, 3), [200, 418, 200, 2]);
  assert.deepEqual(await played({ match: { times: 2 }, after: teapot }, 3), [418, 418, 200, 3]);
  assert.deepEqual(await played({ match: { method: 'PUT' }, before: teapot }, 1), [200, 1]);
  assert.deepEqual(await played({ match: {}, after: { kind: 'duplicate' } }, 1), [200, 2]);
});
