import { setImmediate } from 'node:timers/promises';
import type { Disposable } from '../../ports.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { areSameProblems } from './problems.ts';

/** The problems of each file, in the order in which they are handed over. */
export type Problems = ReadonlyMap<string, readonly ShownFinding[]>;

/** Longest work in one go: the thread is shared with every other extension. */
const sliceMs = 10;

/** Hands problems over file by file: only files whose problems are others than before, and in slices, so that no number of them makes a pause. */
export class ProblemFiles implements Disposable {
  readonly #put: (file: string, shown: readonly ShownFinding[]) => Iterable<unknown>;
  readonly #now: () => number;
  /** What was handed over. */
  readonly #done = new Map<string, readonly ShownFinding[]>();
  readonly #due = new Set<string>();
  #wanted: Problems = new Map();
  #isWorking = false;
  #working: Promise<void> = Promise.resolve();
  #isDisposed = false;

  /** `put` hands one file's problems over, none being an empty list, in steps between which it can be let be. */
  constructor(deps: {
    put: (file: string, shown: readonly ShownFinding[]) => Iterable<unknown>;
    now: () => number;
  }) {
    this.#put = deps.put;
    this.#now = deps.now;
  }

  /** Shows these problems and no others; the promise is for the time when they all stand. What was still to be done for an older call is not done any more. */
  showAll(wanted: Problems): Promise<void> {
    this.#wanted = wanted;
    this.#due.clear();
    for (const file of [...this.#done.keys(), ...wanted.keys()]) this.#due.add(file);
    return this.#work();
  }

  /** Shows these problems of these files, and leaves other files as they are. */
  showFiles(files: Iterable<string>, problems: Problems): Promise<void> {
    const wanted = new Map(this.#wanted);
    for (const file of files) {
      this.#due.add(file);
      const shown = problems.get(file);
      if (shown === undefined) wanted.delete(file);
      else wanted.set(file, shown);
    }
    this.#wanted = wanted;
    return this.#work();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#due.clear();
  }

  #work(): Promise<void> {
    if (!this.#isWorking) this.#working = this.#workInSlices();
    return this.#working;
  }

  /** The first slice is done at once: what changes with a keystroke is seen with it. */
  async #workInSlices(): Promise<void> {
    this.#isWorking = true;
    try {
      let start = this.#now();
      for (let [file] = this.#due; file !== undefined; [file] = this.#due) {
        this.#due.delete(file);
        const wanted = this.#wanted.get(file);
        const steps = this.#steps(file, wanted ?? []);
        while (steps.next().done !== true) {
          if (this.#now() - start < sliceMs) continue;
          await setImmediate();
          start = this.#now();
          // Something else may be wanted of this file by now.
          if (this.#isDisposed || this.#wanted.get(file) !== wanted) break;
        }
      }
    } finally {
      this.#isWorking = false;
    }
  }

  *#steps(file: string, shown: readonly ShownFinding[]): Generator {
    if (!areSameProblems(shown, this.#done.get(file) ?? [])) yield* this.#put(file, shown);
    if (shown.length === 0) this.#done.delete(file);
    else this.#done.set(file, shown);
    yield;
  }
}
