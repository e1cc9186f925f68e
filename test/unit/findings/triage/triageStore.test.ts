import assert from 'node:assert/strict';
import { linkSync } from 'node:fs';
import disk, {
  appendFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { refuseFlushes } from '../../core/refuseFlushes.ts';
import { withLinks } from '../../core/systemSkips.ts';
import { setUpTriage } from './openTriage.ts';

test('F196 a decision is restored after a restart, only for its folder and finding, also without flushes', async (t) => {
  await refuseFlushes(t, 'ENOTSUP');
  const { root, open, decide, statesIn } = await setUpTriage(t);
  const tool = path.join(root, 'tool');
  const note = 'behind a login,\n"quoted" \u202e 設計 <<<<<<< HEAD';
  await decide(await open(), 'a', 'acceptedRisk', note);
  const later = await open();
  await later.load([tool]);
  assert.deepEqual(statesIn(later, 'ab'), [`acceptedRisk ${note}`, undefined]);
  assert.deepEqual(statesIn(later, 'a', tool), [undefined]);
});

test('concurrent windows lose no decision', async (t) => {
  const { open, decide, statesIn } = await setUpTriage(t);
  const names = ['abcdefgh', 'ijklmnop', 'qrstuvwx'];
  await Promise.all(
    names.map(async (some) => {
      const window = await open();
      await Promise.all(some.split('').map((name) => decide(window, name, 'confirmed')));
    }),
  );
  assert.deepEqual(new Set(statesIn(await open(), names.join(''))), new Set(['confirmed']));
});

test('a decision of another window is shown after a reload, and listeners fire only for news', async (t) => {
  const { open, decide, statesIn } = await setUpTriage(t);
  const [mine, other] = [await open(), await open()];
  let heard = 0;
  mine.onDidChange(() => {
    heard += 1;
  });
  await mine.reload();
  assert.equal(heard, 0);
  for (const state of ['fixed', 'open'] as const) {
    heard = 0;
    await decide(other, 'a', state);
    await mine.reload();
    assert.deepEqual([statesIn(mine, 'a'), heard], [[state === 'open' ? undefined : state], 1]);
  }
});

test('an undone decision is reverted unless it was changed since', async (t) => {
  const { shop, open, about, decide, statesIn } = await setUpTriage(t);
  const [mine, other] = [await open(), await open()];
  await decide(mine, 'a', 'acceptedRisk', 'behind a login');
  const before = mine.get(shop, about('a'));
  const takeBack = await decide(mine, 'abc', 'confirmed');
  await decide(other, 'c', 'falsePositive', 'decided later');
  assert.equal(await takeBack(), 1);
  assert.deepEqual(mine.get(shop, about('a')), before);
  assert.deepEqual(statesIn(mine, 'bc'), [undefined, 'falsePositive decided later']);
});

test('decisions made before they were shared are written to the shared folder on request, with their time', async (t) => {
  const { shop, decisions, open, about, decide } = await setUpTriage(t);
  let isShared = false;
  const store = await open('mine', () => isShared);
  await decide(store, 'ab', 'confirmed', 'old');
  const undo = await decide(store, 'c', 'confirmed', 'undone');
  await undo();
  assert.deepEqual(store.unshared(), []);
  isShared = true;
  await decide(store, 'b', 'fixed', 'new');
  const unshared = store.unshared();
  const before = store.get(shop, about('a'));
  await store.share(unshared);
  const { sharedAs, ...shared } = store.get(shop, about('a')) ?? {};
  assert.deepEqual([unshared.map(({ title }) => title), shared], [['a'], before]);
  const files = await readdir(decisions);
  assert.deepEqual([files.length, files.includes(sharedAs ?? ''), store.unshared()], [2, true, []]);
});

test('two people never write one file, and a user only that of the same finding, so Git merges all', async (t) => {
  const { decisions, open, decide } = await setUpTriage(t);
  const [mine, theirs] = [await open('mine'), await open('theirs')];
  await decide(mine, 'ab', 'falsePositive');
  await decide(theirs, 'ab', 'falsePositive');
  const files = await readdir(decisions);
  await decide(mine, 'a', 'confirmed');
  assert.deepEqual([files.length, await readdir(decisions)], [4, files]);
});

/** The decision about `a` is also in the shared folder, as the file `good`. */
async function shareDecision(t: TestContext) {
  const triage = await setUpTriage(t);
  await triage.decide(await triage.open(), 'a', 'fixed');
  const [good = ''] = await readdir(triage.decisions);
  return { ...triage, good };
}

test('F122 damaged, conflicted or oversized shared files affect no other decision', async (t) => {
  const { root, decisions, good, open, decide, statesIn, proposalsIn } = await shareDecision(t);
  const whole = await readFile(path.join(decisions, good), 'utf8');
  assert.match(whole, /"state": "fixed",\n {2}"note": "",\n.*\n {2}"title": "a"/, 'people can read it');
  const bad = path.join(decisions, 'bad.json');
  for (const content of [
    '||||||| base\n'.repeat(32_768),
    `<<<<<<< mine\n${whole}=======\n${whole}>>>>>>> theirs\n`,
    whole.replace('"version": 1', '"version": 2'),
    `${whole}${' '.repeat(1_000_000)}`,
    '[]',
    '',
  ]) {
    await writeFile(bad, content);
    const store = await open('theirs');
    assert.equal(proposalsIn(store).length, 1);
    const kinds = store.failures().map(({ kind, data }) => `${kind} ${data.subject ?? ''}`);
    assert.deepEqual(kinds, [`triageDamaged ${bad}`]);
    const undo = await decide(store, 'b', 'confirmed');
    assert.deepEqual(statesIn(store, 'b'), ['confirmed']);
    await undo();
    await rm(path.join(root, 'theirs'), { recursive: true });
    assert.equal(await readFile(bad, 'utf8'), content);
  }
});

test('F122 of a shared file that grows while it is read, no more is read than its size was', async (t) => {
  const { decisions, open, proposalsIn } = await shareDecision(t);
  const look = disk.lstat;
  const looking = t.mock.method(disk, 'lstat', async (file: string, options: { bigint: true }) => {
    const found = await look(file, options);
    if (path.dirname(file) === decisions) await appendFile(file, 'x'.repeat(1_000_000));
    return found;
  });
  const restore = (): void => {
    looking.mock.restore();
    syncBuiltinESMExports();
  };
  t.after(restore);
  syncBuiltinESMExports();
  const store = await open('theirs');
  assert.equal(proposalsIn(store).length, 1);
  restore();
  await store.reload();
  assert.equal(store.failures()[0]?.kind, 'triageDamaged');
});

test('a load looks at shared decisions only after one was added or removed, a reload always', async (t) => {
  const { shop, decisions, good, open, proposalsIn } = await shareDecision(t);
  const store = await open('theirs');
  let looks = 0;
  const look = disk.lstat;
  const looking = t.mock.method(disk, 'lstat', (file: string, options: { bigint: true }) => {
    if (path.dirname(file) === decisions) looks += 1;
    return look(file, options);
  });
  t.after(() => {
    looking.mock.restore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const file = path.join(decisions, good);
  const edited = (await readFile(file, 'utf8')).replace('"fixed"', '"confirmed"');
  const states = () => proposalsIn(store).map(({ entry: { state } }) => state);
  await writeFile(file, edited);
  await store.load([shop]);
  assert.deepEqual([looks, states()], [0, ['fixed']]);
  await store.reload();
  assert.deepEqual([looks, states()], [1, ['confirmed']]);
  await writeFile(path.join(decisions, 'other.json'), edited);
  await store.load([shop]);
  assert.deepEqual([looks, states()], [3, ['confirmed', 'confirmed']]);
});

test('F181 beside 10,000 other files one’s own decisions count, and what was not read is said', async (t) => {
  const { decisions, good, open, decide, statesIn } = await shareDecision(t);
  for (let at = 0; at <= 10_000; at += 1)
    linkSync(path.join(decisions, good), path.join(decisions, `${String(at)}.json`));
  const store = await open();
  await decide(store, 'b', 'confirmed');
  const failed = store.failures().map(({ data }) => data);
  assert.deepEqual(failed, [{ subject: decisions, limit: 10_000 }]);
  for (const window of [store, await open()])
    assert.deepEqual(statesIn(window, 'ab'), ['fixed', 'confirmed']);
});

/** Makes the next write to a book wait; returns what lets it go on, and resolves once it waits. */
async function holdNextWrite(t: TestContext, root: string) {
  const probe = await open(path.join(root, 'probe'), 'w');
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
  const { root, open: openWindow, decide, statesIn } = await setUpTriage(t);
  const [slow, fast] = [await openWindow(), await openWindow()];
  const { waiting, release } = await holdNextWrite(t, root);
  let isSaid = false;
  const slowSet = decide(slow, 'a', 'confirmed').then(() => (isSaid = true));
  await waiting;
  await decide(fast, 'b', 'fixed');
  const later = await openWindow();
  assert.deepEqual([statesIn(later, 'ab'), isSaid], [[undefined, 'fixed'], false]);
  release();
  await slowSet;
  await later.reload();
  assert.deepEqual(statesIn(later, 'ab'), ['confirmed', 'fixed']);
});

test('F181 a decision that the disk does not take is not said to be saved', withLinks, async (t) => {
  const { root, book, open: openWindow, decide, statesIn } = await setUpTriage(t);
  await mkdir(path.dirname(book));
  await symlink(path.join(root, 'gone', 'nowhere'), book);
  const store = await openWindow();
  await assert.rejects(decide(store, 'a', 'confirmed'), { kind: 'storage' });
  assert.deepEqual(statesIn(store, 'a'), [undefined]);
});

test(
  'F72 shared decisions are neither read nor written through a link out of their folder',
  withLinks,
  async (t) => {
    for (const linked of ['.vscode', '.vscode/whitebox-triage']) {
      const { root, shop, decisions, open: openWindow, decide, proposalsIn } = await shareDecision(t);
      const outside = path.join(root, 'outside');
      await rename(path.join(shop, linked), outside);
      await symlink(outside, path.join(shop, linked), 'junction');
      const files = await readdir(outside, { recursive: true });
      const store = await openWindow('theirs');
      assert.deepEqual([proposalsIn(store), store.failures()[0]?.data.detail], [[], 'ELOOP']);
      const data = { subject: decisions, detail: 'ELOOP' };
      await assert.rejects(decide(store, 'b', 'confirmed'), { kind: 'storage', data });
      assert.deepEqual(await readdir(outside, { recursive: true }), files);
    }
  },
);

test('F72 a shared decision that is a link is ignored', withLinks, async (t) => {
  const { root, decisions, good, open: openWindow, proposalsIn } = await shareDecision(t);
  await rename(path.join(decisions, good), path.join(root, good));
  await symlink(path.join(root, good), path.join(decisions, good));
  const store = await openWindow('theirs');
  assert.deepEqual([proposalsIn(store), store.failures()], [[], []]);
});

test('a damaged or newer line of a book is reported, and affects no other decision', async (t) => {
  const { book, open: openWindow, decide, statesIn } = await setUpTriage(t);
  const store = await openWindow();
  await decide(store, 'a', 'fixed');
  const whole = await readFile(book, 'utf8');
  const line = whole.trim();
  const newer = line.replace('"version":1', '"version":2');
  for (const damaged of ['[]', 'null', newer, line.slice(0, -9), '\0\0']) {
    await writeFile(book, `${damaged}\n${whole}`);
    await decide(store, 'b', 'confirmed');
    assert.deepEqual(statesIn(store, 'ab'), ['fixed', 'confirmed']);
    const kinds = store.failures().map(({ kind, data }) => `${kind} ${data.subject ?? ''}`);
    assert.deepEqual(kinds, [`triageDamaged ${book}`], damaged);
    assert.ok((await readFile(book, 'utf8')).startsWith(damaged));
  }
});

test('F187 a decision that a crash or a full disk cut off is none, and the book is whole', async (t) => {
  const { book, open: openWindow, decide, statesIn } = await setUpTriage(t);
  await decide(await openWindow(), 'a', 'fixed');
  const whole = await readFile(book, 'utf8');
  const line = whole.trim();
  for (const torn of [line.slice(0, -9), `${line}\n${line.slice(0, 1)}`, '\0\0\0', line.slice(0, -1)]) {
    await writeFile(book, `${whole}\n${torn}`);
    const windows = [await openWindow(), await openWindow()];
    await Promise.all(windows.map((window, at) => decide(window, ['b', 'c'][at] ?? '', 'confirmed')));
    const later = await openWindow();
    assert.deepEqual([later.failures(), statesIn(later, 'abc')], [[], ['fixed', 'confirmed', 'confirmed']]);
  }
  // A whole decision whose line break is missing counts.
  await writeFile(book, line);
  const store = await openWindow();
  await decide(store, 'b', 'confirmed');
  assert.deepEqual([store.failures(), statesIn(store, 'a')], [[], ['fixed']]);
});

test('a book that is too large, or a folder, takes no decisions, and says so', async (t) => {
  const { book, open: openWindow, decide } = await setUpTriage(t);
  const store = await openWindow();
  await decide(store, 'a', 'fixed');
  await truncate(book, 64 * 1024 * 1024 + 1);
  await assert.rejects(decide(store, 'b', 'confirmed'), { kind: 'triageDamaged' });
  await rm(book);
  await mkdir(book);
  await store.reload();
  assert.equal(store.failures()[0]?.kind, 'triageDamaged');
});
