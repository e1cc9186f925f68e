import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RunResult } from '../../../../src/core/findings/result/result.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { startHistory, verdictsIn } from './histories.ts';

/** The invented uploaded files of a folder are by path. Its findings follow. */
type ReportedRun = readonly [uploaded: Record<string, string> | undefined, ...findings: readonly object[]];

function toItems(findings: readonly object[]): readonly object[] {
  const usual = { severity: 'high', cwe: 89, file: 'src/a.js', line: 2 };
  return findings.map((each) => ({ ...usual, ...each }));
}

/** Returns the result of the last run. */
async function play(t: TestContext, runs: readonly ReportedRun[]): Promise<RunResult | undefined> {
  const history = await startHistory(t);
  let last: Run | undefined;
  for (const [uploaded, ...findings] of runs) last = await history.add(['shop'], toItems(findings), uploaded);
  return last && history.result(last);
}

const code = 'const id = ask();\ndb.query(`select ${id}`);\nreturn 1;\n';
const uploaded = { 'src/a.js': code, 'src/b.js': 'other();\n' };
const changed = { ...uploaded, 'src/a.js': code.replace('`select ${id}`', 'byId, id') };
const otherChanged = { ...uploaded, 'src/b.js': 'x();\n' };
const [onlyA, onlyB] = [{ 'src/a.js': code }, { 'src/b.js': 'other();\n' }];
const X = { title: 'X', snippet: 'db.query(`select ${id}`);' };
const Y = { title: 'Y', cwe: 79, line: 3 };

const runsOf = (...runs: readonly ReportedRun[]): readonly ReportedRun[] => runs;
const inBoth = { ...X, locations: ['src/a.js', 'src/b.js'].map((file) => ({ file, line: 1 })) };
const noFile = { ...X, file: undefined };

for (const [name, runs, wanted] of [
  [
    'what no earlier run had is new',
    runsOf([uploaded, Y], [uploaded, Y, X]),
    { X: 'new', Y: 'stillPresent' },
  ],
  ['unchanged code is existing', runsOf([uploaded, X], [uploaded, X]), { X: 'stillPresent' }],
  [
    'not found, its file changed',
    runsOf([uploaded, X, Y], [changed, Y]),
    { X: 'codeChanged', Y: 'stillPresent' },
  ],
  [
    'not found, another of its files changed',
    runsOf([uploaded, inBoth], [otherChanged]),
    { X: 'codeChanged' },
  ],
  ['not found, another of its files not sent', runsOf([uploaded, inBoth], [onlyA]), { X: 'notUploaded' }],
  ['not found again in unchanged files', runsOf([uploaded, X], [uploaded]), { X: 'fileUnchanged' }],
  ['its file was not sent', runsOf([uploaded, X], [onlyB]), { X: 'notUploaded' }],
  ['the sent files are unknown', runsOf([undefined, X], [undefined]), { X: 'unknown' }],
  ['a finding without a place is not compared', runsOf([uploaded, noFile], [uploaded]), { X: 'unknown' }],
  [
    'reported before, but not by the previous run',
    runsOf([uploaded, X], [uploaded], [uploaded, X]),
    { X: 'foundAgain' },
  ],
  [
    'not reported by several runs',
    runsOf([uploaded, X], [uploaded], [changed], [changed]),
    { X: 'codeChanged' },
  ],
] satisfies readonly [string, readonly ReportedRun[], Record<string, string>][])
  test(`F139 a verdict: ${name}`, async (t) => {
    assert.deepEqual(verdictsIn(await play(t, runs)), wanted);
  });

test('F139 findings of an aborted run only are kept after the next complete run', async (t) => {
  const history = await startHistory(t);
  await history.add(['shop'], toItems([X]), uploaded, { state: 'aborted' });
  await history.add(['shop'], toItems([Y]), uploaded);
  const last = await history.add(['shop'], toItems([Y]), uploaded);
  assert.deepEqual(verdictsIn(await history.result(last)), { X: 'fileUnchanged', Y: 'stillPresent' });
});

