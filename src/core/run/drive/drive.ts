import { join } from 'node:path';
import { AssessmentError, isAbortError, knownError } from '../../errors.ts';
import { Emitter } from '../../ports.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import type { RunEvent } from '../state/event.ts';
import { next, type Next } from '../state/next.ts';
import { type Run, toFailure } from '../state/run.ts';
import { isOver } from '../state/waits.ts';
import { perform } from '../steps/perform.ts';
import { toPollFailed } from '../steps/poll.ts';
import { circumstances, type DriveDeps, type Start, type StepDeps } from '../steps/step.ts';
import { Pauses, UnsavedEvents } from './unsavedEvents.ts';

interface DriveOptions {
  readonly lease: Lease;
  /** Present in the window that starts the run. */
  readonly start?: Start | undefined;
}

/**
 * Drives a run while this window holds its lease: asks `next`, performs the step whose wait is over, saves its event, and
 * asks again. What it has to know is in the journal. It ends when the run needs nothing, is gone, or is stopped.
 */
export class Drive {
  readonly id: string;
  /** Resolves when the drive has ended and the lease is given back. */
  readonly ended: Promise<void>;
  readonly #deps: DriveDeps;
  readonly #start: Start | undefined;
  readonly #pauses: Pauses;
  readonly #events: UnsavedEvents;
  readonly #stop = new AbortController();
  #lease: Lease;
  #underWay: { readonly step: Next['step']; readonly abort: AbortController } | undefined;
  /** When this window first saw each wait, by the monotonic clock. */
  #firstSeen = new Map<string, number>();
  #hurry: 'jump' | 'person' | undefined;
  /** Ends the wait; defined while no step is due. */
  #wake: (() => void) | undefined;
  #hasEnded = false;
  /** Why a start was not carried out. */
  #failure: Error | undefined;
  /** The run may have changed, or a step has begun or ended. */
  readonly #changed: Emitter<undefined>;

  constructor(id: string, { lease, start }: DriveOptions, deps: DriveDeps) {
    this.id = id;
    this.#deps = deps;
    this.#lease = lease;
    this.#start = start;
    this.#changed = new Emitter(deps.log);
    this.#pauses = new Pauses(id, deps);
    this.#events = new UnsavedEvents(id, this.#pauses, deps);
    this.ended = this.#drive();
  }

  get step(): Next['step'] | undefined {
    return this.#underWay?.step;
  }

  /** True from the packaging of a start, through the question to the person, to the response to its start request. */
  get isStarting(): boolean {
    const { state } = this.#events.run() ?? {};
    return this.#start !== undefined && (state === 'preparing' || state === 'dispatching');
  }

  get unsavedRunId(): string | undefined {
    return this.#events.runId;
  }

