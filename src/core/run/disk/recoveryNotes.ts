import * as z from 'zod/mini';
import { identifierSchema, languageSchema } from '../../api/schema.ts';
import type { Disposable, KeyValueStore, Logger } from '../../ports.ts';
import { visibleLine } from '../../visibleText.ts';
import { isFinal, isLive, type Run, type RunIn } from '../state/run.ts';
import { workflowIds } from '../../workflows/workflow.ts';
import type { RunStore } from './runStore.ts';

const prefix = 'run:';
const noteSchema = z.object({
  workflow: z.enum(workflowIds),
  baseUrl: z.string(),
  organizationId: z.string(),
  language: languageSchema,
  runId: identifierSchema,
  dispatchedAt: z.optional(z.number()),
  targets: z.array(z.object({ folder: z.string(), name: z.string(), fileId: z.optional(identifierSchema) })),
});
/** Where a dispatched run is, and its files there: enough to track it when its folder is lost, and nothing secret. */
export type RunNote = z.infer<typeof noteSchema>;

type LiveRun = RunIn<'running' | 'cancelling' | 'collecting'>;

/** Notes of live runs in a store that outlives the extension's folder (a rebuilt container). Each run has its own key, so that windows do not overwrite each other. */
export class RunNotes {
  readonly #memory: KeyValueStore;
  readonly #log: Logger;

  constructor(memory: KeyValueStore, deps: { log: Logger }) {
    this.#memory = memory;
    this.#log = deps.log;
  }

  /** Writes a note of every live run and removes it once the run is final; an `unknown` run is given the run ID of its note. */
  follow(store: RunStore): Disposable {
    for (const run of store.all()) this.#update(run, store);
    return store.onDidChange((run) => {
      if (store.get(run.id) === run) this.#update(run, store);
    });
  }

  /** Writes the note of a live run, also before its journal says that it is live. */
  keep(run: LiveRun): void {
    this.#write(run.id, toNote(run));
  }

  /** Notes of runs that are not in the store; a damaged note is ignored. */
  lost(store: RunStore): { key: string; note: RunNote }[] {
    const known = new Set(store.all().flatMap((run) => ('runId' in run ? [run.runId] : [])));
    return this.#memory.keys().flatMap((key) => {
      if (!key.startsWith(prefix) || store.has(key.slice(prefix.length))) return [];
      const note = noteSchema.safeParse(this.#memory.get(key)).data;
      return note !== undefined && !known.has(note.runId) ? [{ key, note }] : [];
    });
  }

  /** Removes a note by its key. */
  async forget(key: string): Promise<void> {
    await this.#memory.update(key, undefined);
  }

  /** Removes the note of a run that a person removed. */
  async forgetRun(id: string): Promise<void> {
    await this.forget(prefix + id);
  }

  #update(run: Run, store: RunStore): void {
    const value = this.#memory.get(prefix + run.id);
    if (isLive(run)) {
      if (value === undefined) this.keep(run);
    } else if (value !== undefined) {
      if (isFinal(run)) this.#write(run.id, undefined);
      else if (run.state === 'unknown') this.#restoreRunId(run, value, store);
    }
  }

  /** The answer to the dispatch came while the disk was full or read-only. */
  #restoreRunId({ id, intendedAt }: RunIn<'unknown'>, value: unknown, store: RunStore): void {
    const note = noteSchema.safeParse(value).data;
    if (note === undefined) return;
    const at = note.dispatchedAt ?? intendedAt;
    store.apply(id, { type: 'runIdGiven', runId: note.runId, at }).then(
      () => this.#log.info(`Run ${id} goes on as ${visibleLine(note.runId)}, as noted`),
      (error: unknown) =>
        this.#log.warn(`Run ${id} is noted as ${visibleLine(note.runId)}: ${String(error)}`),
    );
  }

  #write(id: string, note: RunNote | undefined): void {
    this.#memory.update(prefix + id, note).then(undefined, (error: unknown) => {
      this.#log.warn(`Run ${id} was not noted: ${String(error)}`);
    });
  }
}

function toNote(run: LiveRun): RunNote {
  const { workflow, baseUrl, organizationId, language, runId, dispatchedAt } = run;
  const targets = run.targets.map(({ folder, name, upload }) => ({ folder, name, fileId: upload?.fileId }));
  return { workflow, baseUrl, organizationId, language, runId, dispatchedAt, targets };
}
