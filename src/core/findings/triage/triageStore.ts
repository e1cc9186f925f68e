import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AssessmentError } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { type Clock, Emitter, type Event, type Logger } from '../../ports.ts';
import type { Run } from '../../run/state/run.ts';
import type { FolderCalls } from '../../yieldingWork.ts';
import { createFinder, type FindingIdentity, identityOf } from '../identity.ts';
import {
  type Answer,
  countsIn,
  type Decidable,
  entryName,
  entryOf,
  formatEntry,
  type TriageBook,
  type TriageEntry,
} from './book.ts';
import { asOf, dayAfter, isUndecided, type TriageState, undecided } from './triage.ts';
import {
  addToBook,
  damaged,
  type Proposal,
  type ReadDecisions,
  readDecisions,
  type TriagePaths,
  writeShared,
} from './triageFiles.ts';

export type MadeDecision = TriageEntry & { readonly folder: string };

export type TriageSubject = Pick<MadeDecision, keyof FindingIdentity | 'title' | 'path' | 'folder'>;

/** If `about` is undefined, the decision cannot be accepted. */
export type NewDecision<T extends FindingIdentity> = Proposal & { readonly about: T | undefined };

/** Keeps later decisions, and returns the number of findings that have one. */
export type UndoDecisions = () => Promise<number>;

interface TriageDeps {
  readonly pathsFor: (folder: string) => TriagePaths;
  readonly calls: Pick<FolderCalls, 'ask'>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface DecisionChange {
  readonly entries?: readonly TriageEntry[];
  readonly answers?: readonly Answer[];
  readonly removed?: readonly string[];
}

/** Holds the books of folders. Other windows add to the same books. */
export class TriageStore {
  readonly #deps: TriageDeps;
  /** The key is a `pathKey`, since runs may spell a folder differently. */
  readonly #books = new Map<string, ReadDecisions>();
  #version = 0;
  readonly #changed: Emitter<void>;
  #day: string;
  #queue: Promise<unknown> = Promise.resolve();
  #nextReload: Promise<void> | undefined;

  constructor(deps: TriageDeps) {
    this.#deps = deps;
    this.#changed = new Emitter(deps.log);
    this.onDidChange = this.#changed.event;
    this.#day = dayAfter(deps.clock.now());
  }

  readonly onDidChange: Event<void>;

  load(folders: Iterable<string>): Promise<void> {
    return this.#queued(() => this.#loadAll(folders, false));
  }

  /**
   * Also reads shared files that were edited in place. Like `load`, ends acceptances whose last day
   * has passed.
   */
  reload(): Promise<void> {
    this.#nextReload ??= this.#queued(() => {
      this.#nextReload = undefined;
      const folders = Array.from(this.#books.values(), ({ folder }) => folder);
      return this.#loadAll(folders, true);
    });
    return this.#nextReload;
  }

