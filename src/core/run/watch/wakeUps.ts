import { isAbortError } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';

const heartbeatMs = 5_000;
/** A gap between heartbeats, or between the clocks, that only sleep or a clock change explains. */
const jumpMs = 30_000;

/** What a heartbeat works with. */
export interface HeartbeatDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends it for good. */
  readonly stopped: AbortSignal;
  /** Whether there is anything left to beat for. */
  readonly isNeeded: () => boolean;
  /** Called every few seconds, and waited for; `jumped` says that the machine slept or its clock was changed meanwhile. */
  readonly onBeat: (jumped: boolean) => Promise<void>;
}

/** Beats while something needs it, so that an idle window holds no timer. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #beating = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  /** Starts it, unless it beats already or has ended for good. */
  start(): void {
    if (this.#beating || this.#deps.stopped.aborted) return;
    this.#beating = true;
    this.#beat().catch((error: unknown) => {
      if (!isAbortError(error)) this.#deps.log.error(`The heartbeat stopped: ${String(error)}`);
    });
  }

  async #beat(): Promise<void> {
    const { clock, log, stopped, isNeeded, onBeat } = this.#deps;
    try {
      while (isNeeded()) {
        const [wall, monotonic] = [clock.now(), clock.monotonic()];
        await clock.sleep(heartbeatMs, stopped);
        const passed = clock.monotonic() - monotonic;
        const jumped = passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
        if (jumped) log.info('The machine slept, or its clock was changed: asking about every run');
        await onBeat(jumped);
      }
    } finally {
      this.#beating = false;
    }
  }
}
