import { isAbortError } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';

const heartbeatMs = 5_000;
/** A longer gap between heartbeats, or between the two clocks, means that the machine slept or a clock was set. */
const jumpMs = 30_000;

interface HeartbeatDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly stopped: AbortSignal;
  readonly isNeeded: () => boolean;
  readonly onBeat: (jumped: boolean) => Promise<void>;
}

/** Beats every 5 s while `isNeeded`: an idle window holds no timer. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #isBeating = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { stopped, log } = this.#deps;
    if (this.#isBeating || stopped.aborted) return;
    this.#isBeating = true;
    this.#beat().catch((error: unknown) => {
      if (!isAbortError(error)) log.error(`The heartbeat stopped: ${String(error)}`);
    });
  }

  async #beat(): Promise<void> {
    const { clock, log, stopped, isNeeded, onBeat } = this.#deps;
    try {
      while (isNeeded()) {
        const jumped = await nextHeartbeat(clock, stopped);
        if (jumped) log.info('The machine slept, or its clock was changed: polling every run');
        await onBeat(jumped);
      }
    } finally {
      this.#isBeating = false;
    }
  }
}

/** Resolves with the next heartbeat: true when the machine slept meanwhile or a clock was set. */
export async function nextHeartbeat(clock: Clock, stopped: AbortSignal): Promise<boolean> {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  await clock.sleep(heartbeatMs, stopped);
  const passed = clock.monotonic() - monotonic;
  return passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
}
