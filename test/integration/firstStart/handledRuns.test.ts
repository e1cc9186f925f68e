import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../../service/assessmentService.ts';
import { storageVariable } from '../events.ts';
import { type MessageWatch, watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { runLines } from '../runLines.ts';
import { storeEndedRun, storeLiveRun } from '../storedRuns.ts';
import { printing, resetUserSettings, setUserSettings } from '../userSettings.ts';

const storage = process.env[storageVariable]!;
const { showInputBox } = vscode.window;
const dayMs = 24 * 60 * 60 * 1000;

describe('a run in the hands of a person', () => {
  const id = '20260101000000-handled';
  const node = { kind: 'run', id };
  let folder: string;
  let service: AssessmentService;
  let messages: MessageWatch;
  let pressed: string | undefined;

  before(async () => {
    [folder = ''] = await openFolders(1);
    service = await startService();
  });

  beforeEach(async () => {
    pressed = undefined;
    messages = watchMessages(({ buttons }) => buttons.find((button) => button === pressed));
    await setUserSettings({
      'whitebox.baseUrl': service.baseUrl,
      'whitebox.organizationId': service.organizationId,
      'whitebox.tokenCommand': printing(service.token),
      'whitebox.runs.deleteSourceAfterRun': false,
    });
  });

  afterEach(async () => {
    messages.end();
    Object.assign(vscode.window, { showInputBox });
    await rm(path.join(storage, 'runs', id), { recursive: true, force: true });
    await run('refreshRuns');
    await resetUserSettings();
  });

  after(() => service.close());

  const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
    vscode.commands.executeCommand(`whitebox.${command}`, ...args);
  const stored = () => ({ id, folder, baseUrl: service.baseUrl, organizationId: service.organizationId });

  it('has the name that they give it, until they take it back', async () => {
    await storeEndedRun(storage, stored(), []);
    await run('refreshRuns');
    const [unnamed = ''] = await runLines(id);
    const type = async (name: string | undefined): Promise<string> => {
      Object.assign(vscode.window, { showInputBox: () => Promise.resolve(name) });
      await run('renameRun', node);
      return (await runLines(id))[0] ?? '';
    };
    assert.match(await type(' Before the release '), /^Before the release: finished · /);
    assert.match(await type(undefined), /^Before the release: /);
    assert.equal(await type(''), unnamed);
  });

  it('gives its ID to the clipboard', async () => {
    await storeEndedRun(storage, stored(), []);
    await run('refreshRuns');
    await run('copyRunId', node);
    assert.equal(await vscode.env.clipboard.readText(), `invented-${id}`);
  });

  it('is let go when the service knows it no more, once they agree to what that means', async () => {
    const since = Date.now() - 2 * dayMs;
    await storeLiveRun(storage, stored(), { kind: 'notFound', since, deniedSince: since, times: 9 });
    await run('refreshRuns');
    const offered = (lines: readonly string[]): boolean =>
      lines.some((line) => line.startsWith('Does not end: stop watching?'));
    assert.ok(offered(await runLines(id)));

    await run('stopWatching', node);
    const [{ text, detail, isModal, buttons } = {}, ...others] = messages.shown;
    assert.match(text ?? '', /^Stop watching the run of /);
    assert.match(detail ?? '', new RegExp(`track it again by its run ID: invented-${id}$`));
    assert.deepEqual([isModal, buttons, others], [true, ['Stop Watching'], []]);
    assert.ok(offered(await runLines(id)), 'it is watched on when the question is dismissed');

    pressed = 'Stop Watching';
    await run('stopWatching', node);
    const lines = await runLines(id);
    assert.match(lines[0] ?? '', /: no longer watched · /);
    assert.ok(!offered(lines));
  });

  it('assesses the folder whose menu it was, alone, and takes its source off the service when they ask for that', async () => {
    const part = path.join(folder, 'part');
    await mkdir(part);
    await writeFile(path.join(part, 'only.js'), 'one();\n');
    const before = await readdir(path.join(storage, 'runs'));
    pressed = 'Upload and Start';
    await run('assessFolder', vscode.Uri.file(part));
    await rm(part, { recursive: true });
    assert.equal(messages.shown[0]?.text, 'Upload 1 file of part for assessment?');
    const [sent, ...more] = service.runs();
    const names = sent?.archives.map(({ entries }) => entries.map(({ path: name }) => name));
    assert.deepEqual([names, more], [[['only.js']], []]);
    const started = (await readdir(path.join(storage, 'runs'))).find((name) => !before.includes(name))!;

    await service.finishRun(sent!.id);
    await run('refreshRuns');
    const sourceLine = async (): Promise<string> =>
      (await runLines(started)).find((line) => line.startsWith('Uploaded source of part: ')) ?? '';
    const uploads = (): string[] => service.files().map(({ state }) => state);
    assert.match(await sourceLine(), /: on the service since /);

    await run('deleteUploadedSource');
    assert.equal(messages.shown.at(-1)?.text, 'Delete the uploaded source code of part from the service?');
    assert.deepEqual(uploads(), ['confirmed'], 'it stays when the question is dismissed');

    pressed = 'Delete';
    await run('deleteUploadedSource');
    assert.equal(messages.shown.at(-1)?.text, 'The uploaded source was deleted.');
    assert.deepEqual(uploads(), ['deleted']);
    assert.match(await sourceLine(), /: deleted from the service on /);

    pressed = 'Remove';
    await run('removeRun', { kind: 'run', id: started });
    assert.deepEqual(await runLines(started), []);
  });
});
