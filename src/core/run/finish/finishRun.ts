import { Emitter, type Event } from '../../ports.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import type { RunDeps } from '../runDeps.ts';
import { isFinal, type Run } from '../state/run.ts';
import { removeUnneededArchives } from './localCleanup.ts';
import type { UploadRemoval } from './removeUploads.ts';

interface FinishDeps extends RunDeps {
  readonly leases: HeldLeases;
  readonly uploads: UploadRemoval;
}

/** Finishes runs that this window drives and that have ended or wait for a person: shows that once, cleans up, and releases the lease. */
export class Finisher {
  readonly #deps: FinishDeps;
  readonly #ended: Emitter<Run>;
  /** Runs whose end this window has shown: it is shown once here even where that could not be saved. */
  readonly #shown = new Set<string>();
  readonly #finishing = new Set<string>();

  constructor(deps: FinishDeps) {
    this.#deps = deps;
    this.#ended = new Emitter(deps.log);
    this.onDidEnd = this.#ended.event;
  }

  /** Called once, in one window, with each run that has ended or waits for a person. */
  readonly onDidEnd: Event<Run>;

  isFinishing(id: string): boolean {
    return this.#finishing.has(id) && this.#deps.leases.has(id);
  }

  isNoticeDue(run: Run): boolean {
    return isFinal(run) && run.noticeDue && !this.#shown.has(run.id);
  }

  /** Shows the end, removes local archives and uploads, and releases the lease last. Returns the run as its journal then has it. */
  async finish(run: Run): Promise<Run> {
    this.#finishing.add(run.id);
    try {
      await this.#showEnd(run);
      await removeUnneededArchives(run, this.#deps);
      if (isFinal(run)) await this.#deps.uploads.remove(run);
      const latest = await this.#deps.store.refresh(run.id);
      await this.#deps.leases.release(run.id);
      return latest ?? run;
    } finally {
      this.#finishing.delete(run.id);
    }
  }

  /** The notice is saved before it is shown, so that one window shows it. Where that fails, it is shown here, and again by the next window. */
  async #showEnd(run: Run): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (!this.#deps.leases.has(run.id)) return;
    const isDue = this.isNoticeDue(run);
    // A lost dispatch is shown each time.
    if (!isDue && run.state !== 'unknown') return;
    if (isDue) {
      this.#shown.add(run.id);
      await store.apply(run.id, { type: 'endNotified', at: clock.now() }).catch((error: unknown) => {
        log.warn(`Run ${run.id}: the note that its end was shown could not be saved: ${String(error)}`);
      });
    }
    this.#ended.fire(run);
  }
}
