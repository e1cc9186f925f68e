import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { answer, messages } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { call, signInEachTest } from '../../signedIn.ts';

describe('the folders shown in the Upload Preview', () => {
  let api: vscode.Uri;
  const service = signInEachTest();

  before(async () => {
    api = vscode.Uri.file(path.join(folder, 'packages', 'api'));
    await mkdir(api.fsPath, { recursive: true });
    await writeFile(path.join(api.fsPath, 'server.js'), 'serve();\n');
    await writeFile(path.join(folder, 'other.js'), 'other();\n');
  });

  beforeEach(() => {
    messages.press = () => 'Show Files';
  });

  afterEach(() => call('closePreview'));

  after(async () => {
    await rm(path.join(folder, 'packages'), { recursive: true });
    await rm(path.join(folder, 'other.js'));
  });

  it('are started by ▶ and saved by 💾; other starts are of the whole folder', async () => {
    const to = path.join(folder, '..', 'saved.tar.gz');
    answer({ showSaveDialog: () => vscode.Uri.file(to) });
    await call('assessFolder', api);
    messages.press = () => undefined;
    try {
      await call('assessShown');
      await call('startAssessment');
      await call('saveShown');
      await call('saveArchive');
    } finally {
      await rm(to, { force: true });
    }
    // Messages of an earlier test may arrive, too.
    const ours = messages.shown.filter(({ text }) => /^(?:Upload|Saved) /.test(text));
    const texts = ours.map(({ text, detail }) => [text, detail].join('\n'));
    assert.match(texts[0] ?? '', /^Upload 1 file of api for/);
    assert.match(texts[1] ?? '', /^Upload 1 file of api for/);
    assert.match(texts[3] ?? '', /^Saved .*: 1 file, /);
    assert.match(texts[2] ?? '', /^Upload \d+ files of (?!api )/);
    assert.deepEqual(service().requests, []);
  });
});
