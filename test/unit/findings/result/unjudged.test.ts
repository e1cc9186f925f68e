import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { dayAfter, isClosed, TRIAGE_STATES } from '../../../../src/core/findings/triage/triage.ts';
import type { BranchState } from '../../../../src/core/findings/view/branchChanges.ts';
import { applyFilter, toPredicate } from '../../../../src/core/findings/view/filter.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { setUpFindings } from '../findingFixture.ts';

/** The four invented vulnerabilities are of one kind in one file. */
const report = fc.record({
  quote: fc.constantFrom('none', 'line', 'context'),
  title: fc.constantFrom('own', 'other', 'SQL injection'),
});
const vulnerabilities = [0, 1, 2, 3] as const;
const names = ['orders', 'render', 'backup', 'digest'];
const sinks = ['db.query(text);', 'response.send(page + name);', 'exec(`tar ${name}`);', 'return md5(key);'];
const step = fc.record({
  /** The statements of the file are in order. Missing ones were removed. */
  statements: fc.shuffledSubarray([...vulnerabilities], { minLength: 1 }),
  reports: fc.tuple(...vulnerabilities.map(() => fc.option(report, { nil: undefined, freq: 2 }))),
  isComplete: fc.boolean().map((isIncomplete) => !isIncomplete),
  /** These decisions are about the visible findings. */
  decisions: fc.array(
    fc.record({
      state: fc.constantFrom('open', 'confirmed', 'falsePositive', 'acceptedRisk', 'fixed'),
      /** A risk is accepted for so many days. */
      days: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
  /** The next run comes so many days later, or earlier if the clock was wrong. */
  later: fc.integer({ min: -2, max: 4 }),
  filter: fc.record({
    text: fc.constantFrom('', 'own', 'nowhere'),
    triage: fc.subarray([...TRIAGE_STATES]),
    changedOnBranch: fc.boolean(),
  }),
  /** The comparison with the branch's base may have an answer. */
  branch: fc.constantFrom<BranchState>({ kind: 'pending' }, { kind: 'unavailable', why: 'noBase' }),
});

/** Decisions carry over by the quote, or else by the title. */
function keyOf({ finding }: ShownFinding): string {
  const snippet = finding.locations[0]?.snippet;
  return snippet === undefined ? `titled ${finding.title}` : snippet.replaceAll(/\s/g, '');
}

/** The keys include those of vulnerabilities that are indistinguishable. */
function sameAs(at: number, keys: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const known = new Set(keys[at]);
  let size = -1;
  while (known.size > size) {
    size = known.size;
    for (const each of keys)
      if ([...each].some((key) => known.has(key))) for (const key of each) known.add(key);
  }
  return known;
}

test('F139 every untriaged finding is counted, for any sequence of runs, decisions, dates and filters', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
      const fixture = await setUpFindings(t, 'shop');
      const { store, runs } = fixture;
      /** Has the vulnerability of each finding. */
      const truth = new Map<string, number>();
      const keys = vulnerabilities.map(() => new Set<string>());
      /** Has the vulnerabilities of each name that their reports got. */
      const named = new Map<string, Set<number>>();
      /** Each key has its last valid day. */
      const closed = new Map<string, string>();
      let today = dayAfter(Date.now());
      let shift = 0;
      const reported = new Set<number>();
      for (const { statements, reports, isComplete, decisions, later, filter, branch } of steps) {
        const lines = statements.flatMap((at) => [
          `function ${names[at] ?? ''}() {`,
          `  ${sinks[at] ?? ''}`,
          '  log();',
          '}',
          '',
        ]);
        const found = reports.flatMap((each, at) => {
          const line = lines.indexOf(`  ${sinks[at] ?? ''}`);
          if (each === undefined || line < 0) return [];
          const context = lines.slice(line - 1, line + 2).join('\n');
          const quotes = { none: undefined, line: lines[line], context };
          const title = each.title === 'SQL injection' ? each.title : `${each.title} ${String(at)}`;
          const location = { file: 'a.js', line: line + 1, snippet: quotes[each.quote] };
          return [{ at, item: { title, cwe: 89, severity: 'high', ...location } }];
        });
        const items = JSON.stringify(found.map(({ item }) => item));
        const run = await fixture.addRun(['shop'], items, { 'a.js': lines.join('\n') });
        if (!isComplete) {
          await runs.create({ ...run, state: 'cancelled' } as Run);
          await store.load();
        }
        const { shown } = await store.read(run);
        for (const each of shown) {
          const { at = -1 } = found[each.finding.index] ?? {};
          truth.set(`${run.id} ${String(each.finding.index)}`, at);
          // A partial run is not shown until the next complete one, unless chosen.
          keys[at]?.add(keyOf(each));
          named.set(each.name, (named.get(each.name) ?? new Set()).add(at));
          // It stands for the earlier one on its lines, too, also where other code is there now.
          for (const name of each.possibleNames)
            for (const earlier of named.get(name) ?? []) keys[earlier]?.add(keyOf(each));
          reported.add(at);
        }
        const isVisible = ({ triage }: ShownFinding): boolean => !isClosed(triage.state);
        const visible = (): readonly ShownFinding[] => {
          const all = [...store.all(), ...store.absent()];
          const display = { minimumSeverity: 'none', hideTriaged: true } as const;
          const predicate = toPredicate(filter, branch);
          const { displayed, passing, closed: hidden } = applyFilter(all, display, predicate);
          const others = { ...filter, changedOnBranch: false };
          assert.deepEqual(passing, displayed.filter(toPredicate(others)));
          assert.equal(displayed.length + hidden, all.length);
          return displayed.filter(isVisible);
        };
        for (const [index, { state, days }] of decisions.entries()) {
          const all = visible();
          const chosen = all[(index * 7) % Math.max(1, all.length)];
          if (chosen === undefined) continue;
          const until =
            state === 'acceptedRisk' && days !== undefined ? dayAfter(Date.now(), shift + days) : undefined;
          await store.setTriage([chosen], state, 'because', { until });
          const former = closed.get(keyOf(chosen)) ?? '';
          const last = until ?? '9999';
          if (isClosed(state)) closed.set(keyOf(chosen), former > last ? former : last);
        }
        await fixture.passDays(later);
        shift += later;
        today = dayAfter(Date.now(), shift);
        if (!isComplete) continue;
        for (const at of reported) {
          const own = sameAs(at, keys);
          const isJudged = [...own].some((key) => (closed.get(key) ?? '') >= today);
          const isThere = visible().some(
            (each) =>
              truth.get(`${each.run.id} ${String(each.finding.index)}`) === at || own.has(keyOf(each)),
          );
          assert.ok(isJudged || isThere, `Vulnerability ${String(at)} is invisible`);
        }
      }
    }),
    { numRuns: propertyRuns(5, 300) },
  );
});
