import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError, systemCode } from '../../errors.ts';
import type { UnreadRules } from '../ignore/readIgnoreFile.ts';
import type { IgnoreRule } from '../ignore/ignoreRules.ts';
import { findRepository, isGitFolder, type Repository, repositoryAt } from '../ignore/repository.ts';
import {
  enter,
  isGitsOwn,
  layersAt,
  excludes,
  realFolder,
  type RuleLayer,
  type RuleOptions,
  type RuleSources,
  type TopRules,
  withNested,
  withOwnFiles,
  withoutMatching,
} from '../ignore/ruleLayers.ts';
import { TrackedFiles } from '../ignore/trackedFiles.ts';
import { answerOf, type FolderCalls, inSlices } from '../../yieldingWork.ts';
import { isRealPath, isUsableName } from '../../paths.ts';
import { isLfsPointer } from '../sourceFile.ts';
import { type FolderEntry, listFolder, reasonByType } from './folderEntries.ts';
import type { Excluded, Reason, SelectedFile, Selection } from './selection.ts';

export interface SelectOptions extends RuleOptions {
  readonly includeNestedRepositories: boolean;
  /**
   * Excluded paths that a user chose to upload. A folder's path ends in `/`. The rules for its
   * contents still apply.
   */
  readonly include?: readonly string[] | undefined;
  /** Detects a folder that doesn't respond, on which the synchronous walk would block. */
  readonly calls?: Pick<FolderCalls, 'ask'> | undefined;
  /** Gets the number of files so far, every few milliseconds. */
  readonly onProgress?: ((files: number) => void) | undefined;
}

/**
 * Selects the files that `git ls-files --others --exclude-standard` lists with an empty index, and
 * those in `include`. Excludes more than Git, such as links, nested repositories, and what
 * `.whiteboxignore` and `exclude` match. Starts no process.
 */
export async function selectFiles(folder: string, options: SelectOptions): Promise<Selection> {
  const { surroundings, signal, calls } = options;
  const opening = calls?.ask(folder, () => realFolder(folder)) ?? realFolder(folder);
  const root = await answerOf(opening, folder, { signal });
  signal?.throwIfAborted();
  const repository = await findRepository(root, surroundings);
  if (root.split(sep).some(isRepositoryData) || (await isInGitFolder(root, repository))) {
    const excluded = [{ path: './', reason: { kind: 'repositoryData' } }] as const;
    return { root, files: [], excluded, bytes: 0, unreadRules: [], unreadIndexes: [] };
  }
  const unreadRules = new Map<string, UnreadRules>();
  const onUnreadRules = (found: UnreadRules): void => void unreadRules.set(found.file, found);
  const sources = { surroundings, nameOf: nameBelow(root), onUnreadRules, signal };
  const top = await layersAt(root, repository, sources, options);
  const tracked = new TrackedFiles(root, top, sources);
  if (repository !== undefined) await tracked.add(repository, top.objectFormat);
  const walk = new Walk(root, top, tracked, sources, options);
  await walk.run();
  await inSlices(walk.nameSubmodules(), signal);
  const { files, excluded, bytes } = walk;
  const byFile = [...unreadRules.values()].sort((one, other) => (one.file < other.file ? -1 : 1));
  return { root, files, excluded, bytes, unreadRules: byFile, unreadIndexes: tracked.unread };
}

interface Folder {
  readonly path: string;
  readonly full: string;
  readonly layers: readonly RuleLayer[];
  /**
   * The rule that excludes this folder or one above it. The walk enters the folder because
   * something in it is chosen or tracked.
   */
  readonly ignoredBy: IgnoreRule | undefined;
  /**
   * The walk enters the folder only for files that Git tracks. The folder itself, or one above it,
   * is in `excluded`.
   */
  readonly trackedOnly: boolean;
  readonly entries: Iterator<FolderEntry>;
}

const sliceMs = 5;
/**
 * Walks a folder once, in byte order. Most file operations are synchronous: with a warm cache, one
 * takes a fraction of the time of a round trip to another thread.
 */
