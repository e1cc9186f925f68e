import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import {
  asDecided,
  asOf,
  dayAfter,
  expiryUtc,
  isAcceptanceEnded,
} from '../../../../src/core/findings/triage/triage.ts';
import { formatEntry, parseEntry } from '../../../../src/core/findings/triage/book.ts';
import { toBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { toCsv } from '../../../../src/core/findings/importExport/csv.ts';
import { toSarif } from '../../../../src/core/findings/importExport/sarif/sarif.ts';
import { finding, type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { toPredicate } from '../../../../src/core/findings/view/filter.ts';
import { identityFor, invent } from '../shownFindings.ts';

/** A finding whose risk is accepted for some days. */
async function accepted(
  t: TestContext,
  days: number,
): Promise<FindingFixture & { only: () => ShownFinding }> {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('one'));
  const until = dayAfter(Date.now(), days);
  await fixture.store.setTriage(fixture.store.all(), 'acceptedRisk', 'behind the gateway', { until });
  const only = (): ShownFinding => {
    const [found] = fixture.store.all();
    assert.ok(found);
    return found;
  };
  return { ...fixture, only };
}

const tool = { name: 'Invented', version: '1.0.0' };

test('F157 an accepted risk is valid through its last day, and open with its note afterwards', async (t) => {
  const { only, passDays } = await accepted(t, 2);
  await passDays(2);
  assert.equal(only().triage.state, 'acceptedRisk');
  await passDays(1);
  const { state, note } = only().triage;
  assert.deepEqual([state, note, isAcceptanceEnded(only().triage)], ['open', 'behind the gateway', true]);
});

test('F157 a temporarily wrong clock ends no acceptance permanently', async (t) => {
  const { root, only, passDays } = await accepted(t, 2);
  const file = path.join(root, 'shop', 'triage.jsonl');
  const before = await readFile(file, 'utf8');
  await passDays(400);
  assert.equal(only().triage.state, 'open');
  assert.equal(await readFile(file, 'utf8'), before);
  await passDays(-400);
  assert.equal(only().triage.state, 'acceptedRisk');
});

test('F157 an ended acceptance stays the same object without a change, and a new decision replaces it', async (t) => {
  const { store, only, passDays } = await accepted(t, 0);
  await passDays(1);
  const before = only();
  await passDays(0);
  assert.equal(only(), before);
  const undo = await store.setTriage([only()], 'confirmed', 'looked again');
  assert.deepEqual([only().triage.state, only().triage.until], ['confirmed', undefined]);
  await undo();
  assert.equal(isAcceptanceEnded(only().triage), true);
});

for (const [what, until] of [
  ['an impossible date', '2030-02-30'],
  ['a date with a time', '2030-01-01T00:00:00Z'],
  ['an empty text', ''],
  ['a number', 20300101],
  ['null', null],
  ['a list', ['2030-01-01']],
] as const)
  test(`F157 an end that is ${what} counts as ended and keeps the decision`, async (t) => {
    const { root, triage, only } = await accepted(t, 2);
    const file = path.join(root, 'shop', 'triage.jsonl');
    const text = await readFile(file, 'utf8');
    const made = /"until":"[^"]*"/;
    assert.match(text, made);
    await writeFile(file, text.replace(made, `"until":${JSON.stringify(until)}`));
    await triage.reload();
    assert.deepEqual(triage.failures(), []);
    const { state, note } = only().triage;
    assert.deepEqual([state, note], ['open', 'behind the gateway']);
    assert.deepEqual(asDecided(only().triage).state, 'acceptedRisk');
  });

test('F158 an end of one megabyte is stored truncated', () => {
  const entry = {
    ...identityFor('x'),
    state: 'acceptedRisk',
    note: 'n',
    at: 0,
    title: '',
    path: 'a.js',
  } as const;
  const read = parseEntry(formatEntry({ ...entry, until: '[a](command:x)\u0000\u202E'.repeat(60_000) }));
  assert.equal(read?.state, 'acceptedRisk');
  assert.ok((read.until ?? '').length <= 40);
});

test('only an accepted risk has an end', () => {
  const entry = { ...identityFor('x'), note: 'n', at: 0, until: '2020-01-01', title: '', path: 'a.js' };
  for (const state of ['open', 'confirmed', 'falsePositive', 'fixed'] as const)
    assert.equal(parseEntry(formatEntry({ ...entry, state }))?.until, undefined);
});

test('an acceptance ends on a local calendar day, and expires in UTC at the start of the next day', () => {
  const decision = { state: 'acceptedRisk', note: 'n', at: 0, until: '2028-02-29' } as const;
  assert.equal(asOf(decision, dayAfter(new Date(2028, 1, 29, 23, 59).getTime())), decision);
  assert.equal(asOf(decision, dayAfter(new Date(2028, 2, 1, 0, 0).getTime())).state, 'open');
  assert.equal(expiryUtc(decision), '2028-03-01T00:00:00.000Z');
});

test('exports contain the end of an acceptance, and a bundle the original decision', async (t) => {
  const { store, only, passDays } = await accepted(t, 1);
  const { until } = only().triage;
  assert.ok(until !== undefined);
  const source = async () => {
    const { run, shown } = await store.read(only().run);
    return { run, shown: await store.withDetails(shown) };
  };
  const suppressionsNow = async () =>
    toSarif(await source(), new Map(), tool).runs[0]?.results?.[0]?.suppressions;
  assert.deepEqual((await suppressionsNow())?.[0]?.properties, {
    expiryUtc: `${dayAfter(Date.now(), 2)}T00:00:00.000Z`,
  });
  await passDays(2);
  assert.equal((await suppressionsNow())?.length ?? 0, 0);
  assert.ok(toCsv(await source()).includes(`"open","behind the gateway","${until}"`));
  const decisions = toBundle(await source(), []).find(({ path }) => path === 'triage.jsonl');
  const decision = JSON.parse(decisions?.content.toString() ?? '') as { state: string; until: string };
  assert.deepEqual([decision.state, decision.until], ['acceptedRisk', until]);
});

test('F139 a filter selects acceptances by their end, within 14 days or later', () => {
  const ends = [15, 14, 0].map((days) => dayAfter(Date.now(), days));
  const decisions = [
    ...ends.map((until) => ({ state: 'acceptedRisk', note: '', at: 0, until }) as const),
    { state: 'open', note: 'n', at: 1, until: 'x' } as const,
  ];
  const all = [invent(), ...decisions.map((triage, index) => ({ ...invent({ index }), triage }))];
  const kept = (...acceptance: ('ended' | 'soon' | 'later')[]) =>
    all.filter(toPredicate({ acceptance })).map(({ triage }) => triage.until);
  assert.deepEqual(kept('soon'), [ends[1], ends[2]]);
  assert.deepEqual(kept('later'), [ends[0]]);
  assert.deepEqual(kept('ended'), ['x']);
});
