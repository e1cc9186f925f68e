import assert from 'node:assert/strict';
import { linkSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { isUndecided } from '../../../../src/core/findings/triage/triage.ts';
import { triagePlaceOf } from '../../../../src/core/findings/triage/triageDisk.ts';
import { TriageStore, type TriageSubject } from '../../../../src/core/findings/triage/triageStore.ts';
import { silent } from '../../../silentLog.ts';
import { identityOf } from '../../../../src/core/findings/identity.ts';
import { clock } from '../findingFixture.ts';
import { identityFor } from '../shownFindings.ts';
import { withLinks } from '../../core/systemSkips.ts';

async function makeRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'triage-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** A finding in a separate run, distinguished only by its code. */
function about(name: string, folder = 'shop'): TriageSubject {
  return { folder, ...identityOf(identityFor(name)), title: name, path: 'src/a.js' };
}

function openWindow(root: string): TriageStore {
  return new TriageStore({
    placeFor: (folder) => ({ book: path.join(root, folder, 'triage.jsonl') }),
    clock,
    log: silent,
  });
}

/** A store of one machine that also writes its decisions into the folders themselves. */
function shared(root: string, machine = 'mine'): TriageStore {
  return new TriageStore({
    placeFor: (folder) => triagePlaceOf(folder, path.join(root, machine), true),
    clock,
    log: silent,
  });
}

function decided(store: TriageStore, name: string, folder = 'shop'): string | undefined {
  const entry = store.get(folder, about(name));
  return entry && !isUndecided(entry) ? `${entry.state} ${entry.note}`.trim() : undefined;
}

const book = (root: string): string => path.join(root, 'shop', 'triage.jsonl');
const sharedIn = (folder: string): string => path.join(folder, '.vscode', 'whitebox-triage');

for (const [where, openOn] of [
  ['kept in one file', openWindow],
  ['shared in the folder', shared],
] as const) {
  const fixture = async (t: TestContext): Promise<{ root: string; shop: string; tool: string }> => {
    const root = await makeRoot(t);
    const folders = ['shop', 'tool'].map((name) => (openOn === shared ? path.join(root, name) : name));
    if (openOn === shared) await Promise.all(folders.map((folder) => mkdir(folder)));
    return { root, shop: folders[0] ?? '', tool: folders[1] ?? '' };
  };

  test(`a decision ${where} is restored after a restart, only for its folder and finding`, async (t) => {
    const { root, shop, tool } = await fixture(t);
    const note = 'behind a login,\n"quoted" \u202e 設計 <<<<<<< HEAD';
    await openOn(root).set([about('a', shop)], 'acceptedRisk', note);
    const later = openOn(root);
    await later.load([shop, tool]);
    assert.equal(decided(later, 'a', shop), `acceptedRisk ${note}`);
    assert.equal(decided(later, 'a', tool), undefined);
    assert.equal(decided(later, 'b', shop), undefined);
  });

  test(`concurrent windows lose no decision ${where}`, async (t) => {
    const { root, shop } = await fixture(t);
    const windows = [openOn(root), openOn(root), openOn(root)];
    const names = windows.map((_, at) => Array.from({ length: 8 }, (__, time) => `${String(at)} ${time}`));
    await Promise.all(
      windows.flatMap((window, at) =>
        (names[at] ?? []).map((name) => window.set([about(name, shop)], 'confirmed', '')),
      ),
    );
    const later = openOn(root);
    await later.load([shop]);
    assert.deepEqual(
      names.flat().filter((name) => decided(later, name, shop) !== 'confirmed'),
      [],
    );
  });

  test(`a decision of another window, ${where}, is shown after a reload, and listeners fire only for news`, async (t) => {
    const { root, shop } = await fixture(t);
    const [mine, other] = [openOn(root), openOn(root)];
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
    const [mine, other] = [openOn(root), openOn(root)];
    await mine.set([about('a', shop)], 'acceptedRisk', 'behind a login');
    const before = mine.get(shop, about('a'));
    const subjects = ['a', 'b', 'c'].map((name) => about(name, shop));
    const takeBack = await mine.set(subjects, 'confirmed', '');
    await other.set([about('c', shop)], 'falsePositive', 'decided later');
    assert.equal(await takeBack(), 1);
    assert.deepEqual(mine.get(shop, about('a')), before);
    assert.equal(decided(mine, 'b', shop), undefined);
    assert.equal(decided(mine, 'c', shop), 'falsePositive decided later');
  });
}

test('decisions made before they were shared are written to the shared folder on request, with their time', async (t) => {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  await mkdir(shop);
  let isShared = false;
  const placeFor = (folder: string) => triagePlaceOf(folder, path.join(root, 'mine'), isShared);
  const store = new TriageStore({ placeFor, clock, log: silent });
  await store.set([about('a', shop), about('b', shop)], 'confirmed', 'old');
  const undo = await store.set([about('c', shop)], 'confirmed', 'undone');
  await undo();
  assert.deepEqual(store.unshared(), []);
  isShared = true;
  await store.set([about('b', shop)], 'fixed', 'new');
  const unshared = store.unshared();
  const before = store.get(shop, about('a'));
  await store.share(unshared);
  const { sharedAs, ...shared } = store.get(shop, about('a')) ?? {};
  assert.deepEqual([unshared.map(({ title }) => title), shared], [['a'], before]);
  const files = await readdir(sharedIn(shop));
  assert.deepEqual([files.length, files.includes(sharedAs ?? ''), store.unshared()], [2, true, []]);
});

test('git merges decisions of two people without conflict, also about one finding; the later one counts', async (t) => {
  const root = await makeRoot(t);
  const shop = path.join(root, 'shop');
  await mkdir(shop);
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.test'];
    assert.equal(spawnSync('git', [...identity, ...args], { cwd: shop }).status, 0);
  };
  /** Each has a machine, and accepts the decisions of the other. */
  const openOn = async (machine: string): Promise<TriageStore> => {
    const store = shared(root, machine);
    await store.load([shop]);
    await store.accept(shop, store.shared(() => []).get(shop)?.proposals ?? []);
    return store;
  };
  const decide = async (machine: string, note: string, names: readonly string[]): Promise<void> => {
    const subjects = names.map((name) => about(name, shop));
    await (await openOn(machine)).set(subjects, 'falsePositive', note);
    git('add', '-A');
    git('commit', '-qm', note);
  };
  const mergeDecisions = async (mine: readonly string[], theirs: readonly string[], when: string) => {
    git('branch', '-f', 'theirs');
    await decide('mine', `mine ${when}`, mine);
    git('checkout', '-q', 'theirs');
    await decide('theirs', `theirs ${when}`, theirs);
    git('checkout', '-q', 'main');
    git('merge', '-q', 'theirs', '-m', 'merged');
    const store = await openOn('mine');
    assert.deepEqual(store.failures(), []);
    return ['again', 'mine', 'theirs', 'both'].map((name) => store.get(shop, about(name, shop))?.note);
  };
  git('init', '-qb', 'main');
  await decide('mine', 'mine at first', ['again']);
  const merged = ['mine first', 'theirs first', 'theirs first'];
  const first = await mergeDecisions(['mine', 'both'], ['theirs', 'both'], 'first');
  assert.deepEqual(first, ['mine at first', ...merged]);
  assert.deepEqual(await mergeDecisions(['again'], ['again'], 'later'), ['theirs later', ...merged]);
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
  assert.match(whole, /"state": "fixed",\n {2}"note": "",\n.*\n {2}"title": "a"/, 'people can read it');
  for (const bad of [
    '||||||| base\n'.repeat(32_768),
    `<<<<<<< mine\n${whole}=======\n${whole}>>>>>>> theirs\n`,
    whole.replace('"version": 1', '"version": 2'),
    `${whole}${' '.repeat(1_000_000)}`,
    '[]',
    '',
  ]) {
    await writeFile(path.join(sharedIn(shop), 'bad.json'), bad);
    const store = shared(root, 'theirs');
    await store.load([shop]);
    assert.equal(store.shared(() => []).get(shop)?.proposals.length, 1);
    assert.deepEqual(
      store.failures().map(({ kind, data }) => [kind, data.subject]),
      [['triageDamaged', path.join(sharedIn(shop), 'bad.json')]],
    );
    await store.set([about('b', shop)], 'confirmed', '');
    assert.equal(decided(store, 'b', shop), 'confirmed');
    await rm(path.join(root, 'theirs'), { recursive: true });
    assert.equal(await readFile(path.join(sharedIn(shop), 'bad.json'), 'utf8'), bad);
    for (const name of await readdir(sharedIn(shop)))
      if (name !== good && name !== 'bad.json') await rm(path.join(sharedIn(shop), name));
  }
});

