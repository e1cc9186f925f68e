import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { finding, type FindingFixture, setUpFindings } from '../findingFixture.ts';

const code = ['import db;', '', 'run(query);', 'log(result);', 'done();', ''].join('\n');
const above = '// new\n'.repeat(50);

interface Shop extends FindingFixture {
  readonly run: Run;
  readonly file: string;
  /** Returns location and state of the first finding. */
  readonly seen: () => string;
}

/** The run has a finding in line 3 of `code`. */
async function openShop(t: TestContext, more: Record<string, unknown> = {}, isSent = true): Promise<Shop> {
  const fixture = await setUpFindings(t, 'shop');
  const file = path.join(fixture.root, 'shop', 'src.js');
  const findings = finding('found', { file: 'src.js', line: 3, ...more });
  const run = await fixture.addRun(['shop'], findings, isSent ? { 'src.js': code } : undefined);
  const seen = (): string => {
    const [location] = fixture.store.all()[0]?.locations ?? [];
    return `${location?.drift ?? 'nowhere'} ${String(location?.startLine)}`;
  };
  return { ...fixture, run, file, seen };
}

test('insertions above are followed at once, saved or not, and undone', async (t) => {
  const { store, edit, file, seen } = await openShop(t);
  assert.equal(seen(), 'same 3');
  await edit(file, above + code);
  assert.equal(seen(), 'moved 53');
  await edit(file, `// one\n${code}`);
  assert.equal(seen(), 'moved 4');
  await writeFile(file, `// one\n${code}`);
  await edit(file, undefined);
  assert.equal(seen(), 'moved 4');
  await writeFile(file, code);
  await store.locateAgain(new Set([file]));
  assert.equal(seen(), 'same 3');
});

test('what a user types in a file moves no place of the same finding in another file', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const both = { locations: ['a.js', 'b.js'].map((name) => ({ file: name, line: 3 })) };
  await fixture.addRun(['shop'], finding('found', both), { 'a.js': code, 'b.js': code });
  const lines = (): unknown => fixture.store.all()[0]?.locations.map(({ startLine }) => startLine);
  await fixture.edit(path.join(fixture.root, 'shop', 'b.js'), above + code);
  await fixture.edit(path.join(fixture.root, 'shop', 'a.js'), `// one\n${code}`);
  assert.deepEqual(lines(), [4, 53]);
});

test('a changed file that no worker can follow is shown as reported', async (t) => {
  const shop = await openShop(t);
  await writeFile(shop.file, above + code);
  const store = shop.reopen('no-such-worker.cjs');
  await store.load();
  const [found] = store.all();
  assert.deepEqual([found?.locations[0]?.drift, found?.locations[0]?.startLine], ['unknown', 3]);
});

test('a file in another encoding is compared as the editor decodes it', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store, edit, root } = fixture;
  const file = path.join(root, 'shop', 'src.js');
  const text = '// 設計\nrun(設計);\n';
  const bytes = Buffer.from('2f2f2090dd8c760a72756e2890dd8c76293b0a', 'hex');
  await fixture.addRun(['shop'], finding('found', { file: 'src.js', line: 2 }), { 'src.js': bytes });
  const drift = () => store.all()[0]?.locations.map((location) => [location.drift, location.startLine]);
  assert.deepEqual(drift(), [['same', 2]]);
  await edit(file, text);
  assert.deepEqual(drift(), [['same', 2]]);
  assert.equal(store.shownRuns()[0]?.changedFiles, 0);
  await edit(file, `// 前\n${text}`);
  assert.deepEqual(drift(), [['moved', 3]]);
});

test('typing that moves no finding is announced to nobody, and a burst of changes is located once', async (t) => {
  const { store, edit, file, seen } = await openShop(t);
  let heard = 0;
  store.onDidChange(() => (heard += 1));
  await edit(file, `${code}// below\n`);
  assert.deepEqual([heard, store.shownRuns()[0]?.changedFiles, seen()], [1, 1, 'same 3']);
  await edit(file, `${code}// below\n// more\n`);
  assert.equal(heard, 1);
  await Promise.all([edit(file, `// one\n${code}`), edit(file, above + code), edit(file, `//\n//\n${code}`)]);
  assert.deepEqual([heard, seen()], [2, 'moved 5']);
});

test('columns are valid as long as their line is', async (t) => {
  const { store, edit, file } = await openShop(t, { column: 5, end_column: 10 });
  const columns = () =>
    store.all()[0]?.locations.map(({ startColumn, endColumn }) => [startColumn, endColumn]);
  assert.deepEqual(columns(), [[5, 10]]);
  await edit(file, above + code);
  assert.deepEqual(columns(), [[5, 10]]);
  await edit(file, code.replace('run(query)', 'if (safe) run(query)'));
  assert.deepEqual(columns(), [[undefined, undefined]]);
  await edit(file, code.replace('run(query)', '  run(query)'));
  assert.deepEqual(columns(), [[undefined, undefined]]);
});

test('without the uploaded text, findings keep their reported lines, and no state is claimed', async (t) => {
  const { store, edit, file, seen } = await openShop(t, { file: 'a.js', line: 2 }, false);
  const other = path.join(path.dirname(file), 'a.js');
  await writeFile(other, `${above}one\ntwo\nthree\n`);
  await store.locateAgain(new Set([other]));
  assert.equal(seen(), 'unknown 2');
  await edit(other, 'two\nthree\n');
  assert.equal(seen(), 'unknown 2');
  assert.equal(store.shownRuns()[0]?.changedFiles, 0);
});

test('F68 a line past the end of the file is unknown and not replaced', async (t) => {
  const { edit, file, seen } = await openShop(t, { line: 99 });
  assert.equal(seen(), 'unknown undefined');
  await edit(file, above + above + code);
  assert.equal(seen(), 'unknown undefined', 'what was scanned has no such line');
});

test('F74 a file that changed since it was uploaded is counted, saved or not, compared with the uploaded text only', async (t) => {
  const { store, edit, file, seen, run, runs } = await openShop(t);
  const changed = () => store.shownRuns()[0]?.changedFiles;
  assert.equal(changed(), 0);
  await edit(file, `${code} `);
  assert.equal(changed(), 1);
  await edit(file, code);
  assert.equal(changed(), 0);
  await edit(file, undefined);
  await writeFile(file, code.replaceAll('\n', '\r\n'));
  await store.locateAgain(new Set([file]));
  assert.equal(changed(), 0, 'line ends are git’s');
  await writeFile(file, above + code);
  await store.locateAgain(new Set([file]));
  assert.equal(changed(), 1);

  await rm(path.join(runs.folderOf(run.id), 'source'), { recursive: true });
  await store.clear();
  await store.show(run);
  assert.equal(changed(), 1);
  assert.equal(seen(), 'unknown 3', 'where its code is now, nobody knows');
  await writeFile(file, code);
  await store.locateAgain(new Set([file]));
  assert.equal(changed(), 0);
  assert.equal(seen(), 'same 3');
});
