import { readlink, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AssessmentError, systemCode } from '../errors.ts';
import { type ConfigEntry, isTrue, parseGitConfig } from './gitConfig.ts';
import { configOfEnvironment } from './gitEnvironment.ts';
import { type ConditionPlaces, holds } from './includeCondition.ts';
import { isOnOtherHost } from './otherHost.ts';
import { readRegularFile } from './regularFile.ts';

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
  /** What git takes for `excludesFile` where a condition holds that is not decided here. */
  readonly possibleExcludesFiles: readonly string[];
  readonly infoExclude: string | undefined;
}

const maxConfigBytes = 1 << 20;

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
  const gitDir = (await isFolder(dotGit)) ? dotGit : await readGitFile(folder);
  if (gitDir === undefined) return undefined;
  const known = [folder, home];
  if (isElsewhere(gitDir, known)) return { root: folder, gitDir, commonDir: gitDir };
  const common = await readText(join(gitDir, 'commondir'));
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
  const text = await readText(file);
  if (text !== undefined) return /^(?:ref:\s*refs\/|[0-9a-fA-F]{40})/.test(text);
  const target = await readlink(file).catch(() => '');
  return target.startsWith('refs/');
}

/** The git folder that a `.git` file names (submodules, linked working trees). */
async function readGitFile(folder: string): Promise<string | undefined> {
  const target = /^gitdir: (.+?)[\r\n]*$/.exec((await readText(join(folder, '.git'))) ?? '')?.[1];
  return target === undefined ? undefined : resolve(folder, target);
}

/** Reads system, user and repository configuration as git does, `include.path` and `includeIf` followed; of conditions only `gitdir:` is decided. Throws `sourceUnreadable`, also for what lies elsewhere (see `repositoryAt`). */
export async function readIgnoreSettings(
  repository: Repository | undefined,
  { home, env }: GitSurroundings,
  isElsewhere = isOnOtherHost,
): Promise<IgnoreSettings> {
  const xdg = env['XDG_CONFIG_HOME'] || join(home, '.config');
  const known = repository === undefined ? [home] : [repository.root, home];
  const reader: ConditionPlaces = {
    home,
    gitDir: repository?.gitDir,
    isElsewhere: (path) => isElsewhere(path, known),
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
  if (repository !== undefined) {
    mustBeHere(repository.gitDir, reader);
    await read(join(mustBeHere(repository.commonDir, reader), 'config'));
    if (values.has('extensions.worktreeconfig') && isTrue(values.get('extensions.worktreeconfig'))) {
      await read(join(repository.gitDir, 'config.worktree'));
    }
  }
  note(await followIncludes(configOfEnvironment(env), repository?.root ?? home, reader));
  const foldsByNature = repository === undefined && process.platform !== 'linux';
  const toPath = (value: string): string | undefined => {
    const path = expand(value.replace(/^:\(optional\)/, ''), home, repository?.root ?? home);
    return path === undefined ? undefined : mustBeHere(path, reader);
  };
  const excludesFile = values.has('core.excludesfile')
    ? toPath(values.get('core.excludesfile') ?? '')
    : join(xdg, 'git', 'ignore');
  return {
    ignoreCase: values.has('core.ignorecase') ? isTrue(values.get('core.ignorecase')) : foldsByNature,
    composeNames:
      process.platform === 'darwin' &&
      (!values.has('core.precomposeunicode') || isTrue(values.get('core.precomposeunicode'))),
    excludesFile,
    possibleExcludesFiles: possible.map(toPath).filter((path) => path !== undefined),
    infoExclude: repository === undefined ? undefined : join(repository.commonDir, 'info', 'exclude'),
  };
}

function systemConfig(env: GitSurroundings['env']): string | undefined {
  if (process.platform !== 'win32') return '/etc/gitconfig';
  return env['PROGRAMFILES'] === undefined ? undefined : join(env['PROGRAMFILES'], 'Git', 'etc', 'gitconfig');
}

function mustBeHere(path: string, { isElsewhere }: ConditionPlaces): string {
  if (!isElsewhere(path)) return path;
  throw new AssessmentError('sourceUnreadable', { subject: path, detail: 'EREMOTE' });
}

/** An entry, and whether every condition on the way to it is known to hold. */
interface FoundEntry extends ConfigEntry {
  readonly isCertain: boolean;
}

/** How an entry was come by: through so many includes, and whether every condition on the way is known to hold. */
const byItself = { depth: 0, isCertain: true };

async function readConfig(path: string, reader: ConditionPlaces, way = byItself): Promise<FoundEntry[]> {
  const text = await readText(path);
  return text === undefined ? [] : followIncludes(parseGitConfig(text), path, reader, way);
}

/** Entries of the configuration at `path`, each include followed by what it brings. */
async function followIncludes(
  found: readonly ConfigEntry[],
  path: string,
  reader: ConditionPlaces,
  { depth, isCertain } = byItself,
): Promise<FoundEntry[]> {
  const entries: FoundEntry[] = [];
  for (const entry of found) {
    entries.push({ ...entry, isCertain });
    const condition = /^(?:include|includeif\.(.+))\.path$/s.exec(entry.name);
    if (condition === null || entry.value === undefined || depth >= 10) continue;
    const held = condition[1] === undefined || (await holds(condition[1], path, reader));
    const target = held === false ? undefined : expand(entry.value, reader.home, dirname(path));
    if (target === undefined) continue;
    const included = { depth: depth + 1, isCertain: isCertain && held === true };
    entries.push(...(await readConfig(mustBeHere(target, reader), reader, included)));
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

async function readText(path: string): Promise<string | undefined> {
  return (await readRegularFile(path, { maxBytes: maxConfigBytes, followLink: true }))?.toString('utf8');
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
