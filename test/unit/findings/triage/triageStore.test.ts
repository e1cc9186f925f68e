import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TriageStore } from '../../../../src/core/findings/triage/triageStore.ts';
import { silent } from '../../../silentLog.ts';
import { clock as sceneClock } from '../findingScene.ts';

const clock = { ...sceneClock, sleep: (ms: number) => sleep(ms) };

async function makeRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'triage-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** The store of one window. */
function openWindow(root: string): TriageStore {
  return new TriageStore({
    bookFor: (folder) => path.join(root, folder, '.vscode', 'triage.json'),
    lockFolder: path.join(root, 'lock'),
    clock,
    log: silent,
  });
}

/** A store whose files are in the folders themselves, as a repository has them. */
function shared(root: string): TriageStore {
  return new TriageStore({
    bookFor: (folder) => path.join(folder, '.vscode', 'triage.json'),
    lockFolder: path.join(root, 'lock'),
    clock,
    log: silent,
  });
}

const book = (root: string): string => path.join(root, 'shop', '.vscode', 'triage.json');

test('a decision is there after a restart, for its folder only', async (t) => {
  const root = await makeRoot(t);
  await openWindow(root).set([{ folder: 'shop', fingerprint: '1:0a' }], 'acceptedRisk', 'behind a login');
  const later = openWindow(root);
  await later.load(['shop', 'tool']);
  const { state, note } = later.of('shop', '1:0a') ?? {};
  assert.deepEqual({ state, note }, { state: 'acceptedRisk', note: 'behind a login' });
  assert.equal(later.of('tool', '1:0a'), undefined);
  assert.equal(later.of('shop', '1:0b'), undefined);
});

test('a shared file is neither read nor written through a link that leads out of its folder', async (t) => {
  const root = await makeRoot(t);
  const [folder, outside] = [path.join(root, 'shop'), path.join(root, 'outside')];
  await mkdir(folder);
  await mkdir(outside);
  await symlink(outside, path.join(folder, '.vscode'), 'junction');
  const refused = { kind: 'storage', data: { subject: book(root), detail: 'ELOOP' } };
  await assert.rejects(shared(root).set([{ folder, fingerprint: '1:0a' }], 'confirmed', ''), refused);
  assert.deepEqual(await readdir(outside), []);
  await openWindow(root).set([{ folder: 'shop', fingerprint: '1:0a' }], 'confirmed', '');
  const store = shared(root);
  await store.load([folder]);
  assert.equal(store.of(folder, '1:0a'), undefined);
  assert.deepEqual(store.failures()[0]?.data, refused.data);
});

test('decisions that the disk refused are there again when it gives the same file', async (t) => {
  const root = await makeRoot(t);
  const [folder, outside] = [path.join(root, 'shop'), path.join(root, 'outside')];
  const about = [{ folder, fingerprint: '1:0a' }];
  await shared(root).set(about, 'confirmed', '');
  await rename(path.join(folder, '.vscode'), outside);
  await symlink(outside, path.join(folder, '.vscode'), 'junction');
  const store = shared(root);
  await store.load([folder]);
  assert.equal(store.failures().length, 1);
  await rm(path.join(folder, '.vscode'));
  await rename(outside, path.join(folder, '.vscode'));
  await store.load([folder]);
  assert.deepEqual([store.of(folder, '1:0a')?.state, store.failures()], ['confirmed', []]);
});

test('windows that decide at the same time lose nothing', async (t) => {
  const root = await makeRoot(t);
  const windows = [openWindow(root), openWindow(root), openWindow(root)];
  const decisions = windows.flatMap((window, at) =>
    Array.from({ length: 8 }, (_, time) =>
      window.set([{ folder: 'shop', fingerprint: `1:${String(at)}${String(time)}` }], 'confirmed', ''),
    ),
  );
  await Promise.all(decisions);
  const later = openWindow(root);
  await later.load(['shop']);
  const kept = windows.flatMap((_, at) =>
    Array.from({ length: 8 }, (__, time) => later.of('shop', `1:${String(at)}${String(time)}`)?.state),
  );
  assert.deepEqual(kept, Array<string>(24).fill('confirmed'));
});

