import { randomBytes } from 'node:crypto';
import { rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import {
  isFolder,
  makePrivateFolder,
  fileStampOf,
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
import { isRead, newestFirst, parseJournal, type Row, runFolders, type UnreadRun } from './journal.ts';

interface Known {
  readonly row: Row;
  readonly fileStamp?: string | undefined;
}

/** Windows hides a file for a moment while a program replaces it. */
const secondLookMs = 20;

/** `all` and `unread` return the newest run first. */
export class RunStore {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #rows = new Map<string, Known>();
  readonly #change: Emitter<readonly Run[]>;
  #problem: string | undefined;

  constructor(root: string, deps: { clock: Clock; log: Logger }) {
    this.#root = root;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#change = new Emitter(deps.log);
    this.onDidChange = this.#change.event;
  }

  /**
   * Fires with all runs that have changed or were removed. The list is empty if only unread runs or
   * `problem` changed.
   */
  readonly onDidChange: Event<readonly Run[]>;

  all(): readonly Run[] {
    return this.#list().filter(isRead);
  }

  unread(): readonly UnreadRun[] {
    return this.#list().filter((row) => !isRead(row));
  }

  #list(): readonly Row[] {
    return Array.from(this.#rows.values(), ({ row }) => row).sort(newestFirst);
  }

  get(id: string): Run | undefined {
    const row = this.#rows.get(id)?.row;
    return row !== undefined && isRead(row) ? row : undefined;
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  folderOf(id: string): string {
    return join(this.#root, id);
  }

  get startingFolder(): string {
    return join(dirname(this.#root), 'starting');
  }

  get passNote(): string {
    return join(dirname(this.#root), 'cleaned');
  }

  /** The system's error code if the folder of the runs wasn't writable at the last check. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async requireWritable(): Promise<void> {
    await this.#checkFolder();
    if (this.#problem !== undefined) throw new AssessmentError('storage', { detail: this.#problem });
  }

  /** Sets damaged journals aside. */
  async reload(isOpen: (run: Run) => boolean = () => true): Promise<void> {
    await this.#checkFolder();
    // While the folder isn't writable, nothing in it changes.
    if (this.#problem !== undefined && this.all().length > 0) return;
    const folders = await runFolders(this.#root).catch((error: unknown) => {
      if (this.#problem === undefined) throw error;
      return [];
    });
    const ids = new Set([...folders, ...this.#rows.keys()]);
    for (const run of this.all()) if (!isOpen(run)) ids.delete(run.id);
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

  async refresh(id: string): Promise<Run | undefined> {
    this.#fire(await this.#read(id));
    return this.get(id);
  }

  newId(): string {
    const stamp = new Date(this.#clock.now()).toISOString().replace(/[-:T]/g, '').slice(0, 14);
    return `${stamp}-${randomBytes(4).toString('hex')}`;
  }

  /** Writes the first journal of a run. If another window has written it, returns that run. */
  async create(run: Run): Promise<Run> {
    if (this.has(run.id) && this.get(run.id) === undefined) throw new AssessmentError('busyElsewhere');
    await makePrivateFolder(this.folderOf(run.id));
    const created = await this.#locked(run.id, async (requireLock) => {
      this.#fire(await this.#read(run.id));
      const known = this.get(run.id);
      if (known === undefined) await this.#write(run, requireLock);
      return known ?? run;
    });
    await syncFolder(dirname(this.folderOf(run.id)));
    return created;
  }

  /** The new state is on disk when this resolves. Throws `notFound`. */
  async apply(id: string, event: RunEvent): Promise<Run> {
    return (await this.#advance(id, event)).run;
  }

  /** Like `apply`, but returns undefined if the event changes nothing. */
  async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    const { run, changed } = await this.#advance(id, event);
    return changed ? run : undefined;
  }

  async remove(id: string): Promise<void> {
    // Retries, because another window may renew its lease in this folder.
    await rm(this.folderOf(id), { recursive: true, force: true, maxRetries: 3 });
    this.#fire(this.#forget(id));
  }

  async #checkFolder(): Promise<void> {
    const problem = await writeProblem(this.#root);
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) this.#log.info('Runs can be saved again');
    else this.#log.warn(`Runs cannot be saved: ${problem}`);
    this.#change.fire([]);
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
      // The run is gone. The error of `#require` names it or, if all runs are gone, the storage.
      if (error instanceof AssessmentError && error.kind === 'notFound') await this.#require(id);
      throw error;
    }
  }

  async #readAll(ids: Iterable<string>): Promise<void> {
    const changed: Row[] = [];
    for (const id of ids) {
      try {
        changed.push(...(await this.#read(id)));
      } catch (error) {
        const state = this.#rows.get(id)?.row.state;
        if (state === 'unreadable') continue;
        if (state === undefined) changed.push(...this.#set({ row: { state: 'unreadable', id } }));
        this.#log.error(`The journal of run ${id} could not be read: ${systemCode(error) ?? String(error)}`);
      }
    }
    this.#fire(changed);
  }

  #fire(changed: readonly Row[]): void {
    if (changed.length > 0) this.#change.fire(changed.filter(isRead));
  }

  async #require(id: string): Promise<Run> {
    this.#fire(await this.#read(id));
    const run = this.get(id);
    if (run === undefined) throw new AssessmentError('notFound', { subject: id });
    return run;
  }

  async #write(run: Run, requireLock: RequireLock): Promise<void> {
    const path = this.#journal(run.id);
    const before = this.#rows.get(run.id)?.fileStamp;
    const isAsRead = async (): Promise<boolean> => (await fileStampOf(path)) === before;
    const text = `${JSON.stringify(run, undefined, 1)}\n`;
    const fileStamp = await writeFileAtomic(path, text, () => requireLock(isAsRead));
    this.#set({ row: run, fileStamp });
    await this.#touchFolder(run.id);
    this.#fire([run]);
  }

  /**
   * Makes other windows see the change: they watch the folder of all runs, but not its subfolders.
   */
  async #touchFolder(id: string): Promise<void> {
    const now = new Date();
    try {
      await utimes(this.folderOf(id), now, now);
    } catch (error) {
      this.#log.debug(`Run ${id}: other windows see a change late: ${String(error)}`);
    }
  }

  async #read(id: string): Promise<Row[]> {
    const path = this.#journal(id);
    for (;;) {
      const known = this.#rows.get(id);
      const fileStamp = (await fileStampOf(path)) ?? (known && (await this.#lookAgain(path)));
      if (fileStamp !== undefined && known?.fileStamp === fileStamp) return [];
      const text = fileStamp === undefined ? undefined : await readIfThere(path);
      // This window has meanwhile read or written the journal again, so `text` may be old.
      if (this.#rows.get(id) !== known) continue;
      if (text === undefined) return this.#forget(id);
      const row = parseJournal(text);
      if (row?.id === id) return this.#set({ row, fileStamp });
      const aside = await quarantine(path, this.#clock.now());
      this.#log.error(`The journal of run ${id} is damaged and was set aside as ${aside}`);
      return this.#forget(id);
    }
  }

  /** Throws `storage` if the folder of all runs is gone: then no run counts as removed. */
  async #lookAgain(path: string): Promise<string | undefined> {
    await this.#clock.sleep(secondLookMs);
    const fileStamp = await fileStampOf(path);
    if (fileStamp === undefined && !(await isFolder(this.#root)))
      throw new AssessmentError('storage', { subject: this.#root, detail: 'ENOENT' });
    return fileStamp;
  }

  #set(known: Known): Row[] {
    const forgotten = isRead(known.row) ? [] : this.#forget(known.row.id);
    this.#rows.set(known.row.id, known);
    return [...forgotten, known.row];
  }

  #forget(id: string): Row[] {
    const known = this.#rows.get(id);
    this.#rows.delete(id);
    return known === undefined ? [] : [known.row];
  }

  #journal(id: string): string {
    return join(this.folderOf(id), 'run.json');
  }
}
