import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { AssessmentError, systemCode } from '../errors.ts';
import { isUsableName } from './entryName.ts';
import type { FactsThread } from './factsThread.ts';
import { factsOf, type FileFacts, type Pace } from './fileFacts.ts';
import { type Entry, listFolder } from './folderListing.ts';
import type { IgnoreRule } from './ignoreRules.ts';
import { repositoryAt } from './repository.ts';
import {
  enter,
  gitLayer,
  leavesOut,
  nameBelow,
  type RuleLayer,
  withNested,
  withOwnFiles,
} from './ruleLayers.ts';
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

/** A folder to visit, and where what it holds is put. */
export interface Folder {
  /** `''` or ending in `/`. */
  readonly path: string;
  readonly layers: readonly RuleLayer[];
  /** The rule that leaves this folder out, when it is entered only for what a person chose inside. */
  readonly ignoredBy: IgnoreRule | undefined;
  /** A person chose everything below. */
  readonly chosen: boolean;
  readonly found: Found[];
}

/** What the walk does for a visit. */
export interface VisitHost {
  /** Takes a folder that was found. */
  open(folder: Folder): void;
  /** Counts files found; what it returns, if anything, is waited for before the visit goes on. */
  count(files: number): Promise<void> | undefined;
  /** Asks about files elsewhere; undefined while there are so few that the visit does it itself. */
  readonly factsThread: Pick<FactsThread, 'ask'> | undefined;
}

/** Entries taken at a time: their files are asked about together. */
const batch = 32;
/** Stands where a file is, until it is known, or where one is gone again. */
const nothing: Found = { below: [] };
/** Names without any of these are usable; to ask only this of most names saves time. */
const mayBeUnusable = /[\\:\ud800-\udfff]/;

/** Finds what folders hold, one by one. On a fast disk most visits are over when the call returns: only what takes long is waited for. */
export class FolderVisits {
  readonly #options: WalkOptions;
  readonly #host: VisitHost;
  readonly #chosen: ReadonlySet<string>;
  /** Folders on the way to what a person chose. */
  readonly #onTheWay: ReadonlySet<string>;
  readonly #nameOf: (path: string) => string;
  readonly #pace: Pace = { slow: false };

  constructor(options: WalkOptions, host: VisitHost) {
    this.#options = options;
    this.#host = host;
    this.#chosen = new Set(options.include);
    this.#onTheWay = new Set([...this.#chosen].flatMap(parents));
    this.#nameOf = nameBelow(options.root);
  }

  /** Fills `folder.found`; rejects only with what is not the file system's refusal. */
  async visit(folder: Folder): Promise<void> {
    let reason: Reason | undefined;
    try {
      reason = await this.#list(folder, join(this.#options.root, folder.path.slice(0, -1)));
    } catch (error) {
      reason = this.#reasonFor(error);
    }
    if (reason !== undefined) {
      folder.found.splice(0, folder.found.length, { path: folder.path === '' ? './' : folder.path, reason });
    }
  }

