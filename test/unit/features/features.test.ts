// The contents of these artifacts are not documented: all shapes here are invented.
import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssessmentError } from '../../../src/core/errors.ts';
import { type FeatureList, readFeatures, toFeatures } from '../../../src/core/features/features.ts';
import { listProgress, toScanProgress } from '../../../src/core/features/scanProgress.ts';
import { propertyRuns } from '../core/propertyRuns.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { parseWorker } from '../findings/parse/bundledWorker.ts';
import { crawledWith } from './crawledRun.ts';

const crawled = crawledWith('features');

test('a feature of the list has descriptive fields, and its name is unchanged', () => {
  const name = '  Log in\n\u202E [x](command:y) ';
  const feature = { name, description: 'Signs in.', method: 'POST', url: 'https://a.example/login' };
  for (const list of [[{ ...feature, roles: [] }], { version: 1, features: [feature] }])
    assert.deepEqual(toFeatures(list).features, [feature]);
  assert.deepEqual(toFeatures([]).features, []);
});

test('F136 equal names are one feature, and entries without a usable name are counted', () => {
  const list = toFeatures([
    { name: 'Log in', url: '/a' },
    { name: 'Log in', url: '/b' },
    { name: 'log in' },
    { id: 7 },
    null,
    'Search',
    { name: '' },
    { name: 'n'.repeat(5_001) },
  ]);
  assert.deepEqual(
    list.features.map(({ name, url }) => [name, url]),
    [
      ['Log in', '/a'],
      ['log in', undefined],
    ],
  );
  assert.deepEqual([list.repeated, list.unreadable, list.cut], [1, 5, 0]);
});

test('F136 only the first features up to the limit are read, and the others counted', () => {
  const { features, cut } = toFeatures(
    Array.from({ length: 10_003 }, (_, at) => ({ name: `Feature ${at}` })),
  );
  assert.deepEqual([features.length, cut], [10_000, 3]);
});

test('F136 malformed, oversized and missing features each have their own message', async (t) => {
  const folder = await tempFolder(t);
  const file = join(folder, 'features.json');
  const read = (run = crawled): Promise<FeatureList> => readFeatures(run, folder, parseWorker);
  const fault = (subject: string) => ({ kind: 'badFeatures', data: { subject } });
  const rejects = (reading: Promise<unknown>, subject: string): Promise<void> =>
    assert.rejects(reading, (error: { kind: string; data: { subject: string } }) => {
      assert.deepEqual({ kind: error.kind, data: { subject: error.data.subject } }, fault(subject));
      return true;
    });

  await rejects(read(), 'absent');
  await rejects(read({ ...crawled, artifacts: [] }), 'absent');
  for (const text of ['', '<html>', '{"pages":[1]}', 'null', '7', '[[[[[[[', '[{"id":1}]']) {
    await writeFile(file, text);
    await rejects(read(), 'malformed');
  }
  await writeFile(file, `[${'0,'.repeat(3_000_001)}0]`);
  await rejects(read(), 'tooLarge');
  await truncate(file, 16 * 1024 * 1024 + 1);
  await rejects(read(), 'tooLarge');

  await writeFile(file, '\uFEFF[{"name":"Log in"}]\n');
  assert.deepEqual(
    (await read()).features.map(({ name }) => name),
    ['Log in'],
  );
});

test('F136 any JSON is read or refused within the limits', () => {
  const key = fc.constantFrom(
    'features', 'items', 'name', 'completed', 'skipped', 'perspective', '__proto__', 'x',
  ); // prettier-ignore
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('XSS', 'Log in', '', 7, null, true),
      fc.array(tie('json')),
      fc.dictionary(key, tie('json')),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      assert.match(
        toScanProgress(listProgress(value)).stateOf('Log in', 'XSS'),
        /^(tested|notApplicable|notTested|unknown)$/,
      );
      try {
        const names = toFeatures(value).features.map(({ name }) => name);
        assert.ok(names.every((name) => JSON.stringify(value).includes(JSON.stringify(name))));
      } catch (error) {
        assert.ok(error instanceof AssessmentError && error.kind === 'badFeatures');
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});
