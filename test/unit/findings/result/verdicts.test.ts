import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Run, RunIn } from '../../../../src/core/run/state/run.ts';
import { type FindingFixture, setUpFindings, toVerdicts, verdictsOf } from '../findingFixture.ts';

/** The invented sent files of a folder by path, and its findings. */
type ReportedRun = readonly [
  sent: Readonly<Record<string, string>> | undefined,
  ...findings: readonly object[],
];

function write(findings: readonly object[]): string {
  const usual = { severity: 'high', cwe: 89, file: 'src/a.js', line: 2 };
  return JSON.stringify(findings.map((each) => ({ ...usual, ...each })));
}

async function play(fixture: FindingFixture, runs: readonly ReportedRun[]): Promise<readonly Run[]> {
  fixture.open.add(path.join(fixture.root, 'shop'));
  const played: Run[] = [];
  for (const [sent, ...findings] of runs) {
    if (sent !== undefined)
      await rm(path.join(fixture.root, 'shop', 'src'), { recursive: true, force: true });
    played.push(await fixture.storeRun(['shop'], write(findings), sent));
  }
  await fixture.store.load();
  return played;
}

const code = 'const id = ask();\ndb.query(`select ${id}`);\nreturn 1;\n';
const sent = { 'src/a.js': code, 'src/b.js': 'other();\n' };
const changed = { ...sent, 'src/a.js': code.replace('`select ${id}`', 'byId, id') };
const otherChanged = { ...sent, 'src/b.js': 'x();\n' };
const [onlyA, onlyB] = [{ 'src/a.js': code }, { 'src/b.js': 'other();\n' }];
const X = { title: 'X', snippet: 'db.query(`select ${id}`);' };
const Y = { title: 'Y', cwe: 79, line: 3 };

const runsOf = (...runs: readonly ReportedRun[]): readonly ReportedRun[] => runs;
const inBoth = {
  ...X,
  locations: [
    { file: 'src/a.js', line: 2 },
    { file: 'src/b.js', line: 1 },
  ],
};
const noFile = { ...X, file: undefined };

for (const [name, runs, wanted] of [
  [
    'a finding that no earlier run had is new',
    runsOf([sent, Y], [sent, Y, X]),
    { X: 'new', Y: 'stillThere' },
  ],
  ['unchanged code is existing', runsOf([sent, X], [sent, X]), { X: 'stillThere' }],
  ['not found, its file changed', runsOf([sent, X, Y], [changed, Y]), { X: 'codeChanged', Y: 'stillThere' }],
  ['not found, another of its files changed', runsOf([sent, inBoth], [otherChanged]), { X: 'codeChanged' }],
  ['not found, another of its files not sent', runsOf([sent, inBoth], [onlyA]), { X: 'notSent' }],
  ['not found again in unchanged files', runsOf([sent, X], [sent]), { X: 'sameBytes' }],
  ['its file was not sent', runsOf([sent, X], [onlyB]), { X: 'notSent' }],
  ['the sent files are unknown', runsOf([undefined, X], [undefined]), { X: 'unknown' }],
  ['a finding without a place is not compared', runsOf([sent, noFile], [sent]), { X: 'unknown' }],
  ['reported before, but not by the previous run', runsOf([sent, X], [sent], [sent, X]), { X: 'backAgain' }],
  ['not reported by several runs', runsOf([sent, X], [sent], [changed], [changed]), { X: 'codeChanged' }],
] satisfies readonly [string, readonly ReportedRun[], Record<string, string>][])
  test(`F139 a verdict: ${name}`, async (t) => {
    const fixture = await setUpFindings(t);
    const last = (await play(fixture, runs)).at(-1);
    assert.ok(last);
    assert.deepEqual(await verdictsOf(fixture, last), wanted);
    const { store } = fixture;
    assert.deepEqual(toVerdicts([...store.all(), ...store.absent()]), wanted);
  });

test('F139 findings of an aborted run only are kept after the next complete run', async (t) => {
  const fixture = await setUpFindings(t);
  const [part] = await play(fixture, [[sent, X]]);
  await fixture.runs.create({ ...part, state: 'aborted' } as Run);
  const [, last] = await play(fixture, [
    [sent, Y],
    [sent, Y],
  ]);
  assert.ok(last);
  assert.deepEqual(await verdictsOf(fixture, last), { X: 'sameBytes', Y: 'stillThere' });
});

test('F139 findings of a run of two folders are kept after a run of one of them', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'tool');
  const both = [0, 1].map((target) => ({ ...X, title: String(target), target_index: target }));
  await fixture.addRun(['shop', 'tool'], write(both), sent);
  await fixture.addRun(['shop'], write([Y]), sent);
  const { store } = fixture;
  assert.deepEqual(toVerdicts([...store.all(), ...store.absent()]), {
    1: undefined,
    Y: undefined,
    0: 'sameBytes',
  });
});

test('F139 findings without a unique place are kept after a run with one folder more', async (t) => {
  const fixture = await setUpFindings(t);
  for (const folder of ['a', 'b', 'c']) fixture.open.add(path.join(fixture.root, folder));
  await fixture.addRun(['a', 'b'], write([{ title: 'prose', file: undefined }, { title: 'both' }]), sent);
  await fixture.addRun(['a', 'b', 'c'], write([]), sent);
  assert.deepEqual(
    fixture.store
      .absent()
      .map(({ finding }) => finding.title)
      .sort(),
    ['both', 'prose'],
  );
});

