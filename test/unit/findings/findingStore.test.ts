import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Run } from '../../../src/core/run/state/run.ts';
import { finding, setScene, titles } from './findingScene.ts';
import { parseWorker } from './parse/bundledWorker.ts';

test('of each open folder the findings of its latest run are shown', async (t) => {
  const scene = await setScene(t, 'shop', 'tool');
  await scene.addRun(['shop'], finding('old'));
  await scene.addRun(['tool'], finding('other folder'));
  await scene.addRun(['shop'], finding('new'));
  await scene.addRun(['closed'], finding('of a folder that is not open'));
  assert.deepEqual(titles(scene).sort(), ['new', 'other folder']);
});

test('a run that a person chooses takes the place of the latest one, and clearing shows none', async (t) => {
  const scene = await setScene(t, 'shop');
  const old = await scene.addRun(['shop'], finding('old'));
  await scene.addRun(['shop'], finding('new'));
  await scene.store.show(old);
  assert.deepEqual(titles(scene), ['old']);
  await scene.store.clear();
  assert.deepEqual(titles(scene), []);
});

test('what a folder shows is absent from no later run of another folder', async (t) => {
  const scene = await setScene(t);
  const tool = path.join(scene.root, 'tool');
  scene.open.add(path.join(scene.root, 'shop')).add(tool);
  await mkdir(tool);
  await writeFile(path.join(tool, 'only.js'), 'one\n');
  // Which of the two folders is meant is known by what is here alone.
  await scene.addRun(['shop', 'tool'], finding('in tool', { file: 'only.js', line: 1 }));
  await scene.addRun(['shop'], finding('in shop'));
  assert.deepEqual(titles(scene).sort(), ['in shop', 'in tool']);
  assert.deepEqual(scene.store.absent(), []);
});

test('listeners hear of new findings and of the end of their comparison, and not of what changes nothing here', async (t) => {
  const scene = await setScene(t, 'shop');
  let heard = 0;
  scene.store.onDidChange(() => {
    heard += 1;
  });
  await scene.addRun(['shop'], finding('first'));
  await scene.addRun(['closed'], finding('elsewhere'));
  assert.equal(heard, 2);
});

test('a finding has the file and the line of its place; a snippet corrects a wrong line', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], finding('moved', { file: 'a.js', line: 1, snippet: 'three' }));
  const [place] = scene.store.all()[0]?.places ?? [];
  assert.equal(place?.file, path.join(scene.root, 'shop', 'a.js'));
  assert.deepEqual([place.path, place.startLine], ['a.js', 3]);
});

test('F73 the same path in two folders of a run means the folder that the finding names by its target', async (t) => {
  const scene = await setScene(t, 'one');
  const place = (target: number) => ({ title: String(target), file: 'a.js', line: 1, target_index: target });
  await scene.addRun(
    ['one', 'two'],
    JSON.stringify([place(0), place(1), { title: 'unsaid', file: 'a.js', line: 1 }]),
  );
  assert.deepEqual(
    scene.store.all().map(({ places }) => places.map(({ file }) => path.relative(scene.root, file))),
    [[path.join('one', 'a.js')], [path.join('two', 'a.js')], []],
  );
});

test('F107 why findings cannot be read is known of every run that was wanted, shown or not, until it can be', async (t) => {
  const scene = await setScene(t);
  const run = await scene.addRun(['shop'], '{"no":"list"}');
  let heard = 0;
  scene.store.onDidChange(() => (heard += 1));
  assert.equal(scene.store.failureOf(run.id), undefined);
  await scene.store.read(run);
  assert.deepEqual([scene.store.failureOf(run.id)?.kind, heard], ['malformedFindings', 1]);
  await writeFile(path.join(scene.runs.folderOf(run.id), 'findings.json'), finding('whole'));
  await scene.store.read(run);
  assert.deepEqual([scene.store.failureOf(run.id), heard], [undefined, 2]);
});

test('a findings file that cannot be read says so and takes nothing else with it', async (t) => {
  const scene = await setScene(t, 'shop', 'tool');
  await scene.addRun(['shop'], '"nothing"');
  await scene.addRun(['tool'], finding('fine'));
  assert.deepEqual(titles(scene), ['fine']);
  assert.deepEqual(
    scene.store.folders().map(({ failure }) => failure?.kind),
    [undefined, 'malformedFindings'],
  );
});