test('what another window decided shows after a reload, and listeners hear of it only when there is something new', async (t) => {
  const root = await makeRoot(t);
  const [mine, other] = [openWindow(root), openWindow(root)];
  await mine.load(['shop']);
  let heard = 0;
  mine.onDidChange(() => {
    heard += 1;
  });
  await mine.reload();
  assert.equal(heard, 0);
  await other.set([{ folder: 'shop', fingerprint: '1:0a' }], 'fixed', '');
  await mine.reload();
  assert.equal(mine.of('shop', '1:0a')?.state, 'fixed');
  assert.equal(heard, 1);
});

test('a file with conflict marks is not written over, and its decisions count before it is mended and after', async (t) => {
  const root = await makeRoot(t);
  const store = openWindow(root);
  await store.set([{ folder: 'shop', fingerprint: '1:0a' }], 'fixed', '');
  const whole = await readFile(book(root), 'utf8');
  const conflict = `<<<<<<< mine\n${whole}=======\n>>>>>>> theirs\n`;
  await writeFile(book(root), conflict);
  await store.reload();
  assert.equal(store.of('shop', '1:0a')?.state, 'fixed');
  assert.deepEqual(
    store.failures().map(({ kind }) => kind),
    ['triageConflict'],
  );
  await assert.rejects(store.set([{ folder: 'shop', fingerprint: '1:0b' }], 'confirmed', ''), {
    kind: 'triageConflict',
  });
  assert.equal(await readFile(book(root), 'utf8'), conflict);
  await writeFile(book(root), whole);
  await store.reload();
  assert.equal(store.of('shop', '1:0a')?.state, 'fixed');
  assert.deepEqual(store.failures(), []);
});

test('something that is no file under the name of the triage file is damage, not a crash', async (t) => {
  const root = await makeRoot(t);
  await mkdir(book(root), { recursive: true });
  const store = openWindow(root);
  await store.load(['shop']);
  assert.deepEqual(
    store.failures().map(({ kind }) => kind),
    ['triageDamaged'],
  );
});

test('nothing but the triage file is left beside it', async (t) => {
  const root = await makeRoot(t);
  await openWindow(root).set([{ folder: 'shop', fingerprint: '1:0a' }], 'fixed', '');
  assert.deepEqual(await readdir(path.dirname(book(root))), ['triage.json']);
});

test('what is taken back is as it was, but where it was decided anew since', async (t) => {
  const root = await makeRoot(t);
  const [mine, other] = [openWindow(root), openWindow(root)];
  const about = (fingerprint: string) => ({ folder: 'shop', fingerprint });
  await mine.set([about('1:0a')], 'acceptedRisk', 'behind a login');
  await mine.load(['shop']);
  const before = mine.of('shop', '1:0a');
  const takeBack = await mine.set([about('1:0a'), about('1:0b'), about('1:0c')], 'confirmed', '');
  await other.set([about('1:0c')], 'falsePositive', 'decided later');
  assert.equal(await takeBack(), 1);
  assert.deepEqual(mine.of('shop', '1:0a'), before);
  assert.equal(mine.of('shop', '1:0b'), undefined);
  assert.equal(mine.of('shop', '1:0c')?.note, 'decided later');
});

test('decisions are taken over to another place where nothing is decided there, with their time', async (t) => {
  const root = await makeRoot(t);
  let place = 'one';
  const store = new TriageStore({
    bookFor: (folder) => path.join(root, folder, place, 'triage.json'),
    lockFolder: path.join(root, 'lock'),
    clock,
    log: silent,
  });
  const about = (fingerprint: string) => ({ folder: 'shop', fingerprint });
  await store.set([about('1:0a'), about('1:0b')], 'confirmed', 'old');
  const before = store.decisions();
  const old = store.of('shop', '1:0a');
  place = 'other';
  await store.set([about('1:0b')], 'fixed', 'new');
  const lacking = store.lacking(before);
  assert.deepEqual([...(lacking.get('shop')?.keys() ?? [])], ['1:0a']);
  await store.takeOver(lacking);
  assert.deepEqual(store.of('shop', '1:0a'), old);
  assert.equal(store.of('shop', '1:0b')?.note, 'new');
});
