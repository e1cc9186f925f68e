import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countTrend, runsOfTrend, traceTrend } from '../../../../src/core/findings/result/trend.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { type FindingFixture, setUpFindings, sourceFor } from '../findingFixture.ts';
import { startHistory } from './histories.ts';

interface Row {
  readonly reported: number;
  readonly closed: number;
  readonly unexplained: number;
  readonly review: number;
  readonly limitations: readonly string[];
}

/** The newest run is first. */
async function trendOf(fixture: FindingFixture, of: Run): Promise<readonly Row[]> {
  const { runs, triage } = fixture;
  const traced = await traceTrend(runsOfTrend(runs.all(), of), sourceFor(fixture.runs), unattended);
  await triage.load(of.targets.map(({ folder }) => folder));
  return countTrend(traced, triage).map(({ reported, limitations, ...counts }) => ({
    ...{ unexplained: counts.unexplained, review: counts.review },
    reported: reported.reduce((sum, { count }) => sum + count, 0),
    closed: reported.reduce((sum, { closed }) => sum + closed, 0),
    limitations: limitations.map(({ kind }) => kind),
  }));
}

const unattended = { onRun: () => undefined, signal: new AbortController().signal };

const listOf = (...titles: string[]): string =>
  JSON.stringify(titles.map((title) => ({ title, severity: 'high', file: `${title}.js`, line: 1 })));

const sources = { 'a.js': 'a();\n', 'b.js': 'b();\n', 'c.js': 'c();\n' };

test('a finding that is no longer reported still counts, separately once its code changed, until it is closed', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], listOf('a', 'b', 'c'), sources);
  await fixture.addRun(['shop'], listOf('a'), sources);
  const last = await fixture.addRun(['shop'], listOf('a'), { ...sources, 'c.js': 'safe();\n' });
  const whole = { closed: 0, limitations: [] };
  assert.deepEqual(await trendOf(fixture, last), [
    { ...whole, reported: 1, unexplained: 1, review: 1 },
    { ...whole, reported: 1, unexplained: 2, review: 0 },
    { ...whole, reported: 3, unexplained: 0, review: 0 },
  ]);
  const absent = fixture.store.absent().filter(({ finding }) => finding.title !== 'a');
  await fixture.store.setTriage([...fixture.store.all(), ...absent], 'falsePositive', 'checked');
  assert.deepEqual(await trendOf(fixture, last), [
    { ...whole, reported: 1, closed: 1, unexplained: 0, review: 0 },
    { ...whole, reported: 1, closed: 1, unexplained: 0, review: 0 },
    { ...whole, reported: 3, closed: 3, unexplained: 0, review: 0 },
  ]);
});

test('a live finding that is no longer reported is to be reviewed only if its pair was tested again', async (t) => {
  const history = await startHistory(t);
  const features = ['tested', 'notTested', 'notApplicable'];
  const pairs = features.map((feature_name) => ({ feature_name, perspective: 'XSS' }));
  const [tested, , notApplicable] = pairs;
  await history.addLive(pairs.map((pair) => ({ title: pair.feature_name, ...pair })));
  const counts = async (): Promise<unknown> => {
    const traced = await traceTrend(history.runs, history.source(), unattended);
    const [row] = countTrend(traced, { get: () => undefined, byFingerprint: () => undefined });
    return [row?.review, row?.unexplained];
  };
  await history.addLive([], { completed: [tested], skipped: [notApplicable] });
  assert.deepEqual(await counts(), [1, 2]);
  await history.addLive([]);
  assert.deepEqual(await counts(), [0, 3], 'nothing is known of its pairs');
});

