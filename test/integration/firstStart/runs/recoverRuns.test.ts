import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import { AssessmentError } from '../../../../src/core/errors.ts';
import type { RunNotes } from '../../../../src/core/run/disk/runNotes.ts';
import type { RunNote } from '../../../../src/core/run/state/newRun.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { RunTracker } from '../../../../src/core/run/runTracker.ts';
import { offerLostRuns } from '../../../../src/editor/runs/recoverRuns.ts';
import { watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { silent } from '../../../silentLog.ts';

describe('a run of which only the recovery note is left', () => {
  let folder: string;

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  /** Messages, questions and removed keys when tracking fails with `error` and these buttons are pressed. */
  async function offered(
    kind: AssessmentError['kind'],
    presses: readonly (string | undefined)[],
    ids: readonly string[] = ['run-77'],
    of = folder,
    workflow: RunNote['workflow'] = 'whitebox-assessment',
  ): Promise<{ texts: string[]; questions: string[]; forgotten: string[] }> {
    const noteOf = (runId: string): RunNote => ({
      workflow,
      baseUrl: 'https://assessment.example.test/v1',
      organizationId: 'invented',
      language: 'english',
      runId,
      targets: [
        { folder: '/not/open', name: 'docs' },
        { folder: of, name: 'shop' },
      ],
    });
    const forgotten: string[] = [];
    const forget = (runId: string): Promise<void> => {
      forgotten.push(runId);
      return Promise.resolve();
    };
    const notes = { lost: () => ids.map(noteOf), forget } as unknown as RunNotes;
    const track = (): Promise<void> => Promise.reject(new AssessmentError(kind));
    const left = [...presses];
    const messages = watchMessages(() => left.shift());
    const tracker = { track } as unknown as RunTracker;
    await offerLostRuns({ notes, runs: {} as unknown as RunStore, tracker, log: silent });
    const [questions, notices] = [true, false].map((modal) =>
      messages.shown.filter(({ isModal }) => isModal === modal),
    );
    return {
      texts: (notices ?? []).map(({ text }) => text),
      questions: (questions ?? []).map(({ text, detail }) => `${text} ${detail}`),
      forgotten,
    };
  }

  it('F93 is offered by run ID if any of its folders is open', async () => {
    const { texts } = await offered('notFound', []);
    assert.match(texts[0] ?? '', /^The assessment of docs, shop was .* Run ID: run-77$/);
  });

  it('F93 is named by its workflow', async () => {
    const { texts } = await offered('notFound', [], undefined, undefined, 'blackbox-crawl');
    assert.match(texts[0] ?? '', /^The crawl of docs, shop was started in this workspace/);
  });

  it('F93 is offered if one of its folders is inside an open folder, and not if none is open', async () => {
    const inside = await offered('notFound', [], ['run-77'], path.join(folder, 'packages', 'api'));
    assert.match(inside.texts[0] ?? '', /Run ID: run-77$/);
    assert.deepEqual((await offered('notFound', [], ['run-77'], `${folder}-other`)).texts, []);
  });

  it('F93 is kept and named after one answer that it is unknown', async () => {
    const { texts, forgotten } = await offered('notFound', ['Track Again']);
    assert.match(
      texts[1] ?? '',
      /run-77 couldn’t be tracked again\. The next time VS Code starts, .*\. The service didn’t find/,
    );
    assert.deepEqual(forgotten, []);
  });

  it('F93 is forgotten when the user confirms that, knowing the consequences', async () => {
    const { questions, forgotten } = await offered('notFound', ['Forget', 'Forget']);
    assert.match(questions.join(), /^Forget run run-77\? The run may still be running/);
    assert.deepEqual(forgotten, ['run-77']);
    assert.deepEqual((await offered('notFound', ['Forget'])).forgotten, []);
  });

  it('F93 is forgotten with others at once only if the user confirms their IDs', async () => {
    const ids = ['run-77', 'run-78'];
    const { texts, questions, forgotten } = await offered('notFound', ['Forget'], ids);
    assert.match(
      texts.join(),
      /^Local data is gone for runs .*: assessment of docs, shop\. .* rebuilt\. Run IDs: run-77, run-78$/,
    );
    assert.match(questions.join(), /^Forget 2 runs\? The runs may still be running.*\nrun-77\nrun-78$/s);
    assert.deepEqual(forgotten, []);
    const agreed = await offered('notFound', ['Forget', 'Forget'], ids);
    assert.deepEqual(agreed.forgotten, ids);
  });
});
