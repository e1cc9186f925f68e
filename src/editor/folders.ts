import { posix } from 'node:path';
import * as vscode from 'vscode';
import { AssessmentError, asUnknown } from '../core/errors.ts';
import { pathInside } from '../core/paths.ts';
import type { Run } from '../core/run/state/run.ts';
import { visibleName } from '../core/visibleText.ts';
import { answerOf, maxTransferMs } from '../core/yieldingWork.ts';

export interface Folder {
  readonly uri: vscode.Uri;
  readonly name: string;
}

export async function pickFolders(
  chosen: readonly Folder[] | undefined,
  title: string,
): Promise<readonly Folder[] | undefined> {
  const folders = chosen ?? (await pickWorkspaceFolders(title));
  for (const { uri } of folders ?? []) {
    if (uri.scheme !== 'file') throw new AssessmentError('notAFolder', { subject: uri.toString() });
  }
  return folders;
}

export async function pickFolder(placeHolder: string): Promise<Folder | undefined> {
  const [first, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (first === undefined) throw new AssessmentError('noFolder');
  const folder =
    others.length === 0
      ? first
      : await vscode.window.showWorkspaceFolderPick({ placeHolder, ignoreFocusOut: true });
  if (folder !== undefined && folder.uri.scheme !== 'file')
    throw new AssessmentError('notAFolder', { subject: folder.uri.toString() });
  return folder;
}

export function folderAt(uri: vscode.Uri): Folder {
  return { uri, name: posix.basename(uri.path) };
}

/** The folders must be open, because their upload choices are stored with the workspace. */
export function openFoldersOf({ targets }: Run): readonly Folder[] {
  return targets.map(({ folder, name }) => {
    const uri = vscode.Uri.file(folder);
    if (vscode.workspace.getWorkspaceFolder(uri) === undefined)
      throw new AssessmentError('folderNotOpen', { subject: folder });
    return { uri, name };
  });
}

export function isInside(file: vscode.Uri, folder: vscode.Uri): boolean {
  return file.scheme === folder.scheme && pathInside(folder.fsPath, file.fsPath) !== undefined;
}

export function isOpenHere(folder: string): boolean {
  const open = vscode.workspace.workspaceFolders ?? [];
  return open.some(({ uri }) => isInside(vscode.Uri.file(folder), uri));
}

export function hasOpenFolder({ targets }: Pick<Run, 'targets'>): boolean {
  return targets.some(({ folder }) => isOpenHere(folder));
}

/** These types declare the part of the API of VS Code's git extension that this extension uses. */
export interface GitRepository {
  readonly rootUri: vscode.Uri;
  readonly state: {
    readonly HEAD?: {
      readonly name?: string;
      readonly commit?: string;
      readonly upstream?: { readonly remote: string; readonly name: string };
    };
    readonly remotes: readonly { readonly name: string; readonly fetchUrl?: string }[];
    readonly workingTreeChanges: readonly unknown[];
    readonly indexChanges: readonly unknown[];
    readonly mergeChanges: readonly unknown[];
    readonly untrackedChanges?: readonly unknown[];
    readonly onDidChange: vscode.Event<void>;
  };
  /** `file` is an absolute path. Rejects if the commit does not have the file. */
  buffer(commit: string, file: string): Promise<Buffer>;
  /** Rejects with the `gitErrorCode` `UnknownPath` if the commit does not have the file. */
  getObjectDetails(commit: string, file: string): Promise<{ readonly size: number }>;
  getMergeBase(one: string, other: string): Promise<string | undefined>;
  diffWith(
    commit: string,
  ): Promise<readonly { readonly uri: vscode.Uri; readonly originalUri: vscode.Uri }[]>;
  getBranches(query: {
    readonly remote: boolean;
    readonly count: number;
    readonly sort: 'committerdate';
  }): Promise<readonly { readonly name?: string }[]>;
}

export interface GitApi {
  /** The state is `uninitialized` until the git extension has looked for repositories. */
  readonly state: 'uninitialized' | 'initialized';
  readonly onDidChangeState: vscode.Event<unknown>;
  readonly onDidOpenRepository: vscode.Event<unknown>;
  readonly onDidCloseRepository: vscode.Event<unknown>;
  getRepository(uri: vscode.Uri): GitRepository | null;
}

interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): GitApi;
}

