import assert from 'node:assert/strict';
import { open, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { type FindingIdentity, identityOf } from '../../../../src/core/findings/identity.ts';
import type { TriageEntry } from '../../../../src/core/findings/triage/book.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { identityFor } from '../shownFindings.ts';
import { setUpTriage } from './openTriage.ts';

const future = Date.UTC(2999, 0, 1);

/** The repository has a colleague's decisions. */
async function clone(t: TestContext) {
  const triage = await setUpTriage(t);
  const { shop, decisions } = triage;
  const store = await triage.open();
  const proposals = () => triage.proposalsIn(store);
  return {
    ...triage,
    store,
    proposals,
    textOf: (name: string) => readFile(path.join(decisions, `${name}.json`), 'utf8'),
    files: async () => (await readdir(decisions)).sort(),
    pull: (name: string, changes?: Partial<TriageEntry>, file?: string) =>
      triage.pull(store, name, changes, file),
    accept: () => store.accept(shop, proposals()),
    reject: () => store.reject(shop, proposals()),
    stateOf: (name: string, window = store) => triage.statesIn(window, name)[0],
    proposed: () => proposals().map(({ entry }) => entry.title),
    decide: (name: string, state: 'open' | 'confirmed') => triage.decide(store, name, state),
  };
}

test('F147 a decision that came with the folder counts once it is accepted into the book, also after a restart', async (t) => {
  const { pull, accept, stateOf, proposed, open, textOf } = await clone(t);
  const text = await pull('a');
  assert.deepEqual([stateOf('a'), proposed()], [undefined, ['a']]);
  await accept();
  assert.deepEqual([stateOf('a'), proposed(), await textOf('a')], ['falsePositive', [], text]);
  assert.equal(stateOf('a', await open()), 'falsePositive');
});

test('F201 the decisions in a folder that does not answer are those that were read, and one’s own are kept', async (t) => {
  const { shop, calls, store, pull, proposed, stateOf, decide } = await clone(t);
  await pull('a');
  const noAnswer = { kind: 'noAnswer', data: { subject: shop } };
  const silence = t.mock.method(calls, 'ask', () =>
    Promise.reject(new AssessmentError('noAnswer', { subject: shop })),
  );
  await pull('b');
  assert.deepEqual([proposed(), store.failures().map(({ kind }) => kind)], [['a'], ['noAnswer']]);
  await assert.rejects(decide('c', 'confirmed'), noAnswer);
  assert.equal(stateOf('c'), 'confirmed');
  silence.mock.restore();
  await store.reload();
  assert.deepEqual([proposed(), store.failures()], [['a', 'b'], []]);
});

test('F201 a decision that the disk does not say is read again at the next load', async (t) => {
  const { shop, decisions, store, pull, proposed } = await clone(t);
  const file = await open(import.meta.filename);
  await file.close();
  const fail = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
  const reading = t.mock.method(Object.getPrototypeOf(file) as typeof file, 'read', fail);
  await pull('a');
  assert.deepEqual(proposed(), []);
  const [{ kind, data } = {}] = store.failures();
  assert.deepEqual([kind, data], ['storage', { subject: path.join(decisions, 'a.json'), detail: 'EIO' }]);
  reading.mock.restore();
  await store.load([shop]);
  assert.deepEqual([proposed(), store.failures()], [['a'], []]);
});

test('F147 a rejected decision stays rejected, and one that is merged later is new, though it is older', async (t) => {
  const { pull, reject, stateOf, proposed, files } = await clone(t);
  await pull('a', { at: 2_000 }, 'ana');
  await reject();
  assert.deepEqual([stateOf('a'), proposed(), await files()], [undefined, [], ['ana.json']]);
  await pull('a', { at: 1_000 }, 'ben');
  assert.deepEqual(proposed(), ['a']);
  await reject();
  await pull('a', { at: 3_000 }, 'ana');
  assert.deepEqual(proposed(), ['a'], 'a later decision in the same file');
});

test('F147 only what is later than the book is new: not an older decision, nor what was accepted', async (t) => {
  const { pull, accept, proposed, decide, clock } = await clone(t);
  await decide('a', 'confirmed');
  await pull('a', { at: clock.time - 1 }, 'older');
  assert.deepEqual(proposed(), []);
  clock.time += 10;
  const at = clock.time - 5;
  await pull('a', { at }, 'later');
  assert.deepEqual(proposed(), ['a']);
  await accept();
  await pull('a', { at, note: 'a copy' }, 'copy');
  assert.deepEqual(proposed(), []);
});

test('F147 a decision taken back is dated: it is new for others, changes no file of theirs, and can be undone', async (t) => {
  const { pull, accept, stateOf, decide, textOf, files, open, clock, proposalsIn } = await clone(t);
  const text = await pull('a');
  await accept();
  const undo = await decide('a', 'open');
  assert.deepEqual([stateOf('a'), await textOf('a'), (await files()).length], [undefined, text, 2]);
  const theirs = proposalsIn(await open('theirs'));
  assert.deepEqual(theirs.map(({ entry: { state, at } }) => [state, at]).sort(), [
    ['falsePositive', 1_000],
    ['open', clock.time],
  ]);
  await undo();
  assert.deepEqual([stateOf('a'), await files()], ['falsePositive', ['a.json']]);
});

test('F157 a time in the future counts as that of its arrival, also after a restart', async (t) => {
  const { pull, proposed, decide, stateOf, accept, open, clock, store, about, ...triage } = await clone(t);
  const timeOf = (name: string): number => store.get(triage.shop, about(name))?.at ?? Infinity;
  await pull('a', { at: future });
  assert.deepEqual(proposed(), ['a']);
  await decide('a', 'confirmed');
  assert.deepEqual(proposed(), []);
  clock.time += 1_000;
  assert.deepEqual(triage.proposalsIn(await open()), []);
  await pull('b', { at: future });
  await accept();
  assert.ok(timeOf('b') <= clock.time);
  await decide('b', 'confirmed');
  assert.equal(stateOf('b'), 'confirmed');
  await store.importDecisions({ id: 'imported' }, [{ ...about('c'), state: 'fixed', note: '', at: future }]);
  assert.ok(timeOf('c') <= clock.time);
});

test('F157 of two accepted decisions about a finding, a time in the future is no later than its arrival', async (t) => {
  const { pull, accept, stateOf, store, decisions, clock } = await clone(t);
  await pull('a', { at: future, state: 'falsePositive' }, 'old');
  await utimes(path.join(decisions, 'old.json'), 0, 1);
  await pull('a', { at: clock.time, state: 'confirmed' }, 'later');
  await store.reload();
  await accept();
  assert.equal(stateOf('a'), 'confirmed');
});

test('F147 a file’s time on this disk hides no decision, and makes none later than now', async (t) => {
  const { pull, decide, proposed, accept, stateOf, store, shop, about, decisions, clock } = await clone(t);
  await decide('abc', 'open');
  clock.time += 10;
  for (const [name, at, fileTime] of [
    ['a', clock.time, 0],
    ['b', future, 0],
    ['c', future, 2e9],
  ] as const) {
    await pull(name, { at });
    await utimes(path.join(decisions, `${name}.json`), 0, fileTime);
    await store.reload();
    assert.deepEqual(proposed(), [name]);
    await accept();
    const decidedAt = store.get(shop, about(name))?.at ?? Infinity;
    assert.deepEqual([stateOf(name), decidedAt <= clock.time, proposed()], ['falsePositive', true, []]);
  }
});

test('F147 on a machine that is new here, as after its container was rebuilt, own decisions are proposals', async (t) => {
  const { decide, open, shop, store, proposalsIn } = await clone(t);
  await decide('a', 'confirmed');
  const rebuilt = await open('rebuilt');
  const areNew = [store, rebuilt].map((each) => each.isNewHere(shop));
  assert.deepEqual(areNew, [false, true]);
  await rebuilt.accept(shop, proposalsIn(rebuilt));
  const { state } = rebuilt.get(shop, identityFor('a')) ?? {};
  assert.deepEqual([rebuilt.isNewHere(shop), state], [false, 'confirmed']);
});

test('F147 names of files in a shared decision are ignored: nobody’s file is replaced or removed', async (t) => {
  const { pull, store, accept, decide, decisions, textOf, files } = await clone(t);
  const texts = [await pull('a'), await pull('b')];
  const named = { sharedAs: 'b.json', from: 'b.json', name: identityFor('a').name };
  texts[0] = JSON.stringify({ ...JSON.parse(texts[0] ?? ''), ...named });
  await writeFile(path.join(decisions, 'a.json'), texts[0]);
  await store.reload();
  await accept();
  const undo = await decide('a', 'confirmed');
  assert.equal((await files()).length, 3);
  await undo();
  assert.deepEqual([await files(), await textOf('a'), await textOf('b')], [['a.json', 'b.json'], ...texts]);
});

test('F147 an answer that cannot be saved is no change, so change listeners do not retry for ever', async (t) => {
  const { shop, store, pull, accept, proposals } = await clone(t);
  await pull('a');
  let changes = 0;
  store.onDidChange(() => {
    changes += 1;
  });
  const unwritable = proposals().map((each) => ({ ...each, entry: { ...each.entry, at: Number.NaN } }));
  await assert.rejects(store.accept(shop, unwritable));
  assert.equal(changes, 0);
  await accept();
  assert.equal(changes, 1);
});

test('F206 a decision whose name is in another spelling is none, whatever finding it states besides', async (t) => {
  const { pull, proposed, store } = await clone(t);
  const { file } = identityFor('a');
  for (const name of [`${file}:00`, `${file}:+0`, `${file}:-0`, `${file.toUpperCase()}:0`, `${file}:0 `]) {
    await pull('a', { name }, 'hostile');
    assert.deepEqual([proposed(), store.failures().map(({ kind }) => kind)], [[], ['triageDamaged']], name);
  }
});

test('F186 F206 whatever a decision of others names, *Accept* changes exactly the findings of its rows', async (t) => {
  // Two findings share a fingerprint; the last one is known by a name of an earlier report.
  const known = ['a', 'b', 'c', 'd'].map((name) => identityFor(name));
  const findings = [
    ...known.slice(0, 2).map((each) => ({ ...each, fingerprint: 'shared' })),
    ...known.slice(2, 3),
    ...known.slice(3).map((each) => ({ ...each, name: identityFor('earlier').name })),
  ];
  const all = [...known, ...findings, identityFor('unknown')];
  const hostile = fc.record({
    name: fc.constantFrom(...all.map(({ name }) => name)),
    report: fc.constantFrom(...all),
    fingerprint: fc.constantFrom(...all.map(({ fingerprint }) => fingerprint)),
    at: fc.constantFrom(1_000, 5_000, future),
    isAccepted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostile, { minLength: 1, maxLength: 5 }),
      fc.nat({ max: 4 }),
      fc.constantFrom(findings, []),
      async (entries, own, here) => {
        const { pull, store, shop, about, clock } = await clone(t);
        const [decided] = findings.slice(own);
        clock.time = 3_000;
        if (decided !== undefined)
          await store.set([{ ...about(''), ...identityOf(decided) }], 'confirmed', '');
        for (const [at, { name, report, fingerprint, ...entry }] of entries.entries()) {
          const { file, index } = report;
          await pull('x', { name, file, index, fingerprint, at: entry.at, note: String(at) }, String(at));
        }
        clock.time = 9_000;
        const stateOf = (each: FindingIdentity): string => JSON.stringify(store.get(shop, each));
        const before = findings.map(stateOf);
        const rows = store.shared(() => here).get(shop) ?? [];
        const accepted = rows.filter(({ entry: { note } }) => entries[Number(note)]?.isAccepted === true);
        await store.accept(shop, accepted);
        for (const [at, each] of findings.entries()) {
          const isNamed = accepted.some(({ about }) => about === each);
          assert.equal(stateOf(each) !== before[at], isNamed, `finding ${String(at)}`);
        }
        const left =
          store
            .shared(() => here)
            .get(shop)
            ?.map(({ path: file }) => file) ?? [];
        for (const each of accepted) assert.equal(left.includes(each.path), each.about === undefined);
      },
    ),
    { numRuns: propertyRuns(60, 5_000) },
  );
});

