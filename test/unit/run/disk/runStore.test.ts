import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../../src/core/ports.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { asJournaled, uploadingRun, runOf } from '../sampleRuns.ts';
import { tempFolder } from '../tempFolder.ts';
import { VirtualClock } from '../virtualClock.ts';
import { withRights } from '../../core/systemSkips.ts';

interface Opened {
  readonly store: RunStore;
  readonly lines: readonly string[];
  readonly changes: readonly string[];
}

function open(root: string, clock: Clock = systemClock): Opened {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = { debug: write, info: write, warn: write, error: write };
  const store = new RunStore(root, { clock, log });
  const changes: string[] = [];
  store.onDidChange((changed) => changes.push(...changed.map(({ id }) => id)));
  return { store, lines, changes };
}

async function storeWith(t: TestContext, ...runs: Run[]): Promise<Opened & { root: string }> {
  const root = join(await tempFolder(t), 'runs');
  const opened = open(root);
  for (const run of runs) await opened.store.create(run);
  return { ...opened, root };
}

const named = (id: string, run: Run = uploadingRun): Run => ({ ...run, id });

describe('the run store', () => {
  test('restores every kind of run unchanged', async (t) => {
    const runs = Object.entries(runOf).map(([state, run]) => named(`run-${state}`, run));
    const { root } = await storeWith(t, ...runs);
    const { store } = open(root);
    await store.reload();
    for (const run of runs) assert.deepEqual(store.get(run.id), asJournaled(run));
    assert.equal(store.all().length, runs.length);
  });

  test('lists runs newest first', async (t) => {
    const times = Object.entries({ c: 5, b: 5, a: 9, d: 5 });
    const { store } = await storeWith(t, ...times.map(([id, createdAt]) => ({ ...named(id), createdAt })));
    assert.equal(Array.from(store.all(), ({ id }) => id).join(' '), 'a d c b');
  });

  const damages: readonly (readonly [string, (text: string) => string])[] = [
    ['truncated', (text) => text.slice(0, text.length / 2)],
    ['emptied', () => ''],
    ['zeroed', (text) => '\0'.repeat(text.length)],
    ['of an earlier version', (text) => text.replace('"version": 1', '"version": 0')],
    ['of another run', (text) => text.replace('"id": "one"', '"id": "two"')],
    ['without a state', (text) => text.replace('"state": "preparing",', '')],
    ['in a state that is no text', (text) => text.replace('"preparing"', '7')],
  ];
  for (const [how, damage] of damages) {
    test(`F65 sets a journal aside that is ${how}, and keeps the other runs`, async (t) => {
      const { root } = await storeWith(t, named('one'), named('other'));
      const path = join(root, 'one', 'run.json');
      const damaged = damage(await readFile(path, 'utf8'));
      await writeFile(path, damaged);
      const { store, lines } = open(root);
      await store.reload();
      assert.deepEqual(
        store.all().map(({ id }) => id),
        ['other'],
      );
      const [aside, ...more] = (await readdir(join(root, 'one'))).filter((name) =>
        name.startsWith('run.json'),
      );
      assert.match(aside ?? '', /^run\.json\.damaged-\d+$/);
      assert.deepEqual(more, []);
      assert.equal(await readFile(join(root, 'one', aside!), 'utf8'), damaged, 'nothing of it is lost');
      assert.ok(lines.some((line) => line.includes('one') && line.includes('set aside')));
    });
  }

  test('F65 reads the other journals if one is unreadable, and lists that one as such', async (t) => {
    const { root } = await storeWith(t, named('other'));
    await mkdir(join(root, 'one', 'run.json'), { recursive: true });
    const { store, lines } = open(root);
    await store.reload();
    assert.deepEqual(
      store.all().map(({ id }) => id),
      ['other'],
    );
    await store.reload();
    assert.equal(lines.filter((line) => line.includes('one')).length, 1);
    assert.deepEqual(store.unread(), [{ state: 'unreadable', id: 'one' }]);
    assert.deepEqual(await store.foldersWithoutJournal(), [], 'it is not cleaned up');
    await assert.rejects(store.create(named('one')), { kind: 'busyElsewhere' });
    await rm(join(root, 'one'), { recursive: true });
    await store.reload();
    assert.deepEqual(store.unread(), []);
  });

  test(
    'F63 sees within moments the runs another window creates, changes or removes',
    { timeout: 60_000 },
    async (t) => {
      const { root, store } = await storeWith(t);
      await store.reload();
      const { store: other, lines } = open(root);
      const watching = other.watch();
      t.after(() => watching.dispose());
      const seen = (isSeen: () => boolean): Promise<void> =>
        new Promise((resolve) => {
          const listening = other.onDidChange(() => {
            if (!isSeen()) return;
            listening.dispose();
            resolve();
          });
        });
      // No run has such a name.
      await writeFile(join(root, '.DS_Store'), '');
      const created = seen(() => other.get('one') !== undefined);
      await store.create(named('one'));
      await created;
      const changed = seen(() => other.get('one')?.label === 'Invented');
      await store.apply('one', { type: 'renamed', label: 'Invented', at: 7 });
      await changed;
      const removed = seen(() => other.get('one') === undefined);
      await store.remove('one');
      await removed;
      assert.deepEqual(lines, []);
      // Windows keeps a folder that is watched.
      watching.dispose();
    },
  );

  test('reads nothing again without a change, whoever wrote it', async (t) => {
    const { root, store, changes } = await storeWith(t, named('one'));
    const other = open(root);
    await other.store.reload();
    const before = [changes.length, other.changes.length];
    for (const each of [store, other.store]) await each.reload();
    assert.deepEqual([changes.length, other.changes.length], before);
  });

  test('removes a run at once, also without a folder, and fires no event for disposed listeners', async (t) => {
    const { root, store } = await storeWith(t, named('one'), named('other'));
    const heard: string[] = [];
    const listening = store.onDidChange((changed) => heard.push(...changed.map(({ id }) => id)));
    await rm(join(root, 'one'), { recursive: true });
    await store.remove('one');
    assert.deepEqual([store.get('one'), heard], [undefined, ['one']]);
    listening.dispose();
    await store.remove('other');
    assert.deepEqual([store.all(), heard], [[], ['one']]);
  });

  test('logs each state change and nothing else', async (t) => {
    const { store, lines } = await storeWith(t, named('one'));
    await store.apply('one', { type: 'renamed', label: 'Monday', at: 6 });
    await store.apply('one', { type: 'abandoned', at: 7 });
    assert.deepEqual(lines, ['Run one: preparing → cancelled']);
  });

  test('F164 saves an event although a listener throws, tells the others, and logs the error', async (t) => {
    const { store, changes, lines } = await storeWith(t, uploadingRun);
    const heard: string[] = [];
    store.onDidChange(() => {
      throw new Error('an invented listener fails');
    });
    store.onDidChange((changed) => heard.push(...changed.map(({ state }) => state)));
    const run = await store.apply(uploadingRun.id, { type: 'renamed', label: 'Before', at: 2 });
    assert.equal(run.label, 'Before');
    assert.deepEqual([changes.length, heard], [2, ['preparing']]);
    assert.ok(lines.some((line) => line.includes('an invented listener fails')));
  });

  test('writes nothing for an event without effect, and says so on request', async (t) => {
    const { root, store } = await storeWith(t, runOf.running);
    const path = join(root, runOf.running.id, 'run.json');
    const before = await stat(path);
    assert.equal(await store.applyIfDue(runOf.running.id, { type: 'abandoned', at: 1 }), undefined);
    assert.equal((await store.apply(runOf.running.id, { type: 'abandoned', at: 1 })).state, 'running');
    assert.equal((await stat(path)).ino, before.ino);
  });

  test('F176 names lost storage as such, and forgets no run because of it', async (t) => {
    const { root, store } = await storeWith(t, named('one'));
    await rm(root, { recursive: true });
    await assert.rejects(store.apply('one', { type: 'abandoned', at: 1 }), {
      kind: 'storage',
      data: { subject: root, detail: 'ENOENT' },
    });
    assert.equal(store.get('one')?.id, 'one');
  });

  test('F176 forgets a run only when a second look finds no journal either', async (t) => {
    const root = join(await tempFolder(t), 'runs');
    const clock = new VirtualClock();
    const { store, changes } = open(root, clock);
    await store.create(named('one'));
    const journal = join(root, 'one', 'run.json');
    await rename(journal, `${journal}.aside`);
    const refreshed = store.refresh('one');
    await clock.whenAsleep();
    await rename(`${journal}.aside`, journal);
    clock.advance(100);
    assert.equal((await refreshed)?.id, 'one');
    assert.deepEqual(changes, ['one'], 'nobody was told that it is gone');
  });

  test('drops a run whose folder was removed, and an event does not recreate it', async (t) => {
    const { root, store } = await storeWith(t, named('one'));
    await rm(join(root, 'one'), { recursive: true });
    await assert.rejects(store.apply('one', { type: 'abandoned', at: 1 }), { kind: 'notFound' });
    assert.equal(store.get('one'), undefined);
  });

  test('writes journals readable by their owner only', withRights, async (t) => {
    const { root } = await storeWith(t, named('one'));
    assert.equal((await stat(join(root, 'one', 'run.json'))).mode & 0o777, 0o600);
    assert.equal((await stat(join(root, 'one'))).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(join(root, 'one')), ['run.json'], 'and nothing temporary is left');
  });
});