test('F181 beside 10,000 other files one’s own decisions count, and what was not read is said', async (t) => {
  const { root, shop, good } = await shareDecision(t);
  for (let at = 0; at <= 10_000; at += 1)
    linkSync(path.join(sharedIn(shop), good), path.join(sharedIn(shop), `${String(at)}.json`));
  const store = shared(root);
  await store.set([about('b', shop)], 'confirmed', '');
  assert.deepEqual([decided(store, 'a', shop), decided(store, 'b', shop)], ['fixed', 'confirmed']);
  assert.deepEqual(
    store.failures().map(({ data }) => data),
    [{ subject: sharedIn(shop), limit: 10_000 }],
  );
  const later = shared(root);
  await later.load([shop]);
  assert.equal(decided(later, 'b', shop), 'confirmed');
});

/** Makes the next write to a book wait; returns what lets it go on, and resolves once it waits. */
async function holdNextWrite(t: TestContext): Promise<{ waiting: Promise<undefined>; release: () => void }> {
  const probe = await open(path.join(await makeRoot(t), 'probe'), 'w');
  const handle = Object.getPrototypeOf(probe) as { write: (content: Buffer) => Promise<unknown> };
  await probe.close();
  const { write } = handle;
  const gate = Promise.withResolvers<undefined>();
  const waiting = Promise.withResolvers<undefined>();
  handle.write = async function (this: unknown, content: Buffer) {
    handle.write = write;
    waiting.resolve(undefined);
    await gate.promise;
    return write.call(this, content);
  };
  t.after(() => (handle.write = write));
  return { waiting: waiting.promise, release: () => gate.resolve(undefined) };
}