  /** Looks again at what is due, and uploads no further for a run that was ended or removed elsewhere. */
  look(): void {
    const isUploading = this.step === 'upload' || this.step === 'confirm';
    if (isUploading && this.#deps.store.get(this.id)?.state !== 'preparing') this.#abortStep();
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Ends the wait before a poll or a download, but not a `Retry-After`: the clocks jumped, or a person asks. */
  hurry(why: 'jump' | 'person'): void {
    this.#hurry = why;
    this.look();
  }

  /** Aborts the step under way, unless it starts the run. */
  interrupt(): void {
    if (!this.isStarting) this.#abortStep();
  }

  /** True once the run needs nothing more from this window. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Applies an event after the step under way; false if the drive ends before. */
  async record(event: RunEvent): Promise<boolean> {
    await this.whenIdle();
    if (this.#hasEnded) return false;
    await this.#events.record(event);
    this.look();
    return true;
  }

  /** Gives the lease back; the step under way ends soon. */
  stop(reason: Error = new DOMException('Stopped', 'AbortError')): void {
    this.#stop.abort(reason);
    this.look();
    // Until an intended start request is noted as stopped, another window would take it for lost.
    if (this.#events.run()?.state !== 'dispatching') void this.#release();
  }

  renewLease(): Promise<boolean> {
    return this.#lease.renew();
  }

  /** Resolves once no step is due. */
  async whenIdle(): Promise<void> {
    if (!this.#isIdle()) await this.#watch(() => this.#isIdle());
  }

  /** Resolves with the run once it satisfies the condition. Rejects with the reason if the drive ends before. */
  async until(isReached: (run: Run, isIdle: boolean) => boolean): Promise<Run> {
    let reached: Run | undefined;
    const look = (): boolean => {
      const run = this.#events.run();
      // An accepted run is reached only once its ID is saved.
      if (run === undefined || this.unsavedRunId !== undefined) return false;
      if (isReached(run, this.#isIdle())) reached = run;
      return reached !== undefined;
    };
    if (!look()) await this.#watch(look);
    if (this.#failure !== undefined) throw this.#failure;
    if (reached === undefined) throw this.#stop.signal.aborted ? this.#stop.signal.reason : busyElsewhere();
    return reached;
  }

  #abortStep(): void {
    this.#underWay?.abort.abort(new DOMException('Interrupted', 'AbortError'));
  }

  #isIdle(): boolean {
    return this.#wake !== undefined || this.#hasEnded;
  }

  /** Resolves when `look` returns true, or at the end. */
  #watch(look: () => boolean): Promise<void> {
    const found = new Promise<void>((resolve) => {
      const listening = this.#changed.event(() => {
        if (!look()) return;
        listening.dispose();
        resolve();
      });
    });
    return Promise.race([found, this.ended]);
  }

  async #drive(): Promise<void> {
    try {
      // Its creator has to know the drive before its first step.
      await Promise.resolve();
      for (;;) {
        await this.#events.saveDue();
        const run = this.#events.run();
        if (run === undefined) break;
        const owed = next(run, circumstances(this.#deps, this.#start !== undefined));
        if (owed.length === 0 && this.#events.isEmpty) break;
        const due = this.#firstDue(owed, this.#hurry);
        const isExtra = this.#hurry === 'person' && this.#firstDue(owed, undefined) !== due;
        if (due === undefined || due.step === 'poll' || due.step === 'download') this.#hurry = undefined;
        // An intended start request is noted as stopped.
        if (this.#stop.signal.aborted && due?.step !== 'send') break;
        if (due === undefined) await this.#untilWoken();
        else await this.#perform(due, isExtra);
        if (this.#stop.signal.aborted && due?.step === 'send') break;
      }
    } catch (error) {
      this.#logged(error);
    } finally {
      this.#hasEnded = true;
      this.#changed.fire(undefined);
      await this.#release();
    }
  }

  #firstDue(owed: readonly Next[], hurry: 'jump' | 'person' | undefined): Next | undefined {
    const { clock } = this.#deps;
    const seenBefore = this.#firstSeen;
    this.#firstSeen = new Map();
    const due = owed.filter(({ step, wait }) => {
      if (wait === undefined) return !this.#pauses.has(step);
      const key = `${step} ${String(wait.at)} ${String(wait.ms)}`;
      const firstSeen = seenBefore.get(key) ?? clock.monotonic();
      this.#firstSeen.set(key, firstSeen);
      const isCutShort =
        (step === 'poll' || step === 'download') &&
        (hurry === 'person' || (hurry === 'jump' && Number.isFinite(wait.ms)));
      return !this.#pauses.has(step) && isOver(wait, firstSeen, clock, isCutShort);
    });
    return due[0];
  }

  async #untilWoken(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#changed.fire(undefined);
    await woken;
  }

  async #perform(due: Next, isExtra: boolean): Promise<void> {
    const abort = new AbortController();
    this.#underWay = { step: due.step, abort };
    const signals = [abort.signal, this.#stop.signal];
    if (this.isStarting && this.#start?.signal !== undefined) signals.push(this.#start.signal);
    if (due.step === 'send') this.#events.expectOutcome(due.run);
    const deps: StepDeps = {
      ...this.#deps,
      signal: AbortSignal.any(signals),
      start: this.#start ?? {},
      isExtra,
      save: (event) => this.#events.save(event),
      record: (event) => this.#events.record(event),
      renewLease: () => this.renewLease(),
    };
    try {
      const event = await perform(due, deps);
      this.#pauses.clear(due.step);
      if (event !== undefined) await this.#events.record(event);
    } catch (error) {
      await this.#fail(due, error, isExtra);
    } finally {
      if (due.step === 'send') await this.#keepLease();
      this.#underWay = undefined;
      this.#changed.fire(undefined);
    }
  }

  /** What the failure of a step means for the run. */
  async #fail(due: Next, error: unknown, isExtra: boolean): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const at = this.#deps.clock.now();
    switch (due.step) {
      case 'upload':
      case 'confirm': {
        this.#logged(error);
        const known = knownError(error);
        if (isAbortError(error)) await this.#events.record({ type: 'abandoned', at });
        else if (known.kind === 'busyElsewhere') this.#abandonStart(known);
        else await this.#events.record({ type: 'failed', failure: toFailure(known), at });
        break;
      }
      case 'package':
      case 'send':
        this.#events.expectOutcome(undefined);
        this.#abandonStart(this.#logged(error));
        break;
      case 'poll':
      case 'download':
        if (!isAbortError(error))
          await this.#events.record(toPollFailed(due.run, error, { ...this.#deps, isExtra }));
        break;
      default:
        if (!isAbortError(error)) this.#pauses.add(due.step, error);
    }
  }

  #abandonStart(failure: Error): void {
    this.#failure = failure;
    this.stop(failure);
  }

  /** The lease has gone with the folder of a run whose journal was lost and written again. */
  async #keepLease(): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (this.#stop.signal.aborted || (await this.#lease.renew().catch(() => true))) return;
    try {
      const lease = await takeLease(join(store.folderOf(this.id), 'lease'), clock);
      if (lease === undefined) this.stop(busyElsewhere());
      else this.#lease = lease;
    } catch (error) {
      // Lost storage: no other window can take the run either.
      log.warn(`The lease of run ${this.id} could not be taken again: ${String(error)}`);
    }
  }

  /** The error as one to throw; logs one that nobody foresaw. */
  #logged(error: unknown): Error {
    if (error instanceof Error && isAbortError(error)) return error;
    const known = knownError(error);
    if (known !== error)
      this.#deps.log.error(
        `Run ${this.id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    return known;
  }

  async #release(): Promise<void> {
    await this.#lease.release().catch((error: unknown) => {
      this.#deps.log.warn(`The lease of run ${this.id} could not be released: ${String(error)}`);
    });
  }
}

function busyElsewhere(): AssessmentError {
  return new AssessmentError('busyElsewhere');
}
