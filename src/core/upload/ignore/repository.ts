import { readlink, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError, systemCode } from '../../errors.ts';
import { type ConfigEntry, isTrue, parseGitConfig } from './gitConfig.ts';
import { configOfEnvironment } from './gitEnvironment.ts';
import { isOnOtherHost } from './otherHost.ts';
import { readRegularFile } from '../../files.ts';

/** The person's own surroundings, in which git would look for configuration. */
export interface GitSurroundings {
  readonly home: string;
  /** `XDG_CONFIG_HOME`, `GIT_CONFIG_GLOBAL`, `GIT_CONFIG_SYSTEM`, `GIT_CONFIG_NOSYSTEM`, `PROGRAMFILES` and what `gitEnvironment.ts` knows are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A working tree and its git folder. */
export interface Repository {
  /** The folder that holds `.git`. */
  readonly root: string;
  /** Holds `info/exclude` and `config`; for a linked working tree the main repository's. */
  readonly commonDir: string;
  readonly gitDir: string;
}

/** What git's configuration says about ignoring. */
export interface IgnoreSettings {
  readonly ignoreCase: boolean;
  /** Compare names in composed form (macOS). */
  readonly composeNames: boolean;
  readonly excludesFile: string | undefined;
  /** What git takes for `excludesFile` where the condition of an include holds, which is not decided here, or would take without the repository's own configuration. */
  readonly possibleExcludesFiles: readonly string[];
  readonly infoExclude: string | undefined;
}

/** Of one file, and of all that one configuration includes, each counted as if it had 4 KiB more. */
const maxConfigBytes = 1 << 20;
const maxIncludedBytes = 4 << 20;

interface ReadingOptions {
  readonly signal?: AbortSignal | undefined;
  readonly isElsewhere?: typeof isOnOtherHost;
}

/** What reading one configuration works with. */
interface ConfigReader {
  readonly home: string;
  /** Whether a path must not be opened (see `isOnOtherHost`). */
  readonly isElsewhere: (path: string) => boolean;
  readonly signal: AbortSignal | undefined;
  includedBytes: number;
}

/** The repository that `folder` lies in: the nearest parent, itself included, with a git folder; an intact one counts before a damaged one. */
export async function findRepository(
  folder: string,
  home: string,
  isElsewhere = isOnOtherHost,
): Promise<Repository | undefined> {
  let damaged: Repository | undefined;
  for (let at = folder; ; at = dirname(at)) {
    const found = await repositoryAt(at, home, isElsewhere);
    if (found !== undefined) return found;
    damaged ??= (await isFolder(join(at, '.git')))
      ? { root: at, gitDir: join(at, '.git'), commonDir: join(at, '.git') }
      : undefined;
    if (dirname(at) === at) return damaged;
  }
}

/**
 * The repository whose working tree starts at `folder`, when `.git` there is what git takes for a repository. One whose git folder lies
 * neither where the folder nor where the home lies (`isElsewhere`) counts, too, but nothing is read from there.
 */
export async function repositoryAt(
  folder: string,
  home: string,
  isElsewhere = isOnOtherHost,
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
  if (!(await isFolder(join(commonDir, 'objects'))) || !(await isFolder(join(commonDir, 'refs')))) {
    return undefined;
  }
  return (await isHead(join(gitDir, 'HEAD'))) ? repository : undefined;
}

/** Whether git takes a file for a `HEAD`: it names a reference or a commit, or is a link to a reference that need not be there yet. */
async function isHead(file: string): Promise<boolean> {
  const text = readText(file);
  if (text !== undefined) return /^(?:ref:\s*refs\/|[0-9a-fA-F]{40})/.test(text);
  const target = await readlink(file).catch(() => '');
  return target.startsWith('refs/');
}

/** The git folder that a `.git` file names (submodules, linked working trees). */
function readGitFile(folder: string): string | undefined {
  const target = /^gitdir: (.+?)[\r\n]*$/.exec(readText(join(folder, '.git')) ?? '')?.[1];
  return target === undefined ? undefined : resolve(folder, target);
}

/** Reads system, user and repository configuration as git does, `include.path` and `includeIf` followed; any condition may hold. Throws `sourceUnreadable`, also for what lies elsewhere (see `repositoryAt`) and for more than a person writes. */
export async function readIgnoreSettings(
  repository: Repository | undefined,
  { home, env }: GitSurroundings,
  { signal, isElsewhere = isOnOtherHost }: ReadingOptions = {},
): Promise<IgnoreSettings> {
  const xdg = env['XDG_CONFIG_HOME'] || join(home, '.config');
  const known = repository === undefined ? [home] : [repository.root, home];
  const reader: ConfigReader = {
    home,
    isElsewhere: (path) => isElsewhere(path, known),
    signal,
    includedBytes: 0,
  };
  const values = new Map<string, string | undefined>();
  const possible: string[] = [];
  const note = (entries: readonly FoundEntry[]): void => {
    for (const { name, value, isCertain } of entries) {
      if (isCertain) values.set(name, value);
      else if (name === 'core.excludesfile') possible.push(value ?? '');
    }
  };
  const read = async (path: string | undefined): Promise<void> => {
    if (path !== undefined) note(await readConfig(path, reader));
  };
  if (!isTrue(env['GIT_CONFIG_NOSYSTEM'] ?? 'false')) {
    await read(env['GIT_CONFIG_SYSTEM'] ?? systemConfig(env));
  }
  if (env['GIT_CONFIG_GLOBAL'] !== undefined) {
    await read(env['GIT_CONFIG_GLOBAL'] || undefined);
  } else {
    await read(join(xdg, 'git', 'config'));
    await read(join(home, '.gitconfig'));
  }
  const excludesValue = (): string =>
    values.has('core.excludesfile') ? (values.get('core.excludesfile') ?? '') : join(xdg, 'git', 'ignore');
  const own = excludesValue();
  if (repository !== undefined) {
    mustBeHere(repository.gitDir, reader);
    await read(join(mustBeHere(repository.commonDir, reader), 'config'));
    if (values.has('extensions.worktreeconfig') && isTrue(values.get('extensions.worktreeconfig'))) {
      await read(join(repository.gitDir, 'config.worktree'));
    }
    // A `.git` that came with the folder must not put another file in the place of the person's own.
    if (excludesValue() !== own) possible.push(own);
  }
  note(await followIncludes(configOfEnvironment(env), repository?.root ?? home, reader));
  const foldsByNature = repository === undefined && process.platform !== 'linux';
  const toPath = (value: string): string | undefined => {
    const path = expand(value.replace(/^:\(optional\)/, ''), home, repository?.root ?? home);
    return path === undefined ? undefined : mustBeHere(path, reader);
  };
  return {
    ignoreCase: values.has('core.ignorecase') ? isTrue(values.get('core.ignorecase')) : foldsByNature,
    composeNames:
      process.platform === 'darwin' &&
      (!values.has('core.precomposeunicode') || isTrue(values.get('core.precomposeunicode'))),
    excludesFile: toPath(excludesValue()),
    possibleExcludesFiles: possible.map(toPath).filter((path) => path !== undefined),
    infoExclude: repository === undefined ? undefined : join(repository.commonDir, 'info', 'exclude'),
  };
}

function systemConfig(env: GitSurroundings['env']): string | undefined {
  if (process.platform !== 'win32') return '/etc/gitconfig';
  return env['PROGRAMFILES'] === undefined ? undefined : join(env['PROGRAMFILES'], 'Git', 'etc', 'gitconfig');
}

function mustBeHere(path: string, { isElsewhere }: ConfigReader): string {
  if (!isElsewhere(path)) return path;
  throw new AssessmentError('sourceUnreadable', { subject: path, detail: 'EREMOTE' });
}

/** An entry, and whether it counts whatever conditions hold. */
interface FoundEntry extends ConfigEntry {
  readonly isCertain: boolean;
}

async function readConfig(path: string, reader: ConfigReader, isCertain = true): Promise<FoundEntry[]> {
  await setImmediate();
  reader.signal?.throwIfAborted();
  const text = readText(path);
  reader.includedBytes += 4096 + (text?.length ?? 0);
  if (reader.includedBytes > maxIncludedBytes) {
    throw new AssessmentError('sourceUnreadable', {
      subject: path,
      detail: 'EFBIG',
      limit: maxIncludedBytes,
    });
  }
  return text === undefined ? [] : followIncludes(parseGitConfig(text), path, reader, isCertain);
}

/** Entries of the configuration at `path`, each include followed by what it brings. */
async function followIncludes(
  found: readonly ConfigEntry[],
  path: string,
  reader: ConfigReader,
  isCertain = true,
): Promise<FoundEntry[]> {
  const entries: FoundEntry[] = [];
  for (const entry of found) {
    if (/^(?:core|extensions)\./.test(entry.name)) entries.push({ ...entry, isCertain });
    const include = /^(include|includeif\..+)\.path$/s.exec(entry.name)?.[1];
    const target = include === undefined ? undefined : expand(entry.value ?? '', reader.home, dirname(path));
    if (target === undefined) continue;
    const isIncluded = isCertain && include === 'include';
    for (const each of await readConfig(mustBeHere(target, reader), reader, isIncluded)) entries.push(each);
  }
  return entries;
}

/** A path value of a configuration file; undefined when empty. Throws `sourceUnreadable` for git's own folder and the home of somebody else, which are not known. */
function expand(value: string, home: string, base: string): string | undefined {
  if (value === '') return undefined;
  const [, user, below = ''] = /^~([^/]*)(.*)$/s.exec(value) ?? [];
  if (user === '') return join(home, below);
  if (user === undefined && !value.startsWith('%(prefix)/')) return resolve(base, value);
  const own = userInfo();
  if (user === own.username) return join(own.homedir, below);
  throw new AssessmentError('sourceUnreadable', { subject: value, detail: 'ENOENT' });
}

function readText(path: string): string | undefined {
  return readRegularFile(path, { maxBytes: maxConfigBytes, followLink: true })?.toString('utf8');
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].includes(systemCode(error) ?? '')) {
      return false;
    }
    throw error;
  }
}
