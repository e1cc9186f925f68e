import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Run } from '../../../src/core/run/state/run.ts';
import { difference, finding, setScene, titles } from './findingScene.ts';

test('a run that ended early replaces no findings by itself and is no baseline, but can be chosen', async (t) => {
  const scene = await setScene(t);
  scene.open.add(path.join(scene.root, 'shop'));
  const whole = await scene.addRun(['shop'], finding('whole'));
  const { id, ...rest } = await scene.addRun(['shop'], finding('part'));
  const part = { ...rest, id, state: 'cancelled' } as Run;
  await scene.runs.create(part);
  await scene.store.load();
  assert.deepEqual(titles(scene), ['whole']);
  const next = await scene.addRun(['shop'], finding('next'));
  assert.equal(scene.store.baselineOf(next)?.id, whole.id);
  await scene.store.show(part);
  assert.deepEqual(titles(scene), ['part']);
  await scene.store.load();
  assert.deepEqual(titles(scene), ['part']);
});

test('what a run that ended early did not reach does not count as fixed', async (t) => {
  const scene = await setScene(t);
  const told = (...names: string[]) =>
    JSON.stringify(names.map((title) => ({ title, file: 'a.js', severity: 'high' })));
  const whole = await scene.addRun(['shop'], told('a', 'b', 'c'));
  const part = { ...(await scene.addRun(['shop'], told('a', 'new'))), state: 'cancelled' } as Run;
  await scene.runs.create(part);
  const { added, fixed, unchanged } = await difference(scene, part, whole);
  assert.deepEqual([added.length, fixed.length, unchanged.length], [1, 0, 1]);
  const changes = await scene.store.changesOf(await scene.store.read(part));
  assert.deepEqual(changes, { baseline: whole, added: 1, fixed: undefined, unchanged: 1 });
});
