import { isAbortError } from '../../errors.ts';
import { Emitter } from '../../ports.ts';
import type { Lease } from '../disk/lease.ts';
import type { RunEvent } from '../state/event.ts';
import { next, type Next } from '../state/next.ts';
import { isOver } from '../state/waits.ts';
import { perform } from '../steps/perform.ts';
import { toPollFailed } from '../steps/poll.ts';
import { circumstances, type DriveDeps } from '../steps/step.ts';

const firstPauseMs = 5_000;
const maxPauseMs = 5 * 60_000;

/**
 * Drives a run while this window holds its lease: asks `next`, performs the step whose wait is over, saves its event, and asks again. What fails
 * locally, such as a write on a full disk, is done again after a pause. It ends when the run needs nothing, is gone, or is stopped.
 */
export class Drive {
  readonly id: string;
  /** Resolves when the drive has ended and the lease is given back. */
  readonly ended: Promise<void>;
  readonly #deps: DriveDeps;
  readonly #lease: Lease;
  readonly #stop = new AbortController();
  #underWay: { readonly step: Next['step']; readonly abort: AbortController } | undefined;
  /** When this window first saw each wait, by the monotonic clock. */
  #firstSeen = new Map<string, number>();
  readonly #pauses = new Map<Next['step'], { readonly failures: number; readonly until: number }>();
  #hurry: 'jump' | 'person' | undefined;
  /** Ends the rest; defined while no step is due. */
  #wake: (() => void) | undefined;
  #hasEnded = false;
  readonly #rested: Emitter<undefined>;

  constructor(id: string, lease: Lease, deps: DriveDeps) {
    this.id = id;
    this.#deps = deps;
    this.#lease = lease;
    this.#rested = new Emitter(deps.log);
    lease.lost.addEventListener('abort', () => this.stop());
    this.ended = this.#drive();
  }

  get step(): Next['step'] | undefined {
    return this.#underWay?.step;
  }

  /** True once the run needs nothing more from this window. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Looks again at what is due. */
  look(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Ends the wait before a poll or a download, but not a `Retry-After`: the clocks jumped, or a person asks. */
  hurry(why: 'jump' | 'person'): void {
    this.#hurry = why;
    this.look();
  }

  /** Aborts the step under way: its run needs another. */
  interrupt(): void {
    this.#underWay?.abort.abort(new DOMException('Interrupted', 'AbortError'));
  }

  /** Gives the lease back; the step under way ends soon. */
  stop(): void {
    this.#stop.abort(new DOMException('Stopped', 'AbortError'));
    this.look();
    void this.#lease.release();
  }

  /** Resolves once no step is due. */
  async rest(): Promise<void> {
    if (this.#wake !== undefined || this.#hasEnded) return;
    await new Promise<void>((resolve) => {
      const listening = this.#rested.event(() => {
        listening.dispose();
        resolve();
      });
    });
  }

  async #drive(): Promise<void> {
    try {
      // Its creator has to know the drive before its first step.
      await Promise.resolve();
      while (!this.#stop.signal.aborted) {
        const run = this.#deps.store.get(this.id);
        const owed = run === undefined ? [] : next(run, circumstances(run, this.#deps));
        if (owed.length === 0) break;
        const due = this.#firstDue(owed, this.#hurry);
        const isExtra = this.#hurry === 'person' && this.#firstDue(owed, undefined) !== due;
        if (due === undefined || due.step === 'poll' || due.step === 'download') this.#hurry = undefined;
        if (due === undefined) await this.#untilWoken();
        else await this.#perform(due, isExtra);
      }
    } finally {
      this.#hasEnded = true;
      this.#rested.fire(undefined);
      await this.#lease.release();
    }
  }

  #firstDue(owed: readonly Next[], hurry: 'jump' | 'person' | undefined): Next | undefined {
    const { clock } = this.#deps;
    const seenBefore = this.#firstSeen;
    this.#firstSeen = new Map();
    const due = owed.filter(({ step, wait }) => {
      const isPaused = clock.monotonic() < (this.#pauses.get(step)?.until ?? -Infinity);
      if (wait === undefined) return !isPaused;
      const key = `${step} ${String(wait.at)} ${String(wait.ms)}`;
      const firstSeen = seenBefore.get(key) ?? clock.monotonic();
      this.#firstSeen.set(key, firstSeen);
      const isCutShort =
        (step === 'poll' || step === 'download') &&
        (hurry === 'person' || (hurry === 'jump' && Number.isFinite(wait.ms)));
      return !isPaused && isOver(wait, firstSeen, clock, isCutShort);
    });
    return due[0];
  }

  async #untilWoken(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#rested.fire(undefined);
    await woken;
  }

  async #perform(due: Next, isExtra: boolean): Promise<void> {
    const abort = new AbortController();
    this.#underWay = { step: due.step, abort };
    const save = (event: RunEvent) => this.#deps.store.apply(this.id, event);
    const signal = AbortSignal.any([abort.signal, this.#stop.signal]);
    try {
      const event = await this.#eventOf(due, { ...this.#deps, signal, isExtra, save });
      if (event !== undefined) await save(event);
      this.#pauses.delete(due.step);
    } catch (error) {
      if (!isAbortError(error)) this.#pause(due.step, error);
    } finally {
      this.#underWay = undefined;
    }
  }

  async #eventOf(due: Next, deps: Parameters<typeof perform>[1]): Promise<RunEvent | undefined> {
    try {
      return await perform(due, deps);
    } catch (error) {
      // A poll that fails is a fact about the run.
      if ((due.step !== 'poll' && due.step !== 'download') || isAbortError(error)) throw error;
      return toPollFailed(due.run, error, deps);
    }
  }

  /** The first failure in a row is logged as an error. */
  #pause(step: Next['step'], error: unknown): void {
    const { clock, log } = this.#deps;
    const failures = (this.#pauses.get(step)?.failures ?? 0) + 1;
    const ms = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs);
    this.#pauses.set(step, { failures, until: clock.monotonic() + ms });
    log[failures === 1 ? 'error' : 'debug'](`Run ${this.id}: ${step} failed: ${String(error)}`);
  }
}
