import { lstatSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError, systemCode } from '../../errors.ts';
import { foldersAbove, isRepositoryData, isUsableName } from '../ignore/entryName.ts';
import { type Entry, listFolder } from './folderListing.ts';
import type { IgnoreRule } from '../ignore/ignoreRules.ts';
import { repositoryAt } from '../ignore/repository.ts';
import { enter, leavesOut, lift, type RuleLayer, type RuleSources, withNested, withOwnFiles } from '../ignore/ruleLayers.ts'; // prettier-ignore
import type { LeftOut, Reason, SelectedFile, SelectOptions } from './selection.ts';
import { isInPlace } from '../sourceFile.ts';

/** What one walk needs to know. */
interface WalkOptions extends Omit<SelectOptions, 'surroundings' | 'exclude' | 'within'> {
  readonly sources: RuleSources;
  /** Absolute and free of links. */
  readonly root: string;
  readonly ignoreCase: boolean;
  readonly composeNames: boolean;
}

/** An entry of the walk, or a folder with the entries below it, in the byte order of paths. */
export type Found = SelectedFile | LeftOut | { readonly below: readonly Found[] };

/** A folder to visit, and where what it holds is put. */
interface Folder {
  /** `''` or ending in `/`. */
  readonly path: string;
  /** Its own name as rules are asked with it (`Entry.key`); `''` at the top. */
  readonly key: string;
  /** As they hold in the folder above; at the top, there. Very many folders wait, so they enter theirs when they are visited. */
  readonly layers: readonly RuleLayer[];
  /** The rule that leaves this folder out, when it is entered only for what a person chose inside. */
  readonly ignoredBy: IgnoreRule | undefined;
  readonly found: Found[];
}

/** The longest time, in ms, that the walk keeps the event loop to itself. */
const sliceMs = 5;
/** Names without any of these are usable; to ask only this of most names saves time. */
const mayBeUnusable = /[\\:\ud800-\udfff]/;

/** Walks a folder once. Rejects with the signal's reason when cancelled. */
export async function walkFolder(
  options: WalkOptions,
  layers: readonly RuleLayer[],
  ignoredBy: IgnoreRule | undefined,
): Promise<readonly Found[]> {
  if (ignoredBy !== undefined && (options.include ?? []).length === 0) {
    return [{ path: './', reason: { kind: 'ignored', rule: ignoredBy } }];
  }
  const top: Folder = { path: '', key: '', layers, ignoredBy, found: [] };
  await new Walk(options, top).run();
  return top.found;
}

/** The file system is asked at once: on a warm disk a call takes a fraction of what handing it to another thread takes. */
class Walk {
  readonly #options: WalkOptions;
  readonly #folders: Folder[];
  readonly #chosen: ReadonlySet<string>;
  /** Folders on the way to what a person chose. */
  readonly #onTheWay: ReadonlySet<string>;
  readonly #reasons = new Map<IgnoreRule, Reason>();
  #files = 0;
  #sliceStart = performance.now();

  constructor(options: WalkOptions, top: Folder) {
    this.#options = options;
    this.#folders = [top];
    this.#chosen = new Set(options.include);
    this.#onTheWay = new Set([...this.#chosen].flatMap(foldersAbove));
  }

  async run(): Promise<void> {
    for (let folder = this.#folders.pop(); folder !== undefined; folder = this.#folders.pop()) {
      let reason: Reason | undefined;
      try {
        reason = await this.#visit(folder, join(this.#options.root, folder.path.slice(0, -1)));
      } catch (error) {
        reason = this.#reasonFor(error);
      }
      if (reason !== undefined) {
        const path = folder.path === '' ? './' : folder.path;
        folder.found.splice(0, folder.found.length, { path, reason });
      }
    }
    this.#options.signal?.throwIfAborted();
    this.#options.onProgress?.(this.#files);
  }

  /** Throws what is not the file system's refusal. */
  #reasonFor(error: unknown): Reason | undefined {
    this.#options.signal?.throwIfAborted();
    if (error instanceof AssessmentError && error.kind === 'sourceUnreadable') {
      const { detail = '', subject = '' } = error.data;
      return { kind: 'unreadable', code: detail, file: this.#options.sources.nameOf(subject) };
    }
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? undefined : { kind: 'unreadable', code };
  }

