import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { formatTime } from '../../../../src/editor/formats.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { clockAt, storeOfRuns } from '../../doubles.ts';
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
});
