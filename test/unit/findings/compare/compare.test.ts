import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Run, RunIn } from '../../../../src/core/run/state/run.ts';
import { type Scene, setScene, toVerdicts } from '../findingScene.ts';

function file(...titles: readonly string[]): string {
  return JSON.stringify(titles.map((title, at) => ({ title, severity: 'high', file: 'a.js', line: at + 1 })));
}

function verdicts({ store }: Scene): Record<string, string | undefined> {
  return toVerdicts(store.all());
}

/** Shows a run that found `a` compared with the one before, which found `b`, too; gives the one before. */
async function compareTwo(scene: Scene): Promise<Run> {
  scene.open.add(path.join(scene.root, 'shop'));
  const first = await scene.addRun(['shop'], file('a', 'b'));
  await scene.store.showComparison(await scene.addRun(['shop'], file('a')), first);
  return first;
}

test('a finding is new or still there since the run before of the same folders', async (t) => {
  const scene = await setScene(t, 'shop');
  const first = await scene.addRun(['shop'], file('a', 'b'));
  assert.deepEqual(verdicts(scene), { a: undefined, b: undefined });
  await scene.addRun(['shop', 'tool'], file('c'));
  await scene.addRun(['tool'], file('c'));
  const second = await scene.addRun(['shop'], file('new', 'b', 'c'));
  assert.deepEqual(verdicts(scene), { new: 'new', b: 'stillThere', c: 'new' });
  assert.equal(scene.store.baselineOf(second)?.id, first.id);
  assert.equal(scene.store.baselineOf(first), undefined);
});

test('what a run is compared with comes and goes while it is shown', async (t) => {
  const scene = await setScene(t);
  const { runs, store } = scene;
  scene.open.add(path.join(scene.root, 'shop'));
  const run = await scene.addRun(['shop'], file('a', 'b'));
  assert.deepEqual(verdicts(scene), { a: undefined, b: undefined });
  let told = 0;
  store.onDidChange(() => (told += 1));
  // As an import brings it, or a download of results that were here no more.
  const older = { ...run, id: 'run-0', runId: 'run-0', createdAt: 0 };
  await mkdir(runs.folderOf(older.id));
  await writeFile(path.join(runs.folderOf(older.id), 'findings.json'), file('a'));
  await runs.create(older);
  const { shown } = await store.read(run);
  assert.deepEqual(
    shown.map(({ verdict }) => verdict),
    ['stillThere', 'new'],
  );
  assert.deepEqual(verdicts(scene), { a: 'stillThere', b: 'new' });
  assert.equal(told, 1);
  await runs.remove(older.id);
  await store.load();
  assert.deepEqual(verdicts(scene), { a: undefined, b: undefined });
  assert.equal(told, 2);
});

test('the same finding in two folders is two findings', async (t) => {
  const scene = await setScene(t);
  const told = (...targets: number[]) =>
    JSON.stringify(targets.map((target) => ({ title: 'a', file: 'a.js', line: 1, target_index: target })));
  const first = await scene.addRun(['shop', 'tool'], told(0));
  const second = await scene.addRun(['shop', 'tool'], told(0, 1));
  const { shown } = await scene.store.read(second);
  assert.equal(scene.store.baselineOf(second)?.id, first.id);
  assert.deepEqual(
    shown.map(({ places, verdict }) => [path.basename(places[0]?.folder ?? ''), verdict]),
    [
      ['shop', 'stillThere'],
      ['tool', 'new'],
    ],
  );
});

test('a comparison is shown until other findings are', async (t) => {
  const scene = await setScene(t, 'shop');
  const first = await scene.addRun(['shop'], file('a', 'b'));
  const second = await scene.addRun(['shop'], file('a'));
  const third = await scene.addRun(['shop'], file('a', 'b'));
  assert.deepEqual(verdicts(scene), { a: 'stillThere', b: 'backAgain' });
  await scene.store.showComparison(third, first);
  assert.deepEqual(verdicts(scene), { a: 'stillThere', b: 'stillThere' });
  assert.equal(scene.store.comparison()?.baseline.id, first.id);
  await scene.store.show(third);
  assert.equal(scene.store.comparison(), undefined);
  assert.deepEqual(verdicts(scene), { a: 'stillThere', b: 'backAgain' });
  await scene.store.showComparison(third, first);
  await scene.store.show(second);
  assert.equal(scene.store.comparison(), undefined);
  await scene.store.show(third);
  assert.deepEqual(verdicts(scene), { a: 'stillThere', b: 'backAgain' });
  await scene.store.showComparison(third, first);
  await scene.addRun(['shop'], file('later'));
  assert.equal(scene.store.comparison(), undefined);
});

test('a run that cannot be read is not compared: nothing of it is fixed or new', async (t) => {
  const scene = await setScene(t, 'shop');
  const readable = await scene.addRun(['shop'], file('a'));
  const broken = await scene.addRun(['shop'], '3');
  const why = {
    kind: 'malformedFindings',
    data: { kind: 'malformedFindings', subject: broken.id },
  };
  await assert.rejects(scene.store.showComparison(broken, readable), why);
  await assert.rejects(scene.store.showComparison(readable, broken), why);
  assert.equal(scene.store.comparison(), undefined);
});