  /** Finds what a folder holds, or the reason why it stays out as a whole. */
  async #visit(folder: Folder, full: string): Promise<Reason | undefined> {
    const { sources, composeNames } = this.#options;
    const entries = listFolder(full, composeNames);
    // Between the listing of its parent and its own, a folder may have become a link to somewhere else.
    if (!isInPlace(full)) return { kind: 'outsideRoot' };
    let layers = folder.path === '' ? folder.layers : enter(folder.layers, folder.key);
    const dotted = entries.filter(({ name }) => name.startsWith('.'));
    if (dotted.length > 0) {
      // Where both are, git opens the name as it is.
      const named = (wanted: string): Entry | undefined =>
        dotted.find(({ name }) => name === wanted) ?? dotted.find(({ name }) => this.#fold(name) === wanted);
      if (folder.path !== '' && named('.git') !== undefined) {
        const nested = await repositoryAt(full, sources.surroundings.home);
        if (nested !== undefined) {
          const isWanted = this.#options.includeNestedRepositories || this.#chosen.has(folder.path);
          if (!isWanted) return { kind: 'nestedRepository' };
          layers = await withNested(layers, nested, sources);
        }
      }
      layers = withOwnFiles(layers, full, sources.nameOf, (name) => named(name)?.dirent);
    }
    const inside = { ...folder, layers };
    // An empty folder counts too: very many of them must not keep the event loop.
    await this.#pauseWhenDue();
    for (const entry of entries) {
      if (isRepositoryData(entry.name)) continue;
      const found =
        this.#classify(inside, entry) ?? this.#look(`${full}${sep}${entry.name}`, folder.path + entry.name);
      if (found !== undefined) folder.found.push(found);
      if (performance.now() - this.#sliceStart > sliceMs) await this.#pauseWhenDue();
      this.#options.signal?.throwIfAborted();
    }
    return undefined;
  }

  /** Lets the event loop go round. */
  async #pauseWhenDue(): Promise<void> {
    if (performance.now() - this.#sliceStart > sliceMs) {
      await setImmediate();
      this.#sliceStart = performance.now();
      this.#options.onProgress?.(this.#files);
    }
    this.#options.signal?.throwIfAborted();
  }

  /** One reason for all that a rule leaves out: there may be very many. */
  #ignored(rule: IgnoreRule): Reason {
    let reason = this.#reasons.get(rule);
    if (reason === undefined) this.#reasons.set(rule, (reason = { kind: 'ignored', rule }));
    return reason;
  }

  /** A name as the file system compares it, as far as git's own file names need it. */
  #fold(name: string): string {
    return this.#options.ignoreCase && name.startsWith('.') ? name.toLowerCase() : name;
  }

  /** What an entry is by its name and type, undefined for a file to send; folders to enter are kept for later. */
  #classify(folder: Omit<Folder, 'found'>, entry: Entry): Found | undefined {
    const { name, key, dirent } = entry;
    const isFolder = dirent.isDirectory();
    const path = `${folder.path}${name}${isFolder ? '/' : ''}`;
    // Most people choose nothing, and looking a path up costs more than all the rest.
    const chosen = this.#chosen.size > 0 && this.#chosen.has(path);
    const rule = folder.ignoredBy ?? leavesOut(folder.layers, key);
    if (rule !== undefined && !chosen && !(isFolder && this.#onTheWay.has(path))) {
      return { path, reason: this.#ignored(rule) };
    }
    const reason = reasonByType(path, entry);
    if (reason !== undefined) return { path, reason };
    if (!isFolder) return undefined;
    const layers = rule === undefined ? folder.layers : lift(folder.layers, key);
    const ignoredBy = chosen ? undefined : rule;
    const below: Folder = { path, key, layers, ignoredBy, found: [] };
    this.#folders.push(below);
    return { below: below.found };
  }

  /** A file with its size and mode, or why it is not sent; undefined when it is gone again. */
  #look(full: string, path: string): Found | undefined {
    this.#files++;
    try {
      const stat = lstatSync(full, { throwIfNoEntry: false });
      // Windows allows names that are not Unicode; they come with U+FFFD in them, and no file is found by such a name.
      if (stat === undefined)
        return path.includes('\ufffd') ? { path, reason: { kind: 'unusableName' } } : undefined;
      if (stat.isFile()) return { path, bytes: stat.size, mode: (stat.mode & 0o100) === 0 ? 0o644 : 0o755 };
      if (stat.isSymbolicLink()) return { path, reason: { kind: 'link' } };
      return { path, reason: { kind: 'special', type: 'device' } };
    } catch (error) {
      return { path, reason: { kind: 'unreadable', code: systemCode(error) ?? 'EIO' } };
    }
  }
}

function reasonByType(path: string, { name, wellFormed, dirent }: Entry): Reason | undefined {
  const usable = wellFormed && (!mayBeUnusable.test(name) || isUsableName(path.replace(/\/$/, '')));
  if (usable && (dirent.isFile() || dirent.isDirectory())) return undefined;
  if (dirent.isSymbolicLink()) return { kind: 'link' };
  if (dirent.isFIFO()) return { kind: 'special', type: 'fifo' };
  if (dirent.isSocket()) return { kind: 'special', type: 'socket' };
  if (!dirent.isFile() && !dirent.isDirectory()) return { kind: 'special', type: 'device' };
  return { kind: 'unusableName' };
}
