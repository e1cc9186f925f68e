import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from '../../errors.ts';
import { configOfEnvironment, type GitSetting, isTrue, parseGitConfig } from './gitConfig.ts';
import { type GitSurroundings, isOnOtherHost, readText, type Repository } from './repository.ts';

/** What git's configuration says about ignoring. */
export interface IgnoreSettings {
  readonly ignoreCase: boolean;
  /** Names are compared in composed form (macOS). */
  readonly composeNames: boolean;
  readonly excludesFile: string | undefined;
  /** What may be the `excludesFile` instead: those of conditional includes, whose conditions are not evaluated, and the person's own where the repository's configuration names another. */
  readonly possibleExcludesFiles: readonly string[];
  readonly infoExclude: string | undefined;
}

/** Limit for all files of one configuration together, each counted with 4 KiB more than it has. */
const maxConfigBytes = 4 << 20;

/** One reading of a configuration. */
interface ConfigReader {
  readonly home: string;
  readonly isElsewhere: (path: string) => boolean;
  readonly signal: AbortSignal | undefined;
  bytes: number;
}

/** A setting, and whether it counts whatever the conditions of includes are. */
interface FoundSetting extends GitSetting {
  readonly isCertain: boolean;
}

/**
 * Reads system, user and repository configuration as git does and follows `include.path` and `includeIf`, of which any condition may hold.
 * Throws `sourceUnreadable`, also for a path on another host (`isOnOtherHost`) and for more than `maxConfigBytes`.
 */
export async function readIgnoreSettings(
  repository: Repository | undefined,
  { home, env, isOnOtherHost: isElsewhere = isOnOtherHost }: GitSurroundings,
  signal?: AbortSignal,
): Promise<IgnoreSettings> {
  const xdg = env['XDG_CONFIG_HOME'] || join(home, '.config');
  const known = repository === undefined ? [home] : [repository.root, home];
  const reader: ConfigReader = { home, isElsewhere: (path) => isElsewhere(path, known), signal, bytes: 0 };
  const values = new Map<string, string | undefined>();
  const possible: string[] = [];
  const add = (settings: readonly FoundSetting[]): void => {
    for (const { name, value, isCertain } of settings) {
      if (isCertain) values.set(name, value);
      else if (name === 'core.excludesfile') possible.push(value ?? '');
    }
  };
  const read = async (path: string): Promise<void> => add(await readConfig(path, reader));
  const { GIT_CONFIG_GLOBAL: globalConfig, GIT_CONFIG_SYSTEM: system = systemConfig(env) } = env;
  if (!isTrue(env['GIT_CONFIG_NOSYSTEM'] ?? 'false') && system !== undefined) await read(system);
  for (const path of globalConfig === undefined
    ? [join(xdg, 'git', 'config'), join(home, '.gitconfig')]
    : [globalConfig]) {
    if (path !== '') await read(path);
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
    // A `.git` that came with the folder must not replace the person's own excludes file.
    if (excludesValue() !== own) possible.push(own);
  }
  add(await followIncludes(configOfEnvironment(env), repository?.root ?? home, reader));
  const toPath = (value: string): string | undefined => {
    const path = expand(value.replace(/^:\(optional\)/, ''), home, repository?.root ?? home);
    return path === undefined ? undefined : mustBeHere(path, reader);
  };
  const isOn = (name: string, byDefault: boolean): boolean =>
    values.has(name) ? isTrue(values.get(name)) : byDefault;
  return {
    ignoreCase: isOn('core.ignorecase', repository === undefined && process.platform !== 'linux'),
    composeNames: process.platform === 'darwin' && isOn('core.precomposeunicode', true),
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

async function readConfig(path: string, reader: ConfigReader, isCertain = true): Promise<FoundSetting[]> {
  await setImmediate();
  reader.signal?.throwIfAborted();
  const text = readText(path);
  reader.bytes += 4096 + (text?.length ?? 0);
  if (reader.bytes > maxConfigBytes) {
    throw new AssessmentError('sourceUnreadable', { subject: path, detail: 'EFBIG', limit: maxConfigBytes });
  }
  return text === undefined ? [] : followIncludes(parseGitConfig(text), path, reader, isCertain);
}

/** The settings of the configuration at `path`, each include followed by the settings it brings. */
async function followIncludes(
  settings: readonly GitSetting[],
  path: string,
  reader: ConfigReader,
  isCertain = true,
): Promise<FoundSetting[]> {
  const found: FoundSetting[] = [];
  for (const setting of settings) {
    if (/^(?:core|extensions)\./.test(setting.name)) found.push({ ...setting, isCertain });
    const include = /^(include|includeif\..+)\.path$/s.exec(setting.name)?.[1];
    const target =
      include === undefined ? undefined : expand(setting.value ?? '', reader.home, dirname(path));
    if (target === undefined) continue;
    const isIncluded = isCertain && include === 'include';
    for (const each of await readConfig(mustBeHere(target, reader), reader, isIncluded)) found.push(each);
  }
  return found;
}

/** A path value of a configuration file; undefined if empty. Throws `sourceUnreadable` for git's own folder (`%(prefix)`) and another user's home, which are unknown. */
function expand(value: string, home: string, base: string): string | undefined {
  if (value === '') return undefined;
  const [, user, below = ''] = /^~([^/]*)(.*)$/s.exec(value) ?? [];
  if (user === '') return join(home, below);
  if (user === undefined && !value.startsWith('%(prefix)/')) return resolve(base, value);
  const own = userInfo();
  if (user === own.username) return join(own.homedir, below);
  throw new AssessmentError('sourceUnreadable', { subject: value, detail: 'ENOENT' });
}
