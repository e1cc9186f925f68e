import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { finding, setUpFindings, titles } from './findingFixture.ts';
import { parseWorker } from './parse/bundledWorker.ts';

test('findings shown in one folder are not absent from a later run of another folder', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'tool');
  const tool = path.join(fixture.root, 'tool');
  await mkdir(tool);
  await writeFile(path.join(tool, 'only.js'), 'one\n');
  // Only local files decide between the two folders.
  await fixture.addRun(['shop', 'tool'], finding('in tool', { file: 'only.js', line: 1 }));
  await fixture.addRun(['shop'], finding('in shop'));
  assert.deepEqual(titles(fixture).sort(), ['in shop', 'in tool']);
  assert.deepEqual(fixture.store.absent(), []);
});

test('F107 unreadable findings affect no other run, and their reason is kept until they are readable', async (t) => {
  const fixture = await setUpFindings(t, 'tool');
  await fixture.addRun(['tool'], finding('fine'));
  const run = await fixture.addRun(['shop'], '{"no":"list"}');
  let heard: string | undefined;
  fixture.store.onDidChange(() => (heard = fixture.store.failureOf(run.id)?.kind));
  assert.equal(fixture.store.failureOf(run.id), undefined);
  await fixture.store.read(run);
  assert.equal(heard, 'malformedFindings');
  await writeFile(path.join(fixture.runs.folderOf(run.id), 'findings.json'), finding('whole'));
  await fixture.store.read(run);
  assert.deepEqual([fixture.store.failureOf(run.id), heard], [undefined, undefined]);
  assert.deepEqual(titles(fixture), ['fine']);
});

test('a file in two folders of a run, one in the other, is shown in the folder that each finding names', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const location = (target: number, file: string) => ({ title: file, file, line: 1, target_index: target });
  const items = [location(0, 'sub/a.js'), location(1, 'a.js')];
  await fixture.addRun(['shop', path.join('shop', 'sub')], JSON.stringify(items));
  const locations = () => fixture.store.all().flatMap((shown) => shown.locations.map((each) => each.path));
  assert.deepEqual(locations(), ['sub/a.js', 'a.js']);
  await fixture.edit(path.join(fixture.root, 'shop', 'sub', 'a.js'), '// above\none\n');
  assert.deepEqual(locations(), ['sub/a.js', 'a.js']);
});

test('of two runs whose folders contain each other, the later one shows the files in both', async (t) => {
  const fixture = await setUpFindings(t, 'shop', path.join('shop', 'web'));
  const list = (...found: readonly (readonly [title: string, file: string])[]): string =>
    JSON.stringify(found.map(([title, file]) => ({ title, file, line: 1 })));
  const outer = { 'web/a.js': 'a();\n', 'b.js': 'b();\n' };
  await fixture.addRun(['shop'], list(['old in web', 'web/a.js'], ['old', 'b.js']), outer);
  await fixture.addRun([path.join('shop', 'web')], list(['inner', 'a.js']), { 'a.js': 'a();\n' });
  assert.deepEqual(titles(fixture).sort(), ['inner', 'old']);
  await fixture.addRun(['shop'], list(['new in web', 'web/a.js']), outer);
  assert.deepEqual(titles(fixture), ['new in web']);
});

test('a comparison of two runs without findings is announced, and so is its end', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const [before, run] = [await fixture.addRun(['shop'], '[]'), await fixture.addRun(['shop'], '[]')];
  const compared: (string | undefined)[] = [];
  fixture.store.onDidChange(() => compared.push(fixture.store.comparison()?.baseline.id));
  await fixture.store.showComparison(run, before);
  await fixture.store.show(run);
  assert.deepEqual(compared, [before.id, undefined]);
});

