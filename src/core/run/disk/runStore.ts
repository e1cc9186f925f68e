import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import {
  makePrivateFolder,
  markOf,
  quarantine,
  readIfThere,
  syncFolder,
  writeFileAtomic,
} from '../../files.ts';
import { watchFolder } from '../../folderWatch.ts';
import type { Clock, Disposable, Event, Logger } from '../../ports.ts';
import { advance, type RunEvent } from '../state/advance.ts';
import { isPastKeeping, strayArchives } from '../finish/archives.ts';
import { withJournalLock } from './journalLock.ts';
import { type ForeignRun, idSchema, isFinal, parseJournal, type Run } from '../state/run.ts';
import { foldersIn, StandInFolder, writeProblem } from './temporaryStore.ts';
import { isLongDue, type WakingTime } from '../finish/wakingTime.ts';

/** Longer than anybody takes from the making of a run's folder to its first journal. */
const freshMs = 60_000;

/** The runs on disk, one folder each, and the latest state of each in memory. */
export class RunStore {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #runs = new Map<string, Run>();
  readonly #foreign = new Map<string, ForeignRun>();
  /** The version of each journal that was last read or written here. */
  readonly #seen = new Map<string, string>();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #listeners = new Set<(run: Run) => void>();
  readonly #foreignListeners = new Set<(id: string) => void>();
  readonly #temporaryListeners = new Set<(problem: string) => void>();
  #standIn: StandInFolder | undefined;

