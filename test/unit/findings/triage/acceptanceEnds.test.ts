import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
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
import { formatEntry, parseEntry, type TriageEntry } from '../../../../src/core/findings/triage/book.ts';
import { toBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { toCsv } from '../../../../src/core/findings/importExport/csv.ts';
import { toSarif } from '../../../../src/core/findings/importExport/sarif/sarif.ts';
import { finding, setUpFindings } from '../findingFixture.ts';
import { toPredicate } from '../../../../src/core/findings/view/filter.ts';
import { identityFor, invent } from '../shownFindings.ts';

/** The risk of the finding is accepted for some days. */
async function accepted(t: TestContext, days: number) {
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

test('F157 an accepted risk is valid through its last day, then open; a wrong clock ends it only for now', async (t) => {
  const { root, only, passDays } = await accepted(t, 2);
  const file = path.join(root, 'shop.jsonl');
  const before = await readFile(file, 'utf8');
  for (const days of [2, 1, 400, -401]) {
    await passDays(days);
    const { triage } = only();
    const isOpen = days === 1 || days === 400;
    assert.deepEqual([triage.state, triage.note], [isOpen ? 'open' : 'acceptedRisk', 'behind the gateway']);
    assert.equal(isAcceptanceEnded(triage), isOpen);
  }
  assert.equal(await readFile(file, 'utf8'), before);
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

/** The stored acceptance has this end, and is read. */
function withEnd(until: unknown, state = 'acceptedRisk'): TriageEntry | undefined {
  const entry = { ...identityFor('x'), note: 'n', at: 0, title: '', path: 'a.js' };
  const text = formatEntry({ ...entry, state: 'acceptedRisk' });
  return parseEntry(JSON.stringify({ ...(JSON.parse(text) as object), state, until }));
}

for (const until of ['2030-02-30', '2030-01-01T00:00:00Z', '', 20300101, null, ['2030-01-01']])
  test(`F157 the end ${JSON.stringify(until)} is no day: it counts as ended and keeps the decision`, () => {
    const read = withEnd(until);
    assert.ok(read);
    const now = asOf(read, '2029-12-31');
    assert.deepEqual([now.state, now.note, asDecided(now).state], ['open', 'n', 'acceptedRisk']);
  });

test('F158 an end of one megabyte is read truncated, and only an accepted risk has an end', () => {
  const { until = '' } = withEnd('[a](command:x)\u0000\u202E'.repeat(60_000)) ?? {};
  assert.ok(until !== '' && until.length <= 40);
  for (const state of ['open', 'confirmed', 'falsePositive', 'fixed'])
    assert.equal(withEnd('2020-01-01', state)?.until, undefined);
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
  const expiry = { expiryUtc: `${dayAfter(Date.now(), 2)}T00:00:00.000Z` };
  assert.deepEqual((await suppressionsNow())?.[0]?.properties, expiry);
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
