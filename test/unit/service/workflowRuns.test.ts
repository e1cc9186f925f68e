import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { tarGz } from './archiveMaker.ts';
import { callService, movableClock, send, text } from './serviceCaller.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const archive = tarGz([{ path: 'a.js', content: 'eval(x);\n' }]);
const success = {
  status: 'EXITED',
  output: {
    kind: 'SUCCESS',
    successOutput: { findings: { artifact_name: 'findings' }, report: { artifact_name: 'report' } },
  },
  artifacts: [{ name: 'findings' }, { name: 'report' }],
};

describe('workflow runs', () => {
  test('are RUNNING, and nothing more, until their duration has passed', async (t) => {
    const clock = movableClock();
    const { service, start, describe, whitebox } = await callService(t, { clock, runDurationMs: DAY_MS });
    const runId = await start(archive);
    clock.advance(DAY_MS - 1);
    await service.settle();
    assert.deepEqual(await describe(runId), { status: 'RUNNING' });
    const early = await whitebox('get-artifact-download-url', {
      workflow_run_id: runId,
      artifact_name: 'report',
    });
    assert.equal(early.status, 404);
    clock.advance(1);
    assert.deepEqual(await describe(runId), success);
  });

  test('that are aborted name the reason, with a detail only if there is one', async (t) => {
    const { service, start, describe } = await callService(t, { runDurationMs: DAY_MS });
    const plain = await start(archive);
    await service.finishRun(plain, { kind: 'aborted', code: 'invented_reason' });
    const output = { kind: 'ABORTED', abortedReason: { code: 'invented_reason' } };
    assert.deepEqual(await describe(plain), { status: 'EXITED', output, artifacts: [] });
    for (const detail of [null, ['any', { type: 1 }]]) {
      const detailed = await start(archive);
      await service.finishRun(detailed, { kind: 'aborted', code: 'invented_reason', detail });
      assert.deepEqual((await describe(detailed))['output'], {
        ...output,
        abortedReason: { ...output.abortedReason, detail },
      });
    }
  });

  test('are cancelled with an empty object after a delay, and cannot be cancelled after their exit', async (t) => {
    const clock = movableClock();
    const { start, describe, whitebox } = await callService(t, {
      clock,
      runDurationMs: DAY_MS,
      cancelDelayMs: 5000,
    });
    const body = { workflow_run_id: await start(archive) };
    for (const attempt of [1, 2]) {
      const cancelled = await whitebox('cancel', body);
      assert.deepEqual([cancelled.status, cancelled.text], [200, '{}'], `attempt ${attempt}`);
      assert.deepEqual(await describe(body.workflow_run_id), { status: 'RUNNING' });
    }
    clock.advance(5000);
    const output = { kind: 'ABORTED', abortedReason: { code: 'cancelled' } };
    assert.deepEqual(await describe(body.workflow_run_id), { status: 'EXITED', output, artifacts: [] });
    assert.equal((await whitebox('cancel', body)).status, 409);
  });

  test('that end before their cancel takes effect have succeeded', async (t) => {
    const { service, start, describe, whitebox } = await callService(t, {
      runDurationMs: DAY_MS,
      cancelDelayMs: 5000,
    });
    const runId = await start(archive);
    await whitebox('cancel', { workflow_run_id: runId });
    await service.finishRun(runId);
    assert.deepEqual(await describe(runId), success);
  });

  test('lose results and artifacts 30 days after the exit', async (t) => {
    const clock = movableClock();
    const { service, start, describe, whitebox } = await callService(t, {
      clock,
      downloadUrlSeconds: 60 * 86_400,
    });
    const runId = await start(archive);
    await service.settle();
    const body = { workflow_run_id: runId, artifact_name: 'report' };
    const url = text(await whitebox('get-artifact-download-url', body), 'url');
    clock.advance(30 * DAY_MS - 1);
    assert.equal((await describe(runId))['status'], 'EXITED');
    assert.equal((await send('GET', url)).status, 200);
    clock.advance(1);
    assert.equal((await whitebox('describe', { workflow_run_id: runId })).status, 404);
    assert.equal((await whitebox('get-artifact-download-url', body)).status, 404);
    assert.equal((await send('GET', url)).status, 404);
  });

  test('that are unknown, and unknown artifacts, are 404', async (t) => {
    const { service, start, whitebox } = await callService(t);
    for (const verb of ['describe', 'cancel']) {
      assert.equal((await whitebox(verb, { workflow_run_id: 'run-unknown' })).status, 404);
    }
    const runId = await start(archive);
    await service.settle();
    const unknown = { workflow_run_id: runId, artifact_name: 'features' };
    assert.equal((await whitebox('get-artifact-download-url', unknown)).status, 404);
  });

  test('refused for their second target start nothing', async (t) => {
    const { service, upload, whitebox } = await callService(t);
    const targets = [await upload(archive), 'file-unknown'].map((file_id) => ({
      file_upload: { file_id, archive_type: 'tar_gz' },
    }));
    assert.equal((await whitebox('dispatch', { input: { targets, language: 'english' } })).status, 404);
    assert.deepEqual(service.runs(), []);
  });
});

describe('webhooks', () => {
  /** Listens on loopback; `next` resolves to the next delivery. */
  async function endpoint(t: TestContext) {
    const waiting: ((body: unknown) => void)[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.writeHead(204).end();
        waiting.shift()?.({
          method: request.method,
          type: request.headers['content-type'],
          event: JSON.parse(body) as unknown,
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const next = () => new Promise<unknown>((resolve) => waiting.push(resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, next };
  }

  test('are posted as documented when a run exits', async (t) => {
    const { url, next } = await endpoint(t);
    const { service, start } = await callService(t, { runDurationMs: 20, webhookEndpoints: { hook: url } });
    const delivered = next();
    const runId = await start(archive, { webhooks: ['hook'] });
    const { method, type, event } = (await delivered) as {
      method: string;
      type: string;
      event: { timestamp: string };
    };
    assert.deepEqual([method, type], ['POST', 'application/json']);
    assert.deepEqual(event, {
      type: 'api.workflow_run.exited',
      timestamp: event.timestamp,
      data: { workflow_id: 'whitebox-assessment', workflow_run_id: runId },
    });
    assert.equal(new Date(event.timestamp).toISOString(), event.timestamp);
    await service.settle();
    assert.deepEqual(
      service.deliveries.map(({ outcome }) => outcome),
      [{ status: 204 }],
    );
  });

  test('that are not registered are refused at dispatch', async (t) => {
    const { service, upload, whitebox } = await callService(t);
    const target = { file_upload: { file_id: await upload(archive), archive_type: 'tar_gz' } };
    const refused = await whitebox('dispatch', {
      input: { targets: [target], language: 'english' },
      notification: { webhook_endpoint_ids: ['toString'] },
    });
    assert.equal(refused.status, 422);
    assert.deepEqual(service.runs(), []);
  });

  test('can be registered on loopback only', async (t) => {
    const webhookEndpoints = { hook: 'https://example.com/' };
    await assert.rejects(callService(t, { webhookEndpoints }), /not a loopback/);
  });
});