test('after clearing, the findings of a run that ends later are shown', async (t) => {
  const scene = await setScene(t, 'shop', 'tool');
  await scene.addRun(['shop'], finding('old'));
  await scene.addRun(['tool'], finding('other folder'));
  await scene.store.clear();
  await scene.addRun(['shop'], finding('new'));
  assert.deepEqual(titles(scene), ['new']);
});

test('after clearing, runs of folders that other windows have open are not shown here', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], finding('old'));
  const elsewhere = await scene.addRun(['closed'], finding('of a folder that is not open'));
  await scene.store.show(elsewhere);
  await scene.store.clear();
  assert.deepEqual(titles(scene), []);
  await scene.addRun(['closed'], finding('of another window'));
  assert.deepEqual(titles(scene), []);
  await scene.addRun(['shop'], finding('new'));
  assert.deepEqual(titles(scene), ['new']);
});

test('a chosen run gives way to one that ends later, and to the latest one when it is removed', async (t) => {
  const scene = await setScene(t, 'shop');
  const chosen = await scene.addRun(['shop'], finding('chosen'));
  await scene.addRun(['shop'], finding('latest'));
  await scene.store.show(chosen);
  await scene.runs.remove(chosen.id);
  await scene.store.load();
  assert.deepEqual(titles(scene), ['latest']);
  const again = await scene.addRun(['shop'], finding('third'));
  await scene.addRun(['shop'], finding('fourth'));
  await scene.store.show(again);
  assert.deepEqual(titles(scene), ['third']);
  await scene.addRun(['shop'], finding('fifth'));
  assert.deepEqual(titles(scene), ['fifth']);
});

test('choosing a run that has no findings file leaves the findings that are shown', async (t) => {
  const scene = await setScene(t, 'shop');
  const run = await scene.addRun(['shop'], finding('here'));
  const empty: Run = { ...run, id: 'run-without', createdAt: 0, ...{ artifacts: [] } };
  await scene.runs.create(empty);
  await scene.store.show(empty);
  assert.deepEqual(titles(scene), ['here']);
});

test('a finding is found by its position in the file, also when some of them are not shown', async (t) => {
  const scene = await setScene(t, 'one', 'two');
  const told = [0, 1].map((target) => ({
    title: String(target),
    file: 'a.js',
    line: 1,
    target_index: target,
  }));
  const run = await scene.addRun(['one', 'two'], JSON.stringify(told));
  await scene.addRun(['one'], finding('newer'));
  assert.equal(scene.store.find(run.id, 1)?.finding.title, '1');
  assert.equal(scene.store.find(run.id, 0)?.verdict, 'unknown', 'the newer run does not report it');
  assert.equal(scene.store.find(run.id, 2), undefined);
});

test('each folder of a run of two shows only its own latest findings', async (t) => {
  const scene = await setScene(t, 'one', 'two');
  const both = await scene.addRun(
    ['one', 'two'],
    JSON.stringify([
      { title: 'one, old', file: 'a.js', line: 1, target_index: 0 },
      { title: 'two', file: 'a.js', line: 1, target_index: 1 },
      { title: 'one, gone', file: 'gone.js', line: 1, target_index: 0 },
      { title: 'anywhere' },
    ]),
  );
  const newer = await scene.addRun(['one'], finding('one, new'));
  assert.deepEqual(titles(scene).sort(), ['anywhere', 'one, new', 'two']);
  assert.equal(scene.store.all().length, 3);
  await scene.runs.remove(newer.id);
  await scene.store.load();
  assert.deepEqual(titles(scene), ['one, old', 'two', 'one, gone', 'anywhere']);
  await scene.addRun(['two'], finding('two, new'));
  await scene.store.show(both);
  assert.deepEqual(titles(scene), ['one, old', 'two', 'one, gone', 'anywhere']);
});

