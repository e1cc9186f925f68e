import assert from 'node:assert/strict';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { PathChoices } from '../../../../src/core/upload/choose/choices.ts';
import { excludeFromUpload } from '../../../../src/editor/upload/excludeFromUpload.ts';
import { UploadChoices } from '../../../../src/editor/upload/checkAndPack.ts';
import { skipBecause } from '../../events.ts';
import { afterTest, messages } from '../../dialogs.ts';
import { makeMemory } from '../../doubles.ts';
import { folder } from '../../openFolders.ts';
import { call } from '../../signedIn.ts';

describe('files that the user excludes from uploads', () => {
  it('are not excluded through a .whiteboxignore that is a link', async function () {
    if (process.platform === 'win32') skipBecause(this, 'links need a right of their own on Windows');
    const rules = path.join(folder, 'rules.txt');
    const ignoreFile = path.join(folder, '.whiteboxignore');
    await writeFile(rules, 'before\n');
    await symlink(rules, ignoreFile);
    for (const file of [rules, ignoreFile]) afterTest(() => rm(file));
    await call('excludeFromUpload', vscode.Uri.file(rules));
    assert.equal(messages.shown.length, 1);
    assert.match(
      messages.shown[0]!.text,
      /^VS Code can’t read .*\.whiteboxignore and doesn’t .* Nothing has been sent\. A rule file can’t be a folder or a link\./,
    );
    assert.equal(await readFile(rules, 'utf8'), 'before\n');
  });

  it("are excluded by a .whiteboxignore that opens with a comment and keeps the user's edits", async () => {
    const file = path.join(folder, '.whiteboxignore');
    const edit = async (): Promise<vscode.TextEditor> => {
      await call('editIgnoreFile');
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor?.document.uri.fsPath, file);
      return editor;
    };
    const close = () => vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    afterTest(() => rm(file, { force: true }));
    afterTest(close);
    const editor = await edit();
    const { document } = editor;
    assert.match(
      document.getText(),
      /^# Files that aren’t uploaded .*\n# Same syntax as \.gitignore\. .*\n$/,
    );
    const header = new vscode.Range(0, 0, document.lineCount, 0);
    await editor.edit((change) => change.replace(header, 'customers/\n'));
    await document.save();
    await close();
    assert.equal((await edit()).document.getText(), 'customers/\n');
    assert.equal(await readFile(file, 'utf8'), 'customers/\n');
    assert.deepEqual(messages.shown, []);
  });

  describe('excluding files', () => {
    let choices: UploadChoices;
    let ignoreFile: string;
    const here: PathChoices = {
      'kept.txt': 'include',
      'dist/': 'include',
      'old/': 'exclude',
      'old/kept': 'restore',
    };

    beforeEach(async () => {
      choices = new UploadChoices(makeMemory());
      const [workspaceFolder] = vscode.workspace.workspaceFolders!;
      await choices.change(workspaceFolder!, () => here);
      ignoreFile = path.join(folder, '.whiteboxignore');
      for (const name of ['kept.txt', 'other.txt']) await writeFile(path.join(folder, name), '');
    });

    afterEach(async () => {
      for (const name of ['kept.txt', 'other.txt', '.whiteboxignore'])
        await rm(path.join(folder, name), { force: true });
    });

    const now = (): PathChoices => choices.of(vscode.workspace.workspaceFolders![0]!);
    const exclude = async (...names: string[]): Promise<void> => {
      let undone: Promise<unknown> = Promise.resolve();
      const attempt = (_id: string, work: () => Promise<void>): Promise<void> => {
        const done = work();
        undone = Promise.all([undone, done]);
        return done;
      };
      const uris = names.map((name) => vscode.Uri.file(path.join(folder, name)));
      await excludeFromUpload(uris, { choices, preview: { reopen: () => Promise.resolve() }, attempt });
      await undone;
    };

    it('replaces an earlier inclusion by name, with one line and one message for the selection', async () => {
      await exclude('kept.txt', 'other.txt');
      assert.match(await readFile(ignoreFile, 'utf8'), /^(?:#.*\n)+\/kept\.txt\n\/other\.txt\n$/);
      assert.deepEqual(now(), { ...here, 'kept.txt': 'exclude', 'other.txt': 'exclude' });
      assert.deepEqual(
        messages.shown.map(({ text, buttons }) => [text, buttons]),
        [
          [
            '2 files and folders were added to .whiteboxignore and are excluded from future uploads.',
            ['Undo'],
          ],
        ],
      );
    });

    it('is reverted exactly by Undo', async () => {
      await writeFile(ignoreFile, '/mine\n');
      messages.press = () => 'Undo';
      await exclude('kept.txt', 'other.txt');
      assert.equal(await readFile(ignoreFile, 'utf8'), '/mine\n');
      assert.deepEqual(now(), here);
    });

    it('is reported as already reverted if the line was removed meanwhile', async () => {
      messages.press = async () => {
        await writeFile(ignoreFile, '');
        return 'Undo';
      };
      await exclude('kept.txt');
      assert.match(
        messages.shown.at(-1)?.text ?? '',
        /^Exclusions weren’t undone in files that have changed/,
      );
      assert.deepEqual(now(), { ...here, 'kept.txt': 'exclude' });
    });
  });
});
