import { join } from 'node:path';
import type { RunDeps } from '../runDeps.ts';
import { type Lease, takeLease } from './lease.ts';

export class HeldLeases {
  readonly #deps: Pick<RunDeps, 'store' | 'clock' | 'log'>;
  readonly #held = new Map<string, Lease>();
  readonly #failed = new Set<string>();

  constructor(deps: Pick<RunDeps, 'store' | 'clock' | 'log'>) {
    this.#deps = deps;
  }

  ids(): readonly string[] {
    return [...this.#held.keys()];
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  get(id: string): Lease | undefined {
    return this.#held.get(id);
  }

  /** False while a living window, also this one, has the lease. */
  async take(id: string): Promise<boolean> {
    if (this.#held.has(id)) return false;
    const { store, clock } = this.#deps;
    const lease = await takeLease(join(store.folderOf(id), 'lease'), clock);
    if (lease !== undefined) this.#held.set(id, lease);
    return lease !== undefined;
  }

  /** A lease that cannot be released lapses. */
  async release(id: string): Promise<void> {
    const lease = this.#held.get(id);
    this.#held.delete(id);
    await lease?.release().catch((error: unknown) => {
      this.#deps.log.warn(`The lease of run ${id} could not be released: ${String(error)}`);
    });
  }

  async releaseAll(): Promise<void> {
    await Promise.all(this.ids().map((id) => this.release(id)));
  }

  /** False when the lease was lost: then this window no longer drives the run. */
  async renew(id: string): Promise<boolean> {
    const lease = this.#held.get(id);
    if (lease === undefined) return false;
    if (await lease.renew()) return true;
    if (this.#held.get(id) === lease) this.#held.delete(id);
    return false;
  }

  /** A failure with one lease does not stop the others; that lease stays held until another window takes it. */
  async renewAll(): Promise<void> {
    for (const id of this.ids()) {
      try {
        await this.renew(id);
        this.#failed.delete(id);
      } catch (error) {
        // One warning: the disk may be full or read-only for days.
        this.#deps.log[this.#failed.has(id) ? 'debug' : 'warn'](
          `The lease of run ${id} could not be renewed: ${String(error)}`,
        );
        this.#failed.add(id);
      }
    }
  }
}