test('after clearing, runs of folders in other windows are not shown', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('old'));
  const elsewhere = await fixture.addRun(['closed'], finding('of a folder that is not open'));
  await fixture.store.show(elsewhere);
  await fixture.store.clear();
  assert.deepEqual(titles(fixture), []);
  await fixture.addRun(['closed'], finding('of another window'));
  assert.deepEqual(titles(fixture), []);
  await fixture.addRun(['shop'], finding('new'));
  assert.deepEqual(titles(fixture), ['new']);
});

test('a chosen run is replaced by one that ends later, and by the latest one when removed', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const chosen = await fixture.addRun(['shop'], finding('chosen'));
  await fixture.addRun(['shop'], finding('latest'));
  await fixture.store.show(chosen);
  await fixture.runs.remove(chosen.id);
  await fixture.store.load();
  assert.deepEqual(titles(fixture), ['latest']);
  const again = await fixture.addRun(['shop'], finding('third'));
  await fixture.addRun(['shop'], finding('fourth'));
  await fixture.store.show(again);
  assert.deepEqual(titles(fixture), ['third']);
  await fixture.addRun(['shop'], finding('fifth'));
  assert.deepEqual(titles(fixture), ['fifth']);
});

test('choosing a run without a findings file keeps the shown findings', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const run = await fixture.addRun(['shop'], finding('here'));
  const empty: Run = { ...run, id: 'run-without', createdAt: 0, ...{ artifacts: [] } };
  await fixture.runs.create(empty);
  await fixture.store.show(empty);
  assert.deepEqual(titles(fixture), ['here']);
});

test('the findings of a run are counted without reading them, the open ones only while they are shown', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store } = fixture;
  const unread = await fixture.addRun(['shop'], '{"no":"list"}');
  assert.equal(await store.countsOf(unread), undefined, 'not 0');
  const two = JSON.stringify(['one', 'two'].map((title) => ({ title, file: 'a.js', line: 1 })));
  const old = await fixture.addRun(['shop'], two);
  await store.setTriage(store.all().slice(0, 1), 'fixed', '');
  assert.deepEqual(await store.countsOf(old), { findings: 2, cut: undefined, open: 1 });
  const latest = await fixture.addRun(['shop'], '[]');
  assert.deepEqual(await store.countsOf(latest), { findings: 0, cut: undefined, open: 0 });
  assert.deepEqual(await store.countsOf(old), { findings: 2, cut: undefined, open: undefined });
  await writeFile(path.join(fixture.runs.folderOf(old.id), 'findings.json'), '[]');
  const replaced = { ...old };
  assert.equal(await store.countsOf(replaced), undefined, 'of another findings file');
});

test('a finding is found by its name after its run was downloaded again in another order', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const list = ['one', 'two'].map((title, at) => ({ title, file: `${title}.js`, line: 1, cwe: 79 + at }));
  const uploaded = { 'one.js': 'first();\n', 'two.js': 'second();\n' };
  const run = await fixture.addRun(['shop'], JSON.stringify(list), uploaded);
  const [one] = fixture.store.all();
  const file = path.join(fixture.runs.folderOf(run.id), 'findings.json');
  await writeFile(file, JSON.stringify(list.toReversed()));
  await fixture.store.load();
  const found = fixture.store.find(run.id, one?.name ?? '');
  assert.deepEqual([found?.finding.title, found?.finding.index], ['one', 1]);
});

test('each folder of a run of two shows only its own latest findings', async (t) => {
  const fixture = await setUpFindings(t, 'one', 'two');
  const both = await fixture.addRun(
    ['one', 'two'],
    JSON.stringify([
      { title: 'one, old', file: 'a.js', line: 1, target_index: 0 },
      { title: 'two', file: 'a.js', line: 1, target_index: 1 },
      { title: 'one, gone', file: 'gone.js', line: 1, target_index: 0 },
      { title: 'anywhere' },
    ]),
  );
  const newer = await fixture.addRun(['one'], finding('one, new'));
  assert.deepEqual(titles(fixture).sort(), ['anywhere', 'one, new', 'two']);
  assert.equal(fixture.store.all().length, 3);
  await fixture.runs.remove(newer.id);
  await fixture.store.load();
  assert.deepEqual(titles(fixture), ['one, old', 'two', 'one, gone', 'anywhere']);
  await fixture.addRun(['two'], finding('two, new'));
  await fixture.store.show(both);
  assert.deepEqual(titles(fixture), ['one, old', 'two', 'one, gone', 'anywhere']);
});

