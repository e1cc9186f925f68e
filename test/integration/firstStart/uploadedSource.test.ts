import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { AssessmentError } from '../../../src/core/errors.ts';
import type { RunNotes } from '../../../src/core/run/runNotes.ts';
import type { RunStore } from '../../../src/core/run/runStore.ts';
import type { RunTracker } from '../../../src/core/run/runTracker.ts';
import { deleteUploadedSource, removeRun } from '../../../src/editor/runCommands.ts';
import { watchMessages } from '../messages.ts';
import { endedRun } from '../storedRuns.ts';

const run = endedRun({ id: 'invented', folder: '/shop', baseUrl: 'https://a.test/v1', organizationId: 'o' });
const runs = {} as unknown as RunStore;

describe('uploaded source that cannot be deleted', () => {
  it('is said with the reason and what helps', async () => {
    const deleteUploads = (): Promise<AssessmentError> =>
      Promise.resolve(new AssessmentError('forbidden', { detail: 'not yours' }));
    const messages = watchMessages(({ isModal }) => (isModal ? 'Delete' : undefined));
    await deleteUploadedSource({ runs, tracker: { deleteUploads } as unknown as RunTracker }, run);
    messages.end();
    const [, said] = messages.shown;
    assert.match(said?.text ?? '', /could not be deleted\. You are not allowed .*not yours/);
    assert.deepEqual(said?.buttons, ['Sign In…']);
  });

  for (const [pressed, removed] of [
    [undefined, []],
    ['Remove, Leave the Source', ['invented']],
  ] as const)
    it(`keeps a run that is removed, and its note, when a person presses ${String(pressed)}`, async () => {
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
      const forgetRun = (id: string): Promise<void> => {
        forgotten.push(id);
        return Promise.resolve();
      };
      const messages = watchMessages(({ isModal }) => (isModal ? 'Remove' : pressed));
      await removeRun(
        { runs, tracker: { remove } as unknown as RunTracker, notes: { forgetRun } as unknown as RunNotes },
        run,
      );
      messages.end();
      assert.match(messages.shown[1]?.text ?? '', /The run was kept.*cannot be reached.*retention/);
      assert.deepEqual([gone, forgotten], [removed, removed]);
    });
});
