import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Failure, Run } from '../../../../src/core/run/state/run.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { formatDay, formatMinute, formatTime } from '../../../../src/editor/formats.ts';
import { checkRuns } from '../../../../src/editor/runs/runCommands.ts';
import { silent } from '../../../silentLog.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { watchMessages } from '../../dialogs.ts';
import { clockAt, partly, storeOfFindings, storeOfRuns } from '../../doubles.ts';
import { inRestrictedMode } from '../../restrictedMode.ts';
import { showOf } from '../../shownRuns.ts';

const minute = 60_000;
const hour = 60 * minute;
const [startedAt, now] = [1_000 * hour, 1_003 * hour + 12 * minute];
const nextCheckAt = now + 9 * minute;
const clock = clockAt(now);

const running = {
  ...runOf.running,
  id: 'running',
  createdAt: startedAt,
  dispatchedAt: startedAt,
  lastAnswerAt: now - minute,
} as Run;

/** The invented earlier run of the same folder took so many hours. */
const finished = (hours: number): Run => {
  const exitedAt = hours * hour;
  const times = { createdAt: 0, dispatchedAt: 0, ranAt: exitedAt - minute, exitedAt };
  return { ...runOf.succeeded, id: `took-${String(hours)}`, ...times };
};
const earlier = [finished(9), finished(6)];

const show = (...all: readonly Run[]) => showOf(storeOfRuns(...all), { clock, nextCheckAt });

const check = async (...all: readonly Run[]): Promise<readonly string[]> => {
  const { shown } = watchMessages();
  const tracker = partly<RunTracker>({ checkNow: () => Promise.resolve(), nextCheckAt: () => nextCheckAt });
  await checkRuns({ runs: storeOfRuns(...all), tracker, clock, log: silent });
  return shown.map(({ severity, text, buttons }) => [severity, text, ...buttons].join(' | '));
};

