import type { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { type Clock, Emitter, type Event, type Logger } from '../../ports.ts';
import { createFinder, type Identity, identityOf } from '../identity.ts';
import {
  type Decidable,
  entryName,
  entryOf,
  noBook,
  type SharedNote,
  type TriageBook,
  type TriageEntry,
} from './book.ts';
import {
  asOf,
  dayAfter,
  isUndecided,
  optionalFieldsOf,
  type TriageDecision,
  type TriageState,
  undecided,
} from './triage.ts';
import {
  addToBook,
  type Proposal,
  type ReadDecisions,
  readDecisions,
  type TriagePlace,
  writeShared,
} from './triageDisk.ts';

export interface TriageSubject extends Pick<TriageEntry, keyof Identity | 'title' | 'path'> {
  readonly folder: string;
}

export type MadeDecision = TriageSubject & TriageEntry;

/** A new decision of somebody else, and the finding here that it is about. */
export interface NewDecision<T extends Identity> extends Proposal {
  readonly about: T | undefined;
}

export interface SharedDecisions<T extends Identity> {
  readonly path: string;
  readonly proposals: readonly NewDecision<T>[];
  /** True if this machine has decided nothing about the folder, for example after its container was rebuilt. */
  readonly isBookEmpty: boolean;
}

/** Undoes decisions; resolves to the number of findings with a later decision, which stays. */
export type UndoDecisions = () => Promise<number>;

interface TriageDeps {
  readonly placeFor: (folder: string) => TriagePlace;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Change {
  readonly entries?: readonly TriageEntry[];
  readonly notes?: readonly SharedNote[];
  /** Files of this machine in the shared folder that are no longer needed. */
  readonly removed?: readonly string[];
}

/** Decisions about findings, by folder, in this machine's books, to which other windows add, too. Decisions of others are proposals until they are accepted. */
export class TriageStore {
  readonly #deps: TriageDeps;
  /** By `#nameOf` its folder. */
  readonly #books = new Map<string, ReadDecisions>();
  /** By `pathKey`, the folder as it was first spelled. */
  readonly #names = new Map<string, string>();
  #version = 0;
  readonly #changed: Emitter<void>;
  #day: string;
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

  get(folder: string, about: Decidable): TriageEntry | undefined {
    const entry = entryOf(this.#bookOf(folder), about);
    return entry && asOf(entry, this.#day);
  }

  alike(folder: string, fingerprint: string): TriageEntry | undefined {
    const name = this.#bookOf(folder).alike.get(fingerprint);
    return name === undefined ? undefined : this.get(folder, { name });
  }

  get hasFutureEnds(): boolean {
    return [...this.#books.values()].some(({ book: { entries } }) =>
      [...entries.values()].some((entry) => entry.until !== undefined && asOf(entry, this.#day) === entry),
    );
  }

  failures(): readonly AssessmentError[] {
    return [...this.#books.values()].flatMap(({ failures }) => failures);
  }

  /** Adds decisions to the book, and to the shared folder if there is one. Throws `triageDamaged` if the book cannot be read; `storage`. */
  set(
    subjects: readonly TriageSubject[],
    state: TriageState,
    note: string,
    more: Pick<TriageDecision, 'until' | 'via'> = {},
  ): Promise<UndoDecisions> {
    const decision = { state, note, at: this.#deps.clock.now(), ...optionalFieldsOf({ state, ...more }) };
    const made = subjects.map((subject) => ({ ...subject, ...decision }));
    return this.#queued(async () => {
      const before = new Map<string, TriageBook>();
      await this.#add(made, (entries, { book }, folder) => {
        before.set(folder, book);
        return entries;
      });
      return () => this.#undo(made, before);
    });
  }

  #undo(made: readonly MadeDecision[], before: ReadonlyMap<string, TriageBook>): Promise<number> {
    const byFolder = Map.groupBy(made, ({ folder }) => folder);
    return this.#queued(async () => {
      const decidedLater = new Set<string>();
      await this.#change(byFolder.keys(), ({ book }, folder) => {
        const entries: TriageEntry[] = [];
        const removed: string[] = [];
        for (const entry of byFolder.get(folder) ?? []) {
          const present = entryOf(book, entry);
          if (present === undefined || !isSameDecision(present, entry)) {
            decidedLater.add(entry.name);
            continue;
          }
          const previous = entryOf(before.get(folder) ?? noBook, entry);
          // Without a time: it is no decision that counts against one under another name.
          const restored =
            previous === undefined
              ? toEntry({ ...entry, ...undecided, via: undefined })
              : { ...previous, name: entry.name };
          entries.push(restored);
          const { sharedAs } = present;
          if (sharedAs !== undefined && sharedAs !== restored.sharedAs) removed.push(sharedAs);
        }
        return { entries, removed };
      });
      return decidedLater.size;
    });
  }

  /**
   * By folder, where decisions are shared: the new decisions of others, each with the finding that *Accept* applies it to. `findingsIn` gives the findings
   * of a folder.
   */
  shared<T extends Identity>(
    findingsIn: (folder: string) => readonly T[],
  ): ReadonlyMap<string, SharedDecisions<T>> {
    const shared = new Map<string, SharedDecisions<T>>();
    for (const [folder, { place, book, inbox, lines }] of this.#books) {
      if (place.shared === undefined) continue;
      const find = createFinder(
        inbox.length === 0 ? [] : findingsIn(folder),
        inbox.map(({ entry }) => entry),
      );
      const proposals = inbox
        .map((each) => ({ ...each, about: find(each.entry) }))
        .filter(({ entry, about }) => isNew(entry, about, book));
      shared.set(folder, { path: place.shared, proposals, isBookEmpty: lines?.size === 0 });
    }
    return shared;
  }

  /** Copies new decisions of others into the book of a folder, except where it has a later one. Throws what `set` throws. */
  accept(folder: string, accepted: readonly NewDecision<Identity>[]): Promise<void> {
    return this.#queued(() =>
      this.#change([folder], ({ book }) => ({
        entries: accepted
          .filter(({ entry, about }) => isNew(entry, about, book))
          .map(({ entry, about, file }) => ({ ...entry, ...subjectOf(entry, about), from: file }))
          // The last one about a finding counts.
          .sort((one, other) => one.at - other.at),
        notes: this.#answered(accepted),
      })),
    );
  }

  /** Notes that decisions of others are not wanted; a later one in the same file is new again. Throws what `set` throws. */
  reject(folder: string, rejected: readonly Proposal[]): Promise<void> {
    return this.#queued(() => this.#change([folder], () => ({ notes: this.#answered(rejected) })));
  }

  #answered(answered: readonly Proposal[]): readonly SharedNote[] {
    const seenAt = this.#deps.clock.now();
    return answered.map(({ file, statedAt }) => ({ noted: file, at: statedAt, seenAt, isAnswered: true }));
  }

  /** This machine's decisions that are not in a shared folder although there is one. */
  unshared(): readonly MadeDecision[] {
    return [...this.#books].flatMap(([folder, { place, book }]) =>
      [...(place.shared === undefined ? [] : book.entries.values())]
        .filter((entry) => (entry.sharedAs ?? entry.from) === undefined && !isUndecided(entry))
        .map((entry) => ({ ...entry, folder })),
    );
  }

  /** Writes decisions that `unshared` has to the shared folders. Throws what `set` throws. */
  share(unshared: readonly MadeDecision[]): Promise<void> {
    return this.#queued(() => this.#add(unshared, (entries) => entries));
  }

  /** Adds decisions about findings that have none; a date in the future becomes now. Throws what `set` throws. */
  importDecisions(decisions: readonly MadeDecision[]): Promise<void> {
    const now = this.#deps.clock.now();
    return this.#queued(() =>
      this.#add(decisions, (entries, { book }) =>
        entries
          .filter((entry) => isUndecided(entryOf(book, entry) ?? undecided))
          .map((entry) => ({ ...entry, at: Math.min(entry.at, now) })),
      ),
    );
  }

  async #add(
    made: readonly MadeDecision[],
    choose: (entries: readonly TriageEntry[], known: ReadDecisions, folder: string) => readonly TriageEntry[],
  ): Promise<void> {
    const byFolder = Map.groupBy(made, ({ folder }) => folder);
    await this.#change(byFolder.keys(), (known, folder) => {
      const { book, place } = known;
      const entries = choose((byFolder.get(folder) ?? []).map(toEntry), known, folder);
      if (place.shared === undefined) return { entries };
      // One about the same finding reuses its file, since Git would take a new one for a rename.
      const fileOf = (entry: TriageEntry): string => entryOf(book, entry)?.sharedAs ?? entryName(entry);
      return { entries: entries.map((entry) => ({ ...entry, sharedAs: fileOf(entry) })) };
    });
  }

  /** `plan` gets a folder's decisions as they are now on disk. */
  async #change(
    folders: Iterable<string>,
    plan: (known: ReadDecisions, folder: string) => Change,
  ): Promise<void> {
    const before = this.#version;
    try {
      for (const folder of folders) {
        await this.#load(folder);
        const known = this.#books.get(this.#nameOf(folder));
        if (known === undefined) continue;
        const { entries = [], notes = [], removed } = plan(known, folder);
        // The book comes first: it is what counts.
        await addToBook(known, [...entries, ...notes]);
        const own = entries.filter(({ sharedAs }) => sharedAs !== undefined);
        try {
          await writeShared(folder, known.place, own, removed);
        } finally {
          await this.#load(folder);
        }
      }
    } finally {
      // Only if something changed: a listener that writes would otherwise repeat a failing write forever.
      if (this.#version !== before) this.#changed.fire();
    }
  }

  /** True if the decisions, or the day, have changed since the last reading. */
  async #load(spelled: string): Promise<boolean> {
    const folder = this.#nameOf(spelled);
    const isNewDay = this.#updateDay();
    const { clock, log, placeFor } = this.#deps;
    const known = this.#books.get(folder);
    const read = await readDecisions(folder, placeFor(folder), known, clock.now());
    if (read === known) return isNewDay;
    for (const { message, data } of read.failures)
      log.warn(`Triage decisions cannot all be read (${data.subject ?? ''}): ${message}`);
    this.#books.set(folder, read);
    this.#version += 1;
    await this.#noteFutureTimes(read);
    return true;
  }

  /** Else a time in the future would be later than any decision of this machine. */
  async #noteFutureTimes(read: ReadDecisions): Promise<void> {
    try {
      await addToBook(read, read.newNotes);
    } catch (error) {
      this.#deps.log.warn(`Times in the future could not be noted: ${String(error)}`);
    }
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

  #queued<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work, work);
    this.#queue = next.catch(() => undefined);
    return next;
  }
}

function toEntry({ state, note, at, title, path, ...made }: MadeDecision): TriageEntry {
  return { ...identityOf(made), state, note, at, ...optionalFieldsOf({ state, ...made }), title, path };
}

/** The finding that an accepted decision is about; its own name where no finding is here. */
function subjectOf({ name }: Identity, about: Identity | undefined): Identity {
  if (about !== undefined) return identityOf(about);
  const [file = '', index] = name.split(':');
  return { name, file, index: Number(index), fingerprint: '' };
}

function isNew(entry: TriageEntry, about: Identity | undefined, book: TriageBook): boolean {
  return entry.at > (entryOf(book, subjectOf(entry, about))?.at ?? -Infinity);
}

function isSameDecision(a: TriageEntry, b: TriageEntry): boolean {
  return a.at === b.at && a.state === b.state && a.note === b.note && a.until === b.until;
}
