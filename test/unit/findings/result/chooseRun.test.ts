import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  baselineAmong,
  durationsBefore,
  earlierRuns,
  FolderChoices,
} from '../../../../src/core/findings/chooseRun.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { runOf } from '../../run/sampleRuns.ts';
import { startHistory, verdictsIn } from './histories.ts';

const ended = { ...runOf.succeeded, artifacts: [{ name: 'findings', file: 'findings.json' }] };
const atLimit = {
  state: 'aborted',
  exit: { kind: 'ABORTED', abort: { code: 'credit_limit_reached' }, artifacts: ['findings'] },
};

/** The invented runs of one folder are in their order. Each has its ID, and what differs. */
function runsOf(...runs: readonly (readonly [id: string, more?: object])[]): readonly Run[] {
  return runs
    .map(([id, more], at) => ({ ...ended, id, runId: id, createdAt: at, ...more }) as Run)
    .toReversed();
}

type Live = { readonly input?: object; readonly [member: string]: unknown };
function live({ input, ...more }: Live = {}): object {
  const target_urls = ['https://shop.example/'];
  return { workflow: 'blackbox-assessment', input: { target_urls, ...input }, ...more };
}

function continues(id: string): object {
  const continued = { workflow_id: 'blackbox-assessment', workflow_run_id: id };
  return { resume: { kind: 'continue_assessment', continue_assessment: continued } };
}

function shownOf(runs: readonly Run[], choices = new FolderChoices()): readonly (string | undefined)[] {
  return [...choices.runsToShow(runs, () => true).values()].map((run) => run?.id).sort();
}

function baselineOf(id: string, runs: readonly Run[]): string | undefined {
  const run = runs.find((each) => each.id === id);
  return run && baselineAmong(runs, run)?.id;
}

test('F200 targets that differ by case of the host, default port, “/” or dot segments are one application', () => {
  const shownFor = (...urls: readonly string[]): number =>
    shownOf(runsOf(...urls.map((url) => [url, live({ input: { target_urls: [url] } })] as const))).length;
  const address = 'https://shop.example/app?q=%2F#top';
  for (const same of [
    'HTTPS://SHOP.example/app',
    'https://shop.example:443/app/',
    'https://shop.example/x/%2e./app',
  ])
    assert.equal(shownFor(address, `${same}?q=%2F#top`), 1, same);
  assert.equal(shownFor('https://shop.example', 'https://shop.example/'), 1);
  for (const other of ['http://shop.example/app', 'https://shop.example:444/app', 'https://shop.example/App'])
    assert.equal(shownFor(address, `${other}?q=%2F#top`), 2, other);
  assert.equal(shownFor(address, address.replace('%2F', '/')), 2);
});

const pairs = [{ feature_name: 'Search', perspective: 'XSS' }];
const crashed = { ...atLimit, exit: { ...atLimit.exit, abort: { code: 'crash' } } };
const twice = { target_urls: ['https://shop.example/', 'https://shop.example/'] };
const admin = live({ input: { target_urls: ['https://admin.example/'] } });
for (const [what, runs, shown, baselines] of [
  [
    'a partial run does not replace findings and is no baseline',
    runsOf(['whole'], ['part', { state: 'cancelled' }], ['next']),
    [['next'], ['whole'], ['whole']],
    { next: 'whole' },
  ],
  [
    'live findings are shown beside those of the code, for each set of target URLs the latest',
    runsOf(['code'], ['first', live()], ['second', live({ input: twice })], ['admin', admin], ['newer code']),
    [
      ['admin', 'newer code', 'second'],
      ['admin', 'code', 'second'],
      ['code', 'second'],
    ],
    { second: 'first', admin: undefined, 'newer code': 'code' },
  ],
  [
    'F143 a run of one pair, and its continuation, replace no findings and are no baseline',
    runsOf(
      ['whole', live()],
      ['tried', live({ input: { pairs } })],
      ['tried to the limit', live({ input: { pairs }, ...atLimit })],
      ['continued', live({ input: { pairs, ...continues('tried') }, continuesOnePair: true })],
      ['next', live()],
    ),
    [['next'], ['whole'], ['whole'], ['whole']],
    { next: 'whole' },
  ],
  [
    'a run that hit its credit limit shows its findings and is no baseline',
    runsOf(['whole', live()], ['limited', live(atLimit)], ['crashed', live(crashed)], ['next', live()]),
    [['next'], ['limited'], ['limited']],
    { next: 'whole' },
  ],
  [
    'a continuation has the same baseline as the run it continues',
    runsOf(['code'], ['whole', live()], ['begun', live()], ['next', live({ input: continues('begun') })]),
    [['code', 'next']],
    { code: undefined, whole: undefined, begun: 'whole', next: 'whole' },
  ],
] satisfies readonly [string, readonly Run[], readonly string[][], Record<string, string | undefined>][])
  test(what, () => {
    // Each of the latest runs is once the last one.
    for (const [later, ids] of shown.entries()) assert.deepEqual(shownOf(runs.slice(later)), ids);
    for (const [id, baseline] of Object.entries(baselines)) assert.equal(baselineOf(id, runs), baseline);
  });

