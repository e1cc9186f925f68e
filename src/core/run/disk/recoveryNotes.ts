import * as z from 'zod/mini';
import { identifierSchema } from '../../api/schema.ts';
import type { Disposable, KeyValueStore, Logger } from '../../ports.ts';
import { visibleLine } from '../../visibleText.ts';
import { noteSchema, type RunNote } from '../state/newRun.ts';
import { isFinal, isLive, type LiveRun, type Run, runIdOf, type RunIn } from '../state/run.ts';
import type { RunStore } from './runStore.ts';

const prefix = 'run:';
const reservationPrefix = 'file:';
const reservationSchema = z.object({
  target: z.number(),
  fileId: identifierSchema,
  host: z.optional(z.string()),
  at: z.number(),
});

/**
 * Notes of live runs, and of reserved files that no journal has, in a store that outlives the extension's folder (a rebuilt container). Each run has
 * its keys: windows do not overwrite each other.
 */
export class RunNotes {
  readonly #memory: KeyValueStore;
  readonly #log: Logger;

  constructor(memory: KeyValueStore, deps: { log: Logger }) {
    this.#memory = memory;
    this.#log = deps.log;
  }

  /** Keeps a note of every live run until it is final, and restores what a journal lacks: a run ID, a reserved file. */
  follow(store: RunStore): Disposable {
    for (const run of store.all()) this.#update(run, store);
    return store.onDidChange((run) => {
      if (store.get(run.id) === run) this.#update(run, store);
    });
  }

  /** Also before the journal says that the run is live. */
  keep(run: LiveRun): void {
    this.#write(prefix + run.id, toNote(run));
  }

  keepReservation(id: string, { target, fileId, host, at }: z.infer<typeof reservationSchema>): void {
    this.#write(reservationPrefix + id, { target, fileId, host, at });
  }

  lost(store: RunStore): { key: string; note: RunNote }[] {
    const known = new Set(store.all().map(runIdOf));
    return this.#memory.keys().flatMap((key) => {
      if (!key.startsWith(prefix) || store.has(key.slice(prefix.length))) return [];
      const note = noteSchema.safeParse(this.#memory.get(key)).data;
      return note !== undefined && !known.has(note.runId) ? [{ key, note }] : [];
    });
  }

  async forget(key: string): Promise<void> {
    await this.#memory.update(key, undefined);
  }

  async forgetRun(id: string): Promise<void> {
    await this.forget(prefix + id);
    if (this.#memory.get(reservationPrefix + id) !== undefined) await this.forget(reservationPrefix + id);
  }

  #update(run: Run, store: RunStore): void {
    this.#restoreReservation(run, store);
    const value = this.#memory.get(prefix + run.id);
    if (isLive(run)) {
      if (value === undefined) this.keep(run);
    } else if (value !== undefined) {
      if (isFinal(run)) this.#write(prefix + run.id, undefined);
      else if (run.state === 'unknown') this.#restoreRunId(run, value, store);
    }
  }

  /** The answer to the dispatch came while the disk was full or read-only. */
  #restoreRunId({ id, intendedAt }: RunIn<'unknown'>, value: unknown, store: RunStore): void {
    const note = noteSchema.safeParse(value).data;
    if (note === undefined) return;
    const at = note.dispatchedAt ?? intendedAt;
    store.apply(id, { type: 'runIdGiven', runId: note.runId, at }).then(
      () => this.#log.info(`Run ${id} continues as ${visibleLine(note.runId)}, from its note`),
      (error: unknown) =>
        this.#log.warn(
          `Run ${id}: the noted run ID ${visibleLine(note.runId)} could not be saved: ${String(error)}`,
        ),
    );
  }

  /** The file was reserved while the disk was full or read-only. */
  #restoreReservation({ id, targets }: Run, store: RunStore): void {
    const key = reservationPrefix + id;
    const value = this.#memory.get(key);
    if (value === undefined) return;
    const note = reservationSchema.safeParse(value).data;
    if (note === undefined || targets[note.target]?.upload?.fileId === note.fileId)
      this.#write(key, undefined);
    else
      store.apply(id, { type: 'reserved', ...note }).then(
        () => this.#write(key, undefined),
        (error: unknown) =>
          this.#log.warn(`Run ${id}: a file noted as reserved could not be saved: ${String(error)}`),
      );
  }

  #write(key: string, note: object | undefined): void {
    this.#memory.update(key, note).then(undefined, (error: unknown) => {
      this.#log.warn(`Run ${key.replace(/^\w+:/, '')} was not noted: ${String(error)}`);
    });
  }
}

function toNote(run: LiveRun): RunNote {
  const { workflow, baseUrl, organizationId, language, runId, dispatchedAt } = run;
  const targets = run.targets.map(({ folder, name, upload }) => ({ folder, name, fileId: upload?.fileId }));
  return { workflow, baseUrl, organizationId, language, runId, dispatchedAt, targets };
}
