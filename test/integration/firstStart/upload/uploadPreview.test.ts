import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { applyChoices } from '../../../../src/core/upload/choose/prepareUpload.ts';
import type { Excluded, SelectedFile } from '../../../../src/core/upload/select/selection.ts';
import { createPreparation } from '../../../../src/editor/upload/checkAndPack.ts';
import { createUploadPreview, type UploadPreview } from '../../../../src/editor/upload/uploadPreview.ts';
import { type PreviewNode, previewTree } from '../../../../src/editor/upload/uploadPreviewTree.ts';
import type { LazyView } from '../../../../src/lazyView.ts';
import { untilEqual } from '../../../host/workbench/eventually.ts';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { replace } from '../../dialogs.ts';
import { makeMemory, partly } from '../../doubles.ts';
import { folder as top } from '../../openFolders.ts';
import { dist } from '../../shownRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

const hidden = 'a\u202Etxt.exe';
const files: SelectedFile[] = [
  ...[hidden, 'key.ts', 'locked.ts'].map((path) => ({ path, bytes: 1, mode: 0o644 }) as const),
  { path: 'logo.png', bytes: 128, mode: 0o644, isLfsPointer: true },
];
const rule = { source: 'gitignore', file: '.gitignore', line: 2, pattern: 'dist/' } as const;
const excluded: Excluded[] = [
  { path: 'dist/', reason: { kind: 'ignored', rule } },
  { path: 'dist/app.js', reason: { kind: 'ignoredButTracked', rule } },
  { path: `${hidden}/`, reason: { kind: 'outsideRoot' } },
  { path: 'lib/', reason: { kind: 'submodule' } },
  { path: 'pipe', reason: { kind: 'special' } },
];

const unreadIndexes = [{ file: 'lib/.git/index', problem: 'split' }] as const;

describe('the Upload Preview', () => {
  const folder = { uri: vscode.Uri.file('/invented'), name: hidden };
  const suspicion = {
    path: 'key.ts',
    kind: 'content',
    rule: 'invented',
    line: 1,
    masked: '…',
    sha256: '0',
  } as const;
  const unreadRules = [
    { file: '.gitignore', problem: 'utf16' },
    { file: 'a/.gitignore', problem: 'nul' },
  ] as const;
  const selected = { root: '/invented', files, excluded, bytes: 3, unreadRules, unreadIndexes };
  const checks = new Map([
    [hidden, { suspicions: [], sha256: '1' }],
    ['logo.png', { suspicions: [], sha256: '2' }],
    ['key.ts', { suspicions: [suspicion], sha256: '0' }],
    ['locked.ts', { path: 'locked.ts', reason: 'changed' } as const],
  ]);
  const prepared = applyChoices(
    { folder, selected, include: [], checks },
    {},
    {
      mode: 'warn',
      decisionOf: () => undefined,
    },
  );
  const tree = previewTree(() => [prepared], new vscode.EventEmitter<undefined>().event);

  const linesOf = async (node?: PreviewNode): Promise<string[]> => {
    const lines: string[] = [];
    for (const child of (await tree.getChildren(node)) ?? []) {
      const { label, description, iconPath } = await tree.getTreeItem(child);
      const icon = iconPath instanceof vscode.ThemeIcon ? iconPath.id : '';
      lines.push([label as string, description as string, icon].join(' | '), ...(await linesOf(child)));
    }
    return lines;
  };

  it('F79 F167 F168 shows names, reasons, suspected secrets, and files of Git that can’t be read', async () => {
    assert.deepEqual(await linesOf(), [
      'To be uploaded | 3 files, 130 bytes; Git LFS pointers without their content: 1 | cloud-upload',
      'a\\u{202E}txt.exe | 1 byte | file',
      'key.ts | 1 byte · suspected secret | warning',
      'logo.png | 128 bytes · Git LFS pointer | file',
      'Excluded | 6 | exclude',
      'Ignored by Git | 1 | ',
      'dist/ | dist/  (.gitignore:2) | ',
      'Tracked by Git, but ignored | 1 | ',
      'dist/app.js | dist/  (.gitignore:2) | ',
      'Outside the folder | 1 | ',
      'a\\u{202E}txt.exe/ |  | ',
      'Submodules that aren’t checked out | 1 | ',
      'lib/ |  | ',
      'Special files | 1 | ',
      'pipe |  | ',
      'Can’t be read | 1 | ',
      'locked.ts | kept changing while it was read | ',
      'Ignore rules that don’t apply | 2 | warning',
      '.gitignore | The file is UTF-16, so Git finds no rules in it. Save the file as UTF-8. | ',
      'a/.gitignore | The file contains NUL bytes. Git ignores the rest of a line after a NUL byte. | ',
      'Ignored files that Git tracks: unknown | 1 | info',
      'lib/.git/index | split index | ',
    ]);
  });
});

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
      ...createPreparation(makeMemory(), dist('secretWorker.cjs'), new FolderCalls(silent)),
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