  async #loadAll(folders: Iterable<string>, looksAtEach: boolean): Promise<void> {
    const today = dayAfter(this.#deps.clock.now());
    if (today !== this.#day) this.#version += 1;
    this.#day = today;
    const different = new Map([...folders].map((folder) => [pathKey(folder), folder]));
    await Promise.all([...different.values()].map((folder) => this.#load(folder, looksAtEach)));
  }

  get(folder: string, about: Decidable, run?: string): TriageEntry | undefined {
    const entry = entryOf(this.#bookOf(folder), about, run);
    return entry && asOf(entry, this.#day);
  }

  byFingerprint(folder: string, fingerprint: string): TriageEntry | undefined {
    const name = this.#bookOf(folder)?.byFingerprint.get(fingerprint);
    return name === undefined ? undefined : this.get(folder, { name });
  }

  /** True if this machine has no decisions for the folder, as in a rebuilt container. */
  isNewHere(folder: string): boolean {
    return this.#bookOf(folder)?.entries.size === 0;
  }

  get hasFutureEnds(): boolean {
    const entries = [...this.#books.values()].flatMap(({ book }) => [...(book?.entries.values() ?? [])]);
    return entries.some((entry) => entry.until !== undefined && asOf(entry, this.#day) === entry);
  }

  failures(): readonly AssessmentError[] {
    return [...this.#books.values()].flatMap(({ failures }) => failures);
  }

  async set(
    subjects: readonly TriageSubject[],
    state: TriageState,
    note: string,
    more: Pick<TriageEntry, 'until' | 'via'> = {},
  ): Promise<UndoDecisions> {
    const decision = { state, note, at: this.#deps.clock.now(), ...more };
    const made = subjects.map((subject) => ({ ...subject, ...decision }));
    const before = await this.#add(made);
    return () => this.#undo(made, before);
  }

  async #undo(
    made: readonly MadeDecision[],
    before: ReadonlyMap<string, TriageBook | undefined>,
  ): Promise<number> {
    const decidedLater = new Set<string>();
    await this.#changeEach(made, (undone, { book }, folder) => {
      const removed: string[] = [];
      const entries = undone.flatMap((entry) => {
        const present = entryOf(book, entry);
        if (present === undefined || formatEntry(present) !== formatEntry(entry)) {
          decidedLater.add(entry.name);
          return [];
        }
        const previous = entryOf(before.get(folder), entry);
        if (present.sharedAs !== undefined && present.sharedAs !== previous?.sharedAs)
          removed.push(present.sharedAs);
        // Without `previous`, `at` is 0: an undone decision must not outrank a decision under
        // another name.
        return {
          ...(previous ?? { ...entry, ...undecided, until: undefined, via: undefined }),
          name: entry.name,
        };
      });
      return { entries, removed };
    });
    return decidedLater.size;
  }

  shared<T extends FindingIdentity>(
    findingsIn: (folder: string) => readonly T[],
  ): ReadonlyMap<string, readonly NewDecision<T>[]> {
    const shared = new Map<string, readonly NewDecision<T>[]>();
    for (const { folder, book, inbox } of this.#books.values()) {
      if (inbox.length === 0) continue;
      const entries = inbox.map(({ entry }) => entry);
      const find = createFinder(findingsIn(folder), entries);
      const decisions = inbox.map((each) => ({ ...each, about: find(each.entry) }));
      const fresh = decisions.filter((each) => this.#isNew(each, book));
      if (fresh.length > 0) shared.set(folder, fresh);
    }
    return shared;
  }

  /** If the decision's time is in the future, the file's time on this disk counts. */
  #timeOf({ entry: { at }, writtenAt }: Proposal): number {
    const now = this.#deps.clock.now();
    return at <= now ? at : Math.min(writtenAt || now, now);
  }

  #isNew(decision: NewDecision<FindingIdentity>, book: TriageBook | undefined): boolean {
    const known = entryOf(book, decision.about ?? { name: decision.entry.name });
    const isKnown = known !== undefined && countsIn(known, undefined);
    return this.#timeOf(decision) > (isKnown ? known.at : -Infinity);
  }

  /** Adds only decisions about known findings, and only if the book has no later decision. */
  accept(folder: string, decisions: readonly NewDecision<FindingIdentity>[]): Promise<void> {
    const accepted = decisions.filter(({ about }) => about !== undefined);
    return this.#change([folder], ({ book }) => ({
      entries: accepted
        .filter((each) => this.#isNew(each, book))
        .map((each) => ({
          ...{ ...each.entry, ...(each.about && identityOf(each.about)) },
          ...{ at: this.#timeOf(each), from: basename(each.path) },
        }))
        .sort((one, other) => one.at - other.at),
      answers: accepted.map(toAnswer),
    }));
  }

  /** A later decision in the same file is new again. */
  reject(folder: string, rejected: readonly Proposal[]): Promise<void> {
    return this.#change([folder], () => ({ answers: rejected.map(toAnswer) }));
  }

  unshared(): readonly MadeDecision[] {
    return [...this.#books.values()].flatMap(({ folder, paths, book }) =>
      [...(paths.shared === undefined ? [] : (book?.entries.values() ?? []))]
        .filter(
          (entry) => (entry.sharedAs ?? entry.from ?? entry.onlyIn) === undefined && !isUndecided(entry),
        )
        .map((entry) => ({ ...entry, folder })),
    );
  }

  async share(unshared: readonly MadeDecision[]): Promise<void> {
    await this.#add(unshared);
  }

  /**
   * Adds only decisions about undecided findings. They count in that run only, and are not shared.
   */
  importDecisions({ id }: Pick<Run, 'id'>, decisions: readonly MadeDecision[]): Promise<void> {
    return this.#changeEach(decisions, (made, { book }) => {
      const isWanted = (entry: TriageEntry): boolean => {
        const known = entryOf(book, entry, id);
        return known === undefined || isUndecided(known) || !countsIn(known, id);
      };
      return { entries: made.filter(isWanted).map((entry) => ({ ...entry, onlyIn: id })) };
    });
  }

  /** Shared files stay. */
  forget(folder: string): Promise<void> {
    return this.#queued(async () => {
      await rm(this.#deps.pathsFor(folder).book, { force: true });
      await this.#load(folder);
    });
  }

  async #add(made: readonly MadeDecision[]): Promise<ReadonlyMap<string, TriageBook | undefined>> {
    const before = new Map<string, TriageBook | undefined>();
    await this.#changeEach(made, (entries, { book, paths }, folder) => {
      before.set(folder, book);
      if (paths.shared === undefined) return { entries };
      // A later decision about a finding reuses the earlier decision's file, since Git would take a
      // new file for a rename.
      const fileOf = (entry: TriageEntry): string => entryOf(book, entry)?.sharedAs ?? entryName(entry);
      return { entries: entries.map((entry) => ({ ...entry, sharedAs: fileOf(entry) })) };
    });
    return before;
  }

  #changeEach(
    decisions: readonly MadeDecision[],
    plan: (decisions: readonly MadeDecision[], known: ReadDecisions, folder: string) => DecisionChange,
  ): Promise<void> {
    const byFolder = Map.groupBy(decisions, ({ folder }) => folder);
    return this.#change(byFolder.keys(), (known, folder) => plan(byFolder.get(folder) ?? [], known, folder));
  }

  /**
   * `plan` gets the decisions that are on the disk. A future time would outrank later decisions of
   * this machine, so it is replaced by the current time.
   */
  #change(
    folders: Iterable<string>,
    plan: (known: ReadDecisions, folder: string) => DecisionChange,
  ): Promise<void> {
    return this.#queued(async () => {
      for (const folder of folders) {
        const known = await this.#load(folder);
        if (known.book === undefined) throw known.failures[0] ?? damaged(known.paths.book);
        const { entries: planned = [], answers = [], removed = [] } = plan(known, folder);
        const now = this.#deps.clock.now();
        const entries = planned.map((entry) => (entry.at > now ? { ...entry, at: now } : entry));
        // The book comes first, because only the book counts.
        await addToBook(known.paths.book, [...entries, ...answers]);
        try {
          await writeShared(known, entries, removed, this.#deps.calls);
        } finally {
          await this.#load(folder);
        }
      }
    });
  }

  async #load(folder: string, looksAtEach = false): Promise<ReadDecisions> {
    const known = this.#books.get(pathKey(folder));
    const name = known?.folder ?? folder;
    const { pathsFor, calls } = this.#deps;
    const read = await readDecisions(name, pathsFor(name), calls, known, looksAtEach);
    if (read === known) return read;
    for (const { message, data } of read.failures)
      this.#deps.log.warn(`Triage decisions cannot all be read (${data.subject ?? ''}): ${message}`);
    this.#books.set(pathKey(folder), read);
    this.#version += 1;
    return read;
  }

  #bookOf(folder: string): TriageBook | undefined {
    return this.#books.get(pathKey(folder))?.book;
  }

  /**
   * Fires only after a change. Otherwise, a listener that writes would repeat a failing write
   * forever.
   */
  #queued(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(async () => {
      const before = this.#version;
      try {
        await work();
      } finally {
        if (this.#version !== before) this.#changed.fire();
      }
    });
    this.#queue = done.catch(() => undefined); // The caller gets the error.
    return done;
  }
}

function toAnswer({ path, entry: { at } }: Proposal): Answer {
  return { answered: basename(path), at };
}
