import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { LazyView } from '../../../../src/lazyView.ts';
import type { PreviewNode } from '../../../../src/editor/upload/uploadPreviewTree.ts';
import { createPreparation } from '../../../../src/editor/upload/checkAndPack.ts';
import { createUploadPreview, type UploadPreview } from '../../../../src/editor/upload/uploadPreview.ts';
import { untilEqual } from '../../../host/workbench/eventually.ts';
import { silent } from '../../../silentLog.ts';
import { replace } from '../../dialogs.ts';
import { makeMemory, partly } from '../../doubles.ts';
import { folder as top } from '../../openFolders.ts';
import { dist } from '../../shownRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

describe('the Upload Preview is updated', () => {
  const { getWorkspaceFolder } = vscode.workspace;
  let preview: UploadPreview;
  let folderChanges: vscode.EventEmitter<void>;
  let attempts: number;
  const closed = new Set<string>();

  const at = (...names: string[]): string => path.join(top, 'shown', ...names);
  const shown = (): string =>
    preview
      .shown()
      .map(({ folder, selection }) => [folder.name, ...selection.files.map((file) => file.path)].join(' '))
      .join('; ');
  const shows = (text: string): Promise<unknown> => untilEqual(shown, text);

  const save = async (file: string, text: string): Promise<void> => {
    await writeFile(file, '');
    const document = await vscode.workspace.openTextDocument(file);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), text);
    await vscode.workspace.applyEdit(edit);
    assert.ok(await document.save());
  };

  beforeEach(async () => {
    for (const name of ['api', 'web', 'docs']) {
      await mkdir(at(name), { recursive: true });
      await writeFile(at(name, 'a.js'), 'one();\n');
      await writeFile(at(name, 'b.txt'), 'two\n');
    }
    attempts = 0;
    closed.clear();
    folderChanges = new vscode.EventEmitter();
    replace(vscode.workspace, {
      onDidChangeWorkspaceFolders: folderChanges.event,
      getWorkspaceFolder: (uri: vscode.Uri) => (closed.has(uri.fsPath) ? undefined : getWorkspaceFolder(uri)),
    });
    const view = { onDidChangeCheckboxState: new vscode.EventEmitter().event };
    const lazy = partly<LazyView<PreviewNode>>({ view, fill: () => undefined });
    preview = createUploadPreview(lazy, {
      ...createPreparation(makeMemory(), dist('secretWorker.cjs')),
      attempt: (_id, work) => {
        attempts += 1;
        return work().catch(() => undefined);
      },
      log: silent,
    });
    await preview.open(['api', 'web'].map((name) => ({ uri: vscode.Uri.file(at(name)), name })));
    assert.equal(shown(), 'api a.js b.txt; web a.js b.txt');
  });

  afterEach(async () => {
    preview.close();
    preview.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(path.join(top, 'shown'), { recursive: true });
  });

  it('after a change of a setting that decides what is sent', async () => {
    await setUserSettings({ 'whitebox.archive.exclude': ['*.txt'] });
    await shows('api a.js; web a.js');
  });

  it('after saving an ignore file in or above a folder, and no other file', async () => {
    await save(at('docs', '.whiteboxignore'), 'a.js\n');
    assert.equal(attempts, 0);
    await save(at('.whiteboxignore'), 'b.txt\n');
    await shows('api a.js; web a.js');
    await save(at('web', '.gitignore'), 'a.js\n');
    await shows('api a.js; web .gitignore');
  });

  it('after a folder has left the workspace', async () => {
    closed.add(at('web'));
    folderChanges.fire();
    await shows('api a.js b.txt');
    closed.add(at('api'));
    folderChanges.fire();
    assert.equal(shown(), '');
  });
});