test('F110 what a finding is about, what is opened and whose text is kept are the same file: the one that was sent', async (t) => {
  const scene = await setScene(t);
  const shop = path.join(scene.root, 'shop');
  scene.open.add(shop);
  const sent = { 'web/src/index.ts': 'a\nb\n', 'package.json': '{}\n', 'src/aux.c': 'int a;\n' };
  await mkdir(path.join(shop, 'src'), { recursive: true });
  await writeFile(path.join(shop, 'src', 'index.ts'), 'never sent\n');
  const told = ['src/index.ts', 'node_modules/lodash/package.json', 'src/aux.c'];
  const items = told.map((file) => ({ title: file, file, line: 1 }));
  await scene.addRun(['shop'], JSON.stringify(items), sent);
  await writeFile(path.join(shop, 'web/src/index.ts'), 'new\na\nb\n');
  await scene.store.load({ force: true });
  assert.deepEqual(
    scene.store.all().map(({ places: [place] }) => place && [place.path, place.startLine, place.drift]),
    [['web/src/index.ts', 2, 'moved'], undefined, ['src/aux.c', 1, 'same']],
  );
});

test('of a run of two folders, a finding whose file is gone stays the finding of its folder', async (t) => {
  const scene = await setScene(t);
  const [shop, tool] = [path.join(scene.root, 'shop'), path.join(scene.root, 'tool')];
  scene.open.add(shop).add(tool);
  const told = JSON.stringify([
    { title: 'untold', file: 'lib/only.js', line: 1 },
    {
      title: 'told',
      locations: [
        { file: 'm.js', line: 1, target_index: 0 },
        { file: 'a.js', line: 1, target_index: 1 },
      ],
    },
  ]);
  const sent = { 'lib/only.js': 'x\n', 'm.js': 'm\n' };
  const before = await scene.addRun(['shop', 'tool'], told, sent);
  const now = await scene.addRun(['shop', 'tool'], told, sent);
  for (const { id } of [before, now])
    await writeFile(path.join(scene.runs.folderOf(id), 'manifest-1.json'), '{"entries":[]}');
  await scene.store.load({ force: true });
  await scene.store.setTriage(scene.store.all(), 'falsePositive', 'because');
  const seen = () => scene.store.all().map(({ triage, verdict }) => [triage.state, verdict]);
  const wanted = [
    ['falsePositive', 'stillThere'],
    ['falsePositive', 'stillThere'],
  ];
  assert.deepEqual(seen(), wanted);
  await rm(path.join(shop, 'lib'), { recursive: true });
  await rm(path.join(shop, 'm.js'));
  await scene.store.load({ force: true });
  assert.deepEqual(seen(), wanted);
  assert.deepEqual(scene.store.absent(), []);
  assert.ok(scene.store.all().every(({ places }) => places.every(({ folder }) => folder !== shop)));
});

test('a reading that failed does not keep the next one from being shown', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], finding('One'), { 'a.js': 'a\nb\n' });
  const listening = scene.store.onDidChange(() => {
    throw new Error('an invented fault of a listener');
  });
  await assert.rejects(scene.store.load({ force: true }), /invented fault/);
  listening.dispose();
  await scene.addRun(['shop'], finding('Two'), { 'a.js': 'a\nb\n' });
  await scene.store.load({ force: true });
  assert.deepEqual(titles(scene), ['Two']);
});

test('findings in files that are as they were sent are shown before changed files are followed', async (t) => {
  const scene = await setScene(t, 'shop');
  const places = ['a.js', 'b.js'].map((file) => ({ title: file, severity: 'high', file, line: 1 }));
  const both = { title: 'both', severity: 'high', locations: places };
  const run = JSON.stringify([...places, both]);
  await scene.addRun(['shop'], run, { 'a.js': 'one();\n', 'b.js': 'two();\n' });
  await writeFile(path.join(scene.root, 'shop', 'b.js'), '// above\ntwo();\n');
  const store = scene.reopen(parseWorker);
  const seen: unknown[] = [];
  store.onDidChange(() => {
    seen.push(store.all().map(({ finding: { title }, places: [main] }) => [title, main?.startLine]));
  });
  await store.load();
  const all = [
    ['a.js', 1],
    ['b.js', 2],
    ['both', 1],
  ];
  assert.deepEqual(seen, [[['a.js', 1]], all, all]);
});
