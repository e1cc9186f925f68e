import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { advance } from '../../../../src/core/run/state/advance.ts';
import type { Run, RunIn } from '../../../../src/core/run/state/run.ts';
import {
  answered,
  asJournaled,
  emptyExit,
  eventOf,
  runOf,
  stillRunning,
  uploadedRun,
} from '../sampleRuns.ts';

/** Each state has a run, in the order of the columns below. */
const columns: Readonly<Record<string, Run>> = { ...runOf, preparing: uploadedRun };

/**
 * An event leads to this state from the present one; `·` changes nothing at all, `=` changes the
 * run but not its state.
 */
// prettier-ignore
const table: Readonly<Record<keyof typeof eventOf, string>> = {
  // preparing dispatching unknown running cancelling collecting succ. abort. canc. fail. imp.
  reserved:                         '=           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  confirmed:                        '=           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  dispatchIntended:                 'dispatching ·           dispatching ·           ·           ·           ·     ·     ·     ·     ·',
  dispatched:                       '·           running     running     ·           ·           ·           ·     ·     ·     ·     ·',
  'dispatched for another intent':  '·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  dispatchStopped:                  '·           cancelled   ·           ·           ·           ·           ·     ·     ·     ·     ·',
  'dispatchStopped for another intent': '·         ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  'dispatchStopped by the window':  '·           failed      ·           ·           ·           ·           ·     ·     ·     ·     ·',
  takenOver:                        'failed      unknown     ·           ·           ·           ·           ·     ·     ·     ·     ·',
  dispatchLost:                     '·           unknown     ·           ·           ·           ·           ·     ·     ·     ·     ·',
  'answered RUNNING':               '·           ·           ·           =           =           ·           ·     ·     ·     ·     ·',
  'answered SUCCESS':               '·           ·           ·           collecting  collecting  ·           ·     ·     ·     ·     ·',
  'answered ABORTED':               '·           ·           ·           collecting  collecting  ·           ·     ·     ·     ·     ·',
  stepFailed:                       '·           ·           ·           =           =           =           ·     ·     ·     ·     ·',
  cancelSent:                       '·           ·           ·           =           ·           ·           ·     ·     ·     ·     ·',
  'cancelSent and refused':         '·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  artifactDownloaded:               '·           ·           ·           ·           ·           =           ·     ·     ·     ·     ·',
  'cancelSent and accepted':        '·           ·           ·           cancelling  ·           ·           ·     ·     ·     ·     ·',
  collected:                        '·           ·           ·           ·           ·           succeeded   ·     ·     ·     ·     ·',
  failed:                           'failed      failed      ·           ·           ·           ·           ·     ·     ·     ·     ·',
  'failed for another intent':      '·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  abandoned:                        'cancelled   ·           cancelled   ·           ·           ·           ·     ·     ·     ·     ·',
  uploadRemoved:                    '=           =           =           =           =           =           =     =     =     =     =',
  'stepFailed with Retry-After':    '=           =           =           =           =           =           =     =     =     =     =',
  archivesRemoved:                  '=           =           =           =           =           =           =     =     =     =     =',
  endNotified:                      '·           ·           =           ·           ·           ·           =     =     ·     =     ·',
};

