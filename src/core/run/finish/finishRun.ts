import { Emitter } from '../../ports.ts';
import type { RunDeps } from '../runDeps.ts';
import { isFinal, isLive, type Run } from '../state/run.ts';
import { pollIntervalMs, type Schedule } from '../watch/schedule.ts';
import { removeUnneededArchives } from './localCleanup.ts';
import type { UploadRemoval } from './removeUploads.ts';

/** Does what a run's new state asks for: plans its next poll while it is live; else shows its end once, cleans up and releases its lease. */
export class Finisher {
  readonly #deps: RunDeps;
  readonly #schedule: Schedule;
  readonly #uploads: UploadRemoval;
  readonly #ended = new Emitter<Run>();
  /** Runs whose end this window has shown: it is not shown again here where that could not be saved. */
  readonly #shown = new Set<string>();
  readonly #finishing = new Set<string>();

  constructor(deps: RunDeps, schedule: Schedule, uploads: UploadRemoval) {
    this.#deps = deps;
    this.#schedule = schedule;
    this.#uploads = uploads;
  }

  /** Called once, in one window, with each run that reached its end or came to need a person. */
  readonly onDidEnd = this.#ended.event;

  /** True while this window, which drives an ended run, cleans up after it. */
  isFinishing(id: string): boolean {
    return this.#finishing.has(id) && this.#schedule.has(id);
  }

  /** True for an ended run whose end is still to be shown. */
  isNoticeDue(run: Run): boolean {
    return isFinal(run) && run.noticeDue && !this.#shown.has(run.id);
  }

  /** Resolves with the run as its journal then has it; while a run is live, it stays under its lease. */
  async finish(run: Run): Promise<Run> {
    const { store, random } = this.#deps;
    if (isLive(run)) {
      this.#schedule.planPoll(run.id, pollIntervalMs(0, random()));
      return run;
    }
    this.#finishing.add(run.id);
    try {
      await this.#showEnd(run);
      await removeUnneededArchives(run, this.#deps);
      if (isFinal(run)) await this.#uploads.remove(run);
      const latest = await store.refresh(run.id);
      await this.#schedule.release(run.id);
      return latest ?? run;
    } finally {
      this.#finishing.delete(run.id);
    }
  }

  /** Saved before it is shown, so that it is shown once; where that fails, it is shown all the same, and again by the next window. */
  async #showEnd(run: Run): Promise<void> {
    const { store, clock, log } = this.#deps;
    if (!this.#schedule.has(run.id)) return;
    if (this.isNoticeDue(run)) {
      this.#shown.add(run.id);
      await store.apply(run.id, { type: 'endNotified', at: clock.now() }).catch((error: unknown) => {
        log.warn(`Run ${run.id}: that its end was shown could not be saved: ${String(error)}`);
      });
    } else if (run.state !== 'unknown') return;
    this.#ended.fire(run);
  }
}
