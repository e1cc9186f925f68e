import { realpathSync, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError, systemCode } from '../errors.ts';
import { isUsableName } from './entryName.ts';
import { type Entry, listFolder, type Pace, statFiles } from './folderListing.ts';
import type { IgnoreRule } from './ignoreRules.ts';
import { type Repository, repositoryAt } from './repository.ts';
import { enter, gitLayer, leavesOut, nameBelow, type RuleLayer, withOwnFiles } from './ruleLayers.ts';
import type { LeftOut, Reason, SelectedFile, SelectOptions } from './selection.ts';

/** An entry of the walk, or a folder with the entries below it, in the byte order of paths. */
export type Found = SelectedFile | LeftOut | { readonly below: readonly Found[] };

/** What one walk needs to know. */
export interface WalkOptions extends SelectOptions {
  /** Absolute and free of links. */
  readonly root: string;
  readonly ignoreCase: boolean;
  readonly composeNames: boolean;
}

interface Folder {
  /** `''` or ending in `/`. */
  readonly path: string;
  readonly layers: readonly RuleLayer[];
  /** The rule that leaves this folder out, when it is entered only for what a person chose inside. */
  readonly ignoredBy: IgnoreRule | undefined;
  /** A person chose everything below. */
  readonly chosen: boolean;
  readonly found: Found[];
}

const parallelFolders = 8;
/** The longest time, in ms, that the walk keeps the event loop to itself. */
const sliceMs = 8;
const statBatch = 32;
/** Stands where a file is, until it is known, or where one is gone again. */
const nothing: Found = { below: [] };
/** Names without any of these are usable; to ask only this of most names saves time. */
const mayBeUnusable = /[\\:\ud800-\udfff]/;

/** Walks a folder once. Rejects with the signal's reason when cancelled. */
export async function walkFolder(
  options: WalkOptions,
  layers: readonly RuleLayer[],
  ignoredBy: IgnoreRule | undefined,
): Promise<readonly Found[]> {
  const top: Folder = { path: '', layers, ignoredBy, chosen: false, found: [] };
  const walk = new Walk(options);
  if (ignoredBy !== undefined && (options.include ?? []).length === 0) {
    return [{ path: './', reason: { kind: 'ignored', rule: ignoredBy } }];
  }
  await walk.run(top);
  return top.found;
}

