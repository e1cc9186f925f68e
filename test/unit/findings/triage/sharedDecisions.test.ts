import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { withAnswers, withoutAccepted } from '../../../../src/core/findings/triage/acceptance.ts';
import { formatEntry, type TriageEntry } from '../../../../src/core/findings/triage/triage.ts';
import { triagePlaceOf } from '../../../../src/core/findings/triage/triageDisk.ts';
import { TriageStore } from '../../../../src/core/findings/triage/triageStore.ts';
import { silent } from '../../../silentLog.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { clock } from '../findingFixture.ts';

/** A repository with a colleague's decisions, and the local store. */
interface Clone {
  readonly shop: string;
  readonly store: TriageStore;
  readonly storage: string;
  /** Adds a colleague's decision to the repository, as a pull does; returns its file's text. */
  readonly pull: (name: string, changes?: Partial<TriageEntry>) => Promise<string>;
  readonly textOf: (name: string) => Promise<string>;
  readonly accept: () => Promise<void>;
  readonly stateOf: (name: string) => string | undefined;
  readonly proposed: () => readonly string[];
  readonly decide: (name: string, state: 'open' | 'confirmed') => ReturnType<TriageStore['set']>;
}

const identityOf = (name: string): TriageEntry['identity'] => ({
  fingerprint: name,
  spot: 'src/a.js',
  title: name,
  only: ['code', 'title'],
  run: 'run',
  index: 0,
});

