import type { Network } from '../../api/connection.ts';
import type { Clock } from '../../ports.ts';
import { isOffline } from '../state/deadlines.ts';
import type { Run } from '../state/run.ts';

const heartbeatMs = 5_000;
/** A longer gap between heartbeats, or between the clocks, means sleep or a changed clock. */
const jumpMs = 30_000;
/** A longer step may be sleep, which the monotonic clock of some systems counts. */
const maxStepMs = 60 * 60 * 1000;

/** Resolves with the next heartbeat: true when the machine slept or its clock was changed meanwhile. */
export async function nextHeartbeat(clock: Clock, stopped: AbortSignal): Promise<boolean> {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  await clock.sleep(heartbeatMs, stopped);
  const passed = clock.monotonic() - monotonic;
  return passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
}

/** Measures time while this machine is awake, from one step to the next, by the monotonic clock: a sum of steps is not misled by a wall clock that jumps. */
export class WakingTime {
  readonly #clock: Clock;
  readonly #lastSteps = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waking milliseconds since the last step with this key in this window; 0 for the first. */
  step(key: string): number {
    const now = this.#clock.monotonic();
    const last = this.#lastSteps.get(key) ?? now;
    this.#lastSteps.set(key, now);
    return Math.min(now - last, maxStepMs);
  }
}

/** Detects from one heartbeat to the next that the network is back, for which there is no event. */
export class NetworkReturn {
  readonly #network: Network | undefined;
  /** Whether each service that runs could not reach was reachable when it was last checked. */
  readonly #reached = new Map<string, boolean>();
  #addresses = '';

  constructor(network: Network | undefined) {
    this.#network = network;
  }

  /**
   * The runs to poll now: those whose service can be reached again. Each service counts as back once, so that one which accepts connections and
   * nothing more is not polled at every heartbeat.
   */
  async returned(runs: readonly Run[]): Promise<readonly Run[]> {
    const offline = runs.filter(isOffline);
    const services = new Set(offline.map(({ baseUrl }) => baseUrl));
    for (const baseUrl of this.#reached.keys()) if (!services.has(baseUrl)) this.#reached.delete(baseUrl);
    if (this.#network === undefined || services.size === 0) return [];
    const addresses = this.#network.addresses();
    // Behind a proxy no direct connection succeeds: a change of this machine's addresses counts instead.
    const hasMoved = this.#addresses !== '' && addresses !== '' && addresses !== this.#addresses;
    if (addresses !== '') this.#addresses = addresses;
    const back = new Set(hasMoved ? services : []);
    for (const baseUrl of services) {
      const isReached = await this.#network.reaches(baseUrl);
      if (isReached && this.#reached.get(baseUrl) !== true) back.add(baseUrl);
      this.#reached.set(baseUrl, isReached);
    }
    return offline.filter(({ baseUrl }) => back.has(baseUrl));
  }
}
