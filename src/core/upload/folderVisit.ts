import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { AssessmentError, systemCode } from '../errors.ts';
import { foldersAbove, isUsableName } from './entryName.ts';
import type { FactsThread } from './factsThread.ts';
import { factsOf, type FileFacts, type Pace } from './fileFacts.ts';
import { type Entry, listFolder } from './folderListing.ts';
import { type Found, learn, newFile } from './found.ts';
import type { IgnoreRule } from './ignoreRules.ts';
import { repositoryAt } from './repository.ts';
import {
  enter,
  gitLayers,
  leavesOut,
  lift,
  nameBelow,
  type RuleLayer,
  withNested,
  withOwnFiles,
} from './ruleLayers.ts';
import type { Reason, SelectOptions } from './selection.ts';

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
  /** Its own name as rules are asked with it (`Entry.key`); `''` at the top. */
  readonly key: string;
  /** As they hold in the folder above; at the top, there. Very many folders wait, so they enter theirs when they are visited. */
  readonly layers: readonly RuleLayer[];
  /** The rule that leaves this folder out, when it is entered only for what a person chose inside. */
  readonly ignoredBy: IgnoreRule | undefined;
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
  readonly #reasons = new Map<IgnoreRule, Reason>();

  constructor(options: WalkOptions, host: VisitHost) {
    this.#options = options;
    this.#host = host;
    this.#chosen = new Set(options.include);
    this.#onTheWay = new Set([...this.#chosen].flatMap(foldersAbove));
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
    let layers: readonly RuleLayer[] = enter(folder.layers, folder.key);
    const dotted = entries.filter(({ name }) => name.startsWith('.'));
    if (dotted.length > 0) {
      // Where both are, git opens the name as it is.
      const named = (wanted: string): Entry | undefined =>
        dotted.find(({ name }) => name === wanted) ?? dotted.find(({ name }) => this.#fold(name) === wanted);
      if (folder.path !== '' && named('.git') !== undefined) {
        const nested = await repositoryAt(full, this.#options.surroundings.home);
        if (nested !== undefined) {
          const wanted = this.#options.includeNestedRepositories || this.#chosen.has(folder.path);
          if (!wanted) return { kind: 'nestedRepository' };
          const git = await gitLayers(nested, this.#options.surroundings, this.#nameOf);
          layers = withNested(layers, git.layers);
        }
      }
      layers = await withOwnFiles(layers, full, this.#nameOf, this.#pace, (name) => named(name)?.dirent);
    }
    // An empty folder counts too: very many of them must not keep the event loop.
    let from = 0;
    do {
      this.#options.signal?.throwIfAborted();
      const few = entries.length <= batch ? entries : entries.slice(from, from + batch);
      const taking = this.#take({ ...folder, layers }, full, few);
      if (taking !== undefined) await taking;
      from += batch;
    } while (from < entries.length);
    return undefined;
  }

  /** Puts what a few entries are where it belongs; what it returns, if anything, is to be waited for. */
  #take({ found, ...folder }: Folder, full: string, entries: readonly Entry[]): Promise<void> | undefined {
    const names: string[] = [];
    const from = found.length;
    for (const entry of entries) {
      const { name } = entry;
      if (name.startsWith('.') && this.#fold(name) === '.git') continue;
      const what = this.#classify(folder, entry);
      if (what === undefined) names.push(name);
      found.push(what ?? newFile(folder.path + name));
    }
    const to = found.length;
    const place = `${full}${sep}`;
    if (this.#host.factsThread !== undefined && names.length > 0) {
      this.#host.factsThread.ask(place, names, found, from);
      return this.#host.count(names.length);
    }
    const put = (facts: readonly FileFacts[]): void =>
      learn(found, from, to, (number) => facts[number] ?? 'ENOENT');
    const facts = factsOf(place, names, this.#pace);
    if (facts instanceof Promise) return facts.then(put).then(() => this.#host.count(names.length));
    put(facts);
    return this.#host.count(names.length);
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

  /** What an entry is by its name and type, undefined for a file to send; folders to enter are opened. */
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
    this.#host.open(below);
    return { below: below.found };
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
