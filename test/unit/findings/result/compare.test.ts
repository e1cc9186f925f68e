import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { type FindingFixture, setUpFindings, toVerdicts } from '../findingFixture.ts';

function file(...titles: readonly string[]): string {
  return JSON.stringify(titles.map((title, at) => ({ title, severity: 'high', file: 'a.js', line: at + 1 })));
}

function verdicts({ store }: FindingFixture): Record<string, string | undefined> {
  return toVerdicts(store.all());
}

/**
 * Shows a run with `a`, compared with the previous run with `a` and `b`; returns the previous run.
 */
async function compareTwo(fixture: FindingFixture): Promise<Run> {
  fixture.open.add(path.join(fixture.root, 'shop'));
  const first = await fixture.addRun(['shop'], file('a', 'b'));
  await fixture.store.showComparison(await fixture.addRun(['shop'], file('a')), first);
  return first;
}

test('a comparison ends when other findings are shown', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const first = await fixture.addRun(['shop'], file('a', 'b'));
  const second = await fixture.addRun(['shop'], file('a'));
  const third = await fixture.addRun(['shop'], file('a', 'b'));
  assert.deepEqual(verdicts(fixture), { a: 'stillPresent', b: 'foundAgain' });
  await fixture.store.showComparison(third, first);
  assert.deepEqual(verdicts(fixture), { a: 'stillPresent', b: 'stillPresent' });
  assert.equal(fixture.store.comparison()?.baseline.id, first.id);
  await fixture.store.show(third);
  assert.equal(fixture.store.comparison(), undefined);
  assert.deepEqual(verdicts(fixture), { a: 'stillPresent', b: 'foundAgain' });
  await fixture.store.showComparison(third, first);
  await fixture.store.show(second);
  assert.equal(fixture.store.comparison(), undefined);
  await fixture.store.show(third);
  assert.deepEqual(verdicts(fixture), { a: 'stillPresent', b: 'foundAgain' });
  await fixture.store.showComparison(third, first);
  await fixture.addRun(['shop'], file('later'));
  assert.equal(fixture.store.comparison(), undefined);
});

test('an unreadable run is not compared: nothing is fixed or new', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const readable = await fixture.addRun(['shop'], file('a'));
  const broken = await fixture.addRun(['shop'], '3');
  const data = { kind: 'malformedFindings', subject: broken.id };
  const why = { kind: data.kind, data };
  await assert.rejects(fixture.store.showComparison(broken, readable), why);
  await assert.rejects(fixture.store.showComparison(readable, broken), why);
  assert.equal(fixture.store.comparison(), undefined);
});

test('runs of two accounts, whose findings have no names in common, are compared without verdicts', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const first: Run = { ...(await fixture.addRun(['shop'], file('a', 'b'))), organizationId: 'other' };
  await fixture.runs.create(first);
  await fixture.store.showComparison(await fixture.addRun(['shop'], file('a')), first);
  assert.deepEqual(verdicts(fixture), { a: undefined });
  const absent = fixture.store.comparison()?.absent?.map(({ verdict }) => verdict);
  assert.deepEqual(absent, ['unknown', 'unknown']);
});

test('a decision about a finding that is no longer reported appears in the comparison', async (t) => {
  const fixture = await setUpFindings(t);
  await compareTwo(fixture);
  let heard = 0;
  fixture.store.onDidChange(() => (heard += 1));
  await fixture.store.setTriage(fixture.store.comparison()?.absent ?? [], 'fixed', 'upstream');
  assert.deepEqual(
    fixture.store.comparison()?.absent?.map(({ finding, triage }) => [finding.title, triage.state]),
    [['b', 'fixed']],
  );
  assert.equal(heard, 1);
});

test('a finding that is no longer reported follows edits and is reloaded with the others', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const shop = path.join(fixture.root, 'shop');
  const code = 'one\ntwo\nthree\n';
  await fixture.addRun(['shop'], file('a', 'b'), { 'a.js': code });
  await fixture.addRun(['shop'], file('a'), { 'a.js': code });
  const absentLine = (): number | undefined => fixture.store.absent()[0]?.locations[0]?.startLine;
  const edited = path.join(shop, 'a.js');
  assert.equal(absentLine(), 2);
  await fixture.edit(edited, `above\nabove\n${code}`);
  assert.equal(absentLine(), 4);
  await fixture.store.load();
  assert.equal(absentLine(), 4);
  await fixture.edit(edited, undefined);
  assert.equal(absentLine(), 2);
});

test('a comparison ends when the previous run is removed', async (t) => {
  const fixture = await setUpFindings(t);
  const first = await compareTwo(fixture);
  await fixture.runs.remove(first.id);
  await fixture.store.load();
  assert.equal(fixture.store.comparison(), undefined);
  assert.deepEqual(verdicts(fixture), { a: 'stillPresent' });
  const [{ absent, unlisted } = {}] = fixture.store.shownRuns();
  assert.deepEqual([absent, unlisted], [[], 1], 'what only the removed run reports is counted');
});

test('F69 a run with unread findings has nothing absent, and the next one nothing new', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const all = [...Array(10_002).keys()].map((at) => ({ title: `t${at}`, severity: at < 2 ? 'low' : 'high' }));
  const many = JSON.stringify(all);
  const whole = await fixture.addRun(['shop'], file('a', 'b'));
  const cut = await fixture.addRun(['shop'], many);
  const counts = { shown: 10_000, total: 10_002 };
  const { baseline, absent, cut: known } = await fixture.store.read(cut);
  assert.deepEqual([baseline?.id, absent, known], [whole.id, [], counts]);
  await fixture.store.showComparison(cut, whole);
  assert.deepEqual(fixture.store.comparison()?.absent, []);
  await fixture.addRun(['shop'], file('new', 'b'));
  assert.deepEqual(
    [verdicts(fixture), fixture.store.shownRuns()[0]?.baselineCut],
    [{ new: undefined, b: 'stillPresent' }, counts],
  );
});
