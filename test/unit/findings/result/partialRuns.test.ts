import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { runsBefore } from '../../../../src/core/findings/chooseRun.ts';
import { problemsByFile } from '../../../../src/core/findings/view/problems.ts';
import { finding, type FindingFixture, setUpFindings, titles, verdictsOf } from '../findingFixture.ts';

test('a partial run does not replace findings and is no baseline, but can be chosen', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const whole = await fixture.addRun(['shop'], finding('whole'));
  const { id, ...rest } = await fixture.addRun(['shop'], finding('part'));
  const part = { ...rest, id, state: 'cancelled' } as Run;
  await fixture.runs.create(part);
  await fixture.store.load();
  assert.deepEqual(titles(fixture), ['whole']);
  const next = await fixture.addRun(['shop'], finding('next'));
  assert.equal(fixture.store.baselineOf(next)?.id, whole.id);
  await fixture.store.show(part);
  assert.deepEqual(titles(fixture), ['part']);
  await fixture.store.load();
  assert.deepEqual(titles(fixture), ['part']);
});

test('F139 findings not reached by a partial run get no verdict', async (t) => {
  const fixture = await setUpFindings(t);
  const findings = (...names: string[]) =>
    JSON.stringify(names.map((title) => ({ title, file: 'a.js', severity: 'high' })));
  const whole = await fixture.addRun(['shop'], findings('a', 'b', 'c'));
  const part = { ...(await fixture.addRun(['shop'], findings('a', 'new'))), state: 'cancelled' } as Run;
  await fixture.runs.create(part);
  assert.deepEqual(await verdictsOf(fixture, part), { a: 'stillThere', new: 'new' });
  assert.equal((await fixture.store.read(part)).baseline?.id, whole.id);
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
  fixture: FindingFixture,
  title: string,
  { input, ...rest }: { input?: object; [member: string]: unknown } = {},
): Promise<Run> {
  const run = await fixture.addRun(['shop'], JSON.stringify([{ ...search, title }]));
  const live = {
    ...run,
    workflow: 'blackbox-assessment',
    input: { target_urls: ['https://shop.example/'], ...input },
    ...rest,
  } as Run;
  await fixture.runs.create(live);
  await fixture.store.load();
  return live;
}

test('live findings are shown beside those of the code, for each set of target URLs the latest', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('code'));
  await addLive(fixture, 'first');
  await addLive(fixture, 'second', {
    input: { target_urls: ['https://shop.example/', 'https://shop.example/'] },
  });
  await addLive(fixture, 'admin', { input: { target_urls: ['https://admin.example/'] } });
  assert.deepEqual(titles(fixture).toSorted(), ['admin', 'code', 'second']);
  await fixture.addRun(['shop'], finding('newer code'));
  assert.deepEqual(titles(fixture).toSorted(), ['admin', 'newer code', 'second']);
  await fixture.store.clear();
  assert.deepEqual(titles(fixture), []);
});

test('F143 a run of one pair, and its continuation, replace no findings and are no baseline', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('code'));
  const whole = await addLive(fixture, 'whole');
  const pairs = [{ feature_name: 'Search', perspective: 'XSS' }];
  const tried = await addLive(fixture, 'tried', { input: { pairs } });
  assert.deepEqual(titles(fixture).toSorted(), ['code', 'whole']);
  await addLive(fixture, 'tried to the limit', { input: { pairs }, state: 'aborted', exit: limit });
  assert.deepEqual(titles(fixture).toSorted(), ['code', 'whole']);
  const resume = {
    kind: 'continue_assessment',
    continue_assessment: { workflow_id: 'blackbox-assessment', workflow_run_id: tried.id },
  };
  await addLive(fixture, 'continued', { input: { pairs, resume }, continuesOnePair: true });
  assert.deepEqual(titles(fixture).toSorted(), ['code', 'whole']);
  const next = await addLive(fixture, 'next');
  assert.equal(fixture.store.baselineOf(next)?.id, whole.id);
  await fixture.store.show(tried);
  assert.deepEqual(titles(fixture).toSorted(), ['code', 'tried']);
});

test('a run that hit its credit limit shows its findings and is no baseline', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await addLive(fixture, 'whole');
  await addLive(fixture, 'limited', { state: 'aborted', exit: limit });
  assert.deepEqual(titles(fixture), ['limited']);
  await addLive(fixture, 'crashed', { state: 'aborted', exit: { ...limit, abort: { code: 'crash' } } });
  assert.deepEqual(titles(fixture), ['limited']);
});

test('a continuation has the same baseline as the run it continues', async (t) => {
  const fixture = await setUpFindings(t);
  const code = await fixture.addRun(['shop'], finding('code'));
  const whole = await addLive(fixture, 'whole');
  const begun = await addLive(fixture, 'begun');
  const resume = {
    kind: 'continue_assessment',
    continue_assessment: { workflow_id: 'blackbox-assessment', workflow_run_id: begun.id },
  };
  const continued = await addLive(fixture, 'continued', { input: { resume } });
  assert.equal(fixture.store.baselineOf(begun)?.id, whole.id);
  assert.equal(fixture.store.baselineOf(continued)?.id, whole.id);
  assert.equal(fixture.store.baselineOf(whole), undefined);
  assert.equal(fixture.store.baselineOf(code), undefined);
  const other = await addLive(fixture, 'other', { input: { target_urls: ['https://admin.example/'] } });
  assert.deepEqual(runsBefore(fixture.runs.all(), other), []);
});

test('F138 live findings are shown, and none is a problem in a file', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const run = await fixture.addRun(
    ['shop'],
    JSON.stringify([{ ...search, path: '/a.js', evidence: '/a.js', url: 'https://shop.example/a.js' }]),
  );
  await fixture.runs.create({ ...run, workflow: 'blackbox-assessment' });
  await fixture.store.load();
  assert.deepEqual(titles(fixture), ['Reflected']);
  assert.equal(problemsByFile(fixture.store.all()).size, 0);
});
