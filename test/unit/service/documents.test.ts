import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { tarGz } from './archiveMaker.ts';
import { callBlackbox } from './blackboxCaller.ts';
import { callService, send, text } from './serviceCaller.ts';

describe('documents', () => {
  test('the OpenAPI 3.1 description is served without a token and lists the documented operations', async (t) => {
    const { service } = await callService(t);
    const { status, json } = await send('GET', `${service.baseUrl}/docs/openapi.json`);
    assert.equal(status, 200);
    assert.equal(json['openapi'], '3.1.0');
    const paths = json['paths'] as Record<string, Record<string, unknown>>;
    assert.deepEqual(Object.keys(paths), [
      '/o/{orgID}/input-files/get-upload-url',
      '/o/{orgID}/input-files/confirm-upload',
      '/o/{orgID}/input-files/cancel-upload',
      '/o/{orgID}/input-files/delete',
      ...['blackbox-assessment', 'blackbox-crawl', 'whitebox-assessment'].flatMap((workflow) =>
        ['dispatch', 'describe', 'cancel', 'get-artifact-download-url'].map(
          (verb) => `/o/{orgID}/workflows/${workflow}/${verb}`,
        ),
      ),
    ]);
    assert.ok(Object.values(paths).every((path) => Object.keys(path).join() === 'post'));
  });

  test('the schema of the findings is served, and the findings of a run fit it', async (t) => {
    const { service, start, whitebox } = await callService(t);
    const address = `${service.baseUrl}/docs/workflow-artifacts/whitebox-assessment/findings.json`;
    const schema = await send('GET', address);
    assert.equal(schema.status, 200);
    assert.equal(schema.json['$id'], address);
    const runId = await start(tarGz([{ path: 'a.js', content: 'eval(x);\n' }]));
    await service.settle();
    const body = { workflow_run_id: runId, artifact_name: 'findings' };
    const findings = await send('GET', text(await whitebox('get-artifact-download-url', body), 'url'));
    const fits = new Ajv2020().compile(schema.json);
    assert.ok(fits(JSON.parse(findings.text)), JSON.stringify(fits.errors));
    assert.ok(!fits([{ id: 'x' }]));
  });

  test('the schemas of the blackbox artifacts are served, and the artifacts of a run fit them', async (t) => {
    const { service, run, artifact } = await callBlackbox(t);
    for (const [workflow, names] of [
      ['blackbox-crawl', ['features']],
      ['blackbox-assessment', ['findings', 'features', 'scan_progress']],
    ] as const) {
      const { id } = await run(workflow);
      for (const name of names) {
        const address = `${service.baseUrl}/docs/workflow-artifacts/${workflow}/${name}.json`;
        const fits = new Ajv2020().compile((await send('GET', address)).json);
        assert.ok(fits(JSON.parse(await artifact(workflow, id, name))), JSON.stringify(fits.errors));
        assert.ok(!fits([{}]), address);
      }
    }
  });

  test('there are no other documents', async (t) => {
    const { service } = await callService(t);
    for (const path of [
      '/docs',
      '/docs/workflow-artifacts/whitebox-assessment/report.json',
      '/docs/../docs/x.json',
    ]) {
      assert.equal((await send('GET', service.baseUrl + path)).status, 404, path);
    }
  });
});

test('a port that is taken is refused', async (t) => {
  const { service } = await callService(t);
  const port = Number(new URL(service.baseUrl).port);
  await assert.rejects(callService(t, { port }), { code: 'EADDRINUSE' });
});
