import assert from 'node:assert/strict';
import { linkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withAnswers } from '../../../../src/core/findings/triage/acceptance.ts';
import { triagePlaceOf } from '../../../../src/core/findings/triage/triageDisk.ts';
import { TriageStore, type TriageSubject } from '../../../../src/core/findings/triage/triageStore.ts';
import { silent } from '../../../silentLog.ts';
import { clock as fixtureClock } from '../findingFixture.ts';

const clock = { ...fixtureClock, sleep: (ms: number) => sleep(ms) };

async function makeRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'triage-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** A finding in a separate run, distinguished only by its code. */
function about(name: string, folder = 'shop'): TriageSubject {
  const identity = { fingerprint: name, spot: name, code: [name], title: name, run: name, index: 0 };
  return { folder, identity: { ...identity, only: ['code', 'title'] }, path: 'src/a.js' };
}

function openWindow(root: string): TriageStore {
  return new TriageStore({
    placeFor: (folder) => ({ kind: 'file', path: path.join(root, folder, 'triage.json') }),
    lockFolder: path.join(root, 'lock'),
    clock,
    log: silent,
  });
}

/** A store of one machine with decisions in the folders themselves. */
function shared(root: string, machine = 'mine'): TriageStore {
  const lockFolder = path.join(root, machine);
  return new TriageStore({
    placeFor: (folder) => triagePlaceOf(folder, lockFolder, 'shared'),
    lockFolder,
    clock,
    log: silent,
  });
}

function decided(store: TriageStore, name: string, folder = 'shop'): string | undefined {
  const { state, note } = store.get(folder, about(name).identity) ?? {};
  return state && `${state} ${note ?? ''}`.trim();
}

const book = (root: string): string => path.join(root, 'shop', 'triage.json');
const sharedIn = (folder: string): string => path.join(folder, '.vscode', 'whitebox-triage');

for (const [where, open] of [
  ['kept in one file', openWindow],
  ['shared in the folder', shared],
] as const) {
  const fixture = async (t: TestContext): Promise<{ root: string; shop: string; tool: string }> => {
    const root = await makeRoot(t);
    const folders = ['shop', 'tool'].map((name) => (open === shared ? path.join(root, name) : name));
    if (open === shared) await Promise.all(folders.map((folder) => mkdir(folder)));
    return { root, shop: folders[0] ?? '', tool: folders[1] ?? '' };
  };

  test(`a decision ${where} is restored after a restart, only for its folder and finding`, async (t) => {
    const { root, shop, tool } = await fixture(t);
    const note = 'behind a login,\n"quoted" \u202e 設計 <<<<<<< HEAD';
    await open(root).set([about('a', shop)], 'acceptedRisk', note);
    const later = open(root);
    await later.load([shop, tool]);
    assert.equal(decided(later, 'a', shop), `acceptedRisk ${note}`);
    assert.equal(decided(later, 'a', tool), undefined);
    assert.equal(decided(later, 'b', shop), undefined);
  });

  test(`concurrent windows lose no decision ${where}`, async (t) => {
    const { root, shop } = await fixture(t);
    const windows = [open(root), open(root), open(root)];
    const names = windows.map((_, at) => Array.from({ length: 8 }, (__, time) => `${String(at)} ${time}`));
    await Promise.all(
      windows.flatMap((window, at) =>
        (names[at] ?? []).map((name) => window.set([about(name, shop)], 'confirmed', '')),
      ),
    );
    const later = open(root);
    await later.load([shop]);
    assert.deepEqual(
      names.flat().filter((name) => decided(later, name, shop) !== 'confirmed'),
      [],
    );
  });

  test(`a decision of another window, ${where}, is shown after a reload, and listeners fire only for news`, async (t) => {
    const { root, shop } = await fixture(t);
    const [mine, other] = [open(root), open(root)];
    await mine.load([shop]);
    let heard = 0;
    mine.onDidChange(() => {
      heard += 1;
    });
    await mine.reload();
    assert.equal(heard, 0);
    await other.set([about('a', shop)], 'fixed', '');
    await mine.reload();
    assert.deepEqual([decided(mine, 'a', shop), heard], ['fixed', 1]);
    await other.set([about('a', shop)], 'open', '');
    await mine.reload();
    assert.deepEqual([decided(mine, 'a', shop), heard], [undefined, 2]);
  });

  test(`an undone decision, ${where}, is reverted unless it was changed since`, async (t) => {
    const { root, shop } = await fixture(t);
    const [mine, other] = [open(root), open(root)];
    await mine.set([about('a', shop)], 'acceptedRisk', 'behind a login');
    const before = mine.get(shop, about('a').identity);
    const subjects = ['a', 'b', 'c'].map((name) => about(name, shop));
    const takeBack = await mine.set(subjects, 'confirmed', '');
    await other.set([about('c', shop)], 'falsePositive', 'decided later');
    assert.equal(await takeBack(), 1);
    assert.deepEqual(mine.get(shop, about('a').identity), before);
    assert.equal(decided(mine, 'b', shop), undefined);
    assert.equal(decided(mine, 'c', shop), 'falsePositive decided later');
  });
}

