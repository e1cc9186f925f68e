import { isAbortError, knownError } from '../../errors.ts';
import type { Lease } from '../disk/lease.ts';
import type { RunEvent } from '../state/event.ts';
import { next, type Next } from '../state/next.ts';
import { perform } from '../steps/perform.ts';
import { toPollFailed, toRetryAt } from '../steps/poll.ts';
import { circumstances, type DriveDeps } from '../steps/step.ts';
import { Delays, type Waker } from './delays.ts';

/**
 * Drives a run while this window holds its lease: asks `next`, performs the step whose delay is over, saves its event, and asks again. It ends when the
 * run needs nothing, is gone, or is stopped.
 */
export class Drive {
  readonly id: string;
  /** Resolves when the drive has ended and the lease is given back. */
  readonly ended: Promise<void>;
  readonly #deps: DriveDeps;
  readonly #lease: Lease;
  readonly #delays: Delays;
  readonly #stop = new AbortController();
  #underWay: { readonly step: Next['step']; readonly abort: AbortController } | undefined;
  /** The token has changed during the step under way, which may find that it needs another one. */
  #hasOtherToken = false;
  /** Ends the rest; defined while no step is due. */
  #look: (() => void) | undefined;
  #hasEnded = false;
  #resting: (() => void)[] = [];

  constructor(id: string, lease: Lease, deps: DriveDeps) {
    this.id = id;
    this.#deps = deps;
    this.#lease = lease;
    this.#delays = new Delays(deps.store.get(id), deps.clock, deps.random);
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

  /** When the next poll is due (wall clock, ms). */
  nextCheckAt(): number | undefined {
    const run = this.#deps.store.get(this.id);
    return run && this.#delays.nextCheckAt(run);
  }

  /** Looks again at what is due; a change of the journal ends no delay. */
  look(): void {
    const look = this.#look;
    this.#look = undefined;
    look?.();
  }

  /** Ends the delay, but never what is left of a `Retry-After`. */
  wake(waker: Waker): void {
    const run = this.#deps.store.get(this.id);
    if (waker === 'token' && this.#underWay !== undefined) this.#hasOtherToken = true;
    else if (run !== undefined) this.#delays.wake(waker, run);
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
    if (this.#look === undefined && !this.#hasEnded)
      await new Promise<void>((resolve) => this.#resting.push(resolve));
  }

  async #drive(): Promise<void> {
    try {
      // Its creator has to know the drive before its first step.
      await Promise.resolve();
      while (!this.#stop.signal.aborted) {
        const run = this.#deps.store.get(this.id);
        const owed = run === undefined ? [] : next(run, circumstances(run, this.#deps));
        if (owed.length === 0) break;
        const due = owed.find((each) => this.#delays.isOver(each));
        if (due === undefined) await this.#untilLooked();
        else await this.#perform(due);
      }
    } finally {
      this.#hasEnded = true;
      this.#rested();
      await this.#lease.release();
    }
  }

  async #untilLooked(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#look = resolve;
      this.#rested();
    });
  }

  #rested(): void {
    for (const resolve of this.#resting.splice(0)) resolve();
  }

  async #perform(due: Next): Promise<void> {
    const abort = new AbortController();
    this.#underWay = { step: due.step, abort };
    try {
      const signal = AbortSignal.any([abort.signal, this.#stop.signal]);
      const event = await this.#eventOf(due, signal);
      if (event !== undefined) await this.#deps.store.apply(this.id, event);
    } catch (error) {
      if (!isAbortError(error)) this.#pause(due.step, error);
    } finally {
      this.#underWay = undefined;
      if (this.#hasOtherToken) this.wake('token');
      this.#hasOtherToken = false;
    }
  }

  async #eventOf(due: Next, signal: AbortSignal): Promise<RunEvent | undefined> {
    const { clock } = this.#deps;
    try {
      const event = await perform(due, { ...this.#deps, signal });
      this.#delays.succeeded(due.step, event, due.run);
      return event;
    } catch (error) {
      const known = knownError(error);
      const isOfService = known === error && due.step === 'removeUploads';
      if (isAbortError(error) || !(due.step === 'poll' || due.step === 'download' || isOfService))
        throw error;
      this.#delays.failed(due.step, known);
      // A poll that fails is a fact about the run; of a removal, only what the service asked for.
      if (due.step === 'poll' || due.step === 'download') return toPollFailed(due.run, error, this.#deps);
      const retryAt = toRetryAt(known, clock.now());
      return retryAt === undefined ? undefined : { type: 'deferred', retryAt, at: clock.now() };
    }
  }

  /** What fails locally is done again later. The first failure in a row is logged as an error. */
  #pause(step: Next['step'], error: unknown): void {
    const failures = this.#delays.paused(step);
    this.#deps.log[failures === 1 ? 'error' : 'debug'](`Run ${this.id}: ${step} failed: ${String(error)}`);
  }
}
