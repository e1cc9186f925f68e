import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { runsBefore } from '../../../../src/core/findings/chooseRun.ts';
import { problemsByFile } from '../../../../src/core/findings/view/problems.ts';
import { finding, type Scene, setScene, titles, verdictsOf } from '../findingScene.ts';

test('a run that ended early replaces no findings by itself and is no baseline, but can be chosen', async (t) => {
  const scene = await setScene(t, 'shop');
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

test('F139 what a run that ended early did not reach gets no verdict', async (t) => {
  const scene = await setScene(t);
  const told = (...names: string[]) =>
    JSON.stringify(names.map((title) => ({ title, file: 'a.js', severity: 'high' })));
  const whole = await scene.addRun(['shop'], told('a', 'b', 'c'));
  const part = { ...(await scene.addRun(['shop'], told('a', 'new'))), state: 'cancelled' } as Run;
  await scene.runs.create(part);
  assert.deepEqual(await verdictsOf(scene, part), { a: 'stillThere', new: 'new' });
  assert.equal((await scene.store.read(part)).baseline?.id, whole.id);
});

const search = {
  title: 'Reflected',
  perspective: 'XSS',
  feature_name: 'Search',
  url: 'https://shop.example/s',
};
const limit = { kind: 'ABORTED', abort: { code: 'credit_limit_reached' }, artifacts: ['findings'] };

/** Stores an ended blackbox assessment beside the code of a folder. */
async function addLive(
  scene: Scene,
  title: string,
  { input, ...rest }: { input?: object; [member: string]: unknown } = {},
): Promise<Run> {
  const run = await scene.addRun(['shop'], JSON.stringify([{ ...search, title }]));
  const live = {
    ...run,
    workflow: 'blackbox-assessment',
    input: { target_urls: ['https://shop.example/'], ...input },
    ...rest,
  } as Run;
  await scene.runs.create(live);
  await scene.store.load();
  return live;
}

test('findings of a live application stand beside those of the code, for each set of target URLs the latest', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], finding('code'));
  await addLive(scene, 'first');
  await addLive(scene, 'second', {
    input: { target_urls: ['https://shop.example/', 'https://shop.example/'] },
  });
  await addLive(scene, 'admin', { input: { target_urls: ['https://admin.example/'] } });
  assert.deepEqual(titles(scene).toSorted(), ['admin', 'code', 'second']);
  await scene.addRun(['shop'], finding('newer code'));
  assert.deepEqual(titles(scene).toSorted(), ['admin', 'newer code', 'second']);
  await scene.store.clear();
  assert.deepEqual(titles(scene), []);
});

test('F143 a run of one pair, as of Confirm Live, and one that continues it displace no findings and are no baseline', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], finding('code'));
  const whole = await addLive(scene, 'whole');
  const pairs = [{ feature_name: 'Search', perspective: 'XSS' }];
  const tried = await addLive(scene, 'tried', { input: { pairs } });
  assert.deepEqual(titles(scene).toSorted(), ['code', 'whole']);
  await addLive(scene, 'tried to the limit', { input: { pairs }, state: 'aborted', exit: limit });
  assert.deepEqual(titles(scene).toSorted(), ['code', 'whole']);
  const resume = {
    kind: 'continue_assessment',
    continue_assessment: { workflow_id: 'blackbox-assessment', workflow_run_id: tried.id },
  };
  await addLive(scene, 'continued', { input: { pairs, resume }, continuesOnePair: true });
  assert.deepEqual(titles(scene).toSorted(), ['code', 'whole']);
  const next = await addLive(scene, 'next');
  assert.equal(scene.store.baselineOf(next)?.id, whole.id);
  await scene.store.show(tried);
  assert.deepEqual(titles(scene).toSorted(), ['code', 'tried']);
});

test('a run that hit its credit limit is shown with what it found, and is no baseline', async (t) => {
  const scene = await setScene(t, 'shop');
  await addLive(scene, 'whole');
  await addLive(scene, 'limited', { state: 'aborted', exit: limit });
  assert.deepEqual(titles(scene), ['limited']);
  await addLive(scene, 'crashed', { state: 'aborted', exit: { ...limit, abort: { code: 'crash' } } });
  assert.deepEqual(titles(scene), ['limited']);
});

test('a continuation is the same assessment as the run that it goes on with: both have the same baseline', async (t) => {
  const scene = await setScene(t);
  const code = await scene.addRun(['shop'], finding('code'));
  const whole = await addLive(scene, 'whole');
  const begun = await addLive(scene, 'begun');
  const resume = {
    kind: 'continue_assessment',
    continue_assessment: { workflow_id: 'blackbox-assessment', workflow_run_id: begun.id },
  };
  const continued = await addLive(scene, 'continued', { input: { resume } });
  assert.equal(scene.store.baselineOf(begun)?.id, whole.id);
  assert.equal(scene.store.baselineOf(continued)?.id, whole.id);
  assert.equal(scene.store.baselineOf(whole), undefined);
  assert.equal(scene.store.baselineOf(code), undefined);
  const other = await addLive(scene, 'other', { input: { target_urls: ['https://admin.example/'] } });
  assert.deepEqual(runsBefore(scene.runs.all(), other), []);
});

test('F138 findings of a live application are shown, and none is a problem of a file', async (t) => {
  const scene = await setScene(t, 'shop');
  const run = await scene.addRun(
    ['shop'],
    JSON.stringify([{ ...search, path: '/a.js', evidence: '/a.js', url: 'https://shop.example/a.js' }]),
  );
  await scene.runs.create({ ...run, workflow: 'blackbox-assessment' });
  await scene.store.load();
  assert.deepEqual(titles(scene), ['Reflected']);
  assert.equal(problemsByFile(scene.store.all()).size, 0);
});