test('F110 state, opened file and stored text of a finding refer to the same uploaded file', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const shop = path.join(fixture.root, 'shop');
  const uploaded = { 'web/src/index.ts': 'a\nb\n', 'package.json': '{}\n', 'src/other.c': 'int a;\n' };
  await mkdir(path.join(shop, 'src'), { recursive: true });
  await writeFile(path.join(shop, 'src', 'index.ts'), 'never sent\n');
  const findings = ['src/index.ts', 'node_modules/lodash/package.json', 'src/other.c'];
  const items = findings.map((file) => ({ title: file, file, line: 1 }));
  await fixture.addRun(['shop'], JSON.stringify(items), uploaded);
  const changed = path.join(shop, 'web/src/index.ts');
  await writeFile(changed, 'new\na\nb\n');
  await fixture.store.locateAgain(new Set([changed]));
  assert.deepEqual(
    fixture.store
      .all()
      .map(({ locations: [location] }) => location && [location.path, location.startLine, location.drift]),
    [['web/src/index.ts', 2, 'moved'], undefined, ['src/other.c', 1, 'same']],
  );
});

test('a finding whose file is gone stays with its folder in a run of two', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'tool');
  const shop = path.join(fixture.root, 'shop');
  const locations = ['m.js', 'a.js'].map((file, at) => ({ file, line: 1, target_index: at }));
  const untold = { title: 'untold', file: 'lib/only.js', line: 1 };
  const findings = JSON.stringify([untold, { title: 'told', locations }]);
  const uploaded = [{ 'lib/only.js': 'x\n', 'm.js': 'm\n' }, {}];
  await fixture.addRun(['shop', 'tool'], findings, uploaded);
  await fixture.addRun(['shop', 'tool'], findings, uploaded);
  await fixture.store.setTriage(fixture.store.all(), 'falsePositive', 'because');
  const stateOf = ({ triage, verdict }: ShownFinding): string => `${triage.state} ${String(verdict)}`;
  const seen = (store = fixture.store) => store.all().map(stateOf);
  const wanted = Array<string>(2).fill('falsePositive stillPresent');
  assert.deepEqual(seen(), wanted);
  await rm(path.join(shop, 'lib'), { recursive: true });
  await rm(path.join(shop, 'm.js'));
  const store = fixture.reopen(parseWorker);
  await store.load();
  assert.deepEqual([seen(store), store.absent()], [wanted, []]);
  assert.ok(store.all().every(({ locations }) => locations.every(({ folder }) => folder !== shop)));
});

test('findings are shown as uploaded before their files are read, and changed files are followed', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const locations = ['changed.js', 'other.js'].map((file) => ({ title: file, file, line: 1 }));
  const both = { title: 'both', locations: locations };
  const uploaded = { 'changed.js': 'one();\n', 'other.js': 'two();\n' };
  await fixture.addRun(['shop'], JSON.stringify([...locations, both]), uploaded);
  await writeFile(path.join(fixture.root, 'shop', 'changed.js'), '// above\none();\n');
  const store = fixture.reopen(parseWorker);
  const seen: unknown[] = [];
  store.onDidChange(() => {
    const [{ unread = [] } = {}] = store.shownRuns();
    const lines = store.all().map((shown) => shown.locations.map(({ startLine }) => startLine).join());
    if (lines.length > 0) seen.push(`${String(unread.length)}: ${lines.join(' ')}`);
  });
  await store.load();
  assert.deepEqual(seen.slice(0, 2), ['1: 1 1 1,1', '0: 2 1 2,1']);
});