describe('advance', () => {
  for (const [name, row] of Object.entries(table)) {
    const expected = row.split(/\s+/);
    test(`${name} leads to the states of the table, from each of the ${String(expected.length)} states`, () => {
      assert.equal(expected.length, Object.keys(columns).length);
      for (const [index, [column, before]] of Object.entries(columns).entries()) {
        const next = advance(before, eventOf[name as keyof typeof eventOf]);
        const seen = next === before ? '·' : next.state === column ? '=' : next.state;
        assert.equal(seen, expected[index], `${name} on ${column}`);
      }
    });
  }

  const after = (run: Run, ...names: (keyof typeof eventOf)[]): Run =>
    names.map((name) => eventOf[name]).reduce<Run>(advance, run);

  test('F203 a run lacks its record until that is saved, also after another download, or with a stop before', () => {
    const at = 10;
    const lacks = (run: Run): boolean | undefined => run.lacksRecord;
    const ended = advance(runOf.collecting, { type: 'collected', lacksRecord: true, at });
    const saved = advance(ended, { type: 'recordSaved', at });
    const again = advance(saved, { type: 'downloadedAgain', artifacts: [], at });
    const stopped = advance(runOf.collecting, { type: 'unwatched', at: Number.MAX_SAFE_INTEGER });
    assert.deepEqual([ended, saved, again, stopped].map(lacks), [true, false, true, true]);
    assert.equal(advance(saved, { type: 'recordSaved', at }), saved);
  });

  test('a dispatch is not intended before a file is confirmed', () => {
    const run = after(runOf.preparing, 'reserved');
    assert.equal(advance(run, eventOf.dispatchIntended), run);
  });

  test('a dispatch is not intended before both files are confirmed', () => {
    const { targets } = uploadedRun;
    const run = {
      ...uploadedRun,
      targets: [...targets, { ...targets[0]!, upload: undefined }],
    } as Run;
    assert.equal(advance(run, eventOf.dispatchIntended), run);
  });

  test('an accepted run runs since the dispatch was intended, however late its ID is found', () => {
    for (const dispatched of [runOf.dispatching, runOf.unknown]) {
      const run = advance(dispatched, { type: 'dispatched', intendedAt: 10, runId: 'run-1', at: 5_000 });
      assert.equal('dispatchedAt' in run && run.dispatchedAt, 10);
    }
  });

  test('a rejected second dispatch keeps what is known of the first, and records its own reason', () => {
    const { unknown } = runOf;
    const again = advance(unknown, { type: 'dispatchIntended', at: 5_000 });
    assert.equal(again.state, 'dispatching');
    const stopped = { ...eventOf.dispatchStopped, intendedAt: 5_000 };
    assert.deepEqual(advance(again, stopped), { ...unknown, noticeDue: false });
    const failure = { kind: 'forbidden', status: 403 } as const;
    const refused = advance(again, { type: 'failed', failure, at: 6_000 });
    assert.deepEqual(refused, { ...unknown, refusal: failure });
    const third = advance(refused, { type: 'dispatchIntended', at: 7_000 });
    assert.deepEqual(advance(third, { ...stopped, intendedAt: 7_000 }), { ...unknown, noticeDue: false });
    const lost = advance(third, eventOf.dispatchLost);
    assert.deepEqual([lost.state, 'intendedAt' in lost && lost.intendedAt], ['unknown', 7_000]);
  });

  test('a cancelled run ends as cancelled if the service calls it aborted, and as succeeded if a success', () => {
    assert.equal(after(runOf.cancelling, 'answered ABORTED', 'collected').state, 'cancelled');
    assert.equal(after(runOf.cancelling, 'answered SUCCESS', 'collected').state, 'succeeded');
    assert.equal(after(runOf.running, 'answered ABORTED', 'collected').state, 'aborted');
  });

  test('a cancellation may have taken effect from the first request until that one is rejected', () => {
    const sentAt = (run: Run): unknown => 'cancelSentAt' in run && run.cancelSentAt;
    const sent = after(runOf.running, 'cancelSent');
    const again = advance(sent, { type: 'cancelSent', sentAt: 50, at: 50 });
    assert.deepEqual([sentAt(sent), sentAt(again)], [10, 10]);
    assert.equal(sentAt(advance(again, { type: 'cancelSent', sentAt: 50, answer: 'refused', at: 51 })), 10);
    assert.deepEqual(asJournaled(after(again, 'cancelSent and refused')), asJournaled(runOf.running));
    assert.deepEqual(asJournaled(after(again, 'cancelSent and accepted')), asJournaled(runOf.cancelling));
    // A poll in between finds a run that ended by itself.
    const ended = after(again, 'answered ABORTED');
    assert.ok(ended.state === 'collecting' && ended.cancelAskedAt === 10);
    const refused = after(ended, 'cancelSent and refused');
    assert.ok(refused.state === 'collecting' && refused.cancelAskedAt === undefined);
  });

  test('F59 half an hour of exits without a result ends a run', () => {
    const half = 30 * 60_000;
    // The wall clock may say anything.
    const bare = (withoutOutcomeMs: number) => ({ ...answered(emptyExit, 99 * half), withoutOutcomeMs });
    const waiting = [bare(0), bare(half - 1)].reduce<Run>(advance, runOf.running);
    assert.ok(waiting.state === 'running');
    assert.equal(waiting.status, undefined, 'the status is no unknown one');
    const failed = advance(waiting, bare(half));
    assert.ok(failed.state === 'failed');
    assert.deepEqual(
      [failed.failure, failed.runId, failed.dispatchedAt],
      [{ kind: 'noResult' }, 'run-1', 10],
    );
    const cancelled = advance(runOf.cancelling, bare(half));
    assert.deepEqual([cancelled.state, cancelled.noticeDue], ['cancelled', true]);
  });

  test('a failed poll keeps the time of the first failure and of the first denial, until a good answer', () => {
    const failure = { kind: 'serverError', status: 503 } as const;
    const once = advance(runOf.running, { type: 'stepFailed', failure, at: 100 });
    const troubleOf = (run: Run): unknown => asJournaled('trouble' in run && run.trouble);
    assert.deepEqual(troubleOf(once), { ...failure, firstSeen: 100 });
    assert.equal(advance(once, { type: 'stepFailed', failure, at: 200 }), once, 'it is no news');
    const denial = { kind: 'notFound', status: 404 } as const;
    const denied = advance(once, { type: 'stepFailed', failure: denial, retryAt: 9_000, at: 300 });
    assert.deepEqual(
      [troubleOf(denied), denied.retryAt],
      [{ ...denial, firstSeen: 100, deniedSince: 300 }, 9_000],
    );
    const later = advance(denied, { type: 'stepFailed', failure, at: 400 });
    assert.deepEqual(troubleOf(later), { ...failure, firstSeen: 100, deniedSince: 300 });
    const good = advance(denied, answered(stillRunning, 500));
    assert.ok(good.state === 'running');
    assert.deepEqual([good.trouble, good.retryAt, good.lastAnswerAt], [undefined, undefined, 500]);
  });

  test('an artifact takes the place of the one of its name, but no failure that of a file', () => {
    const { artifact: file } = eventOf.artifactDownloaded;
    const failure = { name: file.name, failure: { kind: 'tooLarge' } } as const;
    for (const before of [file, failure])
      for (const artifact of [file, failure]) {
        const run = { ...runOf.collecting, artifacts: [before] } as Run;
        const { artifacts } = advance(run, {
          ...eventOf.artifactDownloaded,
          artifact,
        }) as RunIn<'collecting'>;
        assert.deepEqual(artifacts, [before === failure ? artifact : file]);
      }
  });

  test('a run ends no earlier than it was made, however far behind the clock is', () => {
    const run = advance(runOf.collecting, { type: 'collected', at: -5 });
    assert.equal('endedAt' in run && run.endedAt, run.createdAt);
  });

  test('artifacts are collected up to a limit for the disk', () => {
    const artifacts = Array.from({ length: 1_000 }, (_, index) => ({ name: `artifact-${String(index)}` }));
    const description = { status: 'EXITED', output: { kind: 'SUCCESS' }, artifacts };
    const run = advance(runOf.running, answered(description, 1));
    assert.equal('exit' in run && run.exit?.artifacts.length, 50);
  });

  test('artifacts are fetched again only for runs whose end is known', () => {
    const artifacts = [{ name: 'report', file: 'report.md' }];
    for (const [state, run] of Object.entries(runOf)) {
      const next = advance(run, { type: 'downloadedAgain', artifacts, at: 1 });
      const isKnown = state === 'succeeded' || state === 'aborted';
      assert.deepEqual(next, isKnown ? { ...run, artifacts, lacksRecord: true } : run, state);
    }
  });

  test('a user’s answer about a confirmation is kept for a run that is to confirm a finding', () => {
    const confirming = { ...runOf.succeeded, confirms: '1:abcdef' };
    const yes = advance(confirming, { type: 'answeredIsSame', isSame: true, at: 1 });
    assert.equal(yes.isSame, true);
    assert.equal(advance(yes, { type: 'answeredIsSame', isSame: true, at: 2 }), yes);
    assert.equal(advance(yes, { type: 'answeredIsSame', isSame: false, at: 2 }).isSame, false);
    const other = runOf.succeeded;
    assert.equal(advance(other, { type: 'answeredIsSame', isSame: true, at: 1 }), other);
  });

  test('a run gets a name without spaces around it, and loses an empty one', () => {
    const named = advance(runOf.succeeded, { type: 'renamed', label: ' Login ', at: 1 });
    assert.equal(named.label, 'Login');
    assert.equal(advance(named, { type: 'renamed', label: 'Login ', at: 2 }), named);
    assert.equal(advance(named, { type: 'renamed', label: ' ', at: 2 }).label, undefined);
  });

  test('an abandoned dispatch may still run, and what a closed window left was interrupted', () => {
    const abandoned = after(runOf.unknown, 'abandoned');
    assert.ok(abandoned.state === 'cancelled' && abandoned.mayStillRun === true);
    const stopped = after(runOf.dispatching, 'dispatchStopped by the window');
    assert.ok(stopped.state === 'failed');
    assert.deepEqual(stopped.failure, { kind: 'interrupted' });
    const takenOver = after(runOf.dispatching, 'takenOver');
    assert.ok(takenOver.state === 'unknown');
    assert.deepEqual(takenOver.reason, { kind: 'interrupted' });
    const upload = after(uploadedRun, 'takenOver');
    assert.ok(upload.state === 'failed');
    assert.deepEqual(upload.failure, { kind: 'interrupted' });
  });

  test('a user stops watching a denied run after a day, without a notice', () => {
    const dayMs = 24 * 60 * 60 * 1000;
    const trouble = { kind: 'notFound', firstSeen: 5, deniedSince: 5 };
    const denied = { ...runOf.running, trouble } as Run;
    const unwatched = (at: number, run = denied): Run => advance(run, { type: 'unwatched', at });
    assert.equal(unwatched(dayMs), denied);
    const end = unwatched(2 * dayMs);
    assert.ok(end.state === 'failed');
    assert.deepEqual(
      [end.failure, end.runId, end.dispatchedAt, end.noticeDue],
      [{ kind: 'unanswered' }, 'run-1', 10, false],
    );
    const exited = unwatched(2 * dayMs, runOf.collecting);
    assert.ok(exited.state === 'succeeded' && !exited.noticeDue);
    const failure = { kind: 'unanswered' };
    assert.deepEqual(exited.artifacts, [
      { name: 'findings', failure },
      { name: 'report', failure },
    ]);
  });
});
