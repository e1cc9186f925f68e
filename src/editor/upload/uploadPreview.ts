import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { Logger } from '../../core/ports.ts';
import { withChosen } from '../../core/upload/choose/choices.ts';
import { PreviewModel } from '../../core/upload/choose/previewModel.ts';
import type { Attempt } from '../errors/errorActions.ts';
import { type Folder, isInside } from '../folders.ts';
import { countFiles, formatBytes } from '../formats.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { withProgress } from '../progress.ts';
import type { LazyView } from '../../lazyView.ts';
import { type PreparationDeps, type Prepared, type UploadChoices } from './checkAndPack.ts';
import { type PreviewNode, previewTree } from './uploadPreviewTree.ts';

const t = vscode.l10n.t;

const ignoreFiles = ['.gitignore', '.whiteboxignore'];
const decidingSettings = [
  'whitebox.archive.exclude',
  'whitebox.archive.includeNestedRepositories',
  'whitebox.secrets.checkBeforeUpload',
];

export type UploadPreview = ReturnType<typeof createUploadPreview>;

export function createUploadPreview(
  lazy: LazyView<PreviewNode>,
  deps: PreparationDeps & { attempt: Attempt; log: Logger },
) {
  const changes = new vscode.EventEmitter<undefined>();
  const model = new PreviewModel<Folder>({
    steps: deps.steps,
    inProgress: (work) =>
      withProgress(t('Whitebox Assessment'), (onStep, signal) => work({ onStep, signal })),
    show: (prepared, isNew) => {
      lazy.view.message = messageOf(prepared);
      changes.fire(undefined);
      if (isNew) inBackground(reveal(prepared.length > 0), deps.log);
    },
  });
  const attempt = (work: () => Promise<void>) => deps.attempt('whitebox.previewUpload', work);
  const reopen = () => attempt(() => model.reopen());
  lazy.fill(previewTree(() => model.shown, changes.event));
  /** An ignore file applies to a folder below it, too. */
  const isAffected = (ignoreFile: vscode.Uri): boolean => {
    const parent = vscode.Uri.joinPath(ignoreFile, '..');
    return model.shown.some(({ folder: { uri } }) => isInside(parent, uri) || isInside(uri, parent));
  };
  const subscriptions = vscode.Disposable.from(
    changes,
    lazy.view.onDidChangeCheckboxState(({ items }) => {
      void attempt(async () => {
        for (const [node, state] of items)
          await choose(node, state === vscode.TreeItemCheckboxState.Checked, deps.choices);
        await model.applyChoices();
      });
    }),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (ignoreFiles.includes(posix.basename(uri.path)) && isAffected(uri)) void reopen();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (decidingSettings.some((key) => change.affectsConfiguration(key))) void reopen();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      const isOpen = ({ uri }: Folder): boolean => vscode.workspace.getWorkspaceFolder(uri) !== undefined;
      void attempt(() => model.keepOnly(isOpen));
    }),
  );
  return {
    open: (folders: readonly Folder[]): Promise<void> => model.open(folders),
    show: (prepared: readonly Prepared[]): void => model.adopt(prepared),
    shown: () => model.shown,
    reopen,
    close: (): void => model.close(),
    dispose: () => void subscriptions.dispose(),
  };
}

async function reveal(isVisible: boolean): Promise<void> {
  const keys = ['whitebox.previewing', 'whitebox.choosingFiles'];
  // In this order, the container always has a visible view. Without one, VS Code would switch to
  // another container.
  for (const key of isVisible ? keys : keys.reverse())
    await vscode.commands.executeCommand('setContext', key, isVisible);
  if (isVisible) await vscode.commands.executeCommand('whitebox.uploadPreview.focus');
}

async function choose({ about }: PreviewNode, isUploaded: boolean, choices: UploadChoices): Promise<void> {
  if (about === undefined) return;
  const { folder, path, reason } = about;
  const isIgnored = reason?.kind === 'ignored' || reason?.kind === 'ignoredButTracked';
  if (reason?.kind === 'secret') await choices.decide(reason.suspicions, isUploaded ? 'send' : 'exclude');
  else await choices.change(folder, (current) => withChosen(current, path, { isUploaded, isIgnored }));
}

function messageOf(prepared: readonly Prepared[]): string {
  const files = prepared.reduce((sum, { selection }) => sum + selection.files.length, 0);
  const bytes = prepared.reduce((sum, { selection }) => sum + selection.bytes, 0);
  const size = t(
    '{0}, {1} before compression. Nothing has been sent.',
    countFiles(files),
    formatBytes(bytes),
  );
  const isChecked = prepared.every(({ unchecked }) => unchecked.length === 0);
  return isChecked ? size : `${size} ${t('Some files haven’t been checked for secrets yet.')}`;
}
