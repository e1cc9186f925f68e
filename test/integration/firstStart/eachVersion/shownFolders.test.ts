import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../../../service/assessmentService.ts';
import { storageVariable } from '../../events.ts';
import { answer, type MessageWatch, watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { storeUnsentRun } from '../../storedRuns.ts';
import { signIn } from '../../signedIn.ts';
import { resetUserSettings } from '../../userSettings.ts';

const storage = process.env[storageVariable]!;
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`whitebox.${command}`, ...args);

describe('the folders shown in the Upload Preview', () => {
  let folder: string;
  let api: vscode.Uri;
  let service: AssessmentService;
  let messages: MessageWatch;
  let press: string | undefined;

  before(async () => {
    [folder = ''] = await openFolders(1);
    api = vscode.Uri.file(path.join(folder, 'packages', 'api'));
    await mkdir(api.fsPath, { recursive: true });
    await writeFile(path.join(api.fsPath, 'server.js'), 'serve();\n');
    await writeFile(path.join(folder, 'other.js'), 'other();\n');
    service = await startService();
  });

  beforeEach(async () => {
    press = 'Show Files';
    messages = watchMessages(() => press);
    await signIn(service);
  });

  afterEach(async () => {
    await run('closePreview');
    await resetUserSettings();
  });

  after(async () => {
    await rm(path.join(folder, 'packages'), { recursive: true });
    await rm(path.join(folder, 'other.js'));
    await service.close();
  });

  it('are started by ▶ and saved by 💾; other starts and archives say what the preview does not show', async () => {
    const to = path.join(folder, '..', 'saved.tar.gz');
    answer({ showSaveDialog: () => vscode.Uri.file(to) });
    await run('assessFolder', api);
    press = undefined;
    try {
      await run('assessShown');
      await run('startAssessment');
      await run('saveShown');
      await run('saveArchive');
    } finally {
      await rm(to, { force: true });
    }
    // Messages of an earlier test may arrive, too.
    const ours = messages.shown.filter(({ text }) => /^(?:Upload|Saved) /.test(text));
    const texts = ours.map(({ text, detail }) => [text, detail].join('\n'));
    const other = `The Upload Preview doesn’t show ${path.basename(folder)}.`;
    assert.match(texts[0] ?? '', /^Upload 1 file of api for/);
    assert.match(texts[1] ?? '', /^Upload 1 file of api for/);
    assert.match(texts[3] ?? '', /^Saved .*: 1 file, /);
    assert.deepEqual(
      texts.map((text) => text.includes(other)),
      [false, false, true, false, true],
    );
    assert.deepEqual(service.requests, []);
  });

  it('stay those of a retried run, which lists the files that were not sent before', async () => {
    const id = '20260101000000-shown';
    const { baseUrl, organizationId } = service;
    await storeUnsentRun(storage, { id, folder, baseUrl, organizationId }, { 'other.js': 'other();\n' });
    try {
      await run('refreshRuns');
      await run('retryUpload', { kind: 'run', id });
      press = undefined;
      await run('assessShown');
      const asked = messages.shown.filter(({ isModal }) => isModal);
      assert.equal(asked.length, 2);
      for (const { detail } of asked)
        assert.match(detail, /run that you’re retrying: 1 file\npackages\/api\/server\.js\n/);
    } finally {
      await rm(path.join(storage, 'runs', id), { recursive: true });
      await run('refreshRuns');
    }
  });
});
