import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { advance } from '../../../../src/core/run/state/advance.ts';
import { isFinal, type Run } from '../../../../src/core/run/state/run.ts';
import { needsPerson } from '../../../../src/core/run/state/waits.ts';
import {
  answered,
  asJournaled,
  emptyExit,
  eventOf,
  runOf,
  stillRunning,
  success,
  preparingAt,
  stepOf,
} from '../sampleRuns.ts';

/** A run of each step and state, in the order of the columns below. */
const columns: Readonly<Record<string, Run>> = Object.fromEntries(
  Object.entries({ ...preparingAt, ...runOf }).filter(([name]) => name !== 'preparing'),
);

/** The state an event leads to, by present state; `·` changes nothing at all, `=` changes the run but not its state. */
// prettier-ignore
const table: Readonly<Record<keyof typeof eventOf, string>> = {
  //   uploading   confirming  dispatching unknown     running     cancelling  collecting  succ. abort. canc. fail. imp.
  reserved:
    '=           ·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  uploaded:
    'confirming  ·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  confirmed:
    '·           =           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  dispatchIntended:
    '·           dispatching ·           dispatching ·           ·           ·           ·     ·     ·     ·     ·',
  dispatched:
    '·           ·           running     running     ·           ·           ·           ·     ·     ·     ·     ·',
  'dispatched for another intent':
    '·           ·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  dispatchStopped:
    '·           ·           cancelled   ·           ·           ·           ·           ·     ·     ·     ·     ·',
  'dispatchStopped by the window':
    '·           ·           failed      ·           ·           ·           ·           ·     ·     ·     ·     ·',
  takenOver:
    'failed      failed      unknown     ·           ·           ·           ·           ·     ·     ·     ·     ·',
  dispatchLost:
    '·           ·           unknown     ·           ·           ·           ·           ·     ·     ·     ·     ·',
  'answered RUNNING':
    '·           ·           ·           ·           =           =           ·           ·     ·     ·     ·     ·',
  'answered SUCCESS':
    '·           ·           ·           ·           collecting  collecting  ·           ·     ·     ·     ·     ·',
  'answered ABORTED':
    '·           ·           ·           ·           collecting  collecting  ·           ·     ·     ·     ·     ·',
  pollFailed:
    '·           ·           ·           ·           =           =           =           ·     ·     ·     ·     ·',
  tokenChanged:
    '·           ·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  cancelSent:
    '·           ·           ·           ·           =           ·           ·           ·     ·     ·     ·     ·',
  cancelRefused:
    '·           ·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  artifactDownloaded:
    '·           ·           ·           ·           ·           ·           =           ·     ·     ·     ·     ·',
  cancelAsked:
    '·           ·           ·           ·           cancelling  ·           ·           ·     ·     ·     ·     ·',
  downloaded:
    '·           ·           ·           ·           ·           ·           =           ·     ·     ·     ·     ·',
  workOutBegun:
    '·           ·           ·           ·           ·           ·           =           ·     ·     ·     ·     ·',
  workOutStopped:
    '·           ·           ·           ·           ·           ·           ·           ·     ·     ·     ·     ·',
  collected:
    '·           ·           ·           ·           ·           ·           succeeded   ·     ·     ·     ·     ·',
  failed:
    'failed      failed      failed      ·           ·           ·           ·           ·     ·     ·     ·     ·',
  abandoned:
    'cancelled   cancelled   ·           cancelled   ·           ·           ·           ·     ·     ·     ·     ·',
  uploadRemoved:
    '=           =           =           =           =           =           =           =     =     =     =     =',
  foundConfirmed:
    '=           =           =           =           =           =           =           =     =     =     =     =',
  removalFailed:
    '=           =           =           =           =           =           =           =     =     =     =     =',
  archivesRemoved:
    '=           =           =           =           =           =           =           =     =     =     =     =',
  endNotified:
    '·           ·           ·           =           ·           ·           ·           =     =     ·     =     ·',
};

