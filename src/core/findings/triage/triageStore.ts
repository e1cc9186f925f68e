import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { markOf, writeFileAtomic } from '../../files.ts';
import { pathInside } from '../../pathInside.ts';
import type { Clock, Disposable, Event, Logger } from '../../ports.ts';
import { takeLease } from '../../run/lease.ts';
import {
  emptyBook,
  formatBook,
  hasConflict,
  parseBook,
  type TriageBook,
  type TriageEntry,
  withDecisions,
} from './triageBook.ts';
import { isUndecided, type TriageDecision, type TriageState, undecided } from './triage.ts';

/** A finding that is decided about; `title` and `path` are for people who read the file. */
export interface TriageSubject {
  readonly folder: string;
  readonly fingerprint: string;
  readonly title?: string | undefined;
  readonly path?: string | undefined;
}

/** A folder's file as last read; with a `failure` it is not written, though decisions of both sides of a conflict are known. */
interface KnownBook {
  readonly path: string;
  readonly mark: string | undefined;
  readonly book: TriageBook;
  readonly failure?: AssessmentError | undefined;
}

/** Decisions by folder and fingerprint. */
export type DecisionsByFolder = ReadonlyMap<string, ReadonlyMap<string, TriageEntry>>;

/** Takes decisions back; gives how many findings were decided about anew since, and stay so. */
export type TakeBack = () => Promise<number>;

const maxBytes = 64 * 1024 * 1024;
const patienceMs = 10_000;
const retryMs = 20;

/** What people decided about findings: one file for each folder, which other windows and, in a repository, other people write too. */
export class TriageStore {
  readonly #bookFor: (folder: string) => string;
  readonly #lockFolder: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #books = new Map<string, KnownBook>();
  #version = 0;
  readonly #listeners = new Set<() => void>();
  #queue: Promise<unknown> = Promise.resolve();

