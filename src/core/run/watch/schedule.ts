import { join } from 'node:path';
import type { Clock, Logger } from '../../ports.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import type { RunStore } from '../disk/runStore.ts';

/** A gap between the clocks, or a wish of the service, is believed up to this long. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** A run this window drives: its lease, and when it may be and will be asked about next, by either clock. */
interface Driven {
  readonly lease: Lease;
  /** By the clock that only grows. */
  readonly takenAt: number;
  nextWall: number;
  nextMonotonic: number;
  /** The service wants to be left alone until then, told by the clock that only grows, and by the wall clock, as the journal has it. */
  quietUntil: number;
  notBefore: number | undefined;
  failures: number;
  /** Tokens that have changed since the last look that went well. */
  tokens: number;
  /** The look that is under way. */
  busy: Promise<void> | undefined;
}

/** The runs that this window drives, each under its lease, and the time of their next look. */
export class DrivenRuns {
  readonly #store: RunStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #runs = new Map<string, Driven>();

  constructor(deps: { store: RunStore; clock: Clock; log: Logger }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  get size(): number {
    return this.#runs.size;
  }

  ids(): readonly string[] {
    return [...this.#runs.keys()];
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  /** Takes the lease of a run; false while another living window drives it, or this one does already. */
  async take(id: string): Promise<boolean> {
    if (this.#runs.has(id)) return false;
    const lease = await takeLease(join(this.#store.folderOf(id), 'lease'), this.#clock);
    if (lease === undefined) return false;
    this.#runs.set(id, {
      lease,
      takenAt: this.#clock.monotonic(),
      nextWall: Infinity,
      nextMonotonic: Infinity,
      quietUntil: -Infinity,
      notBefore: undefined,
      failures: 0,
      tokens: 0,
      busy: undefined,
    });
    return true;
  }

  /** For how long this window has driven a run, in milliseconds. */
  drivenForMs(id: string): number {
    const now = this.#clock.monotonic();
    return now - (this.#runs.get(id)?.takenAt ?? now);
  }

  /** Gives a run's lease back. */
  async letGo(id: string): Promise<void> {
    const driven = this.#runs.get(id);
    this.#runs.delete(id);
    await driven?.lease.release();
  }

  /** Gives every lease back. */
  async letAllGo(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((id) => this.letGo(id)));
  }

  /** Renews a run's lease; false when it was lost, and then the run is no longer driven here. */
  async renew(id: string): Promise<boolean> {
    const driven = this.#runs.get(id);
    if (driven === undefined) return false;
    if (await driven.lease.renew()) return true;
    if (this.#runs.get(id) === driven) this.#runs.delete(id);
    return false;
  }

  /** Renews every lease; one that cannot be renewed keeps no other from it. */
  async renewAll(): Promise<void> {
    for (const id of [...this.#runs.keys()]) {
      try {
        await this.renew(id);
      } catch (error) {
        this.#log.warn(`The lease of run ${id} could not be renewed: ${String(error)}`);
      }
    }
  }

  /** When a run is looked at next, in wall-clock milliseconds; undefined when no look is planned. */
  nextCheckAt(id: string): number | undefined {
    const next = this.#runs.get(id)?.nextWall;
    return next === undefined || !Number.isFinite(next) ? undefined : next;
  }

  /** Plans the next look; Infinity plans none. */
  schedule(id: string, delayMs: number): void {
    const driven = this.#runs.get(id);
    if (driven === undefined) return;
    driven.nextWall = this.#clock.now() + delayMs;
    driven.nextMonotonic = this.#clock.monotonic() + delayMs;
  }

  /** The runs to look at now: those whose time has come by either clock, and after a jump of the clocks every one that waits. */
  due(jumped: boolean): string[] {
    const [wall, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    return [...this.#runs].flatMap(([id, driven]) => {
      const isDue = wall >= driven.nextWall || monotonic >= driven.nextMonotonic;
      return isDue || (jumped && Number.isFinite(driven.nextWall)) ? [id] : [];
    });
  }

  /** Notes that the service, asked here or by another window, wants to be left alone until `notBefore` by the wall clock; once noted, a wrong wall clock cannot stretch it. */
  noteQuiet(id: string, notBefore: number | undefined): void {
    const driven = this.#runs.get(id);
    if (driven === undefined || notBefore === undefined || driven.notBefore === notBefore) return;
    driven.notBefore = notBefore;
    driven.quietUntil =
      this.#clock.monotonic() + Math.min(Math.max(0, notBefore - this.#clock.now()), longestWaitMs);
  }

  /** Whether the service, which wants to be left alone until `notBefore` by the wall clock, may be asked now. */
  mayAsk(id: string, notBefore: number | undefined): boolean {
    if (this.#clock.now() >= (notBefore ?? -Infinity)) return true;
    this.noteQuiet(id, notBefore);
    const driven = this.#runs.get(id);
    return driven !== undefined && this.#clock.monotonic() >= driven.quietUntil;
  }

  /** Counts a look that failed; returns how many have in a row. */
  countFailure(id: string): number {
    const driven = this.#runs.get(id);
    if (driven === undefined) return 1;
    driven.failures += 1;
    return driven.failures;
  }

  /** Counts a token that changed; returns how many have since the last look that went well. */
  countToken(id: string): number {
    const driven = this.#runs.get(id);
    if (driven === undefined) return 1;
    driven.tokens += 1;
    return driven.tokens;
  }

  /** Forgets failures and tokens after a look that went well. */
  clearFailures(id: string): void {
    const driven = this.#runs.get(id);
    if (driven !== undefined) Object.assign(driven, { failures: 0, tokens: 0 });
  }

  /** Resolves when no look at this run is under way, however the last one went. */
  async whenIdle(id: string): Promise<void> {
    await Promise.allSettled([this.#runs.get(id)?.busy]);
  }

  /** Runs `look`, or joins the one that is under way for this run. */
  oneAtATime(id: string, look: () => Promise<void>): Promise<void> {
    const driven = this.#runs.get(id);
    if (driven === undefined) return look();
    driven.busy ??= look().finally(() => {
      driven.busy = undefined;
    });
    return driven.busy;
  }
}
