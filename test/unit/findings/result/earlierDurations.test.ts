import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationsBefore } from '../../../../src/core/findings/chooseRun.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { runOf } from '../../run/sampleRuns.ts';

const hour = 3_600_000;
const minute = 60_000;
const now = { ...runOf.running, id: 'now', createdAt: 1_000 * hour } as Run;

/** An invented finished run that took so many hours, last seen running just before its end. */
function finished(hours: number, changes: Partial<Run> = {}): Run {
  const exitedAt = hours * hour;
  const times = { createdAt: 0, dispatchedAt: 0, ranAt: exitedAt - 10 * minute, exitedAt };
  return { ...runOf.succeeded, id: `took-${String(hours)}`, ...times, ...changes } as Run;
}

test('the durations of earlier finished runs of the same folders are known', () => {
  assert.deepEqual(durationsBefore([now, finished(9), finished(6)], now), [9 * hour, 6 * hour]);
  assert.deepEqual(durationsBefore([now], now), []);
});

test('a run of other folders, of another kind, or that ended early says nothing about the duration', () => {
  const input = { target_urls: ['https://shop.example.test/'] };
  const others = [
    finished(1, { targets: [{ folder: '/home/somebody/other', name: 'other' }] }),
    finished(2, { workflow: 'blackbox-assessment', input }),
    finished(3, { state: 'aborted' }),
  ];
  assert.deepEqual(durationsBefore([now, ...others], now), []);
  const onePair = { ...input, pairs: [{ feature_name: 'Search', perspective: 'XSS' as const }] };
  const resumed = {
    ...input,
    resume: {
      kind: 'continue_assessment' as const,
      continue_assessment: { workflow_run_id: 'invented' },
    },
  };
  const blackbox = (changes: Partial<Run>): Partial<Run> => ({ workflow: 'blackbox-assessment', ...changes });
  const whole = { ...now, ...blackbox({ input }) } as Run;
  const [all, pair, rest] = [input, onePair, resumed].map((each, at) =>
    finished(4 + at, blackbox({ input: each })),
  );
  assert.ok(all && pair && rest);
  assert.deepEqual(durationsBefore([whole, all, pair, rest], whole), [4 * hour]);
});

test('a run whose start or end nobody saw says nothing about the duration', () => {
  const endedWhileClosed = finished(60, { ranAt: 8 * hour });
  const tracked = finished(1, { confirmedAt: undefined });
  assert.deepEqual(durationsBefore([now, endedWhileClosed, tracked], now), []);
});
