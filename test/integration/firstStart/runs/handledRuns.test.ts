import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { answer, messages } from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { newRuns, ofFolder, runLines, storage } from '../../runsInStorage.ts';
import { call, rowOf, signInEachTest } from '../../signedIn.ts';
import { storeEndedRun, storeLiveRun } from '../../storedRuns.ts';

const dayMs = 24 * 60 * 60 * 1000;

describe('a run', () => {
  const id = '20260101000000-handled';
  const service = signInEachTest({ 'whitebox.runs.deleteSourceAfterRun': false });
  const press = (pressed: string): void => {
    messages.press = ({ buttons }) => buttons.find((button) => button === pressed);
  };

  it('keeps the name the user gives it until it is reset, and gives its ID to the clipboard', async () => {
    await storeEndedRun(storage, ofFolder(id, service()), []);
    await call('refreshRuns');
    const [unnamed = ''] = await runLines(id);
    const type = async (name: string | undefined): Promise<string> => {
      answer({ showInputBox: () => name });
      await call('renameRun', rowOf(id));
      return (await runLines(id))[0] ?? '';
    };
    assert.match(await type(' Before the release '), /^Finished: Before the release · /);
    assert.match(await type(undefined), /^Finished: Before the release · /);
    assert.equal(await type(''), unnamed);
    await call('copyRunId', rowOf(id));
    assert.equal(await vscode.env.clipboard.readText(), `invented-${id}`);
  });

  it('is given up when the service no longer knows it, after the user agrees to the consequences', async () => {
    const since = Date.now() - 2 * dayMs;
    const trouble = { kind: 'notFound', since, deniedSince: since } as const;
    await storeLiveRun(storage, ofFolder(id, service()), trouble);
    await call('refreshRuns');
    const offered = (lines: readonly string[]): boolean =>
      lines.some((line) => line.startsWith('VS Code can’t tell whether the run has ended. Stop watching?'));
    assert.ok(offered(await runLines(id)));

    const before = messages.shown.length;
    await call('stopWatching', rowOf(id));
    const [{ text, detail, isModal, buttons } = {}, ...others] = messages.shown.slice(before);
    assert.match(text ?? '', /^Stop watching the assessment of /);
    assert.match(detail ?? '', new RegExp(`track the run again by its run ID: invented-${id}$`));
    assert.deepEqual([isModal, buttons, others], [true, ['Stop Watching'], []]);
    assert.ok(offered(await runLines(id)), 'it is watched on when the question is dismissed');

    press('Stop Watching');
    await call('stopWatching', rowOf(id));
    const lines = await runLines(id);
    assert.match(lines[0] ?? '', /^No longer watched: /);
    assert.ok(!offered(lines));
  });

  it('assesses only the folder whose menu was used, and deletes its source on request', async () => {
    const part = path.join(folder, 'part');
    await mkdir(part);
    await writeFile(path.join(part, 'only.js'), 'one();\n');
    press('Upload and Start');
    await call('assessFolder', vscode.Uri.file(part));
    await rm(part, { recursive: true });
    assert.equal(messages.shown[0]?.text, 'Upload 1 file of part for assessment?');
    const [sent, ...more] = service().runs();
    const names = sent?.archives.map(({ entries }) => entries.map(({ path: name }) => name));
    assert.deepEqual([names, more], [[['only.js']], []]);
    const [started = ''] = await newRuns();

    await service().finishRun(sent!.id);
    await call('refreshRuns');
    const sourceLine = async (): Promise<string> =>
      (await runLines(started)).find((line) => line.startsWith('Uploaded source of part: ')) ?? '';
    const uploads = (): string[] =>
      service()
        .files()
        .map(({ state }) => state);
    assert.match(await sourceLine(), /: on the service since /);

    await call('deleteUploadedSource');
    assert.equal(messages.shown.at(-1)?.text, 'Delete the uploaded source code of part from the service?');
    assert.deepEqual(uploads(), ['confirmed'], 'it stays when the question is dismissed');

    press('Delete');
    await call('deleteUploadedSource');
    assert.equal(messages.shown.at(-1)?.text, 'The uploaded source was deleted.');
    assert.deepEqual(uploads(), ['deleted']);
    assert.match(await sourceLine(), /: deleted from the service on /);

    press('Remove');
    await call('removeRun', rowOf(started));
    assert.deepEqual(await runLines(started), []);
  });
});
