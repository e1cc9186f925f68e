import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { type Run, runIdOf, shared } from '../../../../src/core/run/state/run.ts';
import type { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { deleteUploadedSource, removeRuns } from '../../../../src/editor/runs/removeRuns.ts';
import { runOf } from '../../../unit/run/sampleRuns.ts';
import { watchMessages } from '../../dialogs.ts';
import { endedRun } from '../../storedRuns.ts';

const stored = { folder: '/shop', baseUrl: 'https://a.test/v1', organizationId: 'o' };
const withSource = (id: string): Run => {
  const run = endedRun({ id, ...stored });
  const upload = { fileId: `invented-${id}`, state: 'confirmed' as const, at: run.createdAt };
  return { ...run, targets: run.targets.map((target) => ({ ...target, upload })) };
};
const run = withSource('invented');
const runs = {} as unknown as RunStore;

describe('uploaded source that cannot be deleted', () => {
  it('is reported with the reason and the next step', async () => {
    const deleteUploads = (): Promise<AssessmentError> =>
      Promise.resolve(new AssessmentError('forbidden', { detail: 'not yours' }));
    const messages = watchMessages(({ isModal }) => (isModal ? 'Delete' : undefined));
    await deleteUploadedSource({ runs, tracker: { deleteUploads } as unknown as RunTracker }, [run]);
    const [, said] = messages.shown;
    assert.match(
      said?.text ?? '',
      /couldn’t be deleted and may still be on the service\. You don’t have permission .*not yours/,
    );
    assert.deepEqual(said?.buttons, ['Sign In…']);
  });

  for (const [pressed, removed] of [
    [undefined, []],
    ['Remove Without Deleting Source', ['invented']],
  ] as const)
    it(`keeps a removed run and its note when the user presses ${String(pressed)}`, async () => {
      const gone: string[] = [];
      const forgotten: string[] = [];
      const remove = (
        id: string,
        options?: { leavesSource: boolean },
      ): Promise<AssessmentError | undefined> => {
        if (options?.leavesSource !== true) return Promise.resolve(new AssessmentError('unsent'));
        gone.push(id);
        return Promise.resolve(undefined);
      };
      const forget = (runId: string): Promise<void> => {
        forgotten.push(runId);
        return Promise.resolve();
      };
      const messages = watchMessages(({ isModal }) => (isModal ? 'Remove' : pressed));
      await removeRuns(
        { tracker: { remove } as unknown as RunTracker, notes: { forget } as unknown as RunNotes },
        [run],
      );
      assert.match(messages.shown[1]?.text ?? '', /The run wasn’t removed.*can’t be reached.*retention/);
      assert.deepEqual([gone, forgotten], [removed, removed.map(() => runIdOf(run))]);
    });
});

describe('several selected runs', () => {
  const running = { ...runOf.running, targets: run.targets };
  const selected = [withSource('one'), running, withSource('two')];

  it('lose their source after one question, except for those still running', async () => {
    const asked: string[] = [];
    const deleteUploads = (id: string): Promise<undefined> => {
      asked.push(id);
      return Promise.resolve(undefined);
    };
    const messages = watchMessages(({ isModal }) => (isModal ? 'Delete' : undefined));
    await deleteUploadedSource({ runs, tracker: { deleteUploads } as unknown as RunTracker }, selected);
    assert.deepEqual(
      messages.shown.map(({ text }) => text),
      ['Delete the uploaded source code of 2 runs from the service?', 'The uploaded source was deleted.'],
    );
    assert.deepEqual(asked, ['one', 'two']);
  });

  it('are removed with a warning for those with only a run ID, and none for missing results', async () => {
    const lost: Run = {
      ...shared(running),
      state: 'failed',
      failure: { kind: 'unanswered' },
      endedAt: 1,
      runId: 'run-77',
    };
    const details: string[] = [];
    for (const chosen of [[lost], [endedRun({ id: 'ended', ...stored })]]) {
      const messages = watchMessages();
      await removeRuns({ tracker: {} as unknown as RunTracker, notes: {} as unknown as RunNotes }, chosen);
      details.push(messages.shown[0]?.detail ?? '');
    }
    const [ofLost = '', ofEnded = ''] = details;
    assert.match(ofLost, /track it again by its run ID: run-77/);
    assert.doesNotMatch(ofLost, /findings and the report/);
    assert.equal(ofEnded, 'The findings and the report are deleted from this machine.');
  });

  it('are removed except for one that continues, which is reported', async () => {
    const removed: string[] = [];
    const remove = (id: string): Promise<undefined> => {
      if (id === 'one') return Promise.reject(new AssessmentError('changedMeanwhile'));
      removed.push(id);
      return Promise.resolve(undefined);
    };
    const notes = { forget: () => Promise.resolve() } as unknown as RunNotes;
    const messages = watchMessages(({ isModal }) => (isModal ? 'Remove' : undefined));
    const done = removeRuns({ tracker: { remove } as unknown as RunTracker, notes }, selected);
    await assert.rejects(async () => done, { kind: 'changedMeanwhile' });
    assert.deepEqual([removed, messages.shown.length], [['two'], 1]);
  });
  it('are removed after one question, except for running ones and those whose source remains', async () => {
    const removed: string[] = [];
    const remove = (
      id: string,
      options?: { leavesSource: boolean },
    ): Promise<AssessmentError | undefined> => {
      removed.push(`${id} ${String(options?.leavesSource ?? false)}`);
      return Promise.resolve(options === undefined ? new AssessmentError('unsent') : undefined);
    };
    const notes = { forget: () => Promise.resolve() } as unknown as RunNotes;
    const messages = watchMessages(({ isModal }) => (isModal ? 'Remove' : 'Remove Without Deleting Source'));
    await removeRuns({ tracker: { remove } as unknown as RunTracker, notes }, selected);
    const [question, kept, ...others] = messages.shown;
    assert.equal(question?.text, 'Remove 2 runs from the history?');
    assert.match(question.detail, /\n\nRuns that haven’t ended aren’t removed\.$/);
    assert.match(kept?.text ?? '', /^2 runs weren’t removed .*retention period ends\.$/);
    assert.deepEqual(others, []);
    // After an unreachable service no further run is tried.
    assert.deepEqual(removed, ['one false', 'one true', 'two true']);
  });
});
