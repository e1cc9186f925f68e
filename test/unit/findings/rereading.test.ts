import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { silent } from '../../silentLog.ts';
import { withLinks } from '../core/systemSkips.ts';
import { clock, finding, type FindingFixture, setUpFindings, titles } from './findingFixture.ts';

const downloaded = [{ name: 'findings', file: 'findings.json', at: 9 }];
const code = 'import db;\n\nrun(query);\n';

/** Runs `act` during a reload, after the files were read. */
async function reloadMeanwhile(
  { store, triage }: FindingFixture,
  act: () => Promise<{ done: Promise<unknown> }>,
  read = () => store.load(),
) {
  const load = triage.load.bind(triage);
  let acted: { done: Promise<unknown> } | undefined;
  triage.load = async (folders) => {
    acted ??= await act();
    await load(folders);
  };
  await read();
  await acted?.done;
}

test('changes on disk and in the editor during a reload of findings are applied', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store, edit, root } = fixture;
  const folder = path.join(root, 'shop');
  const file = path.join(folder, 'src.js');
  await fixture.addRun(['shop'], finding('found', { file: 'src.js', line: 3 }), { 'src.js': code });
  const line = () => store.all()[0]?.locations[0]?.startLine;
  await reloadMeanwhile(fixture, async () => {
    await writeFile(file, `// one\n${code}`);
    return { done: store.locateAgain(new Set([file])) };
  });
  assert.equal(line(), 4);
  await edit(file, code);
  await reloadMeanwhile(fixture, () => Promise.resolve({ done: edit(file, `// one\n// two\n${code}`) }));
  assert.equal(line(), 5);
});

test('a note of another window on a shown run does not reload its findings, a new download does', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { runs, store } = fixture;
  const run = await fixture.addRun(['shop'], finding('here'));
  const [shown] = store.all();
  const other = new RunStore(path.join(fixture.root, 'runs'), { clock, log: silent });
  await other.reload();
  await other.apply(run.id, { type: 'archivesRemoved', at: 8 });
  await runs.refresh(run.id);
  await store.load();
  assert.equal(store.all()[0]?.finding, shown?.finding);
  await writeFile(path.join(runs.folderOf(run.id), 'findings.json'), finding('downloaded again'));
  await other.apply(run.id, { type: 'downloadedAgain', artifacts: downloaded, at: 9 });
  await runs.refresh(run.id);
  await store.load();
  assert.deepEqual(titles(fixture), ['downloaded again']);
});

test('shown and compared runs have their latest user-given name', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store } = fixture;
  const before = await fixture.addRun(['shop'], finding('former'));
  const run = await fixture.addRun(['shop'], finding('here'));
  const rename = async ({ id }: { id: string }, label: string) => {
    await fixture.runs.apply(id, { type: 'renamed', label, at: 9 });
    await store.load();
  };
  await rename(run, 'nightly');
  assert.deepEqual([store.shownRuns()[0]?.run.label, store.all()[0]?.run.label], ['nightly', 'nightly']);
  await store.showComparison(run, before);
  await rename(before, 'weekly');
  const { run: later, baseline } = store.comparison() ?? {};
  assert.deepEqual([later?.label, baseline?.label], ['nightly', 'weekly']);
});

test('an unreadable run is read again when viewed or shown, and has no findings until then', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { runs, store } = fixture;
  const run = await fixture.addRun(['shop'], finding('here'));
  const file = path.join(runs.folderOf(run.id), 'findings.json');
  await rename(file, `${file}.away`);
  await store.load();
  assert.equal(store.shownRuns()[0]?.failure?.kind, 'storage');
  let heard = 0;
  store.onDidChange(() => (heard += 1));
  await store.show(run);
  assert.equal(heard, 0);
  await runs.apply(run.id, { type: 'renamed', label: 'nightly', at: 9 });
  await store.load();
  assert.equal(store.shownRuns()[0]?.run.label, 'nightly');
  await rename(`${file}.away`, file);
  const { failure, shown } = await store.read(run);
  assert.deepEqual([failure, shown.length], [undefined, 1]);
  await store.show(run);
  assert.deepEqual(titles(fixture), ['here']);
});

test('an unreadable previous run marks nothing, is named, and is read again until it succeeds', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { runs, store } = fixture;
  const before = await fixture.storeRun(['shop'], finding('here'));
  const file = path.join(runs.folderOf(before.id), 'findings.json');
  await rename(file, `${file}.away`);
  const run = await fixture.addRun(['shop'], finding('here'));
  const change = () => store.all()[0]?.verdict;
  let heard = 0;
  store.onDidChange(() => (heard += 1));
  await store.load();
  assert.deepEqual([change(), heard], [undefined, 0]);
  assert.deepEqual(store.shownRuns()[0]?.unreadRuns, [before]);
  await rename(`${file}.away`, file);
  const read = await store.read(run);
  assert.deepEqual([read.shown[0]?.verdict, change(), heard > 0], ['stillPresent', 'stillPresent', true]);
});

test(
  'F187 a run whose findings file cannot be looked at says why, and others are loaded',
  withLinks,
  async (t) => {
    const fixture = await setUpFindings(t, 'shop', 'tool');
    const run = await fixture.addRun(['shop'], finding('lost'));
    await fixture.addRun(['tool'], finding('fine'));
    const file = path.join(fixture.runs.folderOf(run.id), 'findings.json');
    await rm(file);
    await symlink(file, file);
    await fixture.store.load();
    assert.deepEqual(titles(fixture), ['fine']);
    assert.equal(fixture.store.failureOf(run.id)?.kind, 'storage');
  },
);

test('a folder that reappears is polled like its files', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const shop = path.join(fixture.root, 'shop');
  await fixture.addRun(['shop'], JSON.stringify([{ title: 'x', file: 'lib/deep/x.js', line: 1 }]));
  const file = path.join(shop, 'lib/deep/x.js');
  const isThere = () => fixture.store.all()[0]?.locations.some(({ drift }) => drift !== 'gone');
  for (const name of ['lib', 'lib/deep', 'lib/deep/x.js']) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, 'x\n');
    await fixture.store.locateAgain(new Set(), new Set([path.join(shop, 'other')]));
    assert.equal(isThere(), false);
    await fixture.store.locateAgain(new Set(), new Set([path.join(shop, name)]));
    assert.equal(isThere(), true, name);
    await rm(path.join(shop, 'lib'), { recursive: true });
    await fixture.store.locateAgain(new Set(), new Set([path.join(shop, 'lib')]));
  }
});
