import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from '../../errors.ts';
import { type GitSurroundings, ifReachable, isOnOtherHost, readText, type Repository } from './repository.ts';

export interface IgnoreSettings {
  readonly ignoreCase: boolean;
  /** Names are compared in composed form (macOS). */
  readonly composeNames: boolean;
  readonly excludesFile: string | undefined;
  /**
   * Git may not read these files, but their rules apply here, too. A conditional include names
   * them, the repository's configuration overrides them, or they are candidates for a path in the
   * folder of Git's programs.
   */
  readonly possibleExcludesFiles: readonly string[];
  readonly infoExclude: string | undefined;
  /** The value as written. Undefined for Git's default. */
  readonly objectFormat: string | undefined;
}

/**
 * The limit for all files of a configuration together. Each read counts an extra 4 KiB, so that a
 * cycle of includes ends.
 */
const maxConfigBytes = 4 << 20;

/**
 * Reads the configuration like Git, but follows every `includeIf`, because any condition may be
 * true.
 */
export async function readIgnoreSettings(
  repository: Repository | undefined,
  surroundings: GitSurroundings,
  signal?: AbortSignal,
): Promise<IgnoreSettings> {
  const { home, env, isOnOtherHost: isElsewhere = isOnOtherHost, platform = process.platform } = surroundings;
  const top = repository?.root ?? home;
  const gitFolders = platform === 'win32' ? windowsGitFolders(env) : [];
  const xdg = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git');
  const mustBeHere = (path: string): string => {
    if (isElsewhere(path, [top, home])) throw unreadable(path, 'EREMOTE');
    return path;
  };
  const toPaths = (value: string, base = top): string[] =>
    expand(value, base, home, gitFolders).map(mustBeHere);
  const config = new Configuration(toPaths, signal);
  const excludes = (): string =>
    config.values.has('core.excludesfile')
      ? (config.values.get('core.excludesfile') ?? '')
      : join(xdg, 'ignore');

  const systemFolders = platform === 'win32' ? gitFolders.map((folder) => join(folder, 'etc')) : ['/etc'];
  const systemFiles = systemFolders.map((folder) => join(folder, 'gitconfig'));
  const userFiles = [join(xdg, 'config'), join(home, '.gitconfig')];
  for (const path of systemAndUserFiles(env, systemFiles, userFiles))
    await config.read(path, (file) => ifReachable(() => readText(file)));
  const excludesOfUser = excludes();
  if (repository !== undefined) {
    mustBeHere(repository.gitDir);
    await config.read(join(mustBeHere(repository.commonDir), 'config'));
    if (config.isOn('extensions.worktreeconfig', false))
      await config.read(join(repository.gitDir, 'config.worktree'));
    // A `.git` that came with the folder must not replace the user's excludes file.
    if (excludes() !== excludesOfUser) config.possibleExcludes.push(excludesOfUser);
  }
  await config.take(settingsOf(env), top);
  const toExcludes = (value: string): string[] => toPaths(value.replace(/^:\(optional\)/, ''));
  const excludesFiles = toExcludes(excludes());
  return {
    ignoreCase: config.isOn('core.ignorecase', repository === undefined && platform !== 'linux'),
    composeNames: platform === 'darwin' && config.isOn('core.precomposeunicode', true),
    excludesFile: excludesFiles.length > 1 ? undefined : excludesFiles[0],
    possibleExcludesFiles: [
      ...(excludesFiles.length > 1 ? excludesFiles : []),
      ...config.possibleExcludes.flatMap(toExcludes),
    ],
    infoExclude: repository && join(repository.commonDir, 'info', 'exclude'),
    objectFormat: config.values.get('extensions.objectformat'),
  };
}

type ReadFile = (path: string) => string | undefined;
type ToPaths = (value: string, base: string) => readonly string[];

class Configuration {
  readonly values = new Map<string, string | undefined>();
  readonly possibleExcludes: string[] = [];
  readonly #toPaths: ToPaths;
  readonly #signal: AbortSignal | undefined;
  #bytes = 0;

  constructor(toPaths: ToPaths, signal?: AbortSignal) {
    this.#toPaths = toPaths;
    this.#signal = signal;
  }

  isOn(name: string, byDefault: boolean): boolean {
    return this.values.has(name) ? isTrue(this.values.get(name)) : byDefault;
  }

  async read(path: string, readFile: ReadFile = readText, isCertain = true): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    const text = readFile(path);
    this.#bytes += 4096 + (text?.length ?? 0);
    if (this.#bytes > maxConfigBytes) throw unreadable(path, 'EFBIG', { limit: maxConfigBytes });
    if (text !== undefined) await this.take(parseGitConfig(text), path, readFile, isCertain);
  }

