import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { ResultFinding } from '../../../../src/core/findings/result/result.ts';
import { locateFindings, locationsOf } from '../../../../src/core/findings/location/locateFindings.ts';
import type { Locate } from '../../../../src/core/findings/location/resolver.ts';
import { utf8Only } from '../../../../src/core/findings/location/uploadedFiles.ts';
import { runOf } from '../../run/sampleRuns.ts';
import { asUploaded } from '../../../../src/core/findings/runView.ts';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { finding, setUpFindings } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';
import { invent } from '../shownFindings.ts';

test('the code of a deleted file is gone until it is back, also while the file is replaced', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('here', { file: 'a.js', line: 2 }));
  const file = path.join(fixture.root, 'shop', 'a.js');
  const location = () => fixture.store.all()[0]?.locations[0];
  await rm(file);
  await fixture.store.locateAgain(new Set([file]));
  assert.deepEqual([location()?.drift, location()?.startLine], ['gone', undefined]);
  await writeFile(file, 'one\ntwo\nthree\n');
  await fixture.store.locateAgain(new Set([file]));
  assert.equal(location()?.startLine, 2);
});

test('findings in a file that is too large to read keep their reported lines', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const text = 'line of a very long file\n'.repeat(250_000);
  await fixture.addRun(['shop'], finding('far', { file: 'large.js', line: 77 }), { 'large.js': text });
  const [location] = fixture.store.all()[0]?.locations ?? [];
  assert.deepEqual([location?.drift, location?.startLine], ['unknown', 77]);
});

test('F201 findings in a folder that does not answer are as reported, and it gets two calls', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = '/share';
  const run = { ...runOf.succeeded, targets: [{ folder, name: 'share' }] };
  const found = Array.from({ length: 100 }, (_, index): ResultFinding => {
    const location = { path: `${String(index)}.js`, startLine: index + 1 };
    const uploaded = [{ target: 0, folder, path: location.path, bytes: 1, sha256: '' }];
    const { finding: each, ...identity } = invent({ index, locations: [location] });
    return {
      ...identity,
      finding: each,
      run: run.id,
      ofTarget: folder,
      uploadedPath: '',
      uploaded,
      quotes: [],
      statusSince: 1,
    };
  });
  const calls = new FolderCalls(silent);
  let asked = 0;
  const neverAnswer = (): Promise<undefined> => {
    asked += 1;
    if (asked === 2) setImmediate(() => t.mock.timers.tick(2_000));
    return new Promise(() => undefined);
  };
  const locate: Locate = () => calls.ask(folder, neverAnswer);
  const uploaded = asUploaded({ run, found, names: () => new Set() });
  const located = await locateFindings([{ run, runFolder: '', locate, found }], uploaded, {
    texts: () => ({ edited: new Map(), encodings: utf8Only }),
    follow: () => Promise.resolve([]),
    isWanted: () => true,
    calls,
  });
  assert.deepEqual(
    found.map((each) => locationsOf(each, located).map(({ startLine, drift }) => [startLine, drift])),
    found.map((_, index) => [[index + 1, 'unknown']]),
  );
  assert.deepEqual([asked, [...located.unread], [...located.missing]], [2, [folder], []]);
});

test('F201 a folder that does not answer is unread, other folders are not, and it is read once it answers', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'tool');
  const { root } = fixture;
  const found = [0, 1].map((target_index) => ({ title: 'A', file: 'b.js', line: 1, target_index }));
  const uploaded = { 'b.js': 'code();\n' };
  await fixture.addRun(['shop', 'tool'], JSON.stringify(found), uploaded);
  const store = fixture.reopen(parseWorker);
  for (const name of ['shop', 'tool']) await writeFile(path.join(root, name, 'b.js'), '// new\ncode();\n');
  const seen = () => store.all().map(({ locations: [location] }) => [location?.startLine, location?.drift]);
  const answer = fixture.silence('shop');
  await store.load();
  assert.deepEqual(
    [seen(), store.shownRuns()[0]?.unread],
    [[[1, 'unknown'], [2, 'moved']], [path.join(root, 'shop')]],
  ); // prettier-ignore
  answer();
  await store.load();
  assert.deepEqual([seen(), store.shownRuns()[0]?.unread], [[[2, 'moved'], [2, 'moved']], []]); // prettier-ignore

  const answerLater = fixture.silence('shop');
  const file = path.join(root, 'shop', 'b.js');
  await writeFile(file, 'code();\n');
  await store.locateAgain(new Set([file]));
  assert.deepEqual([seen()[0], store.shownRuns()[0]?.unread?.length], [[2, 'moved'], 1]);
  answerLater();
  await store.load();
  assert.deepEqual([seen()[0], store.shownRuns()[0]?.unread?.length], [[1, 'same'], 0]);
});

test('F201 a folder that is missing, as a share before it is mounted, is looked for again by the next load', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { root } = fixture;
  await fixture.addRun(['shop'], finding('here', { file: 'a.js', line: 2 }), { 'a.js': 'one\ntwo\n' });
  const store = fixture.reopen(parseWorker);
  await rename(path.join(root, 'shop'), path.join(root, 'away'));
  await store.load();
  const drifts = () => store.all().flatMap(({ locations }) => locations.map(({ drift }) => drift));
  assert.deepEqual(drifts(), []);
  await rename(path.join(root, 'away'), path.join(root, 'shop'));
  await store.load();
  assert.deepEqual(drifts(), ['same']);
});

test('F202 owners that are not told are unknown, and are asked for again by the next load', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const shop = path.join(fixture.root, 'shop');
  await fixture.storeRun(['shop'], finding('here', { file: 'a.js', line: 2 }), { 'a.js': 'one\ntwo\n' });
  await mkdir(path.join(shop, '.git'));
  await writeFile(path.join(shop, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(path.join(shop, 'CODEOWNERS'), '* @ana\n');
  const [go, worker] = [path.join(fixture.root, 'go'), path.join(fixture.root, 'worker.cjs')];
  const names = [go, parseWorker].map((name) => JSON.stringify(name));
  await writeFile(worker, `if (require('node:fs').existsSync(${names[0]})) require(${names[1]});`);
  const store = fixture.reopen(worker);
  await store.load();
  assert.equal(store.all()[0]?.owners, 'unknown');
  await writeFile(go, '');
  await store.load();
  assert.deepEqual(store.all()[0]?.owners, ['@ana']);
});

test('a file that has the name of missing ones makes no run be read again, wherever it is created', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store, root } = fixture;
  await fixture.addRun(['shop'], finding('lost', { file: 'index.ts', line: 1 }));
  const before = store.all()[0]?.finding;
  await store.locateAgain(new Set(), new Set([path.join(root, 'shop', 'other', 'index.ts')]));
  assert.deepEqual([store.all()[0]?.finding === before, store.all()[0]?.locations.length], [true, 0]);
  const file = path.join(root, 'shop', 'index.ts');
  await writeFile(file, 'now();\n');
  await store.locateAgain(new Set(), new Set([file]));
  assert.deepEqual([store.all()[0]?.finding === before, store.all()[0]?.locations.length], [true, 1]);
});
