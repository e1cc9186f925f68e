import type { RunEvent } from '../../../src/core/run/state/advance.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';

/** When the process crashes, relative to one write of a journal. */
export type Phase = 'before' | 'during' | 'after';

const never = new Promise<never>(() => undefined);

/** A store that simulates a crash at one write of a journal: the write never resolves. */
export class CrashingStore extends RunStore {
  #writesLeft = Infinity;
  #phase: Phase = 'before';
  #crash: () => void = () => undefined;
  readonly crashed = new Promise<void>((resolve) => {
    this.#crash = resolve;
  });

  crashAt(write: number, phase: Phase): void {
    [this.#writesLeft, this.#phase] = [write, phase];
  }

  override async create(run: Run): Promise<Run> {
    return this.#orCrash(() => super.create(run));
  }

  override async apply(id: string, event: RunEvent): Promise<Run> {
    return this.#orCrash(() => super.apply(id, event));
  }

  override async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    return this.#orCrash(() => super.applyIfDue(id, event));
  }

  async #orCrash<T>(write: () => Promise<T>): Promise<T> {
    this.#writesLeft -= 1;
    if (this.#writesLeft > 0) return write();
    if (this.#writesLeft === 0) {
      if (this.#phase === 'after') await write();
      if (this.#phase === 'during') write().catch(() => undefined);
      this.#crash();
    }
    return never;
  }
}