test('F139 findings without a unique location are kept after a run with one folder more', async (t) => {
  const history = await startHistory(t);
  const prose = { title: 'prose', file: undefined };
  await history.add(['a', 'b'], toItems([prose, { title: 'both' }]), uploaded);
  const last = await history.add(['a', 'b', 'c'], [], uploaded);
  assert.deepEqual(Object.keys(verdictsIn(await history.result(last))).sort(), ['both', 'prose']);
});

async function show(fixture: FindingFixture, ...findings: readonly object[]): Promise<Run> {
  return fixture.addRun(['shop'], JSON.stringify(toItems(findings)), uploaded);
}

test('F139 an import of unknown origin replaces no run and does not report fixed findings again', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await show(fixture, X);
  await fixture.store.setTriage(fixture.store.all(), 'fixed', 'escaped');
  const later = await show(fixture, X);
  const rest = Object.fromEntries(
    Object.entries(later).filter(([member]) => !/^(runId|dispatchedAt|exit|exitedAt)$/.test(member)),
  );
  const origin = { baseUrl: '', organizationId: '', state: 'imported', importedFrom: 'old.sarif' };
  await fixture.runs.create({ ...rest, ...origin } as Run);
  await fixture.store.load();
  assert.deepEqual(
    fixture.store.all().map(({ triage, verdict }) => [triage.state, verdict === 'foundAgain']),
    [['fixed', false]],
  );
});

test('F139 a finding triaged as fixed and reported again is open and “back again”', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await show(fixture, X);
  await fixture.store.setTriage(fixture.store.all(), 'fixed', 'escaped');
  const again = await show(fixture, { ...X, description: 'another report' });
  const of = () =>
    fixture.store
      .all()
      .map(({ triage, verdict, decidedBefore }) => [triage.state, verdict, decidedBefore?.state]);
  assert.deepEqual(of(), [['fixed', 'stillPresent', undefined]], 'it was under way while the person decided');
  await fixture.runs.create({ ...again, dispatchedAt: Date.now() + 60_000 } as Run);
  await fixture.store.load();
  assert.deepEqual(of(), [['open', 'foundAgain', 'fixed']]);
  await fixture.store.setTriage(fixture.store.all(), 'confirmed', '');
  assert.deepEqual(of(), [['confirmed', 'stillPresent', undefined]]);
});

const pair = { feature_name: 'Search', perspective: 'XSS' };
const live = { title: 'L', ...pair, url: 'https://shop.example/s', cwe: 79 };
const progress = { completed: [pair], skipped: [] };
const none = { completed: [], skipped: [] };

const first = { workflow_id: 'blackbox-assessment', workflow_run_id: 'run-1' };
const continued = { input: { resume: { kind: 'continue_assessment', continue_assessment: first } } };
const limited = {
  state: 'aborted',
  exit: { kind: 'ABORTED', abort: { code: 'credit_limit_reached' }, artifacts: ['findings'] },
};

for (const [name, before, found, scanned, more, wanted] of [
  ['the pair was tested again', progress, true, progress, {}, 'reportedAgain'],
  ['the run continues the one that tested it', progress, true, progress, continued, 'carriedOver'],
  ['not found, and the pair was tested again', progress, false, progress, {}, 'pairTested'],
  ['the pair is not applicable', progress, false, { completed: [], skipped: [pair] }, {}, 'notApplicable'],
  ['the pair was not tested', progress, false, none, {}, 'pairNotTested'],
  ['the run hit its limit before the pair', progress, false, none, limited, 'pairNotTested'],
  ['not tested again by the continuation', progress, false, progress, continued, 'pairNotTested'],
  ['tested by the continuation', none, false, progress, continued, 'pairTested'],
  ['the run that tested it is unknown', undefined, false, progress, continued, 'unknown'],
  ['the tested pairs are unknown', progress, false, undefined, {}, 'unknown'],
] satisfies readonly [string, object | undefined, boolean, object | undefined, object, string][])
  test(`F139 a verdict on a live application: ${name}`, async (t) => {
    const history = await startHistory(t);
    await history.addLive([live], before);
    const last = await history.addLive(found ? [live] : [], scanned, more);
    assert.deepEqual(verdictsIn(await history.result(last)), { L: wanted });
  });
