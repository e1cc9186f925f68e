import type { Disposable, KeyValueStore, Logger } from '../../ports.ts';
import { visibleLine } from '../../visibleText.ts';
import { noteSchema, type RunNote } from '../state/newRun.ts';
import { isFinal, isLive, type LiveRun, type Run, runIdOf, type RunIn } from '../state/run.ts';
import type { RunStore } from './runStore.ts';

const prefix = 'run:';

/**
 * Notes of live runs in a store that outlives the extension's folder (a rebuilt container). Each run has its key: windows
 * do not overwrite each other.
 */
export class RunNotes {
  readonly #memory: KeyValueStore;
  readonly #log: Logger;

  constructor(memory: KeyValueStore, deps: { log: Logger }) {
    this.#memory = memory;
    this.#log = deps.log;
  }

  /** Keeps a note of every live run until it is final, and restores a run ID that a journal lacks. */
  follow(store: RunStore): Disposable {
    for (const run of store.all()) this.#update(run, store);
    return store.onDidChange((changed) => {
      for (const run of changed) if (store.get(run.id) === run) this.#update(run, store);
    });
  }

  /** Also before the journal says that the run is live. */
  keep(run: LiveRun): void {
    this.#write(prefix + run.id, toNote(run));
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
  }

  #update(run: Run, store: RunStore): void {
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
    store.apply(id, { type: 'runIdGiven', runId: note.runId, at: intendedAt }).then(
      () => this.#log.info(`Run ${id} continues as ${visibleLine(note.runId)}, from its note`),
      (error: unknown) =>
        this.#log.warn(
          `Run ${id}: the noted run ID ${visibleLine(note.runId)} could not be saved: ${String(error)}`,
        ),
    );
  }

  #write(key: string, note: object | undefined): void {
    this.#memory.update(key, note).then(undefined, (error: unknown) => {
      this.#log.warn(`Run ${key.slice(prefix.length)} was not noted: ${String(error)}`);
    });
  }
}

function toNote(run: LiveRun): RunNote {
  const { workflow, baseUrl, organizationId, language, runId, dispatchedAt } = run;
  const targets = run.targets.map(({ folder, name, upload }) => ({ folder, name, fileId: upload?.fileId }));
  return { workflow, baseUrl, organizationId, language, runId, dispatchedAt, targets };
}