test('F139 an import of unknown origin replaces no run and does not report fixed findings again', async (t) => {
  const fixture = await setUpFindings(t);
  await play(fixture, [[sent, X]]);
  await fixture.store.setTriage(fixture.store.all(), 'fixed', 'escaped');
  const later = await fixture.addRun(['shop'], write([X]));
  const rest = Object.fromEntries(
    Object.entries(later).filter(([member]) => !/^(runId|dispatchedAt|exit|exitedAt)$/.test(member)),
  );
  const origin = { baseUrl: '', organizationId: '', state: 'imported', importedFrom: 'old.sarif' };
  await fixture.runs.create({ ...rest, ...origin } as Run);
  await fixture.store.load({ force: true });
  assert.deepEqual(
    fixture.store.all().map(({ triage, verdict }) => [triage.state, verdict === 'backAgain']),
    [['fixed', false]],
  );
});

test('F139 a finding triaged as fixed and reported again is open and “back again”', async (t) => {
  const fixture = await setUpFindings(t);
  await play(fixture, [[sent, X]]);
  await fixture.store.setTriage(fixture.store.all(), 'fixed', 'escaped');
  const [again] = await play(fixture, [[sent, { ...X, description: 'another report' }]]);
  const of = () =>
    fixture.store
      .all()
      .map(({ triage, verdict, decidedBefore }) => [triage.state, verdict, decidedBefore?.state]);
  assert.deepEqual(of(), [['fixed', 'stillThere', undefined]], 'it was under way while the person decided');
  await fixture.runs.create({ ...again, dispatchedAt: Date.now() + 60_000 } as Run);
  await fixture.store.load({ force: true });
  assert.deepEqual(of(), [['open', 'backAgain', 'fixed']]);
  await fixture.store.setTriage(fixture.store.all(), 'confirmed', '');
  assert.deepEqual(of(), [['confirmed', 'stillThere', undefined]]);
});

const live = {
  perspective: 'XSS',
  feature_name: 'Search',
  url: 'https://shop.example/s',
  cwe: 79,
  file: undefined,
};
const pair = { feature_name: 'Search', perspective: 'XSS' };
const progress = { completed: [pair], skipped: [] };
const none = { completed: [], skipped: [] };

/** Stores an invented blackbox assessment with what it tested. */
async function assess(
  fixture: FindingFixture,
  found: readonly object[],
  { scanned, ...rest }: { scanned?: object | undefined; [member: string]: unknown },
): Promise<Run> {
  const run = (await fixture.storeRun(['shop'], write(found))) as RunIn<'succeeded'>;
  const { artifacts } = run;
  const file = 'artifact-progress';
  if (scanned !== undefined)
    await writeFile(path.join(fixture.runs.folderOf(run.id), file), JSON.stringify(scanned));
  const blackbox = {
    ...run,
    workflow: 'blackbox-assessment',
    artifacts: [...artifacts, ...(scanned === undefined ? [] : [{ name: 'scan_progress', file }])],
    ...rest,
    input: { target_urls: ['https://shop.example/'], ...(rest['input'] as object | undefined) },
  } as Run;
  await fixture.runs.create(blackbox);
  return blackbox;
}

const resume = (id: string) => ({
  input: {
    resume: {
      kind: 'continue_assessment',
      continue_assessment: { workflow_id: 'blackbox-assessment', workflow_run_id: id },
    },
  },
});
const limited = {
  state: 'aborted',
  exit: { kind: 'ABORTED', abort: { code: 'credit_limit_reached' }, artifacts: ['findings'] },
};

const tested = { scanned: progress };
const continued = { scanned: progress, ...resume('run-1') };
const skipped = { scanned: { completed: [], skipped: [pair] } };

for (const [name, before, found, how, wanted] of [
  ['the pair was tested again', progress, [live], tested, 'reportedAgain'],
  ['the run continues the one that tested it', progress, [live], continued, 'carriedOver'],
  ['not found, and the pair was tested again', progress, [], tested, 'pairTested'],
  ['the pair is not applicable', progress, [], skipped, 'notApplicable'],
  ['the pair was not tested', progress, [], { scanned: none }, 'pairNotTested'],
  ['the run hit its limit before the pair', progress, [], { scanned: none, ...limited }, 'pairNotTested'],
  ['not tested again by the continuation', progress, [], continued, 'pairNotTested'],
  ['tested by the continuation', none, [], continued, 'pairTested'],
  ['the run that tested it is unknown', undefined, [], continued, 'unknown'],
  ['the tested pairs are unknown', progress, [], {}, 'unknown'],
] satisfies readonly [string, object | undefined, readonly object[], { scanned?: object }, string][])
  test(`F139 a verdict on a live application: ${name}`, async (t) => {
    const fixture = await setUpFindings(t, 'shop');
    await assess(fixture, [{ ...live, title: 'L' }], { scanned: before });
    const last = await assess(
      fixture,
      found.map((each) => ({ ...each, title: 'L' })),
      how,
    );
    assert.deepEqual(await verdictsOf(fixture, last), { L: wanted });
  });
