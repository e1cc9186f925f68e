import { AssessmentError } from '../../errors.ts';
import { type Clock, Emitter, type Logger } from '../../ports.ts';
import { takeLease } from '../../run/disk/lease.ts';
import type { Identity, isSameFinding } from '../identity.ts';
import {
  asOf,
  dayAfter,
  endAndVia,
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

/** A finding that is decided about; `path` is for people who read the file. */
export interface TriageSubject {
  readonly folder: string;
  readonly identity: Identity;
  readonly path?: string | undefined;
}

/** Decisions by folder. */
export type DecisionsByFolder = ReadonlyMap<string, readonly TriageEntry[]>;

/** The decisions of others in a folder: `path` is where their files are. */
export interface SharedDecisions {
  readonly path: string;
  readonly proposals: readonly Proposal[];
  readonly acceptance: Acceptance;
}

/** Takes decisions back; resolves to how many findings have a later decision, which stays. */
export type TakeBack = () => Promise<number>;

const patienceMs = 10_000;
const retryMs = 20;

interface TriageDeps {
  /** Where a folder's decisions are. */
  readonly placeFor: (folder: string) => TriagePlace;
  /** Shared by all windows. */
  readonly lockFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The decisions about findings, by folder; other windows and, in a repository, other people write them too. */
export class TriageStore {
  readonly #deps: TriageDeps;
  readonly #books = new Map<string, ReadBook>();
  #version = 0;
  readonly #changed = new Emitter<void>();
  /** The day for which listeners know the decisions. */
  #day: string;
  /** Accepted risks that have ended, as they hold: the same object each time. */
  readonly #ended = new WeakMap<TriageEntry, TriageEntry>();
  #queue: Promise<unknown> = Promise.resolve();
  /** A reload that has not begun. */
  #nextReload: Promise<void> | undefined;

  constructor(deps: TriageDeps) {
    this.#deps = deps;
    this.#day = this.#today();
  }

  /** Called after decisions changed, here or elsewhere. */
  readonly onDidChange = this.#changed.event;

  /** Reads the decisions of these folders that are new or have changed; what cannot be read is one of `failures`. */
  load(folders: Iterable<string>): Promise<void> {
    return this.#queued(async () => {
      const changes = await Promise.all([...new Set(folders)].map((folder) => this.#load(folder)));
      if (changes.includes(true)) this.#changed.fire();
    });
  }

  /** Reads what has changed on the disk, or is stored in another place by now; looks which acceptances have ended. */
  reload(): Promise<void> {
    this.#nextReload ??= this.#queued(async () => {
      this.#nextReload = undefined;
      const changes = await Promise.all([...this.#books.keys()].map((folder) => this.#load(folder)));
      if (changes.includes(true)) this.#changed.fire();
    });
    return this.#nextReload;
  }

  /** Another number after every change: while it is the same, `of` gives what it gave. */
  get version(): number {
    return this.#version;
  }

  /** The decision about a finding of a folder as it holds today, if any; by another measure of sameness where one is given. */
  of(folder: string, identity: Identity, isSame?: typeof isSameFinding): TriageEntry | undefined {
    const entry = entryOf(this.#bookOf(folder), identity, isSame);
    if (entry?.until === undefined) return entry;
    const held = asOf(entry, this.#day);
    if (held === entry) return entry;
    const ended = this.#ended.get(entry) ?? held;
    this.#ended.set(entry, ended);
    return ended;
  }

  /** Whether an acceptance has an end that is still to come. */
  get hasEnds(): boolean {
    return [...this.#books.values()].some(({ book: { entries } }) =>
      entries.some((entry) => entry.until !== undefined && asOf(entry, this.#day) === entry),
    );
  }

  /** Why decisions cannot be read: `triageDamaged`, `storage`. */
  failures(): readonly AssessmentError[] {
    return [...this.#books.values()].flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  }

  /**
   * Decides about findings; on disk, with what others decided meanwhile, when it resolves. Throws `triageDamaged`, and
   * leaves the file as it is, when it cannot be read; `storage`. Resolves to what takes it back.
   */
  set(
    subjects: readonly TriageSubject[],
    state: TriageState,
    note: string,
    more: Pick<TriageDecision, 'until' | 'via'> = {},
  ): Promise<TakeBack> {
    const at = this.#deps.clock.now();
    const decided = new Map<string, TriageEntry[]>();
    for (const { folder, identity, path = '' } of subjects) {
      const own = decided.get(folder) ?? [];
      own.push({ identity, state, note, at, ...endAndVia({ state, ...more }), path });
      decided.set(folder, own);
    }
    return this.#queued(async () => {
      const former = new Map<string, TriageBook>();
      await this.#changeAll(decided, (entries, book, folder) => {
        former.set(folder, book);
        return entries;
      });
      return () => this.#takeBack(decided, former);
    });
  }

  /** Every decision that is known, by folder. */
  decisions(): DecisionsByFolder {
    return new Map([...this.#books].map(([folder, { book }]) => [folder, book.entries]));
  }

  /** The decisions that came with each folder whose decisions are shared, and what was answered to them. */
  shared(): ReadonlyMap<string, SharedDecisions> {
    const shared = [...this.#books].filter(([, { place }]) => place.kind === 'folder');
    return new Map(shared.map(([folder, { place, ...book }]) => [folder, { ...book, path: place.path }]));
  }

  /** Changes the answers to a folder's decisions; on disk when it resolves. Throws `triageDamaged`, `storage`. */
  answer(folder: string, change: (acceptance: Acceptance) => Acceptance): Promise<void> {
    return this.#queued(() =>
      this.#rewrite([folder], (known) => writeAcceptance(known, change(known.acceptance))),
    );
  }

  /** The decisions among these whose findings have none here. */
  lacking(decisions: DecisionsByFolder): DecisionsByFolder {
    return new Map(
      [...decisions].map(([folder, entries]) => [folder, withoutThose(entries, this.#bookOf(folder))]),
    );
  }

  /** Takes decisions over, for findings that have none by then; one dated in the future counts as made now. Throws what `set` throws. */
  async importDecisions(decisions: DecisionsByFolder): Promise<void> {
    const now = this.#deps.clock.now();
    const some = new Map(
      [...decisions]
        .filter(([, entries]) => entries.length > 0)
        .map(([folder, entries]) => [
          folder,
          entries.map((entry) => ({ ...entry, at: Math.min(entry.at, now) })),
        ]),
    );
    await this.#queued(() => this.#changeAll(some, withoutThose));
  }

  #takeBack(decided: DecisionsByFolder, former: ReadonlyMap<string, TriageBook>): Promise<number> {
    return this.#queued(async () => {
      const changed = new Set<string>();
      await this.#changeAll(decided, (entries, book, folder) => {
        const back: TriageEntry[] = [];
        for (const entry of entries) {
          const { identity } = entry;
          const was = entryOf(former.get(folder) ?? noBook, identity);
          if (isSameDecision(entryOf(book, identity), entry)) back.push(was ?? { ...entry, ...undecided });
          else changed.add(`${identity.run} ${String(identity.index)}`);
        }
        return back;
      });
      return changed.size;
    });
  }

  /** Writes the decisions of these folders; `change` gives what is decided beside those that are there. */
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

  /** Reads what is stored of these folders, writes it, and reads it again. */
  async #rewrite(
    folders: Iterable<string>,
    write: (known: ReadBook, folder: string) => Promise<void>,
  ): Promise<void> {
    const before = this.#version;
    try {
      await this.#locked(async () => {
        for (const folder of folders) {
          await this.#load(folder);
          const known = this.#books.get(folder);
          if (known === undefined) continue;
          await write(known, folder);
          await this.#load(folder);
        }
      });
    } finally {
      // Whoever writes when anything changes would else try again without end where it fails.
      if (this.#version !== before) this.#changed.fire();
    }
  }

  /** Reads a folder's decisions when they are not as they were last read; true when they are not, or when the day is another one. */
  async #load(folder: string): Promise<boolean> {
    const isOtherDay = this.#noticeDay();
    const known = this.#books.get(folder);
    const read = await readDecisions(folder, this.#deps.placeFor(folder), known);
    if (read === known) return isOtherDay;
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

  #noticeDay(): boolean {
    const today = this.#today();
    if (today === this.#day) return false;
    this.#day = today;
    this.#version += 1;
    return true;
  }

  #bookOf(folder: string): TriageBook {
    return this.#books.get(folder)?.book ?? noBook;
  }

  /** Does work during which no other window writes. */
  async #locked(work: () => Promise<void>): Promise<void> {
    const start = this.#deps.clock.monotonic();
    let lease = await takeLease(this.#deps.lockFolder, this.#deps.clock);
    while (lease === undefined) {
      if (this.#deps.clock.monotonic() - start > patienceMs)
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

function withoutThose(entries: readonly TriageEntry[], book: TriageBook): readonly TriageEntry[] {
  return entries.filter(({ identity }) => entryOf(book, identity) === undefined);
}

/** A finding that is open, without a note, has no entry. */
function isSameDecision(present: TriageEntry | undefined, made: TriageEntry): boolean {
  if (present === undefined) return isUndecided(made);
  return (
    present.at === made.at &&
    present.state === made.state &&
    present.note === made.note &&
    present.until === made.until
  );
}
