import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { readPasted } from '../../../src/editor/runs/runLink.ts';

const data = { workflow_id: 'whitebox-assessment', workflow_run_id: 'run-7' };
const event = { type: 'api.workflow_run.exited', timestamp: '2026-01-01T00:00:00Z', data };

/** Has the relay listen on a free port, and tell it. */
const listenAnywhere = `
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function () {
    return listen.call(this, 0, '127.0.0.1', () => process.send(this.address().port));
  };
`;

/** Runs the relay with a chat; `post` delivers a webhook and returns the status. */
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
  const chatUrl = `http://127.0.0.1:${String((chat.address() as AddressInfo).port)}/hook`;
  const relay = fork(path.resolve(import.meta.dirname, '../../../examples/relay.mjs'), {
    env: { CHAT_URL: chatUrl, ...env },
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(listenAnywhere)}`],
  });
  t.after(() => relay.kill());
  const [port] = (await once(relay, 'message')) as [number];
  const post = async (body: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
    const { status } = await fetch(`http://127.0.0.1:${String(port)}/`, { method: 'POST', body, headers });
    return status;
  };
  return { said, post };
}

test('the relay posts a link that the extension reads as the run of the event', async (t) => {
  const { said, post } = await startRelay(t, { AT: '0123456789ab' });
  assert.equal(await post(JSON.stringify(event)), 204);
  assert.equal(said.length, 1);
  assert.deepEqual(readPasted(said[0] ?? ''), {
    ...{ workflow: 'whitebox-assessment', run: 'run-7', at: '0123456789ab' },
  });
});

test('F142 the relay passes on only IDs, and bounds the body', async (t) => {
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

/** npm's `standardwebhooks` signs a delivery with these headers. */
function signed(secret: string, id: string, body: string, time = new Date()): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, time, body),
  };
}

test('the relay accepts Standard Webhooks signatures once per delivery, and nothing else', async (t) => {
  // Invented.
  const [secret, other] = [0, 1].map(
    (at) => `whsec_${Buffer.alloc(24, `key ${String(at)}`).toString('base64')}`,
  );
  const { said, post } = await startRelay(t, { SECRET: secret! });
  const body = JSON.stringify(event);
  const genuine = signed(secret!, 'msg_1', body);
  const refused: [string, Record<string, string>][] = [
    [body, {}],
    [body, signed(other!, 'msg_1', body)],
    [`${body} `, genuine],
    [body, { ...genuine, 'webhook-id': 'msg_2' }],
    [body, { ...genuine, 'webhook-signature': genuine['webhook-signature']!.replace('v1,', 'v2,') }],
    [body, signed(secret!, 'msg_1', body, new Date(Date.now() - 6 * 60_000))],
    [body, signed(secret!, 'msg_1', body, new Date(Date.now() + 6 * 60_000))],
  ];
  for (const [sent, headers] of refused) assert.equal(await post(sent, headers), 401);
  assert.deepEqual(said, []);
  const rotated = `${signed(other!, 'msg_1', body)['webhook-signature']!} ${genuine['webhook-signature']!}`;
  assert.equal(await post(body, { ...genuine, 'webhook-signature': rotated }), 204);
  assert.equal(await post(body, genuine), 204);
  assert.equal(said.length, 1);
});

test('the relay asks its sender to retry if the chat rejects the link', async (t) => {
  const { post } = await startRelay(t, { CHAT_URL: 'http://127.0.0.1:9/' });
  assert.equal(await post(JSON.stringify(event)), 502);
});
