import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder, quarantine, readIfThere, writeFileAtomic } from '../files.ts';
import type { Clock, Disposable, Event, Logger } from '../ports.ts';
import { advance, type RunEvent } from './advance.ts';
import { type Run, runSchema } from './run.ts';

/** The runs on disk, one folder each, and the latest state of each in memory. */
export class RunStore {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #runs = new Map<string, Run>();
  /** Modification time of each journal as last read or written here, in milliseconds. */
  readonly #seen = new Map<string, number>();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #listeners = new Set<(run: Run) => void>();

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

  /** All runs, newest first. */
  all(): readonly Run[] {
    return [...this.#runs.values()].sort(
      (one, other) => other.createdAt - one.createdAt || (other.id < one.id ? -1 : 1),
    );
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /** The folder that holds everything about a run. */
  folderOf(id: string): string {
    return join(this.#root, id);
  }

  /** Reads journals that are new or were changed by another window; a damaged one is set aside and the others stay intact. */
  async reload(): Promise<void> {
    await makePrivateFolder(this.#root);
    for (const entry of await readdir(this.#root, { withFileTypes: true })) {
      if (entry.isDirectory()) await this.#queued(entry.name, () => this.#read(entry.name));
    }
  }

  /** A new run's id: sortable by time, unique without a register. */
  newId(): string {
    const stamp = new Date(this.#clock.now()).toISOString().replace(/[-:T]/g, '').slice(0, 14);
    return `${stamp}-${randomBytes(4).toString('hex')}`;
  }

  /** Puts a new run on disk. */
  async create(run: Run): Promise<void> {
    await this.#queued(run.id, async () => {
      await makePrivateFolder(this.folderOf(run.id));
      await this.#write(run);
    });
  }

  /** Advances a run by an event; the new state is on disk when this resolves. Events of one run are applied one after another. */
  apply(id: string, event: RunEvent): Promise<Run> {
    return this.#queued(id, async () => {
      await this.#read(id);
      const run = this.#runs.get(id);
      if (run === undefined) throw new Error(`No run ${id}`);
      const next = advance(run, event);
      if (next === run) return run;
      if (next.state !== run.state) this.#log.info(`Run ${id}: ${run.state} → ${next.state}`);
      await this.#write(next);
      return next;
    });
  }

  /** Removes a run with everything that was kept of it. */
  async remove(id: string): Promise<void> {
    await this.#queued(id, async () => {
      const run = this.#runs.get(id);
      this.#runs.delete(id);
      this.#seen.delete(id);
      await rm(this.folderOf(id), { recursive: true, force: true });
      if (run !== undefined) this.#tell(run);
    });
  }

  async #write(run: Run): Promise<void> {
    const path = this.#journal(run.id);
    await writeFileAtomic(path, `${JSON.stringify(run, undefined, 1)}\n`);
    this.#seen.set(run.id, (await stat(path)).mtimeMs);
    this.#runs.set(run.id, run);
    this.#tell(run);
  }

  async #read(id: string): Promise<void> {
    const path = this.#journal(id);
    const modified = await stat(path).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    if (modified === undefined) {
      const gone = this.#runs.get(id);
      this.#runs.delete(id);
      if (gone !== undefined) this.#tell(gone);
      return;
    }
    if (this.#seen.get(id) === modified) return;
    const text = await readIfThere(path);
    if (text === undefined) return;
    this.#seen.set(id, modified);
    const run = parseRun(text);
    if (run?.id === id) {
      this.#runs.set(id, run);
      this.#tell(run);
    } else {
      const aside = await quarantine(path, this.#clock.now());
      this.#log.error(`The journal of run ${id} is damaged and was set aside as ${aside}`);
    }
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

function parseRun(text: string): Run | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // damaged: the caller sets it aside
  }
  const parsed = runSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
