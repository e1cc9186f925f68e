import type { RunEvent } from '../../../src/core/run/state/advance.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';

/** When a process dies, by one write of a journal: with the write undone, under way, or done. */
export type Phase = 'before' | 'during' | 'after';

const never = new Promise<never>(() => undefined);

/** A store whose process dies at one write of a journal: nothing that awaits the write goes on. */
export class DyingStore extends RunStore {
  #writesLeft = Infinity;
  #phase: Phase = 'before';
  #die: () => void = () => undefined;
  /** Resolves when the process dies. */
  readonly died = new Promise<void>((resolve) => {
    this.#die = resolve;
  });

  /** Sets the write to die at, from 1. */
  dieAt(write: number, phase: Phase): void {
    [this.#writesLeft, this.#phase] = [write, phase];
  }

  override async create(run: Run): Promise<void> {
    await this.#orDie(() => super.create(run));
  }

  override async apply(id: string, event: RunEvent): Promise<Run> {
    return this.#orDie(() => super.apply(id, event));
  }

  override async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    return this.#orDie(() => super.applyIfDue(id, event));
  }

  async #orDie<T>(write: () => Promise<T>): Promise<T> {
    this.#writesLeft -= 1;
    if (this.#writesLeft > 0) return write();
    if (this.#writesLeft === 0) {
      if (this.#phase === 'after') await write();
      if (this.#phase === 'during') write().catch(() => undefined);
      this.#die();
    }
    return never;
  }
}