  /** `isCertain` is false for settings of a conditional include. */
  async take(
    settings: readonly GitSetting[],
    path: string,
    readFile?: ReadFile,
    isCertain = true,
  ): Promise<void> {
    for (const { name, value } of settings) {
      if (isCertain) this.values.set(name, value);
      else if (name === 'core.excludesfile') this.possibleExcludes.push(value ?? '');
      const include = /^(include|includeif\..+)\.path$/s.exec(name)?.[1];
      if (include === undefined) continue;
      for (const target of this.#toPaths(value ?? '', dirname(path)))
        await this.read(target, readFile, isCertain && include === 'include');
    }
  }
}

/** As in Git, an empty `GIT_CONFIG_GLOBAL` means no file. */
function systemAndUserFiles(
  {
    GIT_CONFIG_NOSYSTEM: isOff = 'false',
    GIT_CONFIG_SYSTEM: system,
    GIT_CONFIG_GLOBAL: user,
  }: GitSurroundings['env'],
  systemFiles: readonly string[],
  userFiles: readonly string[],
): readonly string[] {
  const ofSystem = system === undefined ? systemFiles : [system];
  const ofUser = user === undefined ? userFiles : [user].filter((path) => path !== '');
  return isTrue(isOff) ? ofUser : [...ofSystem, ...ofUser];
}

function windowsGitFolders({ LOCALAPPDATA: local, PROGRAMFILES: all }: GitSurroundings['env']): string[] {
  return [...(local ? [join(local, 'Programs', 'Git')] : []), ...(all ? [join(all, 'Git')] : [])];
}

/** Git for Windows has its programs in one of these folders. */
const prefixes = ['mingw64', 'clangarm64', 'ucrt64', 'mingw32'];

/**
 * Resolves a configured path. A path in the folder of Git's programs (`%(prefix)/…`, and in Git for
 * Windows `/…`) has several candidates. Throws `sourceUnreadable` for `%(prefix)/…` if that folder
 * is unknown, and for another user's home.
 */
function expand(value: string, base: string, home: string, gitFolders: readonly string[]): string[] {
  if (value === '') return [];
  const below = /^(?:%\(prefix\)\/|[\\/](?![\\/]))(.*)$/s.exec(value)?.[1];
  if (below !== undefined && gitFolders.length > 0)
    return gitFolders.flatMap((folder) => prefixes.map((prefix) => join(folder, prefix, below)));
  const [, user, inHome = ''] = /^~([^/]*)(.*)$/s.exec(value) ?? [];
  if (user === '') return [join(home, inHome)];
  if (user === undefined && !value.startsWith('%(prefix)/')) return [resolve(base, value)];
  const { username, homedir } = userInfo();
  if (user === username) return [join(homedir, inHome)];
  throw unreadable(value, 'ENOENT');
}

/**
 * Throws `sourceUnreadable` for malformed settings, for more than 9,999, and for a `git -c`
 * (`GIT_CONFIG_PARAMETERS`) that may change which files are ignored.
 */
function settingsOf(env: GitSurroundings['env']): GitSetting[] {
  if (/core\.(?:excludesfile|ignorecase|precomposeunicode)|include/i.test(env['GIT_CONFIG_PARAMETERS'] ?? ''))
    throw unreadable('GIT_CONFIG_PARAMETERS', 'EINVAL');
  const count = env['GIT_CONFIG_COUNT'] || '0';
  if (!/^\s*\+?\d{1,4}$/.test(count)) throw unreadable('GIT_CONFIG_COUNT', 'EINVAL');
  return Array.from({ length: Number(count) }, (_, at) => {
    const key = env[`GIT_CONFIG_KEY_${String(at)}`] ?? '';
    const value = env[`GIT_CONFIG_VALUE_${String(at)}`];
    if (value === undefined || !/^[^.]+\.(?:.*\.)?[^.]+$/s.test(key))
      throw unreadable(`GIT_CONFIG_KEY_${String(at)}`, 'EINVAL');
    return { name: key.toLowerCase(), value };
  });
}

function unreadable(subject: string, detail: string, more: { limit?: number } = {}): AssessmentError {
  return new AssessmentError('sourceUnreadable', { subject, detail, ...more });
}

interface GitSetting {
  /** `section.key` or `section.subsection.key`, with section and key in lower case. */
  readonly name: string;
  /** Undefined if the key has no `=`. Git reads such a key as true. */
  readonly value: string | undefined;
}

export function parseGitConfig(content: string): GitSetting[] {
  const text = content.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const settings: GitSetting[] = [];
  let section = '';
  for (let at = 0; at < text.length;) {
    lineStart.lastIndex = at;
    const [whole = '', header, subsection, key, equals] = lineStart.exec(text) ?? [];
    if (header !== undefined) {
      section = header.toLowerCase();
      if (subsection !== undefined) section += `.${subsection.replace(/\\(.)/g, '$1')}`;
    }
    at += whole.length;
    if (key === undefined) {
      at = nextLine(text, at);
      continue;
    }
    const { value, end } = readValue(text, at);
    settings.push({ name: `${section}.${key.toLowerCase()}`, value: equals ? value : undefined });
    at = end;
  }
  return settings;
}

const lineStart =
  /[^\S\n]*(?:\[[^\S\n]*([-.0-9A-Za-z]+)(?:[^\S\n]+"((?:[^"\\\n]|\\.)*)")?[^\S\n]*\][^\S\n]*)?(?:([A-Za-z][-0-9A-Za-z]*)[^\S\n]*(=?))?/y;

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/**
 * Handles quotes, escapes, continued lines, and comments, and trims unquoted blanks. `end` is the
 * start of the next line.
 */
function readValue(text: string, start: number): { value: string; end: number } {
  let value = '';
  let trimmedLength = 0; // Excludes unquoted blanks at the end.
  let quoted = false;
  let at = start;
  for (; at < text.length && text[at] !== '\n'; at++) {
    const character = text.charAt(at);
    if (!quoted && (character === '#' || character === ';')) break;
    const blank = !quoted && /\s/.test(character);
    if (blank && value === '') continue;
    if (character === '"') quoted = !quoted;
    else if (character === '\\') {
      const escaped = text.charAt(++at);
      value += escapes[escaped] ?? escaped;
    } else value += character;
    if (!blank) trimmedLength = value.length;
  }
  return { value: value.slice(0, trimmedLength), end: nextLine(text, at) };
}

function nextLine(text: string, at: number): number {
  return text.indexOf('\n', at) + 1 || text.length;
}

export function isTrue(value: string | undefined): boolean {
  return (
    value === undefined ||
    /^(?:true|yes|on|\s*[-+]?(?:0x0*[1-9a-f][0-9a-f]*|0*[1-9][0-9]*)[kmg]?)$/i.test(value)
  );
}