test('decisions are copied to another place, with their time, unless one exists there', async (t) => {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  let isShared = false;
  const store = new TriageStore({
    placeFor: (folder) =>
      isShared
        ? triagePlaceOf(folder, path.join(root, 'lock'), 'shared')
        : { kind: 'file', path: book(root) },
    lockFolder: path.join(root, 'lock'),
    clock,
    log: silent,
  });
  await mkdir(shop);
  await store.set([about('a', shop), about('b', shop)], 'confirmed', 'old');
  const before = store.decisions();
  const old = store.get(shop, about('a').identity);
  isShared = true;
  await store.set([about('b', shop)], 'fixed', 'new');
  const lacking = store.withoutDecision(before);
  assert.deepEqual(
    lacking.get(shop)?.map(({ identity }) => identity.title),
    ['a'],
  );
  await store.importDecisions(lacking);
  assert.deepEqual(store.get(shop, about('a').identity), old);
  assert.equal(decided(store, 'b', shop), 'fixed new');
});

test('git merges decisions of two people without conflict, also about one finding; the later one counts', async (t) => {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  await mkdir(shop);
  const git = (...args: readonly string[]): number | null => {
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.test'];
    return spawnSync('git', [...identity, ...args], { cwd: shop }).status;
  };
  /** Each user has a machine and accepts the decisions of the other. */
  const openOn = async (machine: string): Promise<TriageStore> => {
    const store = shared(root, machine);
    await store.load([shop]);
    const { proposals = [] } = store.shared().get(shop) ?? {};
    const digests = proposals.map(({ digest }) => digest);
    await store.answer(shop, (known) => withAnswers(known, digests, { as: 'accepted', at: clock.now() }));
    return store;
  };
  const decide = async (names: readonly string[], note: string): Promise<void> => {
    await (
      await openOn(note.split(' ')[0] ?? '')
    ).set(
      names.map((name) => about(name, shop)),
      'falsePositive',
      note,
    );
    git('add', '-A');
    git('commit', '-qm', note);
  };
  git('init', '-qb', 'main');
  await decide(['again', 'common'], 'mine first');
  git('branch', 'theirs');
  await decide(['mine 1', 'mine 2', 'both'], 'mine');
  git('checkout', '-q', 'theirs');
  await decide(['theirs 1', 'theirs 2', 'both'], 'theirs');
  git('checkout', '-q', 'main');
  assert.equal(git('merge', '-q', 'theirs', '-m', 'merged'), 0);
  const notes = async (): Promise<unknown> => {
    const store = await openOn('mine');
    const names = ['again', 'common', 'mine 1', 'mine 2', 'theirs 1', 'theirs 2', 'both'];
    return [
      ...names.map((name) => decided(store, name, shop)?.replace('falsePositive ', '')),
      store.failures().map(({ kind }) => kind),
    ];
  };
  const others = ['mine first', 'mine', 'mine', 'theirs', 'theirs', 'theirs'];
  assert.deepEqual(await notes(), ['mine first', ...others, []]);
  git('branch', '-f', 'theirs');
  await decide(['again', 'common'], 'mine again');
  git('checkout', '-q', 'theirs');
  await decide(['again'], 'theirs again');
  git('checkout', '-q', 'main');
  assert.equal(git('merge', '-q', 'theirs', '-m', 'merged'), 0);
  assert.deepEqual(await notes(), ['theirs again', 'mine again', ...others.slice(1), []]);
});

test('a shared file lists decisions in readable form, without code', async (t) => {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  await mkdir(shop);
  await shared(root).set([about('Password in the code', shop)], 'fixed', 'rotated');
  const [name = '', ...others] = await readdir(sharedIn(shop));
  assert.deepEqual(others, []);
  const text = await readFile(path.join(sharedIn(shop), name), 'utf8');
  assert.match(text, /"state": "fixed",\n {2}"note": "rotated",\n.*\n {2}"title": "Password in the code"/);
});

async function shareDecision(t: TestContext): Promise<{ root: string; shop: string; good: string }> {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  await mkdir(shop);
  await shared(root).set([about('a', shop)], 'fixed', '');
  const [good = ''] = await readdir(sharedIn(shop));
  return { root, shop, good };
}

test('F122 damaged, conflicted or oversized shared files affect no other decision', async (t) => {
  const { root, shop, good } = await shareDecision(t);
  const whole = await readFile(path.join(sharedIn(shop), good), 'utf8');
  for (const bad of [
    '||||||| base\n'.repeat(32_768),
    `<<<<<<< mine\n${whole}=======\n${whole}>>>>>>> theirs\n`,
    whole.replace('"version": 1', '"version": 2'),
    `${whole}${' '.repeat(1_000_000)}`,
    '[]',
    '',
  ]) {
    await writeFile(path.join(sharedIn(shop), 'bad.json'), bad);
    const store = shared(root);
    await store.load([shop]);
    assert.equal(decided(store, 'a', shop), 'fixed');
    assert.deepEqual(
      store.failures().map(({ kind, data }) => [kind, data.subject]),
      [['triageDamaged', path.join(sharedIn(shop), 'bad.json')]],
    );
    await store.set([about('b', shop)], 'confirmed', '');
    assert.equal(decided(store, 'b', shop), 'confirmed');
    assert.equal(await readFile(path.join(sharedIn(shop), 'bad.json'), 'utf8'), bad);
  }
});

