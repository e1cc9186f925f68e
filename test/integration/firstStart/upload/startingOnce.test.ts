import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';
import { silent } from '../../../silentLog.ts';
import { messages } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { ofFolder, storage } from '../../runsInStorage.ts';
import { call, signInEachTest } from '../../signedIn.ts';
import { storeLiveRun } from '../../storedRuns.ts';

const busy = 'You’re already starting another run. Finish or cancel that one first.';
const uploadQuestion = /^Upload \d+ files? of .* for assessment\?$/;

describe('starting an assessment, which costs credits', () => {
  const service = signInEachTest({ 'whitebox.notifications.level': 'attention' });

  beforeEach(async () => {
    await writeFile(path.join(folder, 'once.js'), 'once();\n');
  });

  afterEach(() => rm(path.join(folder, 'once.js')));

  const questions = (): string[] => messages.shown.flatMap(({ isModal, text }) => (isModal ? [text] : []));
  const notices = (): string[] => messages.shown.flatMap(({ isModal, text }) => (isModal ? [] : [text]));
  const dispatches = (): number =>
    service().requests.filter((request) => request.path.endsWith('/dispatch')).length;

  it('F47 asks once and starts one run for a double click', async () => {
    messages.press = ({ isModal }) => (isModal ? 'Upload and Start' : undefined);
    await Promise.all([call('startAssessment'), call('startAssessment')]);
    assert.equal(questions().length, 1, questions().join('\n'));
    assert.match(questions()[0]!, uploadQuestion);
    assert.deepEqual(notices(), [busy]);
    assert.deepEqual([dispatches(), service().runs().length], [1, 1]);
  });

  it('F47 is refused without a question while another window starts the same folder', async () => {
    await call('startAssessment');
    assert.equal(questions().length, 1, 'dismissed: the folder has been started before');
    const starting = path.join(storage, 'starting');
    const held = [];
    for (const name of await readdir(starting))
      held.push(await takeLease(path.join(starting, name, 'lease'), { clock, log: silent }));
    try {
      assert.ok(held.length > 0 && !held.includes(undefined));
      await call('startAssessment');
      assert.deepEqual([questions().length, notices()], [1, [busy]]);
      assert.deepEqual(service().requests, []);
    } finally {
      for (const lease of held) await lease?.release();
    }
    await call('startAssessment');
    assert.equal(questions().length, 2, 'and is not, once that window is done');
  });

  it('F47 asks first if the folder has a run already, also one of another window', async () => {
    await storeLiveRun(storage, ofFolder('20260101000000-live', service()));
    await call('startAssessment');
    const [{ text, detail, buttons } = { text: '' }, ...others] = messages.shown;
    assert.deepEqual(
      [text, buttons, others],
      ['A run for this folder is already in progress.', ['Start Another Run'], []],
    );
    assert.match(detail ?? '', /\. State: running\. Another run spends credits again\.$/);
    assert.ok(!service().requests.some(({ path: asked }) => asked.includes('input-files')));

    messages.press = ({ buttons: [first] }) => (first === 'Start Another Run' ? first : undefined);
    await call('startAssessment');
    assert.match(questions().at(-1)!, uploadQuestion);
    assert.equal(dispatches(), 0);
  });
});
