import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { type Run, runIdOf, shared } from '../../../../src/core/run/state/run.ts';
import { deleteUploadedSource, removeRuns } from '../../../../src/editor/runs/removeRuns.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { type ShownMessage, watchMessages } from '../../dialogs.ts';
import { partly, storeOfRuns } from '../../doubles.ts';
import { endedRun, inventedAccount } from '../../storedRuns.ts';

const withSource = (id: string): Run => {
  const run = endedRun({ id, folder: '/shop', ...inventedAccount });
  const upload = { fileId: `invented-${id}`, state: 'confirmed' as const, at: run.createdAt };
  return { ...run, targets: run.targets.map((target) => ({ ...target, upload })) };
};
const run = withSource('invented');
const running = { ...runOf.running, targets: run.targets };
const selected = [withSource('one'), running, withSource('two')];

/**
 * Deletes or removes runs, and answers the question and the message after it; `failing` answers
 * each call of the tracker.
 */
async function act(
  how: 'Delete' | 'Remove',
  runs: readonly Run[],
  failing: (id: string, leavesSource: boolean) => AssessmentError | undefined = () => undefined,
  pressed?: string,
) {
  const called: string[] = [];
  const forgotten: string[] = [];
  const tracked = (id: string, options?: { leavesSource: boolean }): Promise<AssessmentError | undefined> => {
    called.push(options === undefined ? id : `${id}, and leaves its source`);
    const failure = failing(id, options !== undefined);
    return failure?.kind === 'changedMeanwhile' ? Promise.reject(failure) : Promise.resolve(failure);
  };
  const tracker = partly<RunTracker>({ deleteUploads: tracked, remove: tracked });
  const notes = partly<RunNotes>({ forget: (id: string) => Promise.resolve(void forgotten.push(id)) });
  const { shown } = watchMessages(({ isModal }) => (isModal ? how : pressed));
  const done =
    how === 'Delete'
      ? deleteUploadedSource({ runs: storeOfRuns(), tracker }, runs)
      : removeRuns({ tracker, notes }, runs);
  const failure = await done.then(() => undefined, (error: unknown) => error as AssessmentError); // prettier-ignore
  const [question, said, ...others] = shown as [ShownMessage, ShownMessage?];
  assert.deepEqual(others, []);
  return { question, said, called, forgotten, failure };
}

describe('uploaded source', () => {
  it('that cannot be deleted is reported with the reason and the next step', async () => {
    const { said } = await act('Delete', [run], () => new AssessmentError('forbidden', { detail: 'not yours' })); // prettier-ignore
    assert.match(
      said?.text ?? '',
      /couldn’t be deleted and may still be on the service\. You don’t have permission .*not yours/,
    );
    assert.deepEqual(said?.buttons, ['Sign In…']);
  });

  for (const pressed of [undefined, 'Remove Without Deleting Source'])
    it(`that cannot be deleted keeps a removed run and its note when the user presses ${String(pressed)}`, async () => {
      const failing = (_id: string, leavesSource: boolean) =>
        leavesSource ? undefined : new AssessmentError('unsent');
      const { said, forgotten } = await act('Remove', [run], failing, pressed);
      assert.match(said?.text ?? '', /The run wasn’t removed.*can’t be reached.*retention/);
      assert.deepEqual(forgotten, pressed === undefined ? [] : [runIdOf(run)]);
    });

  it('of several runs is deleted after one question, except of those still running', async () => {
    const { question, said, called } = await act('Delete', selected);
    assert.equal(question.text, 'Delete the uploaded source code of 2 runs from the service?');
    assert.equal(said?.text, 'The uploaded source was deleted.');
    assert.deepEqual(called, ['one', 'two']);
  });
});

describe('several selected runs', () => {
  it('are removed with a warning for those with only a run ID, and none for missing results', async () => {
    const failure = { kind: 'unanswered' } as const;
    const lost: Run = { ...shared(running), state: 'failed', failure, endedAt: 1, runId: 'run-77' };
    const { detail } = (await act('Remove', [lost])).question;
    assert.match(detail, /track it again by its run ID: run-77/);
    assert.doesNotMatch(detail, /findings and the report/);
    const ended = endedRun({ id: 'ended', folder: '/shop', ...inventedAccount });
    assert.equal(
      (await act('Remove', [ended])).question.detail,
      'The findings and the report are deleted from this machine.',
    );
  });

  it('are removed after one question, except for running ones and those whose source remains', async () => {
    const failing = (_id: string, leavesSource: boolean) =>
      leavesSource ? undefined : new AssessmentError('unsent');
    const { question, said, called } = await act(
      'Remove',
      selected,
      failing,
      'Remove Without Deleting Source',
    );
    assert.equal(question.text, 'Remove 2 runs from the history?');
    assert.match(question.detail, /\n\nRuns that haven’t ended aren’t removed\.$/);
    assert.match(said?.text ?? '', /^2 runs weren’t removed .*retention period ends\.$/);
    // After an unreachable service no further run is tried.
    assert.deepEqual(called, ['one', 'one, and leaves its source', 'two, and leaves its source']);
  });

  it('are not removed by a menu that was opened before their start', async () => {
    const { question, called } = await act('Remove', [runOf.running, runOf.preparing]);
    assert.deepEqual([question, called], [undefined, []]);
  });
});
