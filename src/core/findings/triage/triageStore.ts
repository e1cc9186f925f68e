import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { markOf, writeFileAtomic } from '../../files.ts';
import type { Clock, Disposable, Event, Logger } from '../../ports.ts';
import { takeLease } from '../../run/lease.ts';
import {
  emptyBook,
  formatBook,
  parseBook,
  type TriageBook,
  type TriageEntry,
  withDecisions,
} from './triageBook.ts';
import type { TriageDecision, TriageState } from './triage.ts';

/** A finding that is decided about; `title` and `path` are for people who read the file. */
export interface TriageSubject {
  readonly folder: string;
  readonly fingerprint: string;
  readonly title?: string | undefined;
  readonly path?: string | undefined;
}

/** A folder's file as last read. */
interface KnownBook {
  readonly path: string;
  readonly mark: string | undefined;
  readonly book: TriageBook;
  readonly failure?: AssessmentError | undefined;
}

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

  /** Reads the files of these folders that are new or have changed; one that cannot be read counts as empty and is a `failure`. */
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
   * leaves the file as it is, when it cannot be read; `storage`.
   */
  set(subjects: readonly TriageSubject[], state: TriageState, note: string): Promise<void> {
    return this.#queued(async () => {
      const at = this.#clock.now();
      const byFolder = new Map<string, Map<string, TriageEntry>>();
      for (const { folder, fingerprint, title = '', path = '' } of subjects) {
        const decided = byFolder.get(folder) ?? new Map<string, TriageEntry>();
        byFolder.set(folder, decided.set(fingerprint, { state, note, at, title, path }));
      }
      try {
        await this.#locked(async () => {
          for (const [folder, decided] of byFolder) await this.#change(folder, decided);
        });
      } finally {
        this.#tell();
      }
    });
  }

  async #change(folder: string, decided: ReadonlyMap<string, TriageEntry>): Promise<void> {
    await this.#load(folder);
    const known = this.#books.get(folder);
    if (known?.failure !== undefined) throw known.failure;
    const path = this.#bookFor(folder);
    const book = withDecisions(known?.book ?? emptyBook, decided);
    try {
      await mkdir(dirname(path), { recursive: true });
      this.#books.set(folder, { path, mark: await writeFileAtomic(path, formatBook(book)), book });
    } catch (error) {
      throw toStorageError(error, path);
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
      const book = mark === undefined ? emptyBook : parseBook(await readBook(path), path);
      this.#books.set(folder, { path, mark, book });
    } catch (error) {
      const failure = error instanceof AssessmentError ? error : toStorageError(error, path);
      this.#log.warn(`Triage decisions cannot be read (${path}): ${failure.message}`);
      this.#books.set(folder, { path, mark, book: emptyBook, failure });
    }
    return true;
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
