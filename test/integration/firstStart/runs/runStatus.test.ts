import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Run } from '../../../../src/core/run/state/run.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { formatTime } from '../../../../src/editor/formats.ts';
import { checkRuns } from '../../../../src/editor/runs/runCommands.ts';
import { silent } from '../../../silentLog.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { watchMessages } from '../../dialogs.ts';
import { clockAt, partly, storeOfRuns } from '../../doubles.ts';
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

/** An invented earlier run of the same folder that took so many hours. */
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
    `Last response: ${formatTime(now - minute)}`,
    `Next check: ${formatTime(nextCheckAt)}`,
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
    for (const fact of facts)
      assert.ok((row?.tooltip as string).includes(`\n${fact}`) && labels.includes(fact), fact);
    const ended = await rowsOf(finished(9).id);
    assert.ok(!ended.some(({ label }) => facts.includes(label as string)));
  });

  it('is the answer of Check Run Status Now, the most urgent run first', async () => {
    const said = ['Information', [first, ...facts].join(' · '), 'Show Runs'].join(' | ');
    assert.deepEqual(await check(running, ...earlier), [said]);
    const failing = { ...running, id: 'failing', trouble: { kind: 'timeout', since: now } } as Run;
    const [warning = '', ...more] = await check(running, failing);
    assert.match(
      warning,
      /^Warning \| \S.* didn’t respond in time\. · .*… and 1 more \| Show Log \| Show Runs$/,
    );
    assert.deepEqual(more, []);
    assert.deepEqual(await check(finished(9)), ['Information | There are no runs in progress to check.']);
  });
});
