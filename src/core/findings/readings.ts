/** One reading at a time, each with what is known when it begins. */
export class Readings {
  readonly #read: (isAnew: boolean) => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #left = 0;
  /** A reading anew that has not begun: whoever wants one by then gets that one. */
  #next: Promise<void> | undefined;

  /** `read` reads what should be shown, with `isAnew` also what is shown already. */
  constructor(read: (isAnew: boolean) => Promise<void>) {
    this.#read = read;
  }

  /** True while a reading is under way, or wanted. */
  get areUnderWay(): boolean {
    return this.#left > 0;
  }

  /** Reads what should be shown now. Throws what this reading throws. */
  refresh(): Promise<void> {
    return this.#begin(() => this.#read(false));
  }

  /** Reads all anew. Throws what this reading throws. */
  reload(): Promise<void> {
    this.#next ??= this.#begin(() => {
      this.#next = undefined;
      return this.#read(true);
    });
    return this.#next;
  }

  /** Waits for the reading under way, whose failure is for those who asked for it. */
  over(): Promise<void> {
    return this.#last.catch(() => undefined);
  }

  #begin(read: () => Promise<void>): Promise<void> {
    this.#left += 1;
    this.#last = this.over()
      .then(read)
      .finally(() => {
        this.#left -= 1;
      });
    return this.#last;
  }
}