/** Limits the wait: another extension may provide the file, or take part in saving it. */
export function answerAbout<T>(
  uri: vscode.Uri,
  work: PromiseLike<T>,
  options?: Parameters<typeof answerOf>[2],
): Promise<T> {
  return answerOf(
    work,
    vscode.l10n.t('The file system provider of {0}', visibleName(posix.basename(uri.path))),
    options,
  );
}

export function openDocument(uri: vscode.Uri): Promise<vscode.TextDocument> {
  return answerAbout(uri, vscode.workspace.openTextDocument(uri));
}

/** Throws `noAnswer` after two minutes: formatters, or a question to the user, may delay saving. */
export function saveDocument(document: vscode.TextDocument | vscode.NotebookDocument): Promise<boolean> {
  return answerAbout(document.uri, document.save(), { maxMs: maxTransferMs });
}

export function answerOfGit<T>(work: PromiseLike<T>): Promise<T> {
  return answerOf(work, vscode.l10n.t('VS Code’s Git extension'));
}

/** May throw `noAnswer`. Undefined if VS Code's git extension is off, as in Restricted Mode. */
export async function gitApi(): Promise<GitApi | undefined> {
  const extension = vscode.extensions.getExtension<GitExtension>('vscode.git');
  const git = extension && (await answerOfGit(extension.activate()));
  return git?.enabled === true ? git.getAPI(1) : undefined;
}

/** `getRepository` returns a new object at each call, so repositories are compared by root. */
export function uniqueByRoot(repositories: Iterable<GitRepository>): readonly GitRepository[] {
  return [...new Map(Array.from(repositories, (each) => [each.rootUri.fsPath, each])).values()];
}

/** Waits until VS Code's git extension has found and read the repositories. Throws `noAnswer`. */
export async function whenRead(
  git: GitApi,
  repositories: () => ReadonlyMap<string, GitRepository>,
): Promise<ReadonlyMap<string, GitRepository>> {
  let subscriptions: readonly vscode.Disposable[] = [];
  const unsubscribe = (): void => {
    for (const subscription of subscriptions) subscription.dispose();
  };
  const read = new Promise<ReadonlyMap<string, GitRepository>>((resolve) => {
    const check = (): void => {
      unsubscribe();
      const found = repositories();
      const states = uniqueByRoot(found.values()).map(({ state }) => state);
      subscriptions = [
        git.onDidChangeState(check),
        git.onDidOpenRepository(check),
        ...states.map((state) => state.onDidChange(check)),
      ];
      if (git.state === 'initialized' && states.every(({ HEAD }) => HEAD !== undefined)) resolve(found);
    };
    check();
  });
  try {
    return await answerOfGit(read);
  } finally {
    unsubscribe();
  }
}

export async function repositoryOf(folder: vscode.Uri): Promise<GitRepository | undefined> {
  const git = await gitApi().catch(asUnknown);
  return git?.getRepository(folder) ?? undefined;
}

/** `origin` comes first. URLs lose user names and passwords; `git@host:path` stays unchanged. */
export async function remotesOf(folder: string): Promise<readonly string[]> {
  const remotes = (await repositoryOf(vscode.Uri.file(folder)))?.state.remotes ?? [];
  const originFirst = [...remotes.filter(({ name }) => name === 'origin'), ...remotes];
  return originFirst.flatMap(({ fetchUrl }) => {
    const url = URL.parse(fetchUrl ?? '');
    if (url !== null) Object.assign(url, { username: '', password: '' });
    return url?.href ?? fetchUrl ?? [];
  });
}

async function pickWorkspaceFolders(title: string): Promise<readonly Folder[] | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) throw new AssessmentError('noFolder');
  if (folders.length === 1) return folders;
  const picked = await vscode.window.showQuickPick(
    folders.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder, picked: true })),
    {
      canPickMany: true,
      ignoreFocusOut: true,
      title,
      placeHolder: vscode.l10n.t('Choose the folders to assess. Each becomes a separate archive.'),
    },
  );
  return picked === undefined || picked.length === 0 ? undefined : picked.map(({ folder }) => folder);
}
