import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { advance, type RunEvent } from '../../../../src/core/run/state/advance.ts';
import { isFinal, type Run, runSchema, shared } from '../../../../src/core/run/state/run.ts';
import { answered, uploadingRun } from '../sampleRuns.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

const at = fc.integer({ min: 0, max: 4e12 });
const id = fc.string({ minLength: 1, maxLength: 256 });
const failure = fc.record(
  {
    kind: fc.constantFrom('serverError', 'unauthorized', 'timeout'),
    status: fc.integer(),
    detail: fc.string(),
  },
  { requiredKeys: ['kind'] },
);
const output = fc.record(
  {
    kind: fc.constantFrom('SUCCESS', 'ABORTED', 'NEW_KIND'),
    abortedReason: fc.record({ code: fc.string(), detail: fc.jsonValue() }),
  },
  { requiredKeys: ['kind'] },
);
const description = fc.record(
  {
    status: fc.constantFrom('RUNNING', 'EXITED', 'NEW_STATUS'),
    output,
    artifacts: fc.array(fc.record({ name: id }), { maxLength: 3 }),
  },
  { requiredKeys: ['status'] },
);
const target = fc.constantFrom(0, 1);
const type = <T extends string>(name: T): fc.Arbitrary<T> => fc.constant(name);

/** Events of the start are more frequent, so that late states are reached. */
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: type('reserved'), target, fileId: id, at }) },
  { weight: 3, arbitrary: fc.record({ type: type('confirmed'), target, at }) },
  { weight: 5, arbitrary: fc.record({ type: type('dispatchIntended'), at }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: type('dispatched'), intendedAt: fc.constant(1), runId: id, at }),
  },
  { weight: 2, arbitrary: fc.record({ type: type('dispatchLost'), reason: failure, at }) },
  { weight: 4, arbitrary: fc.tuple(description, at).map(([said, when]) => answered(said, when)) },
  fc.constantFrom('user', 'windowClose').map((by) => ({ type: 'dispatchStopped', intendedAt: 1, by, at: 1 })),
  fc.record({ type: type('takenOver'), at }),
  fc.record({ type: type('stepFailed'), failure, retryAt: fc.option(at, { nil: undefined }), at }),
  fc.record({
    type: type('cancelSent'),
    sentAt: at,
    answer: fc.constantFrom(undefined, 'accepted', 'refused'),
    at,
  }),
  fc.record({ type: type('artifactDownloaded'), artifact: fc.record({ name: id }), at }),
  fc.record({ type: type('collected'), at }),
  fc.record({ type: type('failed'), failure, at }),
  fc.record({ type: type('abandoned'), at }),
  fc.record({ type: type('uploadRemoved'), target, state: fc.constantFrom('cancelled', 'deleted'), at }),
  fc.record({ type: type('endNotified'), at }),
  fc.record({ type: type('unwatched'), at }),
  fc.record({ type: type('archivesRemoved'), at }),
  fc.record({
    type: type('downloadedAgain'),
    artifacts: fc.array(fc.record({ name: id }), { maxLength: 2 }),
    at,
  }),
  fc.record({ type: type('renamed'), label: fc.string(), at }),
  fc.record({ type: type('answeredIsSame'), isSame: fc.boolean(), at }),
) as fc.Arbitrary<RunEvent>;

/**
 * These events lead to a second dispatch. Cases start anywhere on it, so that many reach late
 * states.
 */
const toSecondDispatch: RunEvent[] = [
  { type: 'reserved', target: 0, fileId: 'file-1', at: 1 },
  { type: 'confirmed', target: 0, at: 1 },
  { type: 'dispatchIntended', at: 1 },
  { type: 'dispatchLost', reason: { kind: 'timeout' }, at: 1 },
  { type: 'dispatchIntended', at: 1 },
];
const events = fc
  .tuple(fc.nat(toSecondDispatch.length), fc.array(event, { maxLength: 40 }))
  .map(([start, rest]) => [...toSecondDispatch.slice(0, start), ...rest]);
const cases = { numRuns: propertyRuns(300) };

/** Returns each event with the run before and after it. */
function way(all: readonly RunEvent[]): { before: Run; event: RunEvent; after: Run }[] {
  let run: Run = uploadingRun;
  return all.map((next) => {
    const before = run;
    run = advance(before, next);
    return { before, event: next, after: run };
  });
}

test('every reachable run fits the journal schema and survives it unchanged', () => {
  fc.assert(
    fc.property(events, (all) => {
      for (const { after } of way(all)) {
        const text = JSON.stringify(after);
        assert.deepEqual(runSchema.parse(JSON.parse(text)), JSON.parse(text));
        assert.equal(JSON.stringify(runSchema.parse(JSON.parse(text)).state), JSON.stringify(after.state));
      }
    }),
    cases,
  );
});

test('after a final state, events change only upload, artifacts, notices and name', () => {
  fc.assert(
    fc.property(events, (all) => {
      for (const { before, event: next, after } of way(all)) {
        if (!isFinal(before) || before === after) continue;
        const late = [
          'uploadRemoved',
          'stepFailed',
          'archivesRemoved',
          'endNotified',
          'downloadedAgain',
          'renamed',
        ];
        assert.ok(late.includes(next.type), next.type);
        const frozen = (run: Run): unknown => ({
          ...run,
          noticeDue: 0,
          targets: shared(run).targets.length,
          artifacts: 0,
          retryAt: 0,
          archivesRemovedAt: 0,
          label: 0,
        });
        assert.deepEqual(frozen(after), frozen(before));
      }
    }),
    cases,
  );
});

test('F45 between two intents to dispatch, the run was known to be unknown', () => {
  let second = 0;
  fc.assert(
    fc.property(events, (all) => {
      let intents = 0;
      for (const { before, after } of way(all)) {
        if (after.state !== 'dispatching' || before.state === 'dispatching') continue;
        intents += 1;
        if (intents === 1) assert.equal(before.state, 'preparing');
        else {
          assert.equal(before.state, 'unknown');
          second += 1;
        }
      }
    }),
    cases,
  );
  assert.ok(second > 0, 'the cases reach a second dispatch');
});

test('a run that the service may have is never failed locally, and cancelled only by an informed user', () => {
  fc.assert(
    fc.property(events, (all) => {
      let mayBeThere = false;
      for (const { before, event: next, after } of way(all)) {
        mayBeThere ||= before.state === 'unknown';
        if (before === after || !mayBeThere) continue;
        if (next.type === 'failed' || next.type === 'takenOver') assert.notEqual(after.state, 'failed');
        if (next.type === 'dispatchStopped') assert.equal(after.state, 'unknown');
      }
    }),
    cases,
  );
});