test('any run with findings can be chosen, or none', () => {
  const runs = runsOf(['whole'], ['part', { state: 'cancelled' }], ['next']);
  const choices = new FolderChoices();
  choices.choose(runs[1]!, runs);
  assert.deepEqual(shownOf(runs, choices), ['part']);
  choices.clear(runs, () => true);
  assert.deepEqual(shownOf(runs, choices), [undefined]);
});

test('a run is compared with runs of its own account, and an import of unknown origin only with its like', () => {
  const both = [...runOf.succeeded.targets, { folder: '/home/somebody/tool', name: 'tool' }];
  const unknown = { state: 'imported', importedFrom: 'other.sarif', runId: undefined };
  const runs = runsOf(
    ['first'],
    ['of two folders', { targets: both }],
    ['of another account', { organizationId: 'other' }],
    ['unknown', unknown],
    ['unknown, of two folders', { ...unknown, targets: both }],
    ['second'],
    ['second, imported', { state: 'imported', importedFrom: 'b.zip', runId: 'second' }],
    ['unknown, too', unknown],
  );
  const comparedWith = (id: string): unknown => {
    const run = runs.find((each) => each.id === id);
    return run && [baselineOf(id, runs), ...earlierRuns(runs, run).map((other) => other.id)];
  };
  assert.deepEqual(comparedWith('second'), ['first', 'of two folders', 'first']);
  const other = 'of another account';
  assert.deepEqual(comparedWith('second, imported'), [other, other, 'of two folders', 'first']);
  assert.deepEqual(comparedWith('unknown, too'), [undefined, 'unknown']);
});

test('F139 findings not reached by a partial run get no verdict', async (t) => {
  const history = await startHistory(t);
  const findings = (...titles: string[]) => titles.map((title) => ({ title, file: 'a.js' }));
  const whole = await history.add(['shop'], findings('a', 'b'));
  const part = await history.add(['shop'], findings('a', 'new'), undefined, { state: 'cancelled' });
  const result = await history.result(part);
  assert.deepEqual(verdictsIn(result), { a: 'stillPresent', new: 'new', b: undefined });
  assert.equal(result?.head.baseline?.id, whole.id);
});

const hour = 3_600_000;
const now = { ...runOf.running, id: 'now', createdAt: 1_000 * hour };

/** The invented run finished after so many hours, and was last seen running just before its end. */
function finished(hours: number, changes: object = {}): object {
  const exitedAt = hours * hour;
  const times = { createdAt: 0, dispatchedAt: 0, ranAt: exitedAt - hour / 6, exitedAt };
  return { ...runOf.succeeded, id: `took-${String(hours)}`, ...times, ...changes };
}

const input = { target_urls: ['https://shop.example.test/'] };
const onePair = { ...input, pairs: [{ feature_name: 'Search', perspective: 'XSS' }] };
const resumed = { ...input, ...continues('invented') };
const ofCode = [now, finished(9), finished(6)] as const;
for (const [what, run, earlier, durations] of [
  ['finished runs of the same folders are known', now, ofCode, [9, 6]],
  ['the run itself says nothing', now, [now], []],
  ['other folders', now, [finished(1, { targets: [{ folder: '/home/somebody/other', name: 'other' }] })], []],
  ['another kind of run', now, [finished(2, live({ input }))], []],
  ['a run that ended early', now, [finished(3, { state: 'aborted' })], []],
  ['a run whose end nobody saw', now, [finished(60, { ranAt: 8 * hour })], []],
  ['a run whose start nobody saw', now, [finished(1, { confirmedAt: undefined })], []],
  [
    'runs of an application: one pair, or a continuation',
    { ...now, ...live({ input }) },
    [input, onePair, resumed].map((each, at) => finished(4 + at, live({ input: each }))),
    [4],
  ],
] satisfies readonly [string, object, readonly object[], readonly number[]][])
  test(`the durations of earlier runs: ${what}`, () => {
    const known = durationsBefore(earlier as Run[], run);
    const wanted = durations.map((hours) => hours * hour);
    assert.deepEqual(known, wanted);
  });