test('F181 a decision while another window writes is not lost, waits for nothing, and each is saved when said', async (t) => {
  const root = await makeRoot(t);
  const [slow, fast] = [openWindow(root), openWindow(root)];
  await Promise.all([slow, fast].map((store) => store.load(['shop'])));
  const { waiting, release } = await holdNextWrite(t);
  let isSaid = false;
  const slowSet = slow.set([about('a')], 'confirmed', '').then(() => (isSaid = true));
  await waiting;
  await fast.set([about('b')], 'fixed', '');
  const later = openWindow(root);
  await later.load(['shop']);
  assert.deepEqual([decided(later, 'a'), decided(later, 'b'), isSaid], [undefined, 'fixed', false]);
  release();
  await slowSet;
  await later.reload();
  assert.deepEqual([decided(later, 'a'), decided(later, 'b')], ['confirmed', 'fixed']);
});

test('F181 a decision that the disk does not take is not said to be saved', withLinks, async (t) => {
  const root = await makeRoot(t);
  await mkdir(path.join(root, 'shop'));
  await symlink(path.join(root, 'gone', 'nowhere'), book(root));
  const store = openWindow(root);
  await assert.rejects(store.set([about('a')], 'confirmed', ''), { kind: 'storage' });
  assert.equal(decided(store, 'a'), undefined);
});

test(
  'F72 shared decisions are neither read nor written through a link out of their folder',
  withLinks,
  async (t) => {
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
  },
);

test('F72 a shared decision that is a link is ignored', withLinks, async (t) => {
  const { root, shop, good } = await shareDecision(t);
  await rename(path.join(sharedIn(shop), good), path.join(root, good));
  await symlink(path.join(root, good), path.join(sharedIn(shop), good));
  const store = shared(root, 'theirs');
  await store.load([shop]);
  assert.deepEqual(store.shared(() => []).get(shop)?.proposals, []);
});

test('a damaged or newer line of a book is reported, and affects no other decision', async (t) => {
  const root = await makeRoot(t);
  const store = openWindow(root);
  await store.set([about('a')], 'fixed', '');
  const whole = await readFile(book(root), 'utf8');
  for (const damaged of ['[]', 'null', whole.trim().replace('"version":1', '"version":2')]) {
    await writeFile(book(root), `${damaged}\n${whole}`);
    await store.reload();
    assert.equal(decided(store, 'a'), 'fixed');
    assert.deepEqual(
      store.failures().map(({ kind, data }) => [kind, data.subject]),
      [['triageDamaged', book(root)]],
      damaged,
    );
    await store.set([about('b')], 'confirmed', '');
    assert.equal(decided(store, 'b'), 'confirmed');
    assert.ok((await readFile(book(root), 'utf8')).startsWith(damaged));
  }
});

test('F187 a decision that a crash or a full disk cut off is set aside by the next one, and the book is whole', async (t) => {
  const root = await makeRoot(t);
  const store = openWindow(root);
  await store.set([about('a')], 'fixed', '');
  const whole = await readFile(book(root), 'utf8');
  const line = whole.trim();
  for (const torn of [line.slice(0, -9), `${line}\n${line.slice(0, 1)}`, '\0\0\0', line.slice(0, -1)]) {
    await writeFile(book(root), `${whole}\n${torn}`);
    const [first, second] = [openWindow(root), openWindow(root)];
    await Promise.all([first, second].map((window) => window.load(['shop'])));
    assert.deepEqual([decided(first, 'a'), first.failures()], ['fixed', []]);
    // Both know of the torn line.
    await Promise.all([first.set([about('b')], 'confirmed', ''), second.set([about('c')], 'confirmed', '')]);
    const later = openWindow(root);
    await later.load(['shop']);
    assert.deepEqual(
      [later.failures(), ['a', 'b', 'c'].map((name) => decided(later, name))],
      [[], ['fixed', 'confirmed', 'confirmed']],
    );
  }
  // A whole decision whose line break is missing counts.
  await writeFile(book(root), line);
  await store.set([about('b')], 'confirmed', '');
  assert.deepEqual([store.failures(), decided(store, 'a')], [[], 'fixed']);
});

test('a book that is too large, or a folder, takes no decisions, and says so', async (t) => {
  const root = await makeRoot(t);
  const store = openWindow(root);
  await store.set([about('a')], 'fixed', '');
  await truncate(book(root), 64 * 1024 * 1024 + 1);
  await assert.rejects(store.set([about('b')], 'confirmed', ''), { kind: 'triageDamaged' });
  await rm(book(root));
  await mkdir(book(root));
  await store.reload();
  assert.equal(store.failures()[0]?.kind, 'triageDamaged');
});
