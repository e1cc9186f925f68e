import assert from 'node:assert/strict';
import { before, describe, it } from 'mocha';
import { AssessmentError } from '../../../src/core/errors.ts';
import type { RunNote, RunNotes } from '../../../src/core/run/runNotes.ts';
import type { RunStore } from '../../../src/core/run/runStore.ts';
import type { RunTracker } from '../../../src/core/run/runTracker.ts';
import { offerLostRuns } from '../../../src/editor/lostRuns.ts';
import { watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { silent } from '../../silentLog.ts';

describe('a run of which only a note is left', () => {
  let folder: string;

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  /** What a person is told and the keys that are forgotten, when tracking fails so and these buttons are pressed. */
  async function offered(
    kind: AssessmentError['kind'],
    ...presses: (string | undefined)[]
  ): Promise<{ texts: string[]; forgotten: string[] }> {
    const note: RunNote = {
      workflow: 'whitebox-assessment',
      baseUrl: 'https://assessment.example.test/v1',
      organizationId: 'invented',
      language: 'english',
      runId: 'run-77',
      targets: [
        { folder: '/not/open', name: 'docs' },
        { folder, name: 'shop' },
      ],
    };
    const forgotten: string[] = [];
    const forget = (key: string): Promise<void> => {
      forgotten.push(key);
      return Promise.resolve();
    };
    const notes = { lost: () => [{ key: 'run:a', note }], forget } as unknown as RunNotes;
    const track = (): Promise<void> => Promise.reject(new AssessmentError(kind));
    const messages = watchMessages(() => presses.shift());
    try {
      const tracker = { track } as unknown as RunTracker;
      await offerLostRuns({ notes, runs: {} as unknown as RunStore, tracker, log: silent });
    } finally {
      messages.end();
    }
    return { texts: messages.shown.map(({ text }) => text), forgotten };
  }

  it('F93 is offered where any of its folders is open, by its run ID', async () => {
    const { texts } = await offered('notFound');
    assert.match(texts[0] ?? '', /docs, shop .*run-77/);
  });

  it('F93 is kept, and named, when the service does not know it for once', async () => {
    const { texts, forgotten } = await offered('notFound', 'Track Again');
    assert.match(
      texts[1] ?? '',
      /run-77 could not be tracked again; .* offers it again\. The service does not know/,
    );
    assert.deepEqual(forgotten, []);
  });

  it('F93 is forgotten when a person says so after that', async () => {
    const { forgotten } = await offered('notFound', 'Track Again', 'Forget');
    assert.deepEqual(forgotten, ['run:a']);
  });
});