async function clone(t: TestContext): Promise<Clone> {
  const root = await mkdtemp(path.join(tmpdir(), 'shared-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const [shop, storage] = [path.join(root, 'shop'), path.join(root, 'storage')];
  const decisions = path.join(shop, '.vscode', 'whitebox-triage');
  await mkdir(decisions, { recursive: true });
  const store = new TriageStore({
    placeFor: (folder) => triagePlaceOf(folder, storage, 'shared'),
    lockFolder: storage,
    clock,
    log: silent,
  });
  await store.load([shop]);
  const proposals = () => store.shared().get(shop)?.proposals ?? [];
  return {
    shop,
    store,
    storage,
    textOf: (name) => readFile(path.join(decisions, `${name}.json`), 'utf8'),
    pull: async (name, changes) => {
      const entry = { state: 'falsePositive', note: 'not reachable', at: 1_000, path: 'src/a.js' } as const;
      const text = formatEntry({ ...entry, identity: identityOf(name), ...changes });
      await writeFile(path.join(decisions, `${name}.json`), text);
      await store.reload();
      return text;
    },
    accept: () =>
      store.answer(shop, (known) =>
        withAnswers(
          known,
          proposals().map(({ digest }) => digest),
          { as: 'accepted', at: clock.now() },
        ),
      ),
    stateOf: (name) => store.get(shop, identityOf(name))?.state,
    proposed: () => proposals().map(({ entry }) => entry.identity.title),
    decide: (name, state) => store.set([{ folder: shop, identity: identityOf(name) }], state, ''),
  };
}

test('F147 a decision that came with the folder counts once accepted, also after a restart, until revoked', async (t) => {
  const { shop, store, storage, pull, accept, stateOf, proposed } = await clone(t);
  await pull('a');
  assert.deepEqual([stateOf('a'), proposed()], [undefined, ['a']]);
  assert.deepEqual(store.decisions().get(shop), [], 'copies, bundles and exports take none');
  await accept();
  assert.deepEqual([stateOf('a'), proposed()], ['falsePositive', []]);
  const later = new TriageStore({
    placeFor: (folder) => triagePlaceOf(folder, storage, 'shared'),
    lockFolder: storage,
    clock,
    log: silent,
  });
  await later.load([shop]);
  assert.equal(later.get(shop, identityOf('a'))?.state, 'falsePositive');
  await later.answer(shop, withoutAccepted);
  await store.reload();
  assert.deepEqual([stateOf('a'), proposed()], [undefined, ['a']]);
});

test('F147 a pull that changes an accepted decision makes it a proposal again; line ends do not matter', async (t) => {
  const { shop, store, pull, accept, stateOf, proposed } = await clone(t);
  const text = await pull('a');
  await accept();
  const file = path.join(shop, '.vscode', 'whitebox-triage', 'a.json');
  await writeFile(file, text.replaceAll('\n', '\r\n'));
  await store.reload();
  assert.deepEqual([stateOf('a'), proposed()], ['falsePositive', []]);
  await pull('a', { note: 'another reason' });
  assert.deepEqual([stateOf('a'), proposed()], [undefined, ['a']]);
});

test("F147 reopening a colleague's decision is stored locally, changes no file, and can be undone", async (t) => {
  const { shop, pull, textOf, accept, stateOf, proposed, decide } = await clone(t);
  const text = await pull('a');
  await accept();
  const undo = await decide('a', 'open');
  assert.deepEqual([stateOf('a'), proposed(), await textOf('a')], [undefined, [], text]);
  await undo();
  assert.deepEqual([stateOf('a'), await textOf('a')], ['falsePositive', text]);
  await (
    await decide('a', 'confirmed')
  )();
  assert.deepEqual([stateOf('a'), await textOf('a')], ['falsePositive', text]);
  assert.deepEqual(await readdir(path.join(shop, '.vscode', 'whitebox-triage')), ['a.json']);
});

test('F147 a decision dated in the future counts as of its acceptance, and a later local one wins', async (t) => {
  const { shop, store, pull, accept, stateOf, decide } = await clone(t);
  const before = clock.now();
  await pull('a', { at: Date.UTC(2999, 0, 1) });
  await accept();
  const at = store.get(shop, identityOf('a'))?.at ?? 0;
  assert.ok(at >= before && at <= clock.now(), String(at));
  await decide('a', 'confirmed');
  assert.equal(stateOf('a'), 'confirmed');
  const entry = { identity: identityOf('b'), state: 'fixed', note: '', at: Date.UTC(2999, 0, 1), path: '' };
  await store.importDecisions(new Map([[shop, [{ ...entry, state: 'fixed' }]]]));
  assert.ok((store.get(shop, identityOf('b'))?.at ?? Infinity) <= clock.now());
});

test('F147 acceptances survive a damaged file: nothing counts, and nothing is overwritten', async (t) => {
  const { shop, store, storage, pull, accept, stateOf, decide } = await clone(t);
  await pull('a');
  await accept();
  const [name = ''] = (await readdir(storage)).filter((each) => each.endsWith('.accepted.json'));
  for (const damaged of ['', '[]', '{"version":2,"answers":[]}']) {
    await writeFile(path.join(storage, name), damaged);
    await store.reload();
    assert.equal(stateOf('a'), undefined);
    assert.deepEqual(
      store.failures().map(({ data }) => data.subject),
      [path.join(storage, name)],
    );
    await assert.rejects(accept(), { kind: 'triageDamaged' });
    await assert.rejects(decide('b', 'confirmed'), { kind: 'triageDamaged' });
    assert.equal(await readFile(path.join(storage, name), 'utf8'), damaged);
    assert.deepEqual(await readdir(path.join(shop, '.vscode', 'whitebox-triage')), ['a.json']);
  }
});

test('F147 an acceptance that cannot be saved is no change, so change listeners do not retry for ever', async (t) => {
  const { shop, store, pull, accept } = await clone(t);
  await pull('a');
  let changes = 0;
  store.onDidChange(() => {
    changes += 1;
  });
  const failing = store.answer(shop, () => {
    throw new Error('ENOSPC');
  });
  await assert.rejects(failing, { message: 'ENOSPC' });
  assert.equal(changes, 0);
  await accept();
  assert.equal(changes, 1);
});

test('F147 for any pulls, decisions and answers, only accepted or local decisions count, files unchanged', async (t) => {
  const name = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('pull'), name, at: fc.constantFrom(1_000, Date.UTC(2999, 0, 1)) }),
    fc.record({ kind: fc.constantFrom('open', 'confirmed', 'undo'), name }),
    fc.record({ kind: fc.constantFrom('accept', 'refuse', 'withdraw') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
      const { shop, store, pull, textOf, accept, stateOf, decide } = await clone(t);
      const files = new Map<string, string>();
      const accepted = new Set<string>();
      let count = 0;
      for (const each of steps) {
        if (each.kind === 'accept') {
          await accept();
          for (const { entry } of store.shared().get(shop)?.proposals ?? []) assert.fail(entry.note);
        } else if (each.kind === 'refuse' || each.kind === 'withdraw') {
          const digests = (store.shared().get(shop)?.proposals ?? []).map(({ digest }) => digest);
          await store.answer(shop, (known) =>
            each.kind === 'withdraw'
              ? withoutAccepted(known)
              : withAnswers(known, digests, { as: 'refused', at: clock.now() }),
          );
        } else if ('at' in each) {
          count += 1;
          files.set(each.name, await pull(each.name, { at: each.at, note: `pull ${String(count)}` }));
          accepted.delete(each.name);
        } else if ('name' in each) {
          const undo = await decide(each.name, each.kind === 'open' ? 'open' : 'confirmed');
          if (each.kind === 'undo') await undo();
          else assert.equal(stateOf(each.name), each.kind === 'open' ? undefined : 'confirmed');
        }
        if (each.kind === 'accept') for (const known of files.keys()) accepted.add(known);
        if (each.kind === 'withdraw') accepted.clear();
        for (const known of ['a', 'b', 'c'])
          if (stateOf(known) === 'falsePositive') assert.ok(accepted.has(known), known);
        for (const [known, text] of files) assert.equal(await textOf(known), text);
      }
    }),
    { numRuns: propertyRuns(25) },
  );
});
