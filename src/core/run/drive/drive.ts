import { isAbortError, knownError } from '../../errors.ts';
import type { Emitter } from '../../ports.ts';
import type { Lease } from '../disk/lease.ts';
import { next, type Next } from '../state/next.ts';
import type { Run } from '../state/run.ts';
import { perform } from '../steps/perform.ts';
import { toStepFailed } from '../steps/poll.ts';
import { circumstances, type RunDeps, type StepDeps } from '../steps/step.ts';
import { Delays, type Waker } from '../state/delays.ts';

/**
 * Drives a run while this window holds its lease: asks `next`, performs the first step whose delay
 * is over, saves its event, and asks again. The drive ends when the run needs nothing or is gone,
 * or when the drive is stopped.
 */
export class Drive {
  readonly id: string;
  readonly ended: Promise<void>;
  readonly #deps: StepDeps;
  readonly #lease: Lease;
  readonly #delays: Delays;
  readonly #stop = new AbortController();
  #underWay: Next['step'] | undefined;
  readonly #waiting: Waker[] = [];
  /** The last failure. It may recur for days, so repetitions are not warnings. */
  #failure = '';
  /** Resolves `#untilWoken`. Defined only while the loop is idle. */
  #onWoken: (() => void) | undefined;
  hasEnded = false;
  #idleWaiters: (() => void)[] = [];

  constructor(id: string, lease: Lease, deps: RunDeps, ended: Emitter<Run>) {
    this.id = id;
    this.#deps = { ...deps, ended, firstSeen: new Map(), signal: this.#stop.signal };
    this.#lease = lease;
    this.#delays = new Delays(deps.store.get(id), deps.clock, deps.random);
    lease.lost.addEventListener('abort', () => this.stop());
    if (lease.lost.aborted) this.stop();
    this.ended = this.#drive();
  }

  /**
   * A poll doesn't count, because it is one call that ends within minutes: a user's check waits for
   * it.
   */
  get isBusy(): boolean {
    return this.#underWay !== undefined && this.#underWay !== 'poll';
  }

  nextCheckAt(): number | undefined {
    const run = this.#deps.store.get(this.id);
    return run && this.#delays.nextCheckAt(run);
  }

  /** Asks `next` again, without ending any delay. */
  recheck(): void {
    const recheck = this.#onWoken;
    this.#onWoken = undefined;
    recheck?.();
  }

  /** Ends delays as `Delays.wake` says, but only after the step in progress. */
  wake(waker: Waker): void {
    const run = this.#deps.store.get(this.id);
    if (this.#underWay !== undefined) this.#waiting.push(waker);
    else if (run !== undefined) this.#delays.wake(waker, run);
    this.recheck();
  }

  /** Aborts the step in progress. `ended` resolves once that step has ended. */
  stop(): void {
    this.#stop.abort(new DOMException('Stopped', 'AbortError'));
    this.recheck();
    void this.#lease.release();
  }

  async whenIdle(): Promise<void> {
    if (this.#onWoken === undefined && !this.hasEnded)
      await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  async #drive(): Promise<void> {
    try {
      // The creator must know the drive before its first step.
      await Promise.resolve();
      while (!this.#stop.signal.aborted) {
        const run = this.#deps.store.get(this.id);
        const steps = run === undefined ? [] : next(run, circumstances(run, this.#deps));
        if (steps.length === 0) break;
        const ready = steps.find((each) => this.#delays.isOver(each));
        if (ready === undefined) await this.#untilWoken();
        else await this.#perform(ready);
      }
    } finally {
      this.hasEnded = true;
      this.#resolveWaiters();
      await this.#lease.release();
    }
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#onWoken = resolve;
      this.#resolveWaiters();
    });
  }

  #resolveWaiters(): void {
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  async #perform(ready: Next): Promise<void> {
    this.#underWay = ready.step;
    try {
      const event = await perform(ready, this.#deps);
      if (event !== undefined) await this.#deps.store.apply(this.id, event);
      this.#delays.succeeded(ready, event);
      this.#failure = '';
    } catch (error) {
      if (!isAbortError(error)) await this.#noteFailure(ready, error);
    } finally {
      this.#underWay = undefined;
      for (const waker of this.#waiting.splice(0)) this.wake(waker);
    }
  }

  async #noteFailure(ready: Next, cause: unknown): Promise<void> {
    const { store, log, clock } = this.#deps;
    const error = knownError(cause);
    this.#delays.failed(ready, error);
    const failure =
      `Run ${this.id}: ${ready.step} failed: ${error.message} ${error.data.status ?? ''}`.trim();
    log[failure === this.#failure ? 'debug' : 'warn'](failure);
    this.#failure = failure;
    await store.apply(this.id, toStepFailed(error, clock.now())).catch((failed: unknown) => {
      log.debug(`Run ${this.id}: its failure could not be saved: ${String(failed)}`);
    });
  }
}
