import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { tarGz } from './archiveMaker.ts';
import { callBlackbox } from './blackboxCaller.ts';
import { callService, send } from './serviceCaller.ts';

const archive = tarGz([{ path: 'a.js', content: 'eval(x);\n' }]);

describe('documents', () => {
  test('include an OpenAPI 3.1 description, served without a token, of the documented operations', async (t) => {
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

  test('include artifact schemas, which the artifacts of a run satisfy', async (t) => {
    const { service, start, run, artifact } = await callBlackbox(t);
    for (const [workflow, names] of [
      ['whitebox-assessment', ['findings']],
      ['blackbox-crawl', ['features']],
      ['blackbox-assessment', ['findings', 'features', 'scan_progress']],
    ] as const) {
      const { id } = workflow === 'whitebox-assessment' ? { id: await start(archive) } : await run(workflow);
      await service.settle();
      for (const name of names) {
        const address = `${service.baseUrl}/docs/workflow-artifacts/${workflow}/${name}.json`;
        const fits = new Ajv2020().compile((await send('GET', address)).json);
        assert.ok(fits(JSON.parse(await artifact(workflow, id, name))), JSON.stringify(fits.errors));
        assert.ok(!fits([{}]), address);
      }
    }
  });
});
