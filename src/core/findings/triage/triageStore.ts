import { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { type Clock, Emitter, type Event, type Logger } from '../../ports.ts';
import { takeLease } from '../../run/disk/lease.ts';
import type { Identity, isSameFinding } from '../identity.ts';
import {
  asOf,
  dayAfter,
  optionalFieldsOf,
  entryOf,
  isUndecided,
  toBook,
  type TriageBook,
  type TriageDecision,
  type TriageEntry,
  type TriageState,
  undecided,
  withDecisions,
} from './triage.ts';
import type { Acceptance, Proposal } from './acceptance.ts';
import {
  type ReadBook,
  readDecisions,
  type TriagePlace,
  writeAcceptance,
  writeDecisions,
} from './triageDisk.ts';

/** What a decision is about; `path` is only for people who read the file. */
export interface TriageSubject {
  readonly folder: string;
  readonly identity: Identity;
  readonly path?: string | undefined;
}

export type DecisionsByFolder = ReadonlyMap<string, readonly TriageEntry[]>;

/** Decisions of others in a folder; `path` holds their files. */
export interface SharedDecisions {
  readonly path: string;
  readonly proposals: readonly Proposal[];
  readonly acceptance: Acceptance;
}

/** Undoes decisions; resolves to the number of findings with a later decision, which stays. */
export type UndoDecisions = () => Promise<number>;

const lockTimeoutMs = 10_000;
const retryMs = 20;

interface TriageDeps {
  readonly placeFor: (folder: string) => TriagePlace;
  readonly lockFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Decisions about findings, by folder. Other windows write them too and, in a repository, other people. */
export class TriageStore {
  readonly #deps: TriageDeps;
  /** By `#nameOf` its folder. */
  readonly #books = new Map<string, ReadBook>();
  /** By `pathKey`, the folder as it was first spelled. */
  readonly #names = new Map<string, string>();
  #version = 0;
  readonly #changed: Emitter<void>;
  #day: string;
  /** Each ended acceptance is returned as the same object every time. */
  readonly #ended = new WeakMap<TriageEntry, TriageEntry>();
  #queue: Promise<unknown> = Promise.resolve();
  #nextReload: Promise<void> | undefined;

  constructor(deps: TriageDeps) {
    this.#deps = deps;
    this.#changed = new Emitter(deps.log);
    this.onDidChange = this.#changed.event;
    this.#day = this.#today();
  }

  readonly onDidChange: Event<void>;

  /** Reads what is new or changed of these folders' decisions; reading errors are in `failures`. */
  load(folders: Iterable<string>): Promise<void> {
    return this.#queued(() => this.#loadAll(folders));
  }

  /** Reads what changed on disk or moved to another place, and notices acceptances that have ended. */
  reload(): Promise<void> {
    this.#nextReload ??= this.#queued(() => {
      this.#nextReload = undefined;
      return this.#loadAll(this.#books.keys());
    });
    return this.#nextReload;
  }

  async #loadAll(folders: Iterable<string>): Promise<void> {
    const changes = await Promise.all(
      [...new Set([...folders].map((folder) => this.#nameOf(folder)))].map((folder) => this.#load(folder)),
    );
    if (changes.includes(true)) this.#changed.fire();
  }

  /** Changes whenever `get` may return something else. */
  get version(): number {
    return this.#version;
  }

  get(folder: string, identity: Identity, isSame?: typeof isSameFinding): TriageEntry | undefined {
    const entry = entryOf(this.#bookOf(folder), identity, isSame);
    if (entry?.until === undefined) return entry;
    const today = asOf(entry, this.#day);
    if (today === entry) return entry;
    const ended = this.#ended.get(entry) ?? today;
    this.#ended.set(entry, ended);
    return ended;
  }

  get hasFutureEnds(): boolean {
    return [...this.#books.values()].some(({ book: { entries } }) =>
      entries.some((entry) => entry.until !== undefined && asOf(entry, this.#day) === entry),
    );
  }

  failures(): readonly AssessmentError[] {
    return [...this.#books.values()].flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  }

  /** Writes decisions beside those that others made meanwhile. Throws `triageDamaged`, without overwriting the file, if it cannot be read; `storage`. */
  set(
    subjects: readonly TriageSubject[],
    state: TriageState,
    note: string,
    more: Pick<TriageDecision, 'until' | 'via'> = {},
  ): Promise<UndoDecisions> {
    const at = this.#deps.clock.now();
    const decided = new Map<string, TriageEntry[]>();
    for (const { folder, identity, path = '' } of subjects) {
      const entries = decided.get(folder) ?? [];
      entries.push({ identity, state, note, at, ...optionalFieldsOf({ state, ...more }), path });
      decided.set(folder, entries);
    }
    return this.#queued(async () => {
      const before = new Map<string, TriageBook>();
      await this.#changeAll(decided, (entries, book, folder) => {
        before.set(folder, book);
        return entries;
      });
      return () => this.#undo(decided, before);
    });
  }

  #undo(decided: DecisionsByFolder, before: ReadonlyMap<string, TriageBook>): Promise<number> {
    return this.#queued(async () => {
      const decidedLater = new Set<string>();
      await this.#changeAll(decided, (entries, book, folder) => {
        const restored: TriageEntry[] = [];
        for (const entry of entries) {
          const { identity } = entry;
          const previous = entryOf(before.get(folder) ?? noBook, identity);
          if (isSameDecision(entryOf(book, identity), entry))
            restored.push(previous ?? { ...entry, ...undecided });
          else decidedLater.add(`${identity.run} ${String(identity.index)}`);
        }
        return restored;
      });
      return decidedLater.size;
    });
  }

  decisions(): DecisionsByFolder {
    return new Map([...this.#books].map(([folder, { book }]) => [folder, book.entries]));
  }

  shared(): ReadonlyMap<string, SharedDecisions> {
    const shared = [...this.#books].filter(([, { place }]) => place.kind === 'folder');
    return new Map(shared.map(([folder, { place, ...book }]) => [folder, { ...book, path: place.path }]));
  }

  /** Changes the answers to a folder's decisions. Throws `triageDamaged`, `storage`. */
  answer(folder: string, change: (acceptance: Acceptance) => Acceptance): Promise<void> {
    return this.#queued(() =>
      this.#rewrite([folder], (known) => writeAcceptance(known, change(known.acceptance))),
    );
  }

  withoutDecision(decisions: DecisionsByFolder): DecisionsByFolder {
    return new Map(
      [...decisions].map(([folder, entries]) => [folder, withoutDecision(entries, this.#bookOf(folder))]),
    );
  }

  /** Adds decisions about findings that have none; a date in the future becomes now. Throws what `set` throws. */
  async importDecisions(decisions: DecisionsByFolder): Promise<void> {
    const now = this.#deps.clock.now();
    const added = (entries: readonly TriageEntry[], book: TriageBook): readonly TriageEntry[] =>
      withoutDecision(entries, book).map((entry) => ({ ...entry, at: Math.min(entry.at, now) }));
    const nonEmpty = new Map([...decisions].filter(([, entries]) => entries.length > 0));
    await this.#queued(() => this.#changeAll(nonEmpty, added));
  }

  /** `change` gets a folder's decisions and its present book, and returns the decisions to write. */
  async #changeAll(
    decisions: DecisionsByFolder,
    change: (entries: readonly TriageEntry[], book: TriageBook, folder: string) => readonly TriageEntry[],
  ): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#rewrite(decisions.keys(), (known, folder) => {
      const decided = change(decisions.get(folder) ?? [], known.book, folder);
      return writeDecisions(folder, known, withDecisions(known.book, decided), now);
    });
  }

  async #rewrite(
    folders: Iterable<string>,
    write: (known: ReadBook, folder: string) => Promise<void>,
  ): Promise<void> {
    const before = this.#version;
    try {
      await this.#locked(async () => {
        for (const folder of folders) {
          await this.#load(folder);
          const known = this.#books.get(this.#nameOf(folder));
          if (known === undefined) continue;
          await write(known, folder);
          await this.#load(folder);
        }
      });
    } finally {
      // Only if something changed: a listener that writes would otherwise repeat a failing write forever.
      if (this.#version !== before) this.#changed.fire();
    }
  }

  /** True if the decisions, or the day, have changed since the last reading. */
  async #load(spelled: string): Promise<boolean> {
    const folder = this.#nameOf(spelled);
    const isNewDay = this.#updateDay();
    const known = this.#books.get(folder);
    const read = await readDecisions(folder, this.#deps.placeFor(folder), known);
    if (read === known) return isNewDay;
    const { failure, place } = read;
    if (failure !== undefined)
      this.#deps.log.warn(`Triage decisions cannot all be read (${place.path}): ${failure.message}`);
    this.#books.set(folder, read);
    this.#version += 1;
    return true;
  }

  #today(): string {
    return dayAfter(this.#deps.clock.now());
  }

  #updateDay(): boolean {
    const today = this.#today();
    if (today === this.#day) return false;
    this.#day = today;
    this.#version += 1;
    return true;
  }

  #bookOf(folder: string): TriageBook {
    return this.#books.get(this.#nameOf(folder))?.book ?? noBook;
  }

  /** Runs may spell a folder differently; it has one book. */
  #nameOf(folder: string): string {
    const key = pathKey(folder);
    const name = this.#names.get(key) ?? folder;
    this.#names.set(key, name);
    return name;
  }

  async #locked(work: () => Promise<void>): Promise<void> {
    const start = this.#deps.clock.monotonic();
    let lease = await takeLease(this.#deps.lockFolder, this.#deps.clock);
    while (lease === undefined) {
      if (this.#deps.clock.monotonic() - start > lockTimeoutMs)
        throw new AssessmentError('storage', { detail: 'EBUSY' });
      await this.#deps.clock.sleep(retryMs);
      lease = await takeLease(this.#deps.lockFolder, this.#deps.clock);
    }
    try {
      await work();
    } finally {
      await lease.release();
    }
  }

  #queued<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work, work);
    this.#queue = next.catch(() => undefined);
    return next;
  }
}

const noBook = toBook([]);

function withoutDecision(entries: readonly TriageEntry[], book: TriageBook): readonly TriageEntry[] {
  return entries.filter(({ identity }) => entryOf(book, identity) === undefined);
}

/** An undecided finding has no entry. */
function isSameDecision(a: TriageEntry | undefined, b: TriageEntry): boolean {
  if (a === undefined) return isUndecided(b);
  return a.at === b.at && a.state === b.state && a.note === b.note && a.until === b.until;
}