test('what is decided about a finding that is not reported any more shows in the comparison', async (t) => {
  const scene = await setScene(t);
  await compareTwo(scene);
  let heard = 0;
  scene.store.onDidChange(() => (heard += 1));
  await scene.store.setTriage(scene.store.comparison()?.absent ?? [], 'fixed', 'upstream');
  assert.deepEqual(
    scene.store.comparison()?.absent?.map(({ finding, triage }) => [finding.title, triage.state]),
    [['b', 'fixed']],
  );
  assert.equal(heard, 1);
});

test('a finding that is not reported any more follows its code through edits, and is read again with the others', async (t) => {
  const scene = await setScene(t);
  const shop = path.join(scene.root, 'shop');
  scene.open.add(shop);
  const code = 'one\ntwo\nthree\n';
  await scene.addRun(['shop'], file('a', 'b'), { 'a.js': code });
  await scene.addRun(['shop'], file('a'), { 'a.js': code });
  const absentLine = (): number | undefined => scene.store.absent()[0]?.places[0]?.startLine;
  const edited = path.join(shop, 'a.js');
  assert.equal(absentLine(), 2);
  await scene.edit(edited, `above\nabove\n${code}`);
  assert.equal(absentLine(), 4);
  await scene.store.load({ force: true });
  assert.equal(absentLine(), 4);
  await scene.edit(edited, undefined);
  assert.equal(absentLine(), 2);
});

test('a comparison ends when the run before is there no more', async (t) => {
  const scene = await setScene(t);
  const first = await compareTwo(scene);
  await scene.runs.remove(first.id);
  await scene.store.load({ force: true });
  assert.equal(scene.store.comparison(), undefined);
  assert.deepEqual(verdicts(scene), { a: undefined });
});

test('a run before that cannot be read leaves nothing marked', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], '"nothing"');
  await scene.addRun(['shop'], file('a'));
  assert.deepEqual(verdicts(scene), { a: undefined });
});

test('what an import of unknown origin found is compared with nothing by itself', async (t) => {
  const scene = await setScene(t, 'shop');
  const first = await scene.addRun(['shop'], file('a'));
  const { runId, ...rest } = (await scene.addRun(['shop'], file('other'))) as RunIn<'succeeded'>;
  const unknown = { ...rest, state: 'imported', importedFrom: 'other.sarif' } as Run;
  await scene.runs.create(unknown);
  const next = await scene.addRun(['shop'], file('a'));
  assert.deepEqual(verdicts(scene), { a: 'stillThere' });
  assert.equal(scene.store.baselineOf(next)?.id, first.id);
  assert.equal(scene.store.baselineOf(unknown), undefined);
  await scene.store.showComparison(next, unknown);
  assert.deepEqual(verdicts(scene), { a: 'new' });
  await scene.runs.create({ ...unknown, runId } as Run);
  assert.equal(scene.store.baselineOf(next)?.id, unknown.id);
});

test('a comparison with the run before that is ended is told of, although the same run stays', async (t) => {
  const scene = await setScene(t);
  await compareTwo(scene);
  const run = scene.store.comparison()?.run;
  assert.ok(run);
  const told: boolean[] = [];
  scene.store.onDidChange(() => told.push(scene.store.comparison() === undefined));
  await scene.store.show(run);
  assert.deepEqual(told, [true]);
});

test('a run that comes again, as an import, is compared with the run before it and not with itself', async (t) => {
  const scene = await setScene(t, 'shop');
  const first = await scene.addRun(['shop'], file('a'));
  const second = (await scene.addRun(['shop'], file('a', 'b'))) as RunIn<'succeeded'>;
  const again = await scene.addRun(['shop'], file('a', 'b'));
  const imported = { ...again, state: 'imported', importedFrom: 'b.zip', runId: second.runId } as Run;
  await scene.runs.create(imported);
  await scene.store.load();
  assert.equal(scene.store.baselineOf(imported)?.id, first.id);
  assert.deepEqual(verdicts(scene), { a: 'stillThere', b: 'new' });
});

test('F69 of a run with more findings than are read nothing is called absent, and nothing is new since such a run', async (t) => {
  const scene = await setScene(t, 'shop');
  const many = JSON.stringify(
    Array.from({ length: 10_002 }, (_, at) => ({
      title: `t${String(at)}`,
      severity: at < 2 ? 'low' : 'high',
    })),
  );
  const whole = await scene.addRun(['shop'], file('a', 'b'));
  const cut = await scene.addRun(['shop'], many);
  const counts = { shown: 10_000, total: 10_002 };
  const { baseline, absent, cut: known } = await scene.store.read(cut);
  assert.deepEqual([baseline?.id, absent, known], [whole.id, [], counts]);
  await scene.store.showComparison(cut, whole);
  assert.deepEqual(scene.store.comparison()?.absent, []);
  await scene.addRun(['shop'], file('new', 'b'));
  assert.deepEqual(
    [verdicts(scene), scene.store.folders()[0]?.baselineCut],
    [{ new: undefined, b: 'stillThere' }, counts],
  );
});
