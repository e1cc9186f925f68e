import { includedBy } from './choices.ts';
import { checkFiles, applyChoices, type PreparationSteps, type PreparedFolder, selectFolders, type StepProgress } from './prepareUpload.ts'; // prettier-ignore

interface PreviewDeps<F> {
  readonly steps: PreparationSteps<F>;
  /** `isNew` is true for a new selection, and false for a change to the one that is shown. */
  readonly show: (prepared: readonly PreparedFolder<F>[], isNew: boolean) => void;
  readonly inProgress: (work: (progress: StepProgress) => Promise<void>) => PromiseLike<void>;
}

/** The selected files are shown before the secret check, which may take a while. */
export class PreviewModel<F> {
  readonly #deps: PreviewDeps<F>;
  #shown: readonly PreparedFolder<F>[] = [];
  #current = new AbortController();
  #checking: AbortSignal | undefined;

  constructor(deps: PreviewDeps<F>) {
    this.#deps = deps;
  }

  get shown(): readonly PreparedFolder<F>[] {
    return this.#shown;
  }

  async open(folders: readonly F[]): Promise<void> {
    this.#replace();
    await this.#inProgress(async (progress) => {
      const selected = await selectFolders(folders, this.#deps.steps, progress);
      progress.signal.throwIfAborted();
      this.#shown = selected;
      this.#applyChoices(true);
      await this.#check(progress);
    });
  }

  adopt(prepared: readonly PreparedFolder<F>[]): void {
    this.#replace();
    this.#show(prepared, true);
  }

  /** Repeats the selection only if the paths that a user includes have changed. */
  async applyChoices(): Promise<void> {
    const { steps } = this.#deps;
    if (this.#shown.some(({ folder, include }) => !haveSame(include, includedBy(steps.choicesOf(folder)))))
      return this.reopen();
    this.#applyChoices();
    if (this.#checking?.aborted === false || this.#uncheckedFolder() === undefined) return;
    await this.#inProgress((progress) => this.#check(progress));
  }

  async reopen(): Promise<void> {
    if (this.#shown.length > 0) await this.open(this.#shown.map(({ folder }) => folder));
  }

  async keepOnly(isPresent: (folder: F) => boolean): Promise<void> {
    const kept = this.#shown.filter(({ folder }) => isPresent(folder));
    if (kept.length === this.#shown.length) return;
    if (kept.length === 0) {
      this.close();
      return;
    }
    this.#show(kept, false);
    await this.reopen();
  }

  close(): void {
    this.adopt([]);
  }

  #replace(): void {
    this.#current.abort();
    this.#current = new AbortController();
  }

  async #inProgress(work: (progress: StepProgress) => Promise<void>): Promise<void> {
    const current = this.#current.signal;
    await this.#deps.inProgress((progress) =>
      work({ ...progress, signal: AbortSignal.any([progress.signal, current]) }),
    );
  }

  #show(prepared: readonly PreparedFolder<F>[], isNew: boolean): void {
    this.#shown = prepared;
    if (prepared.length === 0) this.#deps.steps.forget();
    this.#deps.show(prepared, isNew);
  }

  #applyChoices(isNew = false): void {
    const { steps } = this.#deps;
    const prepared = this.#shown.map((each) =>
      applyChoices(each, steps.choicesOf(each.folder), steps.rules()),
    );
    this.#show(prepared, isNew);
  }

  async #check(progress: StepProgress): Promise<void> {
    const { signal } = progress;
    this.#checking = signal;
    try {
      for (let next = this.#uncheckedFolder(); next !== undefined; next = this.#uncheckedFolder()) {
        const { folder, checks } = await checkFiles(next, next.unchecked, this.#deps.steps, progress);
        signal.throwIfAborted();
        this.#shown = this.#shown.map((each) => (each.folder === folder ? { ...each, checks } : each));
        this.#applyChoices();
      }
    } finally {
      if (this.#checking === signal) this.#checking = undefined;
    }
  }

  #uncheckedFolder(): PreparedFolder<F> | undefined {
    return this.#shown.find(({ unchecked }) => unchecked.length > 0);
  }
}

function haveSame(one: readonly string[], other: readonly string[]): boolean {
  const known = new Set(one);
  return one.length === other.length && other.every((path) => known.has(path));
}