class Walk {
  readonly #options: WalkOptions;
  readonly #chosen: ReadonlySet<string>;
  /** Folders on the way to what a person chose. */
  readonly #onTheWay: ReadonlySet<string>;
  readonly #nameOf: (path: string) => string;
  readonly #open: Folder[] = [];
  readonly #pace: Pace = { slow: false };
  #sliceStart = performance.now();
  #pausing: Promise<void> | undefined;
  #files = 0;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#chosen = new Set(options.include);
    this.#onTheWay = new Set([...this.#chosen].flatMap(parents));
    this.#nameOf = nameBelow(options.root);
  }

  async run(top: Folder): Promise<void> {
    this.#open.push(top);
    const running = new Set<Promise<void>>();
    try {
      while (this.#open.length > 0 || running.size > 0) {
        const folder = running.size < parallelFolders ? this.#open.pop() : undefined;
        if (folder === undefined) {
          await Promise.race(running);
          continue;
        }
        const visit = this.#visit(folder).finally(() => running.delete(visit));
        running.add(visit);
      }
    } finally {
      await Promise.allSettled(running);
    }
    this.#options.onProgress?.(this.#files);
  }

  async #visit(folder: Folder): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const full = join(this.#options.root, folder.path.slice(0, -1));
    const reason = await this.#list(folder, full).catch((error: unknown) => this.#reasonFor(error));
    if (reason !== undefined) {
      folder.found.splice(0, folder.found.length, { path: folder.path === '' ? './' : folder.path, reason });
    }
  }

  #reasonFor(error: unknown): Reason | undefined {
    this.#options.signal?.throwIfAborted();
    if (error instanceof AssessmentError && error.kind === 'sourceUnreadable') {
      const { detail = '', subject = '' } = error.data;
      return { kind: 'unreadable', code: detail, file: this.#nameOf(subject) };
    }
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? undefined : { kind: 'unreadable', code };
  }

  /** Finds what a folder holds, or the reason why it stays out as a whole. */
  async #list(folder: Folder, full: string): Promise<Reason | undefined> {
    const entries = await listFolder(full, this.#options.composeNames, this.#pace);
    // Between the listing of its parent and its own, a folder may have become a link to somewhere else.
    if (realpathSync.native(full) !== full) return { kind: 'outsideRoot' };
    const names = new Map(entries.map(({ name, dirent }) => [this.#fold(name), dirent]));
    let layers = folder.layers;
    if (folder.path !== '' && names.has('.git')) {
      const nested = await repositoryAt(full);
      if (nested !== undefined) {
        const wanted = this.#options.includeNestedRepositories || this.#chosen.has(folder.path);
        if (!wanted) return { kind: 'nestedRepository' };
        layers = await this.#withNested(layers, nested);
      }
    }
    layers = await withOwnFiles(layers, full, this.#nameOf, (name) => names.get(name)?.isFile() === true);
    await this.#take({ ...folder, layers }, full, entries);
    return undefined;
  }

  /** A nested repository's rules count beside the outer ones, which its ignore files cannot undo. */
  async #withNested(layers: readonly RuleLayer[], nested: Repository): Promise<readonly RuleLayer[]> {
    const { layer } = await gitLayer(nested, this.#options.surroundings, this.#nameOf);
    return [
      ...layers.map((outer) =>
        outer.fileName === layer.fileName ? { ...outer, fileName: undefined } : outer,
      ),
      layer,
    ];
  }

  async #take(folder: Folder, full: string, entries: readonly Entry[]): Promise<void> {
    let files: { path: string; full: string; at: number }[] = [];
    const measure = async (): Promise<void> => {
      const paths = files.map((file) => file.full);
      const stats = await statFiles(paths, this.#pace);
      for (const [index, { path, at }] of files.entries()) {
        folder.found[at] = toFound(path, stats[index] ?? 'ENOENT');
      }
      this.#files += files.length;
      files = [];
    };
    for (const entry of entries) {
      if (this.#fold(entry.name) === '.git') continue;
      const found = this.#classify(folder, entry);
      const at = folder.found.push(found ?? nothing) - 1;
      if (found === undefined) {
        files.push({ path: folder.path + entry.name, full: `${full}${sep}${entry.name}`, at });
      }
      if (files.length >= statBatch) await measure();
      if (performance.now() - this.#sliceStart > sliceMs) await this.#pause();
    }
    await measure();
  }

  /** A name as the file system compares it, as far as git's own file names need it. */
  #fold(name: string): string {
    return this.#options.ignoreCase && name.startsWith('.') ? name.toLowerCase() : name;
  }

  /** What an entry is by its name and type, undefined for a file to send; folders to enter are queued. */
  #classify(folder: Folder, entry: Entry): Found | undefined {
    const { name, key, dirent } = entry;
    const isFolder = dirent.isDirectory();
    const path = `${folder.path}${name}${isFolder ? '/' : ''}`;
    const chosen = folder.chosen || this.#chosen.has(path);
    const ignoredBy = chosen ? undefined : (folder.ignoredBy ?? leavesOut(folder.layers, key));
    if (ignoredBy !== undefined && !(isFolder && this.#onTheWay.has(path))) {
      return { path, reason: { kind: 'ignored', rule: ignoredBy } };
    }
    const reason = reasonByType(path, entry);
    if (reason !== undefined) return { path, reason };
    if (!isFolder) return undefined;
    const below: Folder = { path, layers: enter(folder.layers, key), ignoredBy, chosen, found: [] };
    this.#open.push(below);
    return { below: below.found };
  }

  /** Lets the event loop go round, once for all folders that are being visited. */
  async #pause(): Promise<void> {
    this.#pausing ??= setImmediate().then(() => {
      this.#pausing = undefined;
      this.#sliceStart = performance.now();
      this.#options.onProgress?.(this.#files);
    });
    await this.#pausing;
    this.#options.signal?.throwIfAborted();
  }
}

function parents(path: string): string[] {
  const out: string[] = [];
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    out.push(path.slice(0, at + 1));
  }
  return out;
}

function reasonByType(path: string, { name, wellFormed, dirent }: Entry): Reason | undefined {
  if (dirent.isSymbolicLink()) return { kind: 'link' };
  if (dirent.isFIFO()) return { kind: 'special', type: 'fifo' };
  if (dirent.isSocket()) return { kind: 'special', type: 'socket' };
  if (!dirent.isFile() && !dirent.isDirectory()) return { kind: 'special', type: 'device' };
  const usable = wellFormed && (!mayBeUnusable.test(name) || isUsableName(path.replace(/\/$/, '')));
  return usable ? undefined : { kind: 'unusableName' };
}

function toFound(path: string, stat: Stats | string): Found {
  // Windows allows names that are not Unicode; they come with U+FFFD in them, and no file is found by such a name.
  if (stat === 'ENOENT' && path.includes('\ufffd')) return { path, reason: { kind: 'unusableName' } };
  if (stat === 'ENOENT') return nothing;
  if (typeof stat === 'string') return { path, reason: { kind: 'unreadable', code: stat } };
  if (stat.isSymbolicLink()) return { path, reason: { kind: 'link' } };
  if (!stat.isFile()) return { path, reason: { kind: 'special', type: 'device' } };
  return { path, bytes: stat.size, mode: (stat.mode & 0o100) === 0 ? 0o644 : 0o755 };
}
