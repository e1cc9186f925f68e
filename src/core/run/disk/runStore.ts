import { randomBytes } from 'node:crypto';
import { rm, utimes } from 'node:fs/promises';
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
import { type Clock, type Disposable, Emitter, type Logger } from '../../ports.ts';
import { advance, type RunEvent } from '../state/advance.ts';
import { withJournalLock } from './lease.ts';
import { type ForeignRun, idSchema, isFinal, parseJournal, phaseOf, type Run } from '../state/run.ts';
import { newestFirst } from './readRuns.ts';
import { foldersIn, TemporaryStore, writeProblem } from './temporaryStore.ts';

/** The runs on disk, one folder each, and the latest state of each in memory. */
export class RunStore {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #runs = new Map<string, Run>();
  readonly #foreign = new Map<string, ForeignRun>();
  /** The version (`markOf`) of each journal that was last read or written here. */
  readonly #seen = new Map<string, string>();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #change = new Emitter<Run>();
  readonly #foreignChange = new Emitter<string>();
  readonly #temporaryStart = new Emitter<string>();
  #temporary: TemporaryStore | undefined;

  constructor(root: string, deps: { clock: Clock; log: Logger }) {
    this.#root = root;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Called with a run after each change of it, here or by another window. */
  readonly onDidChange = this.#change.event;

  /** Called with the ID of a run that only another version understands, when it appears or disappears. */
  readonly onDidChangeForeign = this.#foreignChange.event;

  /** Called once, with the system's code, when the folder of the runs cannot be written and runs are kept for this window only from now on. */
  readonly onDidBecomeTemporary = this.#temporaryStart.event;

  /** All runs, newest first. */
  all(): readonly Run[] {
    return [...this.#runs.values()].sort(newestFirst);
  }

  /** Runs that only another version understands, newest first; their journals are never changed. */
  foreign(): readonly ForeignRun[] {
    return [...this.#foreign.values()].sort(newestFirst);
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /** True for a run whose journal is here, whether or not this version understands it. */
  has(id: string): boolean {
    return this.#runs.has(id) || this.#foreign.has(id);
  }

  /** The folder with everything that is kept of a run. */
  folderOf(id: string): string {
    return this.#temporary?.folderOf(id) ?? join(this.#root, id);
  }

  /** The folder in which windows agree on who starts or lists a run. */
  get startingFolder(): string {
    return join(dirname(this.#root), 'starting');
  }

  /** True while the folder of the runs cannot be written and runs are kept for this window only. */
  get isTemporary(): boolean {
    return this.#temporary !== undefined;
  }

  /** The system's code for why runs cannot be kept. */
  get problem(): string | undefined {
    return this.#temporary?.problem;
  }

  /** Reads the journals that are new, or that another window has changed or removed; a damaged one is set aside. */
  async reload(): Promise<void> {
    if (this.#temporary === undefined) {
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
        // Its journal will be written to.
        if (run !== undefined && !isAtRest(run)) await this.#temporary?.copyHere(id);
      } catch (error) {
        this.#log.error(`The journal of run ${id} could not be read: ${systemCode(error) ?? String(error)}`);
      }
    }
  }

  /** Reads what other windows change, as it happens, until disposed of. */
  watch(): Disposable {
    return watchFolder(this.#root, (name) => {
      if (name !== undefined && !idSchema.safeParse(name).success) return;
      const read = name === undefined ? this.reload() : this.refresh(name);
      read.catch((error: unknown) => this.#log.error(`Runs could not be read: ${String(error)}`));
    });
  }

  /** The folders below the runs' own in which no journal can be read; none while runs are kept for this window only. */
  async foldersWithoutJournal(): Promise<readonly string[]> {
    if (this.#temporary !== undefined) return [];
    const names = await foldersIn(this.#root);
    return names.filter((name) => !this.has(name)).map((name) => join(this.#root, name));
  }

  /** Reads one run's journal again, after the events that are being applied; undefined when there is no such run. */
  refresh(id: string): Promise<Run | undefined> {
    return this.#queued(id, async () => {
      await this.#read(id);
      return this.#runs.get(id);
    });
  }

  /** A new run's ID: sortable by time, and random, so that windows need not agree. */
  newId(): string {
    const stamp = new Date(this.#clock.now()).toISOString().replace(/[-:T]/g, '').slice(0, 14);
    const id = `${stamp}-${randomBytes(4).toString('hex')}`;
    this.#temporary?.add(id);
    return id;
  }

  /** Puts a new run on disk. */
  async create(run: Run): Promise<void> {
    await this.#queued(run.id, async () => {
      if (this.#foreign.has(run.id)) throw new AssessmentError('busyElsewhere');
      this.#temporary?.add(run.id);
      await makePrivateFolder(this.folderOf(run.id));
      await this.#write(run);
      await syncFolder(dirname(this.folderOf(run.id)));
    });
  }

  /** Advances a run by an event; the new state is on disk when this resolves. Events of one run are applied in order. Throws `notFound`. */
  async apply(id: string, event: RunEvent): Promise<Run> {
    return (await this.#advance(id, event)).run;
  }

  /** As `apply`, but undefined when the event changed nothing, because another window has advanced the run. */
  async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    const { run, changed } = await this.#advance(id, event);
    return changed ? run : undefined;
  }

  /** Removes a run with everything that is kept of it. */
  async remove(id: string): Promise<void> {
    await this.#queued(id, async () => {
      this.#temporary?.add(id);
      // Another window may renew its lease in there meanwhile.
      await rm(this.folderOf(id), { recursive: true, force: true, maxRetries: 3 });
      this.#forget(id);
    });
  }

  async #becomeTemporary(problem: string): Promise<void> {
    const temporary = await TemporaryStore.make(this.#root, problem);
    // Another reload may have been faster, and runs may be there by now.
    if (this.#temporary !== undefined) return;
    this.#temporary = temporary;
    this.#log.warn(`Runs cannot be kept (${problem}): this window's runs are lost when it closes`);
    this.#temporaryStart.fire(problem);
  }

  #advance(id: string, event: RunEvent): Promise<{ run: Run; changed: boolean }> {
    return this.#queued(id, async () => {
      const known = await this.#require(id);
      // Most late events are ignored without taking the lock.
      if (advance(known, event) === known) return { run: known, changed: false };
      await this.#temporary?.copyHere(id);
      return this.#locked(id, async () => {
        const run = await this.#require(id);
        const next = advance(run, event);
        if (next === run) return { run, changed: false };
        await this.#write(next);
        if (phaseOf(next) !== phaseOf(run)) this.#log.info(`Run ${id}: ${phaseOf(run)} → ${phaseOf(next)}`);
        return { run: next, changed: true };
      });
    });
  }

  /** Keeps other windows from writing the journal between our read and our write. */
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
    await this.#touchFolder(run.id);
    this.#change.fire(run);
  }

  /** Other windows watch the folder of all runs, which does not show changes inside a run's folder. */
  async #touchFolder(id: string): Promise<void> {
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
      this.#change.fire(journal.run);
    } else if (journal !== undefined && 'foreign' in journal && journal.foreign.id === id) {
      this.#forget(id);
      this.#seen.set(id, mark);
      this.#foreign.set(id, journal.foreign);
      this.#foreignChange.fire(id);
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
    if (gone !== undefined) this.#change.fire(gone);
    this.#forgetForeign(id);
  }

  #forgetForeign(id: string): void {
    if (this.#foreign.delete(id)) this.#foreignChange.fire(id);
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

/** True for a run whose journal will not change by itself any more. */
function isAtRest(run: Run): boolean {
  const { targets, noticeDue } = run;
  return (
    isFinal(run) &&
    !noticeDue &&
    targets.every(({ upload }) => upload?.state !== 'reserved' && upload?.state !== 'confirmed')
  );
}
