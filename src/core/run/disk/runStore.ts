import { randomBytes } from 'node:crypto';
import { rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import {
  isFolder,
  makePrivateFolder,
  markOf,
  quarantine,
  readIfThere,
  syncFolder,
  watchFolder,
  writeFileAtomic,
  writeProblem,
} from '../../files.ts';
import { type Clock, type Disposable, Emitter, type Event, type Logger } from '../../ports.ts';
import { advance, type RunEvent } from '../state/advance.ts';
import { type RequireLock, withLock } from './lock.ts';
import { idSchema, type Run } from '../state/run.ts';
import { type ForeignRun, type Journal, newestFirst, parseJournal, runFolders } from './journal.ts';

export type ChangedRuns = readonly [Run, ...Run[]];

/** Windows shows no file for a moment while a program replaces it. */
const secondLookMs = 20;

/** The runs on disk, one folder each, and the latest state of each in memory. */
export class RunStore {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #runs = new Map<string, Run>();
  readonly #foreign = new Map<string, ForeignRun>();
  /** The mark (`markOf`) of each journal as last read or written here. */
  readonly #seen = new Map<string, string>();
  readonly #change: Emitter<ChangedRuns>;
  readonly #otherChange: Emitter<undefined>;
  #problem: string | undefined;

  constructor(root: string, deps: { clock: Clock; log: Logger }) {
    this.#root = root;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#change = new Emitter(deps.log);
    this.#otherChange = new Emitter(deps.log);
    this.onDidChange = this.#change.event;
    this.onDidChangeOther = this.#otherChange.event;
  }

  /** Once for each reading or write, with all runs that it changed or removed. */
  readonly onDidChange: Event<ChangedRuns>;

  /** For a foreign run that appears or disappears, and for another `problem`. */
  readonly onDidChangeOther: Event<undefined>;

  /** Newest first. */
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

  /** True also for a foreign run. */
  has(id: string): boolean {
    return this.#runs.has(id) || this.#foreign.has(id);
  }

  folderOf(id: string): string {
    return join(this.#root, id);
  }

  /** The folder for leases of starts (`claimStart`). */
  get startingFolder(): string {
    return join(dirname(this.#root), 'starting');
  }

  /** Where the time of the last clean-up is (`cleanUp`). */
  get passNote(): string {
    return join(dirname(this.#root), 'cleaned');
  }

  /** The system's code for why the folder of the runs cannot be written, as last checked. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Throws `storage` with the system's code while the folder of the runs cannot be written. */
  async requireWritable(): Promise<void> {
    await this.#checkFolder();
    if (this.#problem !== undefined) throw new AssessmentError('storage', { detail: this.#problem });
  }

  /** Reads new journals, and those of open runs that have changed on disk; a damaged one is set aside. */
  async reload(isOpen: (run: Run) => boolean = () => true): Promise<void> {
    await this.#checkFolder();
    // What no window can write does not change after the first reading.
    if (this.#problem !== undefined && this.#runs.size > 0) return;
    const ids = new Set([...(await this.#folders()), ...this.#runs.keys(), ...this.#foreign.keys()]);
    for (const run of this.#runs.values()) if (!isOpen(run)) ids.delete(run.id);
    await this.#readAll(ids);
  }

  watch(): Disposable {
    return watchFolder(this.#root, (name) => {
      if (name !== undefined && !idSchema.safeParse(name).success) return;
      const read = name === undefined ? this.reload() : this.refresh(name);
      read.catch((error: unknown) => this.#log.error(`Runs could not be read: ${String(error)}`));
    });
  }

  async foldersWithoutJournal(): Promise<readonly string[]> {
    const names = await runFolders(this.#root);
    return names.filter((name) => !this.has(name)).map((name) => join(this.#root, name));
  }

  /** Rereads a journal; undefined when there is no such run. */
  async refresh(id: string): Promise<Run | undefined> {
    this.#fire(await this.#read(id));
    return this.#runs.get(id);
  }

  /** Sortable by time, and random: windows need not agree on it. */
  newId(): string {
    const stamp = new Date(this.#clock.now()).toISOString().replace(/[-:T]/g, '').slice(0, 14);
    return `${stamp}-${randomBytes(4).toString('hex')}`;
  }

  /** Writes the first journal of a run, unless another window has: then that one is returned. */
  async create(run: Run): Promise<Run> {
    if (this.#foreign.has(run.id)) throw new AssessmentError('busyElsewhere');
    await makePrivateFolder(this.folderOf(run.id));
    const created = await this.#locked(run.id, async (requireLock) => {
      this.#fire(await this.#read(run.id));
      const known = this.#runs.get(run.id);
      if (known === undefined) await this.#write(run, requireLock);
      return known ?? run;
    });
    await syncFolder(dirname(this.folderOf(run.id)));
    return created;
  }

  /** Advances a run; the new state is on disk when this resolves. Events of one run are applied in order. Throws `notFound`. */
  async apply(id: string, event: RunEvent): Promise<Run> {
    return (await this.#advance(id, event)).run;
  }

  /** As `apply`; undefined when the event changes nothing, because another window has advanced the run. */
  async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    const { run, changed } = await this.#advance(id, event);
    return changed ? run : undefined;
  }

  async remove(id: string): Promise<void> {
    // Another window may renew its lease in this folder meanwhile.
    await rm(this.folderOf(id), { recursive: true, force: true, maxRetries: 3 });
    this.#fire(this.#forget(id));
  }

  async #checkFolder(): Promise<void> {
    const problem = await writeProblem(this.#root);
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) this.#log.info('Runs can be saved again');
    else this.#log.warn(`Runs cannot be saved: ${problem}`);
    this.#otherChange.fire(undefined);
  }

  async #advance(id: string, event: RunEvent): Promise<{ run: Run; changed: boolean }> {
    return this.#locked(id, async (requireLock) => {
      const run = await this.#require(id);
      const next = advance(run, event);
      if (next === run) return { run, changed: false };
      await this.#write(next, requireLock);
      if (next.state !== run.state) this.#log.info(`Run ${id}: ${run.state} → ${next.state}`);
      return { run: next, changed: true };
    });
  }

  async #locked<T>(id: string, act: (requireLock: RequireLock) => Promise<T>): Promise<T> {
    const path = join(this.folderOf(id), 'lock');
    try {
      return await withLock(path, { clock: this.#clock, log: this.#log }, act);
    } catch (error) {
      // Where there is no folder: names what is gone, the run or all of the storage.
      if (error instanceof AssessmentError && error.kind === 'notFound') await this.#require(id);
      throw error;
    }
  }

  async #folders(): Promise<readonly string[]> {
    return runFolders(this.#root).catch((error: unknown) => {
      if (this.#problem === undefined) throw error;
      return [];
    });
  }

  async #readAll(ids: Iterable<string>): Promise<void> {
    const changed: Run[] = [];
    for (const id of ids) {
      try {
        changed.push(...(await this.#read(id)));
      } catch (error) {
        this.#log.error(`The journal of run ${id} could not be read: ${systemCode(error) ?? String(error)}`);
      }
    }
    this.#fire(changed);
  }

  #fire([first, ...rest]: readonly Run[]): void {
    if (first !== undefined) this.#change.fire([first, ...rest]);
  }

  async #require(id: string): Promise<Run> {
    this.#fire(await this.#read(id));
    const run = this.#runs.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }

  async #write(run: Run, requireLock: RequireLock): Promise<void> {
    const path = this.#journal(run.id);
    const before = this.#seen.get(run.id);
    const isAsRead = async (): Promise<boolean> => (await markOf(path)) === before;
    const text = `${JSON.stringify(run, undefined, 1)}\n`;
    this.#seen.set(run.id, await writeFileAtomic(path, text, () => requireLock(isAsRead)));
    this.#runs.set(run.id, run);
    await this.#touchFolder(run.id);
    this.#fire([run]);
  }

  /** Other windows watch the folder of all runs, which shows no change inside a run's folder. */
  async #touchFolder(id: string): Promise<void> {
    const now = new Date();
    try {
      await utimes(this.folderOf(id), now, now);
    } catch (error) {
      this.#log.debug(`Run ${id}: other windows see a change late: ${String(error)}`);
    }
  }

  /** Returns the run that has changed, if it has. */
  async #read(id: string): Promise<Run[]> {
    const path = this.#journal(id);
    for (;;) {
      const seen = this.#seen.get(id);
      const mark = (await markOf(path)) ?? (this.has(id) ? await this.#lookAgain(path) : undefined);
      if (mark !== undefined && seen === mark) return [];
      const text = mark === undefined ? undefined : await readIfThere(path);
      // What was written here meanwhile is newer.
      if (this.#seen.get(id) !== seen) continue;
      if (mark === undefined || text === undefined) return this.#forget(id);
      return this.#take(id, mark, parseJournal(text)) ?? this.#setAside(id);
    }
  }

  /** Undefined for a damaged journal. */
  #take(id: string, mark: string, journal: Journal | undefined): Run[] | undefined {
    if (journal !== undefined && 'run' in journal && journal.run.id === id) {
      this.#forgetForeign(id);
      this.#seen.set(id, mark);
      this.#runs.set(id, journal.run);
      return [journal.run];
    }
    if (journal === undefined || !('foreign' in journal) || journal.foreign.id !== id) return undefined;
    const forgotten = this.#forget(id);
    this.#seen.set(id, mark);
    this.#foreign.set(id, journal.foreign);
    this.#otherChange.fire(undefined);
    return forgotten;
  }

  async #setAside(id: string): Promise<Run[]> {
    const aside = await quarantine(this.#journal(id), this.#clock.now());
    this.#log.error(`The journal of run ${id} is damaged and was set aside as ${aside}`);
    return this.#forget(id);
  }

  /** The mark of a known journal that was not there a moment ago. Throws `storage` if all runs are gone: then the disk is. */
  async #lookAgain(path: string): Promise<string | undefined> {
    await this.#clock.sleep(secondLookMs);
    const mark = await markOf(path);
    if (mark === undefined && !(await isFolder(this.#root)))
      throw new AssessmentError('storage', { subject: this.#root, detail: 'ENOENT' });
    return mark;
  }

  /** Returns the run, unless it was forgotten before. */
  #forget(id: string): Run[] {
    const removed = this.#runs.get(id);
    this.#runs.delete(id);
    this.#seen.delete(id);
    this.#forgetForeign(id);
    return removed === undefined ? [] : [removed];
  }

  #forgetForeign(id: string): void {
    if (this.#foreign.delete(id)) this.#otherChange.fire(undefined);
  }

  #journal(id: string): string {
    return join(this.folderOf(id), 'run.json');
  }
}
