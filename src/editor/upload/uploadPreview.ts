import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable, Logger } from '../../core/ports.ts';
import { withChosen } from '../../core/upload/choose/choices.ts';
import { countDifferences } from '../../core/upload/choose/prepareUpload.ts';
import { PreviewModel } from '../../core/upload/choose/previewModel.ts';
import { visibleName } from '../../core/visibleText.ts';
import type { Attempt } from '../errors/errorActions.ts';
import { type Folder, isInside } from '../folders.ts';
import { countFiles, formatBytes } from '../formats.ts';
import { inBackground } from '../../core/yieldingWork.ts';
import { withProgress } from '../progress.ts';
import type { LazyView } from '../../lazyView.ts';
import { type PreparationDeps, type Prepared, type UploadChoices } from './checkAndPack.ts';
import { type PreviewNode, previewTree } from './uploadPreviewTree.ts';

const ignoreFiles = ['.gitignore', '.whiteboxignore'];
const decidingSettings = [
  'whitebox.archive.exclude',
  'whitebox.archive.includeNestedRepositories',
  'whitebox.secrets.checkBeforeUpload',
];

/** The Upload Preview: which files would be uploaded, which not and why, with checkboxes to change that. */
export interface UploadPreview extends Disposable {
  /** Selects the files of these folders, shows them and brings the view to the front. */
  open(folders: readonly Folder[]): Promise<void>;
  /** Shows prepared folders, also for the retry of a run, and brings the view to the front. */
  show(prepared: readonly Prepared[], retryOf?: string): void;
  shown(): readonly Prepared[];
  /** The ID of the run that would be retried with the shown folders. */
  retryOf(): string | undefined;
  reopen(): Promise<void>;
  close(): void;
}

export function createUploadPreview(
  lazy: LazyView<PreviewNode>,
  deps: PreparationDeps & { attempt: Attempt; log: Logger },
): UploadPreview {
  const changed = new vscode.EventEmitter<undefined>();
  const previewing = new PreviewModel<Folder>({
    steps: deps.steps,
    inProgress: (work) =>
      withProgress(vscode.l10n.t('Whitebox Assessment'), (onStep, signal) => work({ onStep, signal })),
    show: (prepared, isNew) => {
      lazy.view.message = messageOf(prepared);
      changed.fire(undefined);
      if (isNew) inBackground(reveal(prepared.length > 0), deps.log);
    },
  });
  const attempt = (work: () => Promise<void>): void => void deps.attempt('whitebox.previewUpload', work);
  let retryOf: string | undefined;
  lazy.fill(previewTree(() => previewing.shown, changed.event));
  const checkboxes = lazy.view.onDidChangeCheckboxState(({ items }) => {
    attempt(async () => {
      for (const [node, state] of items) {
        await choose(node, state === vscode.TreeItemCheckboxState.Checked, deps.choices);
      }
      await previewing.applyChoices();
    });
  });
  const reopen = (): void => attempt(() => previewing.reopen());
  /** An ignore file applies to a folder below it, too. */
  const applies = (ignoreFile: vscode.Uri): boolean => {
    const place = vscode.Uri.joinPath(ignoreFile, '..');
    return previewing.shown.some(({ folder: { uri } }) => isInside(place, uri) || isInside(uri, place));
  };
  const events = vscode.Disposable.from(
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (ignoreFiles.includes(posix.basename(uri.path)) && applies(uri)) reopen();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (decidingSettings.some((key) => change.affectsConfiguration(key))) reopen();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      const isThere = ({ uri }: Folder): boolean => vscode.workspace.getWorkspaceFolder(uri) !== undefined;
      attempt(() => previewing.keepOnly(isThere));
    }),
  );
  return {
    open: async (folders) => {
      const before = previewing.shown;
      await previewing.open(folders);
      // Unchanged where the person cancelled.
      if (previewing.shown !== before) retryOf = undefined;
    },
    show: (prepared, tried) => {
      retryOf = tried;
      previewing.adopt(prepared);
    },
    shown: () => previewing.shown,
    retryOf: () => retryOf,
    reopen: async () => {
      await deps.attempt('whitebox.previewUpload', () => previewing.reopen());
    },
    close: () => previewing.close(),
    dispose: () => {
      checkboxes.dispose();
      events.dispose();
      changed.dispose();
    },
  };
}

/** Sentences about folders that the preview does not show, and about files that changed since it was filled; empty where it is not open. */
export function otherThanShown(prepared: readonly Prepared[], shown: readonly Prepared[]): string[] {
  const t = vscode.l10n.t;
  if (shown.length === 0) return [];
  const unseen: string[] = [];
  let differences = 0;
  for (const { folder, selection } of prepared) {
    const before = shown.find((each) => each.folder.uri.toString() === folder.uri.toString());
    if (before === undefined) unseen.push(visibleName(folder.name));
    else differences += countDifferences(before.selection, selection);
  }
  return [
    ...(unseen.length > 0 ? [t('The Upload Preview doesn’t show {0}.', unseen.join(', '))] : []),
    ...(differences > 0
      ? [t('Different from what the Upload Preview shows: {0}.', countFiles(differences))]
      : []),
  ];
}

async function reveal(isVisible: boolean): Promise<void> {
  const keys = ['whitebox.previewing', 'whitebox.choosingFiles'];
  // In this order one of the views is always visible; without any, VS Code would switch to another container.
  for (const key of isVisible ? keys : keys.reverse())
    await vscode.commands.executeCommand('setContext', key, isVisible);
  if (isVisible) await vscode.commands.executeCommand('whitebox.uploadPreview.focus');
}

async function choose({ about }: PreviewNode, isSent: boolean, choices: UploadChoices): Promise<void> {
  if (about === undefined) return;
  const { folder, path, reason } = about;
  const isIgnored = reason?.kind === 'ignored';
  if (reason?.kind === 'secret') await choices.decide(reason.suspicions, isSent ? 'send' : 'leaveOut');
  else await choices.change(folder, (now) => withChosen(now, path, { isSent, isIgnored }));
}

function messageOf(prepared: readonly Prepared[]): string {
  const t = vscode.l10n.t;
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