  #reasonFor(error: unknown): Reason | undefined {
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
    const listed = listFolder(full, this.#options.composeNames, this.#pace);
    const entries = listed instanceof Promise ? await listed : listed;
    // Between the listing of its parent and its own, a folder may have become a link to somewhere else.
    if (realpathSync.native(full) !== full) return { kind: 'outsideRoot' };
    let layers = folder.layers;
    const dotted = entries.filter(({ name }) => name.startsWith('.'));
    if (dotted.length > 0) {
      const named = (wanted: string): Entry | undefined =>
        dotted.find(({ name }) => this.#fold(name) === wanted);
      if (folder.path !== '' && named('.git') !== undefined) {
        const nested = await repositoryAt(full);
        if (nested !== undefined) {
          const wanted = this.#options.includeNestedRepositories || this.#chosen.has(folder.path);
          if (!wanted) return { kind: 'nestedRepository' };
          const { layer } = await gitLayer(nested, this.#options.surroundings, this.#nameOf);
          layers = withNested(layers, layer);
        }
      }
      layers = await withOwnFiles(
        layers,
        full,
        this.#nameOf,
        (name) => named(name)?.dirent.isFile() === true,
      );
    }
    // An empty folder counts too: very many of them must not keep the event loop.
    let from = 0;
    do {
      const few = entries.length <= batch ? entries : entries.slice(from, from + batch);
      const taking = this.#take({ ...folder, layers }, full, few);
      if (taking !== undefined) await taking;
      from += batch;
    } while (from < entries.length);
    return undefined;
  }

  /** Puts what a few entries are where it belongs; what it returns, if anything, is to be waited for. */
  #take({ found, ...folder }: Folder, full: string, entries: readonly Entry[]): Promise<void> | undefined {
    const files: string[] = [];
    const places: number[] = [];
    for (const entry of entries) {
      const { name } = entry;
      if (name.startsWith('.') && this.#fold(name) === '.git') continue;
      const what = this.#classify(folder, entry);
      if (what === undefined) {
        files.push(name);
        places.push(found.length);
      }
      found.push(what ?? nothing);
    }
    const put = (facts: readonly FileFacts[]): void => {
      for (const [index, at] of places.entries()) {
        found[at] = toFound(folder.path + (files[index] ?? ''), facts[index] ?? 'ENOENT');
      }
    };
    const place = `${full}${sep}`;
    if (this.#host.factsThread !== undefined && files.length > 0) {
      this.#host.factsThread.ask(place, files, put);
      return this.#host.count(files.length);
    }
    const facts = factsOf(place, files, this.#pace);
    if (facts instanceof Promise) return facts.then(put).then(() => this.#host.count(files.length));
    put(facts);
    return this.#host.count(files.length);
  }

  /** A name as the file system compares it, as far as git's own file names need it. */
  #fold(name: string): string {
    return this.#options.ignoreCase && name.startsWith('.') ? name.toLowerCase() : name;
  }

  /** What an entry is by its name and type, undefined for a file to send; folders to enter are opened. */
  #classify(folder: Omit<Folder, 'found'>, entry: Entry): Found | undefined {
    const { name, key, dirent } = entry;
    const isFolder = dirent.isDirectory();
    const path = `${folder.path}${name}${isFolder ? '/' : ''}`;
    // Most people choose nothing, and looking a path up costs more than all the rest.
    const chosen = folder.chosen || (this.#chosen.size > 0 && this.#chosen.has(path));
    const ignoredBy = chosen ? undefined : (folder.ignoredBy ?? leavesOut(folder.layers, key));
    if (ignoredBy !== undefined && !(isFolder && this.#onTheWay.has(path))) {
      return { path, reason: { kind: 'ignored', rule: ignoredBy } };
    }
    const reason = reasonByType(path, entry);
    if (reason !== undefined) return { path, reason };
    if (!isFolder) return undefined;
    const below: Folder = { path, layers: enter(folder.layers, key), ignoredBy, chosen, found: [] };
    this.#host.open(below);
    return { below: below.found };
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
  const usable = wellFormed && (!mayBeUnusable.test(name) || isUsableName(path.replace(/\/$/, '')));
  if (usable && (dirent.isFile() || dirent.isDirectory())) return undefined;
  if (dirent.isSymbolicLink()) return { kind: 'link' };
  if (dirent.isFIFO()) return { kind: 'special', type: 'fifo' };
  if (dirent.isSocket()) return { kind: 'special', type: 'socket' };
  if (!dirent.isFile() && !dirent.isDirectory()) return { kind: 'special', type: 'device' };
  return { kind: 'unusableName' };
}

function toFound(path: string, facts: FileFacts): Found {
  if (typeof facts !== 'string') {
    return { path, bytes: facts.bytes, mode: facts.isExecutable ? 0o755 : 0o644 };
  }
  // Windows allows names that are not Unicode; they come with U+FFFD in them, and no file is found by such a name.
  if (facts === 'ENOENT' && path.includes('\ufffd')) return { path, reason: { kind: 'unusableName' } };
  if (facts === 'ENOENT') return nothing;
  if (facts === 'link') return { path, reason: { kind: 'link' } };
  if (facts === 'special') return { path, reason: { kind: 'special', type: 'device' } };
  return { path, reason: { kind: 'unreadable', code: facts } };
}