describe('advance', () => {
  test('the sample runs have the state in their name', () => {
    for (const [name, run] of Object.entries(columns)) assert.equal(stepOf(run), name);
  });

  for (const [name, row] of Object.entries(table)) {
    const expected = row.split(/\s+/);
    test(`${name} leads to the states of the table, from each of the ${String(expected.length)} states`, () => {
      assert.equal(expected.length, Object.keys(columns).length);
      for (const [index, [column, before]] of Object.entries(columns).entries()) {
        const next = advance(before, eventOf[name as keyof typeof eventOf]);
        const seen = next === before ? '·' : stepOf(next) === column ? '=' : stepOf(next);
        assert.equal(seen, expected[index], `${name} on ${column}`);
      }
    });
  }

  const after = (run: Run, ...names: (keyof typeof eventOf)[]): Run =>
    names.map((name) => eventOf[name]).reduce<Run>(advance, run);

  test('a dispatch is not intended before a file is confirmed', () => {
    const run = after(runOf.preparing, 'reserved', 'uploaded');
    assert.equal(advance(run, eventOf.dispatchIntended), run);
  });

  test('a dispatch is not intended before both files are confirmed', () => {
    const { targets } = preparingAt.confirming;
    const run = {
      ...preparingAt.confirming,
      targets: [...targets, { ...targets[0]!, upload: undefined }],
    } as Run;
    assert.equal(advance(run, eventOf.dispatchIntended), run);
  });

  test('an accepted run runs since the answer', () => {
    const run = advance(runOf.dispatching, { type: 'dispatched', intendedAt: 10, runId: 'run-1', at: 5_000 });
    assert.equal('dispatchedAt' in run && run.dispatchedAt, 5_000);
  });

  test('a run with an ID found by the user runs since the dispatch was intended', () => {
    const run = advance(runOf.unknown, { type: 'dispatched', intendedAt: 10, runId: 'run-found', at: 5_000 });
    assert.equal('dispatchedAt' in run && run.dispatchedAt, 10);
  });

  test('a rejected second dispatch keeps what is known of the first, and records its own reason', () => {
    const { unknown } = runOf;
    const again = advance(unknown, { type: 'dispatchIntended', at: 5_000 });
    assert.equal(again.state, 'dispatching');
    assert.deepEqual(advance(again, eventOf.dispatchStopped), { ...unknown, noticeDue: false });
    const failure = { kind: 'forbidden', status: 403 } as const;
    const refused = advance(again, { type: 'failed', failure, at: 6_000 });
    assert.deepEqual(refused, { ...unknown, refusal: failure });
    const third = advance(refused, { type: 'dispatchIntended', at: 7_000 });
    assert.deepEqual(advance(third, eventOf.dispatchStopped), { ...unknown, noticeDue: false });
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
    const again = advance(sent, { type: 'cancelSent', at: 50 });
    assert.deepEqual([sentAt(sent), sentAt(again)], [10, 10]);
    assert.equal(sentAt(advance(again, { type: 'cancelRefused', sentAt: 50, at: 51 })), 10);
    assert.deepEqual(asJournaled(after(again, 'cancelRefused')), asJournaled(runOf.running));
    assert.deepEqual(asJournaled(after(again, 'cancelAsked')), asJournaled(runOf.cancelling));
    // A poll in between finds a run that ended by itself.
    const ended = after(again, 'answered ABORTED');
    assert.ok(ended.state === 'collecting' && ended.cancelAskedAt === 10);
    const refused = after(ended, 'cancelRefused');
    assert.ok(refused.state === 'collecting' && refused.cancelAskedAt === undefined);
  });

  test('F59 a success without artifacts is no final answer', () => {
    const empty = { status: 'EXITED', output: { kind: 'SUCCESS' }, artifacts: [] };
    const run = advance(runOf.running, answered(empty, 1));
    assert.equal(run.state, 'running');
  });

  test('F59 the fifth consecutive bare exit ends a run', () => {
    const bare = answered(emptyExit, 1);
    const four = [bare, bare, bare, bare].reduce<Run>(advance, runOf.running);
    assert.ok(four.state === 'running');
    assert.equal(four.status, undefined, 'the status is no unknown one');
    assert.equal(advance(four, { ...bare, isExtra: true }).state, 'running', 'out of turn');
    const failed = advance(four, bare);
    assert.ok(failed.state === 'failed');
    assert.deepEqual(
      [failed.failure, failed.runId, failed.dispatchedAt],
      [{ kind: 'noResult' }, 'run-1', 10],
    );
    const interrupted = advance(advance(four, answered(stillRunning, 1)), bare);
    assert.equal(interrupted.state, 'running');
    const cancelled = [bare, bare, bare, bare, bare].reduce<Run>(advance, runOf.cancelling);
    assert.deepEqual([cancelled.state, cancelled.noticeDue], ['cancelled', true]);
  });

  test('a failed poll is counted, keeps the time of the first failure, and is reset by a good answer', () => {
    const failure = { kind: 'serverError', status: 503 } as const;
    const once = advance(runOf.running, {
      type: 'pollFailed',
      failure,
      retryAfterMs: 0,
      jitter: 0,
      at: 100,
    });
    assert.deepEqual(asJournaled('trouble' in once && once.trouble), {
      ...failure,
      since: 100,
      times: 1,
      failures: 1,
      tokens: 0,
    });
    assert.deepEqual('check' in once && once.check, { at: 100, ms: 1_000, firmMs: 0 });
    const next = { type: 'pollFailed', failure, retryAfterMs: 7_000, jitter: 1, at: 200 } as const;
    const twice = advance(once, next);
    assert.deepEqual(asJournaled('trouble' in twice && twice.trouble), {
      ...failure,
      since: 100,
      times: 2,
      failures: 2,
      tokens: 0,
    });
    assert.deepEqual('check' in twice && twice.check, { at: 200, ms: 67_000, firmMs: 7_000 });
    const extra = advance(once, { ...next, retryAfterMs: 0, isExtra: true });
    assert.ok(extra.state === 'running' && once.state === 'running');
    assert.deepEqual(
      [extra.trouble, extra.check],
      [once.trouble, once.check],
      'out of turn, it moves nothing',
    );
    const limited = advance(once, { ...next, isExtra: true });
    assert.equal('check' in limited && limited.check?.firmMs, 7_000, 'but Retry-After counts');
    const good = advance(twice, answered(stillRunning, 300));
    assert.equal('trouble' in good && good.trouble, undefined);
    assert.equal('lastAnswerAt' in good && good.lastAnswerAt, 300);
  });

  test('artifacts that are listed and referenced are collected once', () => {
    const run = advance(runOf.running, answered(success, 1));
    assert.deepEqual('exit' in run && run.exit?.artifacts, ['findings', 'report']);
  });

  test('artifacts are collected up to a limit for the disk', () => {
    const artifacts = Array.from({ length: 1_000 }, (_, index) => ({ name: `artifact-${String(index)}` }));
    const description = { status: 'EXITED', output: { kind: 'SUCCESS' }, artifacts };
    const run = advance(runOf.running, answered(description, 1));
    assert.equal('exit' in run && run.exit?.artifacts.length, 50);
  });

  test('artifacts that are only referenced are collected, and an empty reference is not', () => {
    const successOutput = { report: { artifact_name: 'report' }, findings: undefined };
    const description = { status: 'EXITED', output: { kind: 'SUCCESS', successOutput } };
    const run = advance(runOf.running, answered(description, 1));
    assert.deepEqual('exit' in run && run.exit?.artifacts, ['report']);
  });

  test('artifacts are fetched again only for runs whose end is known', () => {
    const artifacts = [{ name: 'report', file: 'report.md' }];
    for (const [state, run] of Object.entries(runOf)) {
      const next = advance(run, { type: 'downloadedAgain', artifacts, at: 1 });
      const isKnown = state === 'succeeded' || state === 'aborted';
      assert.deepEqual(next, isKnown ? { ...run, artifacts } : run, state);
    }
  });

  test('a person’s answer about a confirmation is kept for a run that is to confirm a finding', () => {
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
    const upload = after(preparingAt.uploading, 'takenOver');
    assert.ok(upload.state === 'failed');
    assert.deepEqual(upload.failure, { kind: 'interrupted' });
  });

  test('only a confirmed file is found confirmed', () => {
    const isSure = (run: Run): boolean | undefined => after(run, 'foundConfirmed').targets[0]?.upload?.isSure;
    assert.deepEqual([isSure(runOf.succeeded), isSure(preparingAt.uploading)], [true, undefined]);
  });

  test('F56 a refused token stops polls and removals until another token comes, at once at first, then later', () => {
    const failure = { kind: 'unauthorized' } as const;
    const event = { failure, retryAfterMs: 0, jitter: 0, at: 100 };
    const changed = (at: number, isNewSource = false) =>
      ({ type: 'tokenChanged', isNewSource, jitter: 0, at }) as const;
    const waits = [
      ['pollFailed', runOf.running, (run: Run) => 'check' in run && run.check],
      ['removalFailed', runOf.succeeded, (run: Run) => run.removal?.wait],
    ] as const;
    for (const [type, run, waitOf] of waits) {
      const refused = advance(run, { type, ...event });
      assert.equal(waitOf(refused), undefined);
      const first = advance(refused, changed(200));
      assert.deepEqual(waitOf(first), { at: 200, ms: 0, firmMs: 0 });
      const second = advance(advance(first, { type, ...event }), changed(300));
      assert.deepEqual(waitOf(second), { at: 300, ms: 1_000, firmMs: 0 });
      assert.deepEqual(
        waitOf(advance(second, changed(400))),
        waitOf(second),
        'a third does not extend the wait',
      );
      assert.deepEqual(waitOf(advance(second, changed(500, true))), { at: 500, ms: 0, firmMs: 0 });
    }
  });

  test('a person stops watching a denied run after a day, without a notice', () => {
    const dayMs = 24 * 60 * 60 * 1000;
    const trouble = { kind: 'notFound', since: 5, times: 48, failures: 48, tokens: 0, deniedSince: 5 };
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

  test('exactly an unknown run and a rejected token need the user', () => {
    const refused = { kind: 'unauthorized' } as const;
    const waiting = advance(runOf.running, {
      type: 'pollFailed',
      failure: refused,
      retryAfterMs: 0,
      jitter: 0,
      at: 1,
    });
    assert.deepEqual([needsPerson(waiting), needsPerson(after(runOf.running, 'pollFailed'))], [true, false]);
    for (const [state, run] of Object.entries(runOf)) assert.equal(needsPerson(run), state === 'unknown');
  });

  test('final states are exactly those without a transition', () => {
    assert.deepEqual(
      Object.values(runOf).flatMap((run) => (isFinal(run) ? [run.state] : [])),
      ['succeeded', 'aborted', 'cancelled', 'failed', 'imported'],
    );
  });
});
