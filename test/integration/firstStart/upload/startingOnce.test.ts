import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';
import { type AssessmentService, startService } from '../../../service/assessmentService.ts';
import { storageVariable } from '../../events.ts';
import { type MessageWatch, type ShownMessage, watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { storeLiveRun } from '../../storedRuns.ts';
import { signIn } from '../../signedIn.ts';
import { silent } from '../../../silentLog.ts';
import { resetUserSettings } from '../../userSettings.ts';

const storage = process.env[storageVariable]!;
const busy = 'You’re already starting another run. Finish or cancel that one first.';
const uploadQuestion = /^Upload \d+ files? of .* for assessment\?$/;

describe('starting an assessment, which costs credits', () => {
  let folder: string;
  let service: AssessmentService;
  let messages: MessageWatch;
  let press: (message: ShownMessage) => string | undefined | Promise<string | undefined>;

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  beforeEach(async () => {
    await writeFile(path.join(folder, 'once.js'), 'once();\n');
    service = await startService();
    press = () => undefined;
    messages = watchMessages((message) => press(message));
    await signIn(service, {
      'whitebox.notifications.level': 'attention',
    });
  });

  afterEach(async () => {
    await rm(path.join(folder, 'once.js'));
    for (const id of await readdir(path.join(storage, 'runs')))
      await rm(path.join(storage, 'runs', id), { recursive: true, maxRetries: 3 });
    await run('refreshRuns');
    await resetUserSettings();
    await service.close();
  });

  const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
    vscode.commands.executeCommand(`whitebox.${command}`, ...args);
  const questions = (): string[] => messages.shown.flatMap(({ isModal, text }) => (isModal ? [text] : []));
  const notices = (): string[] => messages.shown.flatMap(({ isModal, text }) => (isModal ? [] : [text]));
  const dispatches = (): number =>
    service.requests.filter((request) => request.path.endsWith('/dispatch')).length;

  it('F47 asks once and starts one run for a double click', async () => {
    press = ({ isModal }) => (isModal ? 'Upload and Start' : undefined);
    await Promise.all([run('startAssessment'), run('startAssessment')]);
    assert.equal(questions().length, 1, questions().join('\n'));
    assert.match(questions()[0]!, uploadQuestion);
    assert.deepEqual(notices(), [busy]);
    assert.deepEqual([dispatches(), service.runs().length], [1, 1]);
  });

  it('F47 is refused without a question while another window starts the same folder', async () => {
    await run('startAssessment');
    assert.equal(questions().length, 1, 'dismissed: the folder has been started before');
    const starting = path.join(storage, 'starting');
    const held = [];
    for (const name of await readdir(starting))
      held.push(await takeLease(path.join(starting, name), { clock, log: silent }));
    try {
      assert.ok(held.length > 0 && !held.includes(undefined));
      await run('startAssessment');
      assert.deepEqual([questions().length, notices()], [1, [busy]]);
      assert.deepEqual(service.requests, []);
    } finally {
      for (const lease of held) await lease?.release();
    }
    await run('startAssessment');
    assert.equal(questions().length, 2, 'and is not, once that window is done');
  });

  it('F47 asks first if the folder has a run already, also one of another window', async () => {
    const { baseUrl, organizationId } = service;
    await storeLiveRun(storage, { id: '20260101000000-live', folder, baseUrl, organizationId });
    await run('startAssessment');
    const [{ text, detail, buttons } = { text: '' }, ...others] = messages.shown;
    assert.deepEqual(
      [text, buttons, others],
      ['A run for this folder is already in progress.', ['Start Another Run'], []],
    );
    assert.match(detail ?? '', /\. State: running\. Another run spends credits again\.$/);
    assert.ok(!service.requests.some(({ path: asked }) => asked.includes('input-files')));

    press = ({ buttons: [first] }) => (first === 'Start Another Run' ? first : undefined);
    await run('startAssessment');
    assert.match(questions().at(-1)!, uploadQuestion);
    assert.equal(dispatches(), 0);
  });
});