class Walk {
  readonly files: SelectedFile[] = [];
  readonly excluded: Excluded[] = [];
  bytes = 0;
  readonly #root: string;
  readonly #top: TopRules;
  readonly #tracked: TrackedFiles;
  readonly #sources: RuleSources;
  readonly #options: SelectOptions;
  readonly #chosen: ReadonlySet<string>;
  readonly #aboveChosen: ReadonlySet<string>;
  readonly #reasons = {
    ignored: new Map<IgnoreRule, Reason>(),
    ignoredButTracked: new Map<IgnoreRule, Reason>(),
  };
  readonly #open: Folder[] = [];
  #sliceStart = performance.now();

  constructor(
    root: string,
    top: TopRules,
    tracked: TrackedFiles,
    sources: RuleSources,
    options: SelectOptions,
  ) {
    this.#root = root;
    this.#tracked = tracked;
    this.#sources = sources;
    this.#options = options;
    this.#top = top;
    this.#chosen = new Set(options.include);
    this.#aboveChosen = new Set([...this.#chosen].flatMap(foldersAbove));
  }

  async run(): Promise<void> {
    const { layers, ignoredBy } = this.#top;
    const trackedOnly = ignoredBy !== undefined && this.#chosen.size === 0;
    if (trackedOnly) this.#exclude('./', this.#byRule('ignored', ignoredBy));
    if (!trackedOnly || (isGitsOwn(ignoredBy) && this.#tracked.hasBelow('')))
      await this.#enter('', this.#root, layers, { ignoredBy, trackedOnly });
    for (let folder = this.#open.at(-1); folder !== undefined; folder = this.#open.at(-1)) {
      const next = folder.entries.next();
      if (next.done === true) this.#open.pop();
      else {
        const entering = this.#visit(folder, next.value);
        if (entering !== undefined) await entering;
      }
      if (performance.now() - this.#sliceStart > sliceMs) {
        await setImmediate();
        this.#sliceStart = performance.now();
        this.#options.onProgress?.(this.files.length);
      }
      this.#options.signal?.throwIfAborted();
    }
    this.#options.onProgress?.(this.files.length);
  }

  /** Excludes submodules that aren't checked out: their folders are empty or missing. */
  *nameSubmodules(): Generator<undefined, void> {
    const known = new Set(this.#tracked.submodules.length === 0 ? [] : this.excluded.map(({ path }) => path));
    for (const path of this.#tracked.submodules) {
      yield;
      const isNamed = known.has(path) || !isUsableName(path.slice(0, -1));
      if (!isNamed && isEmptyFolder(join(this.#root, path))) this.#exclude(path, { kind: 'submodule' });
    }
  }

  async #enter(
    path: string,
    full: string,
    inherited: readonly RuleLayer[],
    entered: Pick<Folder, 'ignoredBy' | 'trackedOnly'>,
  ): Promise<void> {
    let reason: Reason | undefined;
    try {
      const entries = listFolder(full, this.#top.composeNames);
      // A link may have replaced the folder since its parent was listed.
      if (!isRealPath(full)) reason = { kind: 'outsideRoot' };
      else if (mayBeGitFolder(entries) && (await isGitFolder(full))) reason = { kind: 'repositoryData' };
      else {
        const layers = await this.#ownLayers(path, full, inherited, entries);
        if (layers === undefined) reason = { kind: 'nestedRepository' };
        else this.#open.push({ path, full, layers, ...entered, entries: entries.values() });
      }
    } catch (error) {
      reason = this.#reasonFor(error);
    }
    if (reason !== undefined && !entered.trackedOnly) this.#exclude(path || './', reason);
  }

  /** Undefined for an unwanted nested repository. */
  async #ownLayers(
    path: string,
    full: string,
    inherited: readonly RuleLayer[],
    entries: readonly FolderEntry[],
  ): Promise<readonly RuleLayer[] | undefined> {
    const sources = this.#sources;
    const dotted = entries.filter(({ name }) => name.startsWith('.'));
    if (dotted.length === 0) return inherited;
    // If names differ only in case, Git opens the exact one.
    const named = (wanted: string): FolderEntry | undefined =>
      dotted.find(({ name }) => name === wanted) ??
      (this.#top.ignoreCase ? dotted.find(({ name }) => name.toLowerCase() === wanted) : undefined);
    let layers = inherited;
    if (path !== '' && named('.git') !== undefined) {
      const nested = await repositoryAt(full, sources.surroundings);
      if (nested !== undefined) {
        if (!this.#options.includeNestedRepositories && !this.#chosen.has(path)) return undefined;
        const inside = await withNested(layers, nested, sources);
        layers = inside.layers;
        await this.#tracked.add(nested, inside.objectFormat);
      }
    }
    return withOwnFiles(layers, full, sources, (name) => named(name)?.dirent);
  }

  /** Undefined for a folder that has vanished. */
  #reasonFor(error: unknown): Reason | undefined {
    this.#options.signal?.throwIfAborted();
    if (error instanceof AssessmentError) {
      if (error.kind !== 'sourceUnreadable') throw error;
      const { detail = '', subject = '' } = error.data;
      return { kind: 'unreadable', code: detail, file: this.#sources.nameOf(subject) };
    }
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? undefined : { kind: 'unreadable', code };
  }

  /** Returns a promise only for a folder: awaiting one for each file takes longer than the rest. */
  #visit(folder: Folder, entry: FolderEntry): Promise<void> | undefined {
    const { name, key, dirent } = entry;
    const isFolder = dirent.isDirectory();
    const path = `${folder.path}${name}${isFolder ? '/' : ''}`;
    if (isRepositoryData(name)) {
      // Git never lists `.git`, so nobody misses it.
      if (name !== '.git' && !folder.trackedOnly) this.#exclude(path, { kind: 'repositoryData' });
      return undefined;
    }
    // Most users choose nothing, and looking up every path would be slow.
    const chosen = this.#chosen.size > 0 && this.#chosen.has(path);
    const own = excludes(folder.layers, key);
    const rule = own === undefined || isGitsOwn(own) ? (folder.ignoredBy ?? own) : own;
    const full = `${folder.full}${folder.full.endsWith(sep) ? '' : sep}${name}`;
    const isEntered = rule === undefined || chosen || (isFolder && this.#aboveChosen.has(path));
    if (!isEntered) return this.#visitIgnored(folder, entry, { path, full, rule });
    const reason = reasonByType(path, entry);
    if (reason !== undefined) this.#exclude(path, reason);
    else if (!isFolder) this.#addFile(path, full);
    else {
      const layers = enter(rule === undefined ? folder.layers : withoutMatching(folder.layers, key), key);
      return this.#enter(path, full, layers, { ignoredBy: chosen ? undefined : rule, trackedOnly: false });
    }
    return undefined;
  }

  #visitIgnored(
    { layers, trackedOnly }: Folder,
    entry: FolderEntry,
    { path, full, rule }: { readonly path: string; readonly full: string; readonly rule: IgnoreRule },
  ): Promise<void> | undefined {
    const isFolder = entry.dirent.isDirectory();
    const isTracked =
      isGitsOwn(rule) &&
      (isFolder ? this.#tracked.hasBelow(path) : this.#tracked.has(path)) &&
      reasonByType(path, entry) === undefined;
    if (isTracked && !isFolder) this.#exclude(path, this.#byRule('ignoredButTracked', rule));
    else if (!trackedOnly) this.#exclude(path, this.#byRule('ignored', rule));
    if (!isTracked || !isFolder) return undefined;
    return this.#enter(path, full, enter(layers, entry.key), { ignoredBy: rule, trackedOnly: true });
  }

  #exclude(path: string, reason: Reason): void {
    this.excluded.push({ path, reason });
  }

  /** All paths of a rule share an object, because there may be very many paths. */
  #byRule(kind: 'ignored' | 'ignoredButTracked', rule: IgnoreRule): Reason {
    const reason = this.#reasons[kind].get(rule) ?? { kind, rule };
    this.#reasons[kind].set(rule, reason);
    return reason;
  }

  #addFile(path: string, full: string): void {
    try {
      const stat = lstatSync(full, { throwIfNoEntry: false });
      if (stat === undefined) {
        // Windows lists names that aren't Unicode with U+FFFD, and finds no file by such a name.
        if (path.includes('\ufffd')) this.#exclude(path, { kind: 'unusableName' });
      } else if (stat.isFile()) {
        const file = { path, bytes: stat.size, mode: (stat.mode & 0o100) === 0 ? 0o644 : 0o755 } as const;
        this.files.push(isLfsPointer(full, stat.size) ? { ...file, isLfsPointer: true } : file);
        this.bytes += stat.size;
      } else this.#exclude(path, { kind: stat.isSymbolicLink() ? 'link' : 'special' });
    } catch (error) {
      this.#exclude(path, { kind: 'unreadable', code: systemCode(error) ?? 'EIO' });
    }
  }
}

function nameBelow(root: string): (path: string) => string {
  const start = root.endsWith(sep) ? root : root + sep;
  return (path) => (path.startsWith(start) ? path.slice(start.length).replaceAll(sep, '/') : path);
}

function isRepositoryData(name: string): boolean {
  return /^(?:\.(?:git|repo|hg|svn|bzr|jj|sl|pijul|fslckout)|_darcs|_fossil_|.*\.fossil)$/is.test(name);
}

/**
 * True for a Git folder and any folder in it. The search stops at the top of `repository`, because
 * the folder of a bare repository may contain a working tree.
 */
async function isInGitFolder(folder: string, repository: Repository | undefined): Promise<boolean> {
  for (let at = folder; at !== repository?.root; at = dirname(at)) {
    if (await isGitFolder(at)) return true;
    if (dirname(at) === at) return false;
  }
  return false;
}

function mayBeGitFolder(entries: readonly FolderEntry[]): boolean {
  return ['objects/', 'refs/'].every((name) => entries.some(({ key }) => key === name));
}

/** A missing folder counts as empty. */
function isEmptyFolder(full: string): boolean {
  try {
    return readdirSync(full).length === 0;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT';
  }
}

function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    folders.push(path.slice(0, at + 1));
  }
  return folders;
}
