import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { Logger } from '../../../src/core/ports.ts';
import type { Assessment } from '../../../src/core/run/launch.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { RunStore } from '../../../src/core/run/runStore.ts';
import type { FolderChoices } from '../../../src/core/upload/folderChoices.ts';
import { excludeFromUpload } from '../../../src/editor/excludeFromUpload.ts';
import { uploadLabel } from '../../../src/editor/labels.ts';
import { describeSuspicions } from '../../../src/editor/preparation.ts';
import { UploadChoices } from '../../../src/editor/uploadChoices.ts';
import { confirmUpload } from '../../../src/editor/uploadQuestion.ts';
import { skipBecause, storageVariable } from '../events.ts';
import { type MessageWatch, type ShownMessage, watchEachTest, watchMessages } from '../messages.ts';
import { openFolders } from '../openFolders.ts';
import { endedRun } from '../storedRuns.ts';
import { setUserSettings } from '../userSettings.ts';

const storage = process.env[storageVariable]!;
const place = { baseUrl: 'https://assessment.example.test/v1', organizationId: 'invented' };

describe('what leaves the machine', () => {
  let folder: string;
  const messages = watchEachTest();

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  it('F79 is asked about with control and bidi characters of names made visible, and how many names are not shown', async () => {
    const name = 'a\u202Etxt.exe\nSize: 0';
    const suspicion = {
      path: name,
      kind: 'content',
      rule: 'invented',
      masked: 'k\u202E…',
      sha256: 'a',
    } as const;
    assert.equal(describeSuspicions([suspicion]), 'a\\u{202E}txt.exe Size: 0  invented  k\\u{202E}…');
    const omitted = Array.from({ length: 12 }, (_, index) => `${name}${String(index)}`);
    const archive = {
      file: 'archive-0',
      type: 'zip' as const,
      bytes: 1,
      sha256: '',
      files: 5,
      sourceBytes: 1,
      omitted,
    };
    const ended = endedRun({ id: 'invented', folder, ...place });
    const [target] = ended.targets;
    const run = { ...ended, targets: [{ ...target!, name: 'b\u202Eb', archive }] };
    const files = Array.from({ length: 205 }, (_, index) => ({
      path: String(index),
      bytes: 0,
      mode: 0o644 as const,
    }));
    const selection = { root: folder, files, leftOut: [], bytes: 0 };
    await ask(run, selection);
    const [{ text, detail }] = messages() as [ShownMessage];
    assert.match(text, / of b\\u\{202E\}b for assessment\?$/);
    assert.ok(!(text + detail).includes('\u202E'), detail);
    assert.match(detail, /stay out:\n(?:a\\u\{202E\}txt\.exe Size: 0\d\n){10}… and 190 more\n/);
  });

  it('F22 F23 is asked about with the names of what could not be read, and with counts of choices and secrets for themselves', async () => {
    const ended = endedRun({ id: 'invented', folder, ...place });
    const [target] = ended.targets;
    const archive = { file: 'a', type: 'zip' as const, bytes: 1, sha256: '', files: 1, sourceBytes: 1 };
    const run = { ...ended, targets: [{ ...target!, archive: { ...archive, omitted: [] } }] };
    const rule = { source: 'gitignore', line: 1, pattern: 'x', widened: false } as const;
    const leftOut = [
      ['locked.txt', { kind: 'unreadable', code: 'EBUSY' }],
      ['gone.txt', { kind: 'unreadable', code: 'vanished' }],
      ['swapped/', { kind: 'outsideRoot' }],
      ['chosen', { kind: 'choice' }],
      ['key', { kind: 'secret', suspicions: [] }],
      ['x', { kind: 'ignored', rule }],
      ['y', { kind: 'link' }],
    ].map(([name, reason]) => ({ path: name, reason }));
    const selection = { root: folder, files: [{ path: 'a', bytes: 0, mode: 0o644 }], leftOut, bytes: 0 };
    await ask(run, selection);
    const detail = messages()[0]?.detail ?? '';
    assert.match(detail, /stay out:\nlocked\.txt\ngone\.txt\nswapped\/\n\n/);
    assert.match(
      detail,
      /: 1 file; left out by ignore files, settings or kind: 2; left out by your choice: 1; left out as suspected secrets: 1\n/,
    );
  });

  it('is told as still there where an ended run could not give it back', () => {
    const run = endedRun({ id: 'invented', folder, ...place });
    const upload = { fileId: 'invented', state: 'reserved' as const, at: 0 };
    assert.equal(uploadLabel(run, { ...run.targets[0]!, upload }), 'not yet removed from the service');
  });

  it('is not excluded through a .whiteboxignore that is a link', async function () {
    if (process.platform === 'win32') skipBecause(this, 'links need a right of their own on Windows');
    const rules = path.join(folder, 'rules.txt');
    const ignoreFile = path.join(folder, '.whiteboxignore');
    await writeFile(rules, 'before\n');
    await symlink(rules, ignoreFile);
    try {
      await vscode.commands.executeCommand('whitebox.excludeFromUpload', vscode.Uri.file(rules));
      assert.equal(messages().length, 1);
      assert.match(
        messages()[0]!.text,
        /^A file that decides what is sent cannot be read: .*\.whiteboxignore\. Check/,
      );
      assert.equal(await readFile(rules, 'utf8'), 'before\n');
    } finally {
      await rm(ignoreFile);
      await rm(rules);
    }
  });

  it('is left out by a .whiteboxignore that opens with its explanation, and stays as a person writes it', async () => {
    const file = path.join(folder, '.whiteboxignore');
    const edit = async (): Promise<vscode.TextEditor> => {
      await vscode.commands.executeCommand('whitebox.editIgnoreFile');
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor?.document.uri.fsPath, file);
      return editor;
    };
    try {
      const editor = await edit();
      const { document } = editor;
      assert.match(
        document.getText(),
        /^# Files that are not uploaded .*\n# Same syntax as \.gitignore; .*\n$/,
      );
      const header = new vscode.Range(0, 0, document.lineCount, 0);
      await editor.edit((change) => change.replace(header, 'customers/\n'));
      await document.save();
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      assert.equal((await edit()).document.getText(), 'customers/\n');
      assert.equal(await readFile(file, 'utf8'), 'customers/\n');
      assert.deepEqual(messages(), []);
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await rm(file, { force: true });
    }
  });

  describe('is excluded', () => {
    let choices: UploadChoices;
    let watch: MessageWatch;
    let press: string | undefined;
    let ignoreFile: string;
    const here: FolderChoices = {
      include: ['kept.txt', 'dist/'],
      leaveOut: ['old/'],
      restored: ['old/kept'],
    };

    beforeEach(async () => {
      choices = uploadChoices();
      const [workspaceFolder] = vscode.workspace.workspaceFolders!;
      await choices.change(workspaceFolder!, () => here);
      ignoreFile = path.join(folder, '.whiteboxignore');
      for (const name of ['kept.txt', 'other.txt']) await writeFile(path.join(folder, name), '');
      press = undefined;
      watch = watchMessages(() => press);
    });

    afterEach(async () => {
      watch.end();
      for (const name of ['kept.txt', 'other.txt', '.whiteboxignore'])
        await rm(path.join(folder, name), { force: true });
    });

    const now = (): FolderChoices => choices.of(vscode.workspace.workspaceFolders![0]!);
    const exclude = async (...names: string[]): Promise<void> => {
      const reopened = Promise.withResolvers<undefined>();
      let times = 0;
      const reopen = (): Promise<void> => {
        if (++times === (press === undefined ? 1 : 2)) reopened.resolve(undefined);
        return Promise.resolve();
      };
      const log = { error: reopened.reject } as unknown as Logger;
      const uris = names.map((name) => vscode.Uri.file(path.join(folder, name)));
      await excludeFromUpload(uris, { choices, preview: { reopen }, log });
      await reopened.promise;
    };

    it('although it was chosen by name before, with one line and one message for all that is selected', async () => {
      await exclude('kept.txt', 'other.txt');
      assert.match(await readFile(ignoreFile, 'utf8'), /^(?:#.*\n)+\/kept\.txt\n\/other\.txt\n$/);
      assert.deepEqual(now(), { ...here, include: ['dist/'], leaveOut: ['old/', 'kept.txt', 'other.txt'] });
      assert.deepEqual(
        watch.shown.map(({ text, buttons }) => [text, buttons]),
        [['2 files and folders are left out of uploads from now on, by lines in .whiteboxignore.', ['Undo']]],
      );
      await exclude('kept.txt');
      assert.deepEqual(watch.shown[1]?.buttons, [], 'nothing was added');
    });

    it('and Undo brings back exactly that', async () => {
      await writeFile(ignoreFile, '/mine\n');
      press = 'Undo';
      await exclude('kept.txt', 'other.txt');
      assert.equal(await readFile(ignoreFile, 'utf8'), '/mine\n');
      assert.deepEqual(now().include.toSorted(), here.include.toSorted());
      assert.deepEqual(now().leaveOut, here.leaveOut);
    });

    it('and Undo says so when somebody has taken the line out already', async () => {
      press = 'Undo';
      watch.end();
      watch = watchMessages(async () => {
        await writeFile(ignoreFile, '');
        return press;
      });
      await exclude('kept.txt');
      assert.match(watch.shown.at(-1)?.text ?? '', /\.whiteboxignore has changed since/);
      assert.deepEqual(now().include, ['dist/']);
    });
  });

  it('is saved without touching what lies beside', async () => {
    const { showSaveDialog } = vscode.window;
    const to = path.join(folder, '..', 'saved.tar.gz');
    const source = path.join(folder, 'b.js');
    await writeFile(source, 'two();\n');
    await writeFile(`${to}.part`, 'mine');
    await mkdir(path.join(storage, 'saving'), { recursive: true });
    const cutOff = path.join(storage, 'saving', '0.part');
    await writeFile(cutOff, 'of a window that was killed');
    await utimes(cutOff, 1, 1);
    vscode.window.showSaveDialog = () => Promise.resolve(vscode.Uri.file(to));
    try {
      await vscode.commands.executeCommand('whitebox.saveArchive');
      assert.match(messages().at(-1)?.text ?? '', /^Saved /);
      assert.deepEqual(await readdir(path.join(storage, 'saving')), []);
      assert.equal(await readFile(`${to}.part`, 'utf8'), 'mine');
    } finally {
      vscode.window.showSaveDialog = showSaveDialog;
      for (const file of [source, to, `${to}.part`]) await rm(file, { force: true });
    }
  });

  it('F30 is saved as it was checked: what becomes a secret while the save dialog stands open is asked about, and told of in warn mode', async () => {
    const { showSaveDialog } = vscode.window;
    const to = path.join(folder, '..', 'saved.tar.gz');
    const source = path.join(folder, 'b.js');
    const token = `ghp_${'Ab1'.repeat(12)}`;
    vscode.window.showSaveDialog = async () => {
      await writeFile(source, `const key = '${token}';\n`);
      return vscode.Uri.file(to);
    };
    try {
      await writeFile(source, 'two();\n');
      await vscode.commands.executeCommand('whitebox.saveArchive');
      assert.deepEqual(
        messages().map(({ text }) => text),
        ['Suspected secrets in 1 file'],
      );
      await assert.rejects(readFile(to), { code: 'ENOENT' });
      await setUserSettings({ 'whitebox.secrets.checkBeforeUpload': 'warn' });
      await writeFile(source, 'two();\n');
      await vscode.commands.executeCommand('whitebox.saveArchive');
      assert.match(messages().at(-1)?.text ?? '', /^Saved .*Suspected secrets .*\nb\.js:1 {2}.*github/s);
    } finally {
      vscode.window.showSaveDialog = showSaveDialog;
      for (const file of [source, to]) await rm(file, { force: true });
    }
  });

  it('needs a token command that is a list, and nothing is run before it is one', async () => {
    await setUserSettings({
      'whitebox.baseUrl': place.baseUrl,
      'whitebox.organizationId': place.organizationId,
      'whitebox.tokenCommand': 'vendor print-token',
    });
    await vscode.commands.executeCommand('whitebox.testConnection');
    assert.match(messages()[0]?.text ?? '', /whitebox\.tokenCommand must be a list: the program/);
    assert.deepEqual(messages()[0]?.buttons, ['Open Settings']);
  });
});

/** Asks about the upload of a run of one folder. */
async function ask(run: Run, selection: unknown): Promise<void> {
  const assessment = { ...place, language: 'english', targets: [{ ...run.targets[0], selection }] };
  const deps = {
    runs: { all: () => [] } as unknown as RunStore,
    preview: { show: () => undefined, shown: () => [] },
  };
  await confirmUpload(run, assessment as unknown as Assessment, [], deps, undefined);
}

/** Choices that are kept as long as the test. */
function uploadChoices(): UploadChoices {
  const kept = new Map<string, unknown>();
  return new UploadChoices({
    keys: () => [...kept.keys()],
    get: <T>(key: string, fallback?: T) => (kept.get(key) ?? fallback) as T,
    update: (key, value) => Promise.resolve(void kept.set(key, value)),
  });
}