test('F147 for any pulls, decisions and answers, only accepted or local decisions count, files unchanged', async (t) => {
  const name = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('pull'), name, at: fc.constantFrom(1_000, 5_000, future) }),
    fc.record({ kind: fc.constantFrom('open', 'confirmed', 'undo'), name }),
    fc.record({ kind: fc.constantFrom('accept', 'reject') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
      const { pull, textOf, accept, reject, stateOf, decide, proposals, clock } = await clone(t);
      const files = new Map<string, string>();
      const accepted = new Set<string>();
      for (const each of steps) {
        clock.time += 10;
        if (each.kind === 'accept') {
          for (const { entry } of proposals()) accepted.add(entry.title);
          await accept();
          assert.deepEqual(proposals(), []);
        } else if (each.kind === 'reject') {
          await reject();
          assert.deepEqual(proposals(), []);
        } else if ('at' in each) {
          files.set(each.name, await pull(each.name, { at: each.at, note: `pull ${String(clock.time)}` }));
        } else if ('name' in each) {
          const undo = await decide(each.name, each.kind === 'open' ? 'open' : 'confirmed');
          if (each.kind === 'undo') await undo();
          else assert.equal(stateOf(each.name), each.kind === 'open' ? undefined : 'confirmed');
        }
        for (const known of ['a', 'b', 'c'])
          if (stateOf(known) === 'falsePositive') assert.ok(accepted.has(known), known);
        for (const [known, text] of files) assert.equal(await textOf(known), text);
      }
    }),
    { numRuns: propertyRuns(25) },
  );
});
