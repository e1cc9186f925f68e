import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { send } from './serviceCaller.ts';

const main = join(import.meta.dirname, '../../service/main.ts');

test('the service starts from the command line, prints its address and token, and ends when interrupted', async () => {
  const child = spawn(process.execPath, [main, '--run-seconds', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [, label = '', value = ''] = /^(.+?):\s+(.+)$/.exec(line) ?? [];
    printed[label] = value;
    if (label === 'Token') break;
  }
  assert.match(printed['Base URL'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.match(printed['Token'] ?? '', /^invented-token-/);
  const answer = await send(
    'POST',
    `${printed['Base URL']}/o/${printed['Organization ID']}/input-files/get-upload-url`,
    {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${printed['Token']}` },
      body: '{"content_length":1}',
    },
  );
  assert.equal(answer.status, 200);
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
  child.kill('SIGINT');
  assert.deepEqual(await exited, process.platform === 'win32' ? [null, 'SIGINT'] : [0, null]);
});
