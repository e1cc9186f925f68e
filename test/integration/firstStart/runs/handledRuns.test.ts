import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { storageVariable } from '../../events.ts';
import { answer, type MessageWatch, watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { runLines } from '../../runLines.ts';
import { call, signInEachTest } from '../../signedIn.ts';
import { storeEndedRun, storeLiveRun } from '../../storedRuns.ts';

const storage = process.env[storageVariable]!;
const dayMs = 24 * 60 * 60 * 1000;

describe('a run', () => {
  const id = '20260101000000-handled';
  const node = { kind: 'run', id };
  let folder: string;
  const service = signInEachTest({ 'whitebox.runs.deleteSourceAfterRun': false });
  let messages: MessageWatch;
  let pressed: string | undefined;

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  beforeEach(() => {
    pressed = undefined;
    messages = watchMessages(({ buttons }) => buttons.find((button) => button === pressed));
  });

  afterEach(async () => {
    await rm(path.join(storage, 'runs', id), { recursive: true, force: true });
    await call('refreshRuns');
  });

  const stored = () => ({ id, folder, baseUrl: service().baseUrl, organizationId: service().organizationId });

  it('keeps the name the user gives it until it is reset', async () => {
    await storeEndedRun(storage, stored(), []);
    await call('refreshRuns');
    const [unnamed = ''] = await runLines(id);
    const type = async (name: string | undefined): Promise<string> => {
      answer({ showInputBox: () => name });
      await call('renameRun', node);
      return (await runLines(id))[0] ?? '';
    };
    assert.match(await type(' Before the release '), /^Finished: Before the release · /);
    assert.match(await type(undefined), /^Finished: Before the release · /);
    assert.equal(await type(''), unnamed);
  });

  it('gives its ID to the clipboard', async () => {
    await storeEndedRun(storage, stored(), []);
    await call('refreshRuns');
    await call('copyRunId', node);
    assert.equal(await vscode.env.clipboard.readText(), `invented-${id}`);
  });

  it('is given up when the service no longer knows it, after the user agrees to the consequences', async () => {
    const since = Date.now() - 2 * dayMs;
    await storeLiveRun(storage, stored(), {
      kind: 'notFound',
      since,
      deniedSince: since,
    });
    await call('refreshRuns');
    const offered = (lines: readonly string[]): boolean =>
      lines.some((line) => line.startsWith('VS Code can’t tell whether the run has ended. Stop watching?'));
    assert.ok(offered(await runLines(id)));

    const before = messages.shown.length;
    await call('stopWatching', node);
    const [{ text, detail, isModal, buttons } = {}, ...others] = messages.shown.slice(before);
    assert.match(text ?? '', /^Stop watching the assessment of /);
    assert.match(detail ?? '', new RegExp(`track the run again by its run ID: invented-${id}$`));
    assert.deepEqual([isModal, buttons, others], [true, ['Stop Watching'], []]);
    assert.ok(offered(await runLines(id)), 'it is watched on when the question is dismissed');

    pressed = 'Stop Watching';
    await call('stopWatching', node);
    const lines = await runLines(id);
    assert.match(lines[0] ?? '', /^No longer watched: /);
    assert.ok(!offered(lines));
  });

  it('assesses only the folder whose menu was used, and deletes its source on request', async () => {
    const part = path.join(folder, 'part');
    await mkdir(part);
    await writeFile(path.join(part, 'only.js'), 'one();\n');
    const before = await readdir(path.join(storage, 'runs'));
    pressed = 'Upload and Start';
    await call('assessFolder', vscode.Uri.file(part));
    await rm(part, { recursive: true });
    assert.equal(messages.shown[0]?.text, 'Upload 1 file of part for assessment?');
    const [sent, ...more] = service().runs();
    const names = sent?.archives.map(({ entries }) => entries.map(({ path: name }) => name));
    assert.deepEqual([names, more], [[['only.js']], []]);
    const started = (await readdir(path.join(storage, 'runs'))).find((name) => !before.includes(name))!;

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

    pressed = 'Delete';
    await call('deleteUploadedSource');
    assert.equal(messages.shown.at(-1)?.text, 'The uploaded source was deleted.');
    assert.deepEqual(uploads(), ['deleted']);
    assert.match(await sourceLine(), /: deleted from the service on /);

    pressed = 'Remove';
    await call('removeRun', { kind: 'run', id: started });
    assert.deepEqual(await runLines(started), []);
  });
});