  constructor(root: string, deps: { clock: Clock; log: Logger }) {
    this.#root = root;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Called with a run after each change of it, here or by another window. */
  readonly onDidChange: Event<Run> = (listener): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  /** Called with the ID of a run that only another version understands, when it comes or goes. */
  readonly onDidChangeForeign: Event<string> = (listener): Disposable => {
    this.#foreignListeners.add(listener);
    return { dispose: () => this.#foreignListeners.delete(listener) };
  };

  /** Called once, with the system's word for why, when runs are kept for this window only from now on, since their folder cannot be written. */
  readonly onDidBecomeTemporary: Event<string> = (listener): Disposable => {
    this.#temporaryListeners.add(listener);
    return { dispose: () => this.#temporaryListeners.delete(listener) };
  };

  /** All runs, newest first. */
  all(): readonly Run[] {
    return [...this.#runs.values()].sort(
      (one, other) => other.createdAt - one.createdAt || (other.id < one.id ? -1 : 1),
    );
  }

  /** Runs in journals that only another version understands, newest first; they are left as they are. */
  foreign(): readonly ForeignRun[] {
    return [...this.#foreign.values()].sort(
      (one, other) => (other.createdAt ?? 0) - (one.createdAt ?? 0) || (other.id < one.id ? -1 : 1),
    );
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /** True for a run whose journal is here, whether or not this version understands it. */
  has(id: string): boolean {
    return this.#runs.has(id) || this.#foreign.has(id);
  }

  /** The folder that holds everything about a run. */
  folderOf(id: string): string {
    return this.#standIn?.folderOf(id) ?? join(this.#root, id);
  }

  /** The folder beside the runs in which windows agree on who starts or lists a run. */
  get startingFolder(): string {
    return join(dirname(this.#root), 'starting');
  }

  /** True while runs are kept for this window only, since their folder cannot be written. */
  get isTemporary(): boolean {
    return this.#standIn !== undefined;
  }

  /** The system's word for why runs cannot be kept. */
  get problem(): string | undefined {
    return this.#standIn?.problem;
  }

  /** Reads journals that are new, or were changed or removed by another window; one that is damaged is set aside, and the others stay intact. */
  async reload(): Promise<void> {
    if (this.#standIn === undefined) {
      const problem = await writeProblem(this.#root);
      if (problem !== undefined) await this.#becomeTemporary(problem);
    }
    for (const id of new Set([
      ...(await foldersIn(this.#root)),
      ...this.#runs.keys(),
      ...this.#foreign.keys(),
    ])) {
      try {
        const run = await this.refresh(id);
        // What still goes on will be written to.
        if (run !== undefined && !isSettled(run)) await this.#standIn?.bring(id);
      } catch (error) {
        this.#log.error(`The journal of run ${id} could not be read: ${systemCode(error) ?? String(error)}`);
      }
    }
  }

  /** Follows what other windows do to the runs, as it happens, until disposed of. */
  watch(): Disposable {
    return watchFolder(this.#root, (name) => {
      if (name !== undefined && !idSchema.safeParse(name).success) return;
      const read = name === undefined ? this.reload() : this.refresh(name);
      read.catch((error: unknown) => this.#log.error(`Runs could not be read: ${String(error)}`));
    });
  }

  /** Removes folders in which no journal was ever written, because the process that made them died first (a fresh one may still be somebody's and stays), and old archives beside a damaged one. True while there are such archives whose time has come and is not yet over for long. */
  async sweep(waking: WakingTime): Promise<boolean> {
    let isDue = false;
    if (this.#standIn !== undefined) return isDue;
    for (const name of (await foldersIn(this.#root)).filter((each) => !this.has(each))) {
      const folder = this.folderOf(name);
      const { mtimeMs } = await stat(folder);
      const began = (await readdir(folder)).some((each) => !/^(?:lease|lock)$|\.tmp$/.test(each));
      if (!began) {
        if (this.#clock.now() - mtimeMs > freshMs) await rm(folder, { recursive: true, force: true });
        continue;
      }
      const { paths, madeAt } = await strayArchives(folder);
      const isPast = paths.length > 0 && isPastKeeping(madeAt, this.#clock.now());
      const isLong = await isLongDue(isPast, join(folder, 'archives-due.json'), {
        clock: this.#clock,
        waking,
      });
      if (isLong) for (const path of paths) await rm(path, { force: true });
      isDue ||= isPast && !isLong;
    }
    return isDue;
  }

  /** Reads one run's journal anew, after the events that are under way; undefined when there is no such run. */
  refresh(id: string): Promise<Run | undefined> {
    return this.#queued(id, async () => {
      await this.#read(id);
      return this.#runs.get(id);
    });
  }

  /** A new run's id: sortable by time, unique without a register. */
  newId(): string {
    const stamp = new Date(this.#clock.now()).toISOString().replace(/[-:T]/g, '').slice(0, 14);
    const id = `${stamp}-${randomBytes(4).toString('hex')}`;
    this.#standIn?.add(id);
    return id;
  }

  /** Puts a new run on disk. */
  async create(run: Run): Promise<void> {
    await this.#queued(run.id, async () => {
      if (this.#foreign.has(run.id)) throw new AssessmentError('busyElsewhere');
      this.#standIn?.add(run.id);
      await makePrivateFolder(this.folderOf(run.id));
      await this.#write(run);
      await syncFolder(dirname(this.folderOf(run.id)));
    });
  }

  /** Advances a run by an event; the new state is on disk when this resolves. Events of one run are applied one after another. Throws `notFound`. */
  async apply(id: string, event: RunEvent): Promise<Run> {
    return (await this.#advance(id, event)).run;
  }

  /** As `apply`, but undefined when the event changed nothing, because another window moved the run on. */
  async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    const { run, changed } = await this.#advance(id, event);
    return changed ? run : undefined;
  }

  /** Removes a run with everything that was kept of it. */
  async remove(id: string): Promise<void> {
    await this.#queued(id, async () => {
      this.#standIn?.add(id);
      // A window that renews its lease in there just now would make the folder not empty again.
      await rm(this.folderOf(id), { recursive: true, force: true, maxRetries: 3 });
      this.#forget(id);
    });
  }

  async #becomeTemporary(problem: string): Promise<void> {
    const standIn = await StandInFolder.make(this.#root, problem);
    // Another reload may have come first, and runs may be kept there by now.
    if (this.#standIn !== undefined) return;
    this.#standIn = standIn;
    this.#log.warn(`Runs cannot be kept (${problem}): what happens now is forgotten with this window`);
    for (const listener of [...this.#temporaryListeners]) listener(problem);
  }

  #advance(id: string, event: RunEvent): Promise<{ run: Run; changed: boolean }> {
    return this.#queued(id, async () => {
      const known = await this.#require(id);
      // Most events that come too late are seen to without the lock.
      if (advance(known, event) === known) return { run: known, changed: false };
      await this.#standIn?.bring(id);
      return this.#locked(id, async () => {
        const run = await this.#require(id);
        const next = advance(run, event);
        if (next === run) return { run, changed: false };
        await this.#write(next);
        if (next.state !== run.state) this.#log.info(`Run ${id}: ${run.state} → ${next.state}`);
        return { run: next, changed: true };
      });
    });
  }

  /** Keeps other windows from writing the journal between the reading of it and the writing. */
  #locked<T>(id: string, act: () => Promise<T>): Promise<T> {
    return withJournalLock(join(this.folderOf(id), 'lock'), this.#clock, act);
  }

  async #require(id: string): Promise<Run> {
    await this.#read(id);
    const run = this.#runs.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }

  async #write(run: Run): Promise<void> {
    const path = this.#journal(run.id);
    this.#seen.set(run.id, await writeFileAtomic(path, `${JSON.stringify(run, undefined, 1)}\n`));
    this.#runs.set(run.id, run);
    await this.#ring(run.id);
    this.#tell(run);
  }

  /** Touches the run's folder, which is what other windows watch: its journal lies too deep for that. */
  async #ring(id: string): Promise<void> {
    const now = new Date();
    try {
      await utimes(this.folderOf(id), now, now);
    } catch (error) {
      this.#log.debug(`Run ${id}: other windows see a change late: ${String(error)}`);
    }
  }

  async #read(id: string): Promise<void> {
    const path = this.#journal(id);
    const mark = await markOf(path);
    if (mark !== undefined && this.#seen.get(id) === mark) return;
    const text = mark === undefined ? undefined : await readIfThere(path);
    if (mark === undefined || text === undefined) {
      this.#forget(id);
      return;
    }
    const journal = parseJournal(text);
    if (journal !== undefined && 'run' in journal && journal.run.id === id) {
      this.#forgetForeign(id);
      this.#seen.set(id, mark);
      this.#runs.set(id, journal.run);
      this.#tell(journal.run);
    } else if (journal !== undefined && 'foreign' in journal && journal.foreign.id === id) {
      this.#forget(id);
      this.#seen.set(id, mark);
      this.#foreign.set(id, journal.foreign);
      for (const listener of [...this.#foreignListeners]) listener(id);
    } else {
      const aside = await quarantine(path, this.#clock.now());
      this.#log.error(`The journal of run ${id} is damaged and was set aside as ${aside}`);
      this.#forget(id);
    }
  }

  #forget(id: string): void {
    const gone = this.#runs.get(id);
    this.#runs.delete(id);
    this.#seen.delete(id);
    if (gone !== undefined) this.#tell(gone);
    this.#forgetForeign(id);
  }

  #forgetForeign(id: string): void {
    if (!this.#foreign.delete(id)) return;
    for (const listener of [...this.#foreignListeners]) listener(id);
  }

  #tell(run: Run): void {
    for (const listener of [...this.#listeners]) listener(run);
  }

  #journal(id: string): string {
    return join(this.folderOf(id), 'run.json');
  }

  #queued<T>(id: string, act: () => Promise<T>): Promise<T> {
    const previous = this.#queues.get(id) ?? Promise.resolve();
    const next = previous.then(act, act);
    this.#queues.set(id, next);
    return next;
  }
}

/** True for a run that nothing will be noted on by itself any more. */
function isSettled(run: Run): boolean {
  const { targets, noticeDue } = run;
  return (
    isFinal(run) &&
    !noticeDue &&
    targets.every(({ upload }) => upload?.state !== 'reserved' && upload?.state !== 'confirmed')
  );
}
