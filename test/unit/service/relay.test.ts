import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { readPasted } from '../../../src/core/run/state/runLink.ts';
import { eventually } from '../../host/workbench/eventually.ts';

const data = { workflow_id: 'whitebox-assessment', workflow_run_id: 'run-7' };
const event = { type: 'api.workflow_run.exited', timestamp: '2026-01-01T00:00:00Z', data };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs the relay of the README beside a chat; `post` is a delivery, with the status that it got. */
async function startRelay(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const said: string[] = [];
  const chat = createServer((request, response) => {
    void text(request).then((body) => {
      said.push((JSON.parse(body) as { text: string }).text);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(chat, 'listening');
  t.after(() => chat.close());
  const readme = await readFile(path.resolve(import.meta.dirname, '../../../README.md'), 'utf8');
  const [, source = ''] = /```js\n(\/\/ relay\.mjs[^]*?)```/.exec(readme) ?? [];
  const folder = await mkdtemp(path.join(tmpdir(), 'relay-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'relay.mjs'), source);
  const port = String(await freePort());
  const chatUrl = `http://127.0.0.1:${String((chat.address() as AddressInfo).port)}/hook`;
  const relay = spawn(process.execPath, [path.join(folder, 'relay.mjs')], {
    env: { PORT: port, CHAT_URL: chatUrl, ...env },
    stdio: 'inherit',
  });
  t.after(() => relay.kill());
  const post = async (body: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
    return status;
  };
  await eventually(
    () => post('').catch(() => 0),
    (status) => status !== 0,
  );
  return { said, post };
}

test('the relay of the README posts a link that the extension reads as the run of the event', async (t) => {
  const { said, post } = await startRelay(t, { AT: '0123456789ab' });
  assert.equal(await post(JSON.stringify(event)), 204);
  assert.equal(said.length, 1);
  assert.deepEqual(readPasted(said[0] ?? ''), {
    ...{ workflow: 'whitebox-assessment', run: 'run-7', at: '0123456789ab' },
  });
});

test('F142 the relay of the README passes on nothing but IDs, and no body without end', async (t) => {
  const { said, post } = await startRelay(t);
  const hostile = [
    { ...event, data: { ...data, workflow_run_id: 'x https://hostile.example.test' } },
    { ...event, data: { ...data, workflow_run_id: ['run-7'] } },
    { ...event, data: { ...data, workflow_id: '<b>' } },
    { ...event, data: undefined },
  ];
  for (const each of hostile) assert.equal(await post(JSON.stringify(each)), 400);
  assert.equal(await post('no JSON'), 400);
  assert.equal(await post(JSON.stringify({ ...event, more: 'x'.repeat(20_000) })), 413);
  assert.deepEqual(said, []);
});

test('the relay of the README refuses a delivery with another signature', async (t) => {
  const { said, post } = await startRelay(t, { SECRET: 'invented' });
  const body = JSON.stringify(event);
  const sign = (secret: string): string => createHmac('sha256', secret).update(body).digest('hex');
  assert.equal(await post(body), 401);
  assert.equal(await post(body, { 'x-signature': sign('other') }), 401);
  assert.deepEqual(said, []);
  assert.equal(await post(body, { 'x-signature': sign('invented') }), 204);
});
