import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'mocha';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import type { RunNote } from '../../../../src/core/run/state/newRun.ts';
import { offerLostRuns } from '../../../../src/editor/runs/recoverRuns.ts';
import { silent } from '../../../silentLog.ts';
import { watchMessages } from '../../dialogs.ts';
import { partly, storeOfRuns } from '../../doubles.ts';
import { folder } from '../../openFolders.ts';
import { inventedAccount } from '../../storedRuns.ts';

interface Lost extends Pick<RunNote, 'workflow'> {
  readonly ids: readonly string[];
  readonly of: string;
}

describe('a run of which only the recovery note is left', () => {
  /**
   * Returns messages, questions, and removed keys if the service does not know the runs, and these
   * buttons are pressed.
   */
  async function offered(
    presses: readonly (string | undefined)[] = [],
    { ids = ['run-77'], of = folder, workflow = 'whitebox-assessment' }: Partial<Lost> = {},
  ): Promise<{ texts: string[]; questions: string[]; forgotten: string[] }> {
    const noteOf = (runId: string): RunNote => ({
      ...{ workflow, ...inventedAccount, language: 'english', runId },
      targets: [
        { folder: '/not/open', name: 'docs' },
        { folder: of, name: 'shop' },
      ],
    });
    const forgotten: string[] = [];
    const left = [...presses];
    const { shown } = watchMessages(() => left.shift());
    await offerLostRuns({
      notes: partly<RunNotes>({
        lost: () => ids.map(noteOf),
        forget: (runId: string) => Promise.resolve(void forgotten.push(runId)),
      }),
      runs: storeOfRuns(),
      tracker: partly<RunTracker>({ track: () => Promise.reject(new AssessmentError('notFound')) }),
      log: silent,
    });
    return {
      texts: shown.flatMap(({ isModal, text }) => (isModal ? [] : [text])),
      questions: shown.flatMap(({ isModal, text, detail }) => (isModal ? [`${text} ${detail}`] : [])),
      forgotten,
    };
  }

  it('F93 is offered by workflow and run ID if one of its folders is open or inside an open one, and not if none is', async () => {
    const textWith = async (changes: object): Promise<string> => (await offered([], changes)).texts.join();
    assert.match(await textWith({}), /^The assessment of docs, shop was .* Run ID: run-77$/);
    assert.match(
      await textWith({ workflow: 'blackbox-crawl' }),
      /^The crawl of docs, shop was started in this workspace/,
    );
    assert.match(await textWith({ of: path.join(folder, 'packages', 'api') }), /Run ID: run-77$/);
    assert.equal(await textWith({ of: `${folder}-other` }), '');
  });

  it('F93 is kept and named after one answer that it is unknown', async () => {
    const { texts, forgotten } = await offered(['Track Again']);
    assert.match(
      texts[1] ?? '',
      /run-77 couldn’t be tracked again\. The next time VS Code starts, .*\. The service didn’t find/,
    );
    assert.deepEqual(forgotten, []);
  });

  it('F93 is forgotten when the user confirms that, knowing the consequences', async () => {
    const { questions, forgotten } = await offered(['Forget', 'Forget']);
    assert.match(questions.join(), /^Forget run run-77\? The run may still be running/);
    assert.deepEqual(forgotten, ['run-77']);
    assert.deepEqual((await offered(['Forget'])).forgotten, []);
  });

  it('F93 is forgotten with others at once only if the user confirms their IDs', async () => {
    const ids = ['run-77', 'run-78'];
    const { texts, questions, forgotten } = await offered(['Forget'], { ids });
    assert.match(
      texts.join(),
      /^Local data is gone for runs .*: assessment of docs, shop\. .* rebuilt\. Run IDs: run-77, run-78$/,
    );
    assert.match(questions.join(), /^Forget 2 runs\? The runs may still be running.*\nrun-77\nrun-78$/s);
    assert.deepEqual(forgotten, []);
    assert.deepEqual((await offered(['Forget', 'Forget'], { ids })).forgotten, ids);
  });
});
