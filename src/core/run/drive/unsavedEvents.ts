import { AssessmentError, systemCode } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';
import { advance } from '../state/advance.ts';
import type { RunEvent } from '../state/event.ts';
import { isLive, type Run, type RunIn } from '../state/run.ts';
import { saveOutcome } from '../steps/dispatch.ts';
import type { DriveDeps } from '../steps/step.ts';

const firstPauseMs = 5_000;
const maxPauseMs = 60_000;

/** Local work that fails, such as a write on a full disk, is tried again at growing intervals. */
export class Pauses {
  readonly #id: string;
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  readonly #pauses = new Map<string, { readonly failures: number; readonly until: number }>();

  constructor(id: string, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#id = id;
    this.#deps = deps;
  }

  has(work: string): boolean {
    return this.#deps.clock.monotonic() < (this.#pauses.get(work)?.until ?? -Infinity);
  }

  /** The first failure in a row is logged as an error. Returns how many there were. */
  add(work: string, error: unknown): number {
    const { clock, log } = this.#deps;
    const failures = (this.#pauses.get(work)?.failures ?? 0) + 1;
    const ms = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
    this.#pauses.set(work, { failures, until: clock.monotonic() + ms });
    log[failures === 1 ? 'error' : 'debug'](`Run ${this.#id}: ${work} failed: ${String(error)}`);
    return failures;
  }

  clear(work: string): void {
    this.#pauses.delete(work);
  }
}

type SavingDeps = Pick<DriveDeps, 'store' | 'log' | 'notes' | 'failToKeep'>;

/** Events of a run that the disk has not taken yet: they count as if they were saved, and are saved in their order. */
export class UnsavedEvents {
  readonly #id: string;
  readonly #deps: SavingDeps;
  readonly #pauses: Pauses;
  readonly #events: RunEvent[] = [];
  /** The start request whose outcome is the next event. */
  #sent: RunIn<'dispatching'> | undefined;
  /** One saving at a time: the change that a write shows may call for another. */
  #saving: Promise<void> = Promise.resolve();

  constructor(id: string, pauses: Pauses, deps: SavingDeps) {
    this.#id = id;
    this.#pauses = pauses;
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** The service's ID of an accepted run that the disk has not taken yet. */
  get runId(): string | undefined {
    return this.#events.find((event) => event.type === 'dispatched')?.runId;
  }

  /** The run with these events; undefined once it is gone. */
  run(): Run | undefined {
    const saved = this.#deps.store.get(this.#id) ?? this.#sent;
    return saved && this.#events.reduce(advance, saved);
  }

  /** The outcome of this start request is saved even if its journal is lost. */
  expectOutcome(sent: RunIn<'dispatching'> | undefined): void {
    this.#sent = sent;
  }

  /** Puts an event on disk, after the earlier ones; throws where that fails. */
  async save(event: RunEvent): Promise<Run> {
    await this.#saveAll();
    return this.#deps.store.apply(this.#id, event);
  }

  async record(event: RunEvent): Promise<Run> {
    this.#events.push(event);
    const run = this.run();
    if (run === undefined) throw new AssessmentError('notFound', { subject: this.#id });
    // Noted before the journal, which the disk may not take.
    if (event.type === 'dispatched' && isLive(run)) this.#deps.notes?.keep(run);
    await this.#trySave();
    return this.run() ?? run;
  }

  /** Unless that failed a moment ago. */
  async saveDue(): Promise<void> {
    if (!this.#pauses.has('saving')) await this.#trySave();
  }

  async #trySave(): Promise<void> {
    try {
      await this.#saveAll();
    } catch (cause) {
      const failures = this.#pauses.add('saving', cause);
      if (failures > 1 || this.runId === undefined) return;
      const data = { subject: this.runId, detail: systemCode(cause) };
      this.#deps.failToKeep.fire({ id: this.#id, error: new AssessmentError('notKept', data, { cause }) });
    }
  }

  #saveAll(): Promise<void> {
    const saved = this.#saving.then(async () => {
      for (let [event] = this.#events; event !== undefined; [event] = this.#events) {
        await this.#saveOne(event);
        this.#events.shift();
      }
      this.#pauses.clear('saving');
    });
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #saveOne(event: RunEvent): Promise<void> {
    if (this.#sent !== undefined) {
      await saveOutcome(this.#sent, event, this.#deps);
      this.#sent = undefined;
      return;
    }
    try {
      await this.#deps.store.apply(this.#id, event);
    } catch (error) {
      // A removed run has nothing to write to.
      if (!(error instanceof AssessmentError && error.kind === 'notFound')) throw error;
    }
  }
}
