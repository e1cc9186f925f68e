import { setImmediate } from 'node:timers/promises';
import { FactsThread } from './factsThread.ts';
import { type Folder, FolderVisits, type VisitHost, type WalkOptions } from './folderVisit.ts';
import type { Found } from './found.ts';
import type { IgnoreRule } from './ignoreRules.ts';
import type { RuleLayer } from './ruleLayers.ts';

/** Visits that wait for the file system at a time. */
const parallelVisits = 8;
/** The longest time, in ms, that the walk keeps the event loop to itself. */
const sliceMs = 5;

/** With fewer files than this a second thread takes longer to start than it saves. */
const manyFiles = 15_000;

/**
 * Walks a folder once. Rejects with the signal's reason when cancelled. Files' sizes are asked in a second thread; to walk there too was no
 * faster, since each file's path has to be sent back and made again.
 */
export async function walkFolder(
  options: WalkOptions,
  layers: readonly RuleLayer[],
  ignoredBy: IgnoreRule | undefined,
): Promise<readonly Found[]> {
  if (ignoredBy !== undefined && (options.include ?? []).length === 0) {
    return [{ path: './', reason: { kind: 'ignored', rule: ignoredBy } }];
  }
  const top: Folder = { path: '', key: '', layers, ignoredBy, found: [] };
  await new Walk(options, top).run();
  return top.found;
}

class Walk implements VisitHost {
  readonly #options: WalkOptions;
  readonly #visits: FolderVisits;
  readonly #folders: Folder[];
  #files = 0;
  #running = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #sliceStart = performance.now();
  #pausing: Promise<void> | undefined;
  #factsThread: FactsThread | undefined;

  constructor(options: WalkOptions, top: Folder) {
    this.#options = options;
    this.#folders = [top];
    this.#visits = new FolderVisits(options, this);
  }

  get factsThread(): FactsThread | undefined {
    return this.#factsThread;
  }

  open(folder: Folder): void {
    this.#folders.push(folder);
  }

  count(files: number): Promise<void> | undefined {
    this.#files += files;
    const { workerFile } = this.#options;
    if (this.#files > manyFiles && workerFile !== undefined)
      this.#factsThread ??= new FactsThread(workerFile);
    return this.#pauseWhenDue();
  }

  async run(): Promise<void> {
    try {
      await this.#visitAll();
      await this.#factsThread?.end(this.#options.signal);
    } finally {
      await this.#factsThread?.close();
    }
    this.#options.signal?.throwIfAborted();
    this.#options.onProgress?.(this.#files);
  }

  async #visitAll(): Promise<void> {
    for (;;) {
      const more = this.#failure === undefined && this.#running < parallelVisits;
      const folder = more ? this.#folders.pop() : undefined;
      if (folder !== undefined) void this.#visit(folder);
      else if (this.#running > 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      else break;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #visit(folder: Folder): Promise<void> {
    this.#running++;
    try {
      this.#options.signal?.throwIfAborted();
      await this.#visits.visit(folder);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#running--;
    this.#wake?.();
  }

  #pauseWhenDue(): Promise<void> | undefined {
    if (performance.now() - this.#sliceStart > sliceMs) this.#pausing ??= this.#pause();
    return this.#pausing;
  }

  /** Lets the event loop go round, once for all visits. */
  async #pause(): Promise<void> {
    await setImmediate();
    this.#pausing = undefined;
    this.#sliceStart = performance.now();
    this.#options.onProgress?.(this.#files);
  }
}