test('F161 partial runs keep the total and say why; imports and runs of other accounts have no row', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'admin');
  const first = await fixture.addRun(['shop', 'admin'], listOf('shop/a', 'admin/b'), sources);
  const fewer = await fixture.addRun(['shop'], listOf('shop/a'), { ...sources, 'b.js': 'safe();\n' });
  const safe = { 'a.js': 'safe();\n', 'b.js': 'safe();\n' };
  const ended = await fixture.addRun(['shop', 'admin'], listOf(), safe);
  await fixture.runs.create({ ...ended, state: 'aborted' } as Run);
  // Findings of low severity are not read if there are more than 10,000.
  const many = Array.from({ length: 10_000 }, (_, at) => ({ title: `m${String(at)}`, severity: 'high' }));
  const less = { title: 'less', severity: 'low' };
  const changed = { ...sources, 'b.js': 'safe();\n' };
  const whole = await fixture.addRun(['shop', 'admin'], JSON.stringify(many), changed);
  const cut = await fixture.addRun(['shop', 'admin'], JSON.stringify([...many, less]), sources);
  const other = await fixture.storeRun(['shop'], listOf('x'));
  const elsewhere = await fixture.storeRun(['shop'], listOf('y'));
  await fixture.runs.create({ ...other, organizationId: 'other' });
  await fixture.runs.create({ ...elsewhere, baseUrl: 'https://other.example.test/v1' });
  const imported = await fixture.storeRun(['shop'], listOf('z'));
  await fixture.runs.create({ ...imported, state: 'imported', importedFrom: 'z.json' } as Run);
  const ids = runsOfTrend(fixture.runs.all(), first).map(({ id }) => id);
  assert.deepEqual(ids, [cut.id, whole.id, ended.id, fewer.id, first.id]);
  const rows = await trendOf(fixture, first);
  const seen = rows.map(({ limitations, reported, unexplained, review }) =>
    [...limitations, reported + unexplained, review].join(' '),
  );
  assert.deepEqual(seen, ['cut 10002 0', '10001 1', 'endedEarly 2 0', 'fewerFolders 2 0', '2 0']);
});

test('F161 the total of untriaged findings never falls without a code change, for any sequence of runs', async (t) => {
  const titles = ['a', 'b', 'c'];
  const step = fc.record({
    reports: fc.subarray(titles),
    uploaded: fc.subarray(titles),
    isComplete: fc.boolean(),
    settles: fc.option(fc.constantFrom(...titles), { nil: undefined, freq: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
      const fixture = await setUpFindings(t, 'shop');
      const closed = new Set<string>();
      let last: Run | undefined;
      for (const { reports, uploaded, isComplete, settles } of steps) {
        const files = Object.fromEntries(
          [...new Set([...uploaded, ...reports])].map((title) => [`${title}.js`, `${title}();\n`]),
        );
        last = await fixture.addRun(['shop'], listOf(...reports), files);
        const shown = fixture.store.all().find(({ finding }) => finding.title === settles);
        if (shown !== undefined) {
          await fixture.store.setTriage([shown], 'acceptedRisk', 'known');
          closed.add(shown.finding.title);
        }
        if (!isComplete) await fixture.runs.create({ ...last, state: 'cancelled' } as Run);
      }
      const rows = (await trendOf(fixture, last as Run)).toReversed();
      for (const [at, { reported, closed: known, unexplained, review }] of rows.entries()) {
        assert.equal(review, 0);
        const seen = new Set(steps.slice(0, at + 1).flatMap(({ reports }) => reports));
        const unjudged = [...seen].filter((title) => !closed.has(title)).length;
        assert.equal(reported - known + unexplained, unjudged, `After run ${String(at + 1)}`);
      }
    }),
    { numRuns: propertyRuns(4, 300) },
  );
});

test('a cancelled trend reads no more runs', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  for (const title of ['a', 'b', 'c']) await fixture.storeRun(['shop'], listOf(title));
  const cancellation = new AbortController();
  const done: number[] = [];
  const onRun = (count: number): void => {
    done.push(count);
    if (count === 1) cancellation.abort();
  };
  const { signal } = cancellation;
  const tracing = traceTrend(fixture.runs.all(), sourceFor(fixture.runs), { onRun, signal });
  await assert.rejects(tracing, { name: 'AbortError' });
  assert.deepEqual(done.slice(0, 2), [0, 1]);
});
