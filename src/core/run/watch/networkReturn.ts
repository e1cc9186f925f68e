import type { Network } from '../../api/connection.ts';
import { isOffline } from '../state/deadlines.ts';
import type { Run } from '../state/run.ts';

/** Notices that the network has come back, for which there is no event, from one heartbeat to the next. */
export class NetworkReturn {
  readonly #network: Network | undefined;
  /** What was last seen of each service that could not be reached. */
  readonly #reached = new Map<string, boolean>();
  #addresses = '';

  constructor(network: Network | undefined) {
    this.#network = network;
  }

  /**
   * The runs to ask about now: those of services that can be reached again. A service that was seen to be reachable counts as back once, so
   * that one which takes connections and nothing more is not asked at every heartbeat.
   */
  async returned(runs: readonly Run[]): Promise<readonly Run[]> {
    const offline = runs.filter(isOffline);
    const services = new Set(offline.map(({ baseUrl }) => baseUrl));
    for (const baseUrl of this.#reached.keys()) if (!services.has(baseUrl)) this.#reached.delete(baseUrl);
    if (this.#network === undefined || services.size === 0) return [];
    const addresses = this.#network.addresses();
    // Behind a proxy no connection of our own comes about: a change of the machine's network has to do.
    const moved = this.#addresses !== '' && addresses !== '' && addresses !== this.#addresses;
    if (addresses !== '') this.#addresses = addresses;
    const back = new Set(moved ? services : []);
    for (const baseUrl of services) {
      const isReached = await this.#network.reaches(baseUrl);
      if (isReached && this.#reached.get(baseUrl) !== true) back.add(baseUrl);
      this.#reached.set(baseUrl, isReached);
    }
    return offline.filter(({ baseUrl }) => back.has(baseUrl));
  }
}
