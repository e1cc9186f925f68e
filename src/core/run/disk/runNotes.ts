import type { Disposable, KeyValueStore, Logger } from '../../ports.ts';
import { noteSchema, type RunNote } from '../state/newRun.ts';
import { isFinal, isLive, type LiveRun, type Run, runIdOf } from '../state/run.ts';
import type { RunStore } from './runStore.ts';

const prefix = 'run:';

/**
 * Notes accepted runs in VS Code's storage, in case a journal can't be written, or is lost when a
 * container is rebuilt. VS Code writes all keys of a window at once, so another window may
 * overwrite a note. Therefore each change of a live run restores a missing note.
 */
export class RunNotes {
  readonly #memory: KeyValueStore;
  readonly #log: Logger;

  constructor(memory: KeyValueStore, deps: { log: Logger }) {
    this.#memory = memory;
    this.#log = deps.log;
  }

  follow(store: RunStore): Disposable {
    for (const run of store.all()) this.#update(run);
    return store.onDidChange((changed) => {
      for (const run of changed) if (store.get(run.id) === run) this.#update(run);
    });
  }

  /** `intendedAt` is given while the run's journal may lack the run ID. */
  keep(run: LiveRun, intendedAt?: number): void {
    this.#write(run.runId, { ...toNote(run), intendedAt });
  }

  runIdFor(run: Run): string | undefined {
    if (run.state !== 'dispatching' && run.state !== 'unknown') return undefined;
    return this.#all().find(({ id, intendedAt }) => id === run.id && intendedAt === run.intendedAt)?.runId;
  }

  /** Returns the notes of runs that have no journal here, not even one that can't be read. */
  lost(store: RunStore): RunNote[] {
    const known = new Set(store.all().map((run) => runIdOf(run) ?? this.runIdFor(run)));
    const unread = new Set(store.unread().map(({ id }) => id));
    return this.#all().filter(({ runId, id = '' }) => !known.has(runId) && !unread.has(id));
  }

  async forget(runId: string): Promise<void> {
    await this.#memory.update(prefix + runId, undefined);
  }

  #all(): RunNote[] {
    const keys = this.#memory.keys().filter((key) => key.startsWith(prefix));
    return keys.flatMap((key) => noteSchema.safeParse(this.#memory.get(key)).data ?? []);
  }

  #update(run: Run): void {
    const runId = runIdOf(run);
    if (runId === undefined) return;
    const isNoted = this.#memory.get(prefix + runId) !== undefined;
    if (isLive(run) && !isNoted) this.keep(run);
    if (isFinal(run) && isNoted) this.#write(runId, undefined);
  }

  #write(runId: string, note: RunNote | undefined): void {
    this.#memory.update(prefix + runId, note).then(undefined, (error: unknown) => {
      this.#log.warn(`A run was not noted: ${String(error)}`);
    });
  }
}

function toNote(run: LiveRun): RunNote {
  const { id, workflow, baseUrl, organizationId, language, runId, dispatchedAt } = run;
  const targets = run.targets.map(({ folder, name, upload }) => ({ folder, name, fileId: upload?.fileId }));
  return { workflow, baseUrl, organizationId, language, runId, dispatchedAt, id, targets };
}