test('F122 too many shared files are reported as such', async (t) => {
  const { root, shop, good } = await shareDecision(t);
  for (let at = 0; at <= 10_000; at += 1)
    linkSync(path.join(sharedIn(shop), good), path.join(sharedIn(shop), `${String(at)}.json`));
  const store = shared(root);
  await store.load([shop]);
  assert.deepEqual(
    store.failures().map(({ data }) => data),
    [{ subject: sharedIn(shop), limit: 10_000 }],
  );
  assert.equal(store.decisions().get(shop)?.length, 10_000);
});

test('F72 shared decisions are neither read nor written through a link out of their folder', async (t) => {
  for (const link of [['.vscode'], ['.vscode', 'whitebox-triage']]) {
    const root = await makeRoot(t);
    const [folder, outside] = [path.join(root, 'shop'), path.join(root, 'outside')];
    const other = path.join(root, 'other');
    await mkdir(other);
    await shared(root).set([about('a', other)], 'confirmed', '');
    await rename(path.join(other, '.vscode'), outside);
    const there = link.length === 1 ? outside : path.join(outside, 'whitebox-triage');
    await mkdir(path.join(folder, ...link.slice(1).fill('.vscode')), { recursive: true });
    await symlink(there, path.join(folder, ...link), 'junction');
    const files = await readdir(outside, { recursive: true });
    await assert.rejects(shared(root).set([about('b', folder)], 'confirmed', ''), {
      kind: 'storage',
      data: { subject: sharedIn(folder), detail: 'ELOOP' },
    });
    assert.deepEqual(await readdir(outside, { recursive: true }), files);
    const store = shared(root);
    await store.load([folder]);
    assert.equal(decided(store, 'a', folder), undefined);
    assert.equal(store.failures()[0]?.data.detail, 'ELOOP');
  }
});

test('F72 a shared decision that is a link is ignored', { skip: process.platform === 'win32' }, async (t) => {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  await mkdir(shop);
  await shared(root).set([about('a', shop)], 'fixed', '');
  const [name = ''] = await readdir(sharedIn(shop));
  await rename(path.join(sharedIn(shop), name), path.join(root, name));
  await symlink(path.join(root, name), path.join(sharedIn(shop), name));
  const store = shared(root);
  await store.load([shop]);
  assert.equal(decided(store, 'a', shop), undefined);
});

test('decisions that could not be read are restored when the disk returns the same files', async (t) => {
  const root = await makeRoot(t);
  const [folder, outside] = [path.join(root, 'shop'), path.join(root, 'outside')];
  await mkdir(folder);
  await shared(root).set([about('a', folder)], 'confirmed', '');
  await rename(path.join(folder, '.vscode'), outside);
  await symlink(outside, path.join(folder, '.vscode'), 'junction');
  const store = shared(root);
  await store.load([folder]);
  assert.equal(store.failures().length, 1);
  await rm(path.join(folder, '.vscode'));
  await rename(outside, path.join(folder, '.vscode'));
  await store.load([folder]);
  assert.deepEqual([decided(store, 'a', folder), store.failures()], ['confirmed', []]);
});

test('a damaged or newer decisions file is reported and not overwritten', async (t) => {
  const root = await makeRoot(t);
  const store = openWindow(root);
  await store.set([about('a')], 'fixed', '');
  const whole = await readFile(book(root), 'utf8');
  for (const damaged of [
    '',
    '[]',
    'null',
    whole.slice(0, -9),
    whole.replace('"version": 1', '"version": 2'),
  ]) {
    await writeFile(book(root), damaged);
    await store.reload();
    assert.equal(decided(store, 'a'), undefined);
    assert.deepEqual(
      store.failures().map(({ kind }) => kind),
      ['triageDamaged'],
      damaged,
    );
    await assert.rejects(store.set([about('b')], 'confirmed', ''), { kind: 'triageDamaged' });
    assert.equal(await readFile(book(root), 'utf8'), damaged);
  }
  await writeFile(book(root), `\uFEFF${whole}`);
  await store.reload();
  assert.deepEqual([decided(store, 'a'), store.failures()], ['fixed', []]);
});

test('a folder in place of the decisions file is reported as damage, without a crash', async (t) => {
  const root = await makeRoot(t);
  await mkdir(book(root), { recursive: true });
  const store = openWindow(root);
  await store.load(['shop']);
  assert.deepEqual(
    store.failures().map(({ kind }) => kind),
    ['triageDamaged'],
  );
});

test('no other file is left beside the decisions file', async (t) => {
  const root = await makeRoot(t);
  await openWindow(root).set([about('a')], 'fixed', '');
  assert.deepEqual(await readdir(path.dirname(book(root))), ['triage.json']);
});
