import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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

  test('refused for their second target start nothing', async (t) => {
    const { service, upload, whitebox } = await callService(t);
    const targets = [await upload(archive), 'file-unknown'].map((file_id) => ({
      file_upload: { file_id, archive_type: 'tar_gz' },
    }));
    assert.equal((await whitebox('dispatch', { input: { targets, language: 'english' } })).status, 404);
    assert.deepEqual(service.runs(), []);
  });
});
