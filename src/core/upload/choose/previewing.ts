import { covers } from './draft.ts';
import {
  checkDraft,
  decideFor,
  type PreparationSteps,
  type Prepared,
  selectFolders,
  type Waiting,
} from './preparing.ts';

/** What a preview works with. */
export interface PreviewingDeps<F> {
  readonly steps: PreparationSteps<F>;
  /** Shows the folders; `isNew` when they were not just shown with other choices. */
  readonly show: (prepared: readonly Prepared<F>[], isNew: boolean) => void;
  /** Does work that may take long, where a person sees it and can stop it. */
  readonly inProgress: (work: (waiting: Waiting) => Promise<void>) => PromiseLike<void>;
}

/** What would be sent of some folders, kept up to date with a person's choices. Shown before it is looked through for credentials. */
export class Previewing<F> {
  readonly #deps: PreviewingDeps<F>;
  #shown: readonly Prepared<F>[] = [];
  #stop = new AbortController();
  #checking: AbortSignal | undefined;

  constructor(deps: PreviewingDeps<F>) {
    this.#deps = deps;
  }

  get shown(): readonly Prepared<F>[] {
    return this.#shown;
  }

  /** Selects the files of these folders and shows them; of several that overlap, the latest counts. */
  async open(folders: readonly F[]): Promise<void> {
    const { steps, inProgress } = this.#deps;
    const latest = this.#restart();
    await inProgress(async (waiting) => {
      const mine = { ...waiting, signal: AbortSignal.any([waiting.signal, latest]) };
      const selected = await selectFolders(folders, steps, mine);
      mine.signal.throwIfAborted();
      this.#shown = selected;
      // What a person chose meanwhile counts, too.
      this.#decide(true);
      await this.#check(mine);
    });
  }

  /** Shows what was prepared elsewhere. */
  adopt(prepared: readonly Prepared<F>[]): void {
    this.#restart();
    this.#show(prepared, true);
  }

  /** Applies changed choices to what is shown; looks at the disk only for what is not known yet. */
  async applyChoices(): Promise<void> {
    const { steps, inProgress } = this.#deps;
    if (this.#shown.some(({ folder, draft }) => !covers(draft, steps.choicesOf(folder))))
      return this.reopen();
    this.#decide();
    const isChecking = this.#checking?.aborted === false;
    if (isChecking || this.#uncheckedFolder() === undefined) return;
    const latest = this.#stop.signal;
    await inProgress(async (waiting) =>
      this.#check({ ...waiting, signal: AbortSignal.any([waiting.signal, latest]) }),
    );
  }

  /** Selects anew what is shown, if anything. */
  async reopen(): Promise<void> {
    if (this.#shown.length > 0) await this.open(this.#shown.map(({ folder }) => folder));
  }

  /** Shows only the folders that are still there, selected anew, as soon as one is gone. */
  async keepOnly(isThere: (folder: F) => boolean): Promise<void> {
    const kept = this.#shown.filter(({ folder }) => isThere(folder));
    if (kept.length === this.#shown.length) return;
    if (kept.length === 0) {
      this.close();
      return;
    }
    this.#show(kept, false);
    await this.reopen();
  }

  /** Shows nothing any more; what is being prepared will not be shown. */
  close(): void {
    this.#restart();
    this.#show([], true);
  }

  #restart(): AbortSignal {
    this.#stop.abort();
    this.#stop = new AbortController();
    return this.#stop.signal;
  }

  #show(prepared: readonly Prepared<F>[], isNew: boolean): void {
    this.#shown = prepared;
    this.#deps.show(prepared, isNew);
  }

  #decide(isNew = false): void {
    const { steps } = this.#deps;
    this.#show(
      this.#shown.map((each) => decideFor(each, steps.choicesOf(each.folder), steps)),
      isNew,
    );
  }

  /** Looks through what is shown, and through what a person adds meanwhile. */
  async #check(waiting: Waiting): Promise<void> {
    const { signal } = waiting;
    this.#checking = signal;
    try {
      for (let next = this.#uncheckedFolder(); next !== undefined; next = this.#uncheckedFolder()) {
        const { folder } = next;
        const draft = await checkDraft(next, this.#deps.steps, waiting);
        signal.throwIfAborted();
        this.#shown = this.#shown.map((each) => (each.folder === folder ? { ...each, draft } : each));
        this.#decide();
      }
    } finally {
      if (this.#checking === signal) this.#checking = undefined;
    }
  }

  #uncheckedFolder(): Prepared<F> | undefined {
    return this.#shown.find(({ unchecked }) => unchecked.length > 0);
  }
}
