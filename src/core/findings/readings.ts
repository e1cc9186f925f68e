/** One reading at a time, each with what is known when it begins. */
export class Readings {
  readonly #read: (isAnew: boolean) => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  /** A reading anew that has not begun: whoever wants one by then gets that one. */
  #next: Promise<void> | undefined;

  /** `read` reads what should be shown, with `isAnew` also what is shown already. */
  constructor(read: (isAnew: boolean) => Promise<void>) {
    this.#read = read;
  }

  /** Reads what should be shown now. Throws what this reading throws. */
  refresh(): Promise<void> {
    this.#last = this.over().then(() => this.#read(false));
    return this.#last;
  }

  /** Reads all anew. Throws what this reading throws. */
  reload(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    this.#next = this.over().then(() => {
      this.#next = undefined;
      return this.#read(true);
    });
    this.#last = this.#next;
    return this.#last;
  }

  /** Waits for the reading under way, whose failure is for those who asked for it. */
  over(): Promise<void> {
    return this.#last.catch(() => undefined);
  }
}
