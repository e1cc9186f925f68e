import { statSync } from 'node:fs';
import { readlink, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve, win32 } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { readRegularFile } from '../../files.ts';

export interface GitSurroundings {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isOnOtherHost?: typeof isOnOtherHost;
  readonly platform?: NodeJS.Platform;
}

export interface Repository {
  readonly root: string;
  /**
   * The folder that contains `info/exclude` and `config`. For a linked working tree, this is the
   * Git folder of the main repository.
   */
  readonly commonDir: string;
  readonly gitDir: string;
}

const maxConfigBytes = 1 << 20;

/**
 * Returns the nearest of `folder` and its parents with an intact Git folder, or else the nearest
 * with a damaged one.
 */
export async function findRepository(
  folder: string,
  surroundings: GitSurroundings,
): Promise<Repository | undefined> {
  let damaged: Repository | undefined;
  for (let at = folder; ; at = dirname(at)) {
    const found = await repositoryAt(at, surroundings);
    if (found !== undefined) return found;
    const gitDir = join(at, '.git');
    if (damaged === undefined && (await isFolder(gitDir))) damaged = { root: at, gitDir, commonDir: gitDir };
    if (dirname(at) === at) return damaged;
  }
}

/**
 * Returns the repository whose working tree starts at `folder`, if Git accepts the `.git` there. A
 * Git folder is accepted unread if it is on a different host than `folder` and the user's home.
 */
export async function repositoryAt(
  folder: string,
  { home, isOnOtherHost: isElsewhere = isOnOtherHost }: GitSurroundings,
): Promise<Repository | undefined> {
  const dotGit = join(folder, '.git');
  const gitDir = (await isFolder(dotGit)) ? dotGit : readGitFile(folder);
  if (gitDir === undefined) return undefined;
  const known = [folder, home];
  if (isElsewhere(gitDir, known)) return { root: folder, gitDir, commonDir: gitDir };
  const common = readText(join(gitDir, 'commondir'));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trim());
  const repository = { root: folder, gitDir, commonDir };
  if (isElsewhere(commonDir, known)) return repository;
  return (await isGitFolder(gitDir, commonDir)) ? repository : undefined;
}

/** Decides like Git: the folder may have any name, and a bare repository counts. */
export async function isGitFolder(gitDir: string, commonDir = gitDir): Promise<boolean> {
  return (
    (await isFolder(join(commonDir, 'objects'))) &&
    (await isFolder(join(commonDir, 'refs'))) &&
    (await isHead(join(gitDir, 'HEAD')))
  );
}

/**
 * Decides like Git: the file names a reference or a commit, or is a link to a reference, which need
 * not exist.
 */
async function isHead(file: string): Promise<boolean> {
  const target = await readlink(file).catch(() => undefined);
  if (target !== undefined) return target.startsWith('refs/');
  return /^(?:ref:\s*refs\/|[0-9a-fA-F]{40})/.test(readText(file) ?? '');
}

/** Reads the file `.git`, which submodules and linked working trees have instead of a folder. */
function readGitFile(folder: string): string | undefined {
  const target = /^gitdir: (.+?)[\r\n]*$/.exec(readText(join(folder, '.git')) ?? '')?.[1];
  return target === undefined ? undefined : resolve(folder, target);
}

/** Returns undefined if the drive or share doesn't respond. Windows then reports `UNKNOWN`. */
export function ifReachable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof AssessmentError && error.data.detail === 'UNKNOWN') return undefined;
    throw error;
  }
}

/** Follows links. Undefined if there is no regular file. Throws `sourceUnreadable`. */
export function readText(path: string): string | undefined {
  return readRegularFile(path, { maxBytes: maxConfigBytes, followLink: true })?.toString('utf8');
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (
      ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG', 'UNKNOWN'].includes(systemCode(error) ?? '')
    ) {
      return false;
    }
    throw error;
  }
}

/**
 * True for a Windows path on a network share that contains none of the `known` paths. If a
 * repository chose such a path, opening it would send the user's credentials to the share's host.
 */
export function isOnOtherHost(
  path: string,
  known: readonly string[],
  platform: NodeJS.Platform = process.platform,
): boolean {
  if (platform !== 'win32' || !/^[\\/]{2}/.test(path)) return false;
  // `\\?\` and `\\.\` may lead anywhere.
  return /^[\\/]{2}[?.][\\/]/.test(path) || !known.some((each) => shareOf(each) === shareOf(path));
}

function shareOf(path: string): string {
  return win32.parse(win32.normalize(path)).root.toLowerCase();
}

/** Returns the folder in which Git looks for the user's configuration. */
export function gitHome(
  platform = process.platform,
  { HOME: home, HOMEDRIVE: drive, HOMEPATH: path }: GitSurroundings['env'] = process.env,
  profile = homedir(),
  isFolder = (path: string) => statSync(path).isDirectory(),
): string {
  if (platform !== 'win32') return profile;
  if (home !== undefined && home !== '') return home;
  const share = drive === undefined || path === undefined ? '' : drive + path;
  try {
    return share !== '' && isFolder(share) ? share : profile;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return profile; // The folder is missing or doesn't respond.
  }
}