  /** `bookFor` gives the absolute path of the file that holds a folder's decisions; `lockFolder` is shared by all windows. */
  constructor(deps: { bookFor: (folder: string) => string; lockFolder: string; clock: Clock; log: Logger }) {
    this.#bookFor = deps.bookFor;
    this.#lockFolder = deps.lockFolder;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Called after decisions changed, here or elsewhere. */
  readonly onDidChange: Event<void> = (listener): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  /**
   * Reads the files of these folders that are new or have changed; one that cannot be read counts as empty and is a `failure`, and so
   * is one with a conflict, whose decisions count.
   */
  load(folders: Iterable<string>): Promise<void> {
    return this.#queued(async () => {
      const changes = await Promise.all([...new Set(folders)].map((folder) => this.#load(folder)));
      if (changes.includes(true)) this.#tell();
    });
  }

  /** Reads again what has changed on disk, or is kept elsewhere by now. */
  reload(): Promise<void> {
    return this.load(this.#books.keys());
  }

  /** Another number after every change: while it is the same, `of` gives what it gave. */
  get version(): number {
    return this.#version;
  }

  /** What was decided about a finding of a folder; undefined when nothing was. */
  of(folder: string, fingerprint: string): TriageDecision | undefined {
    return this.#books.get(folder)?.book.entries.get(fingerprint);
  }

  /** Why files cannot be read: `triageConflict`, `triageDamaged`, `storage`. */
  failures(): readonly AssessmentError[] {
    return [...this.#books.values()].flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  }

  /**
   * Decides about findings; on disk, with what others decided meanwhile, when it resolves. Throws `triageConflict` and `triageDamaged`, and
   * leaves the file as it is, when it cannot be read; `storage`. Gives what takes it back.
   */
  set(subjects: readonly TriageSubject[], state: TriageState, note: string): Promise<TakeBack> {
    const at = this.#clock.now();
    const decided = new Map<string, Map<string, TriageEntry>>();
    for (const { folder, fingerprint, title = '', path = '' } of subjects) {
      const own = decided.get(folder) ?? new Map<string, TriageEntry>();
      decided.set(folder, own.set(fingerprint, { state, note, at, title, path }));
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

  /** Those of some decisions about whose findings nothing is decided here. */
  lacking(decisions: DecisionsByFolder): DecisionsByFolder {
    return new Map(
      [...decisions].map(([folder, entries]) => [
        folder,
        withoutThose(entries, this.#books.get(folder)?.book),
      ]),
    );
  }

  /** Takes decisions over as they are, where nothing is decided by then. Throws what `set` throws. */
  async takeOver(decisions: DecisionsByFolder): Promise<void> {
    const some = new Map([...decisions].filter(([, entries]) => entries.size > 0));
    await this.#queued(() => this.#changeAll(some, withoutThose));
  }

  #takeBack(decided: DecisionsByFolder, former: ReadonlyMap<string, TriageBook>): Promise<number> {
    return this.#queued(async () => {
      const changed = new Set<string>();
      await this.#changeAll(decided, (entries, book, folder) => {
        const back = new Map<string, TriageEntry>();
        for (const [fingerprint, entry] of entries) {
          const was = former.get(folder)?.entries.get(fingerprint) ?? { ...entry, ...undecided };
          if (isSameDecision(book.entries.get(fingerprint), entry)) back.set(fingerprint, was);
          else changed.add(fingerprint);
        }
        return back;
      });
      return changed.size;
    });
  }

  /** Writes the files of these folders anew; `change` gives what is to be decided in a file as it is now. */
  async #changeAll(
    decisions: DecisionsByFolder,
    change: (
      entries: ReadonlyMap<string, TriageEntry>,
      book: TriageBook,
      folder: string,
    ) => ReadonlyMap<string, TriageEntry>,
  ): Promise<void> {
    try {
      await this.#locked(async () => {
        for (const [folder, entries] of decisions)
          await this.#change(folder, (book) => change(entries, book, folder));
      });
    } finally {
      this.#tell();
    }
  }

  async #change(
    folder: string,
    change: (book: TriageBook) => ReadonlyMap<string, TriageEntry>,
  ): Promise<void> {
    await this.#load(folder);
    const { failure, book: present } = this.#books.get(folder) ?? { book: emptyBook };
    if (failure !== undefined) throw failure;
    const path = this.#bookFor(folder);
    const book = withDecisions(present, change(present));
    try {
      await mkdir(dirname(path), { recursive: true });
      await refuseOutside(folder, path, dirname(path));
      this.#keep(folder, { path, mark: await writeFileAtomic(path, formatBook(book)), book });
    } catch (error) {
      throw error instanceof AssessmentError ? error : toStorageError(error, path);
    }
  }

  /** Reads a folder's file when it is not the one that was last read; true when it was not. */
  async #load(folder: string): Promise<boolean> {
    const path = this.#bookFor(folder);
    const known = this.#books.get(folder);
    let mark: string | undefined;
    try {
      mark = await markOf(path);
      if (known?.path === path && known.mark === mark && (mark ?? known.failure) === mark) return false;
      if (mark !== undefined) await refuseOutside(folder, path, path);
      const text = mark === undefined ? undefined : await readBook(path);
      const book = text === undefined ? emptyBook : parseBook(text, path);
      const failure =
        text !== undefined && hasConflict(text)
          ? new AssessmentError('triageConflict', { subject: path })
          : undefined;
      this.#keep(folder, { path, mark, book, failure });
    } catch (error) {
      const failure = error instanceof AssessmentError ? error : toStorageError(error, path);
      // What the disk refuses it may give the next time, though the file is the same.
      if (failure.kind === 'storage') mark = undefined;
      this.#keep(folder, { path, mark, book: emptyBook, failure });
    }
    return true;
  }

  #keep(folder: string, book: KnownBook): void {
    const { path, failure } = book;
    if (failure !== undefined)
      this.#log.warn(`Triage decisions cannot all be read (${path}): ${failure.message}`);
    this.#books.set(folder, book);
    this.#version += 1;
  }

  /** Between reading and writing, no other window may write. */
  async #locked(work: () => Promise<void>): Promise<void> {
    const start = this.#clock.monotonic();
    let lease = await takeLease(this.#lockFolder, this.#clock);
    while (lease === undefined) {
      if (this.#clock.monotonic() - start > patienceMs)
        throw new AssessmentError('storage', { detail: 'EBUSY' });
      await this.#clock.sleep(retryMs);
      lease = await takeLease(this.#lockFolder, this.#clock);
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

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** A repository can hold links that lead out of it: throws `storage` when what is there of a file in a folder lies elsewhere. */
async function refuseOutside(folder: string, path: string, there: string): Promise<void> {
  if (pathInside(folder, path) === undefined) return;
  if (pathInside(await realpath(folder), await realpath(there)) === undefined)
    throw new AssessmentError('storage', { subject: path, detail: 'ELOOP' });
}

/** A repository may hold anything under that name. */
async function readBook(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile() || found.size > maxBytes) throw new AssessmentError('triageDamaged', { subject: path });
  return readFile(path, 'utf8');
}

function toStorageError(error: unknown, path: string): AssessmentError {
  const detail = systemCode(error) ?? String(error);
  return new AssessmentError('storage', { subject: path, detail }, { cause: error });
}

function withoutThose(
  entries: ReadonlyMap<string, TriageEntry>,
  book: TriageBook | undefined,
): ReadonlyMap<string, TriageEntry> {
  return new Map([...entries].filter(([fingerprint]) => book?.lines.has(fingerprint) !== true));
}

/** A finding that is open, without a note, has no entry. */
function isSameDecision(present: TriageEntry | undefined, made: TriageEntry): boolean {
  if (present === undefined) return isUndecided(made);
  return present.at === made.at && present.state === made.state && present.note === made.note;
}