describe('what is known of a run in progress', () => {
  const facts = [
    `Next check: ${formatTime(nextCheckAt)}`,
    `Last response: ${formatTime(now - minute)}`,
    'Earlier runs took 6h 0m to 9h 0m',
  ];
  const first = 'Whitebox assessment · shop: running, 3h 12m';

  it('is in the tooltip of the status item: elapsed, last response, next check, and earlier runs', () => {
    assert.equal(show(running, ...earlier).tooltip(), [first, ...facts].join('  \n'));
    assert.doesNotMatch(show(running).tooltip(), /Earlier runs|%/);
    const tracked = { ...running, confirmedAt: undefined } as Run;
    assert.match(
      show(tracked).tooltip(),
      /: running, watched for 3h 12m {2}\n/,
      'if it was started elsewhere',
    );
  });

  it('is in the tooltip of its row in the Runs view, and in the lines below the row', async () => {
    const { rowsOf } = show(running, ...earlier);
    const [row, ...lines] = await rowsOf('running');
    const labels = lines.map(({ label }) => label);
    assert.equal(labels[0], facts[0], 'what happens next comes first');
    for (const fact of facts)
      assert.ok((row?.tooltip as string).includes(`\n${fact}`) && labels.includes(fact), fact);
    const ended = await rowsOf(finished(9).id);
    assert.ok(!ended.some(({ label }) => facts.includes(label as string)));
  });

  it('begins with what happens next, and when', async () => {
    const time = formatTime(nextCheckAt);
    const troubled = (kind: Failure['kind']) => ({ ...running, trouble: { kind, firstSeen: now } }) as Run;
    const { collecting } = runOf;
    const all = ['findings', 'report'].map((name) => ({ name, file: name }));
    const late = { ...collecting, trouble: { kind: 'timeout', firstSeen: now } } as Run;
    for (const [run, due, said] of [
      [runOf.preparing, {}, 'When the upload is complete, VS Code sends the start request.'],
      [runOf.dispatching, {}, 'VS Code is waiting for the response to the start request.'],
      [troubled('timeout'), { nextCheckAt }, `Next check: ${time}`],
      [
        troubled('unauthorized'),
        { nextCheckAt },
        `Until you sign in, VS Code tries the same token again. Next check: ${time}`,
      ],
      [
        troubled('tokenCommand'),
        { nextCheckAt },
        `VS Code runs the token command again. Next check: ${time}`,
      ],
      [troubled('notSignedIn'), {}, 'When you sign in, VS Code checks the run again.'],
      [collecting, {}, 'VS Code is downloading the results.'],
      [late, { nextCheckAt }, `Next check: ${time}`],
      [{ ...collecting, artifacts: all } as Run, {}, 'VS Code is reading the findings.'],
      [runOf.succeeded, { nextCheckAt }, `VS Code retries the deletion of the uploaded source: ${time}`],
    ] as const) {
      const [, first] = await showOf(storeOfRuns(run), { clock, ...due }).rowsOf(run.id);
      assert.equal(first?.label, said);
    }
  });

  it('names the trust that a window in Restricted Mode lacks, which checks no run', async () => {
    for (const run of [running, runOf.collecting, runOf.dispatching]) {
      const first = await inRestrictedMode(async () => (await show(run).rowsOf(run.id))[1]);
      assert.match(first?.label as string, /^This window is in Restricted Mode/);
    }
  });

  it('says when the findings of an ended run are read, read again, or compared with their files', async () => {
    const run = runOf.succeeded;
    for (const [more, said] of [
      [{ reading: () => [run] }, 'VS Code is reading the findings.'],
      [
        { shownRuns: () => [{ run, shown: [], failure: { kind: 'storage' } }] },
        'When this window gets the focus, VS Code reads the findings again.',
      ],
      [
        { shownRuns: () => [{ run, shown: [], unread: ['/invented/shop'] }] },
        'When shop can be read, VS Code compares the findings with its files.',
      ],
    ] as const) {
      const findings = storeOfFindings([], more);
      const [row, first] = await showOf(storeOfRuns(run), { clock, findings }).rowsOf(run.id);
      assert.equal(first?.label, said);
      assert.ok((row?.tooltip as string).includes(said));
    }
    const malformed = { shownRuns: () => [{ run, shown: [], failure: { kind: 'malformedFindings' } }] };
    const [, first] = await showOf(storeOfRuns(run), { findings: storeOfFindings([], malformed) }).rowsOf(
      run.id,
    );
    assert.doesNotMatch(JSON.stringify(first?.label), /again/, 'the same file is not read again');
  });

  it('names the minute where a day has several runs, and counts the findings as far as they are known', async () => {
    const at = (id: string, createdAt: number): Run => ({ ...runOf.succeeded, id, createdAt });
    const counts = {
      one: { findings: 12, open: 9 },
      two: { findings: 12, open: undefined },
      three: undefined,
    };
    const findings = storeOfFindings([], {
      countsOf: ({ id }: Run) => Promise.resolve(counts[id as keyof typeof counts]),
    });
    const runs = storeOfRuns(at('one', now), at('two', now + minute), at('three', now - 72 * hour));
    const { rowsOf } = showOf(runs, { clock, findings });
    const described = async (id: string) => (await rowsOf(id))[0]?.description;
    assert.equal(await described('one'), `${formatMinute(now)} · 12 findings, open: 9`);
    assert.equal(await described('two'), `${formatMinute(now + minute)} · 12 findings`);
    assert.equal(await described('three'), formatDay(now - 72 * hour), 'an unknown number is not 0');
  });

  it('is the answer of Check Run Status Now, the most urgent run first', async () => {
    const said = ['Information', [first, ...facts].join(' · '), 'Show Runs'].join(' | ');
    assert.deepEqual(await check(running, ...earlier), [said]);
    const failing = { ...running, id: 'failing', trouble: { kind: 'timeout', firstSeen: now } } as Run;
    const [warning = '', ...more] = await check(running, failing);
    assert.match(
      warning,
      /^Warning \| \S.* didn’t respond in time\. · .*… and 1 more \| Show Log \| Show Runs$/,
    );
    assert.deepEqual(more, []);
    assert.deepEqual(await check(finished(9)), ['Information | There are no runs in progress to check.']);
  });
});
