import { Worker } from 'node:worker_threads';
import type { FactsAnswer, FactsQuestion } from './factsWorker.ts';
import type { FileFacts } from './fileFacts.ts';
import { type Found, learn } from './found.ts';

/** Files that were asked about: those among `found` from `from` to before `to`. */
interface Asked {
  readonly found: Found[];
  readonly from: number;
  readonly to: number;
  readonly files: number;
}

/** Files asked about with one message. */
const batchFiles = 512;

/** Asks about files in a thread of its own, while the walk goes on. */
export class FactsThread {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<undefined>();
  /** By message. */
  readonly #asked: (readonly Asked[])[] = [];
  #questions: FactsQuestion[] = [];
  #next: Asked[] = [];
  #files = 0;
  #isClosing = false;

  constructor(workerFile: string | URL) {
    this.#worker = new Worker(workerFile);
    this.#ended.promise.catch(() => undefined);
    this.#worker.on('message', (answer: FactsAnswer) => this.#give(answer));
    this.#worker.on('error', this.#ended.reject);
    this.#worker.on('exit', () => this.#ended.reject(new Error('the thread that asks about files ended')));
  }

  /** Asks about the files of `folder` (ends in a separator) among `found`, from `from` on; what is known of them is put there before `end` resolves. */
  ask(folder: string, names: readonly string[], found: Found[], from: number): void {
    this.#questions.push({ folder, names: names.join('/') });
    this.#next.push({ found, from, to: found.length, files: names.length });
    this.#files += names.length;
    if (this.#files >= batchFiles) this.#post();
  }

  /** Resolves when all that was asked is answered; rejects with the signal's reason. */
  async end(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#questions.length > 0) this.#post();
    this.#isClosing = true;
    if (this.#asked.length === 0) return;
    const onAbort = (): void => this.#ended.reject(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    try {
      await this.#ended.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(): void {
    this.#worker.postMessage(this.#questions);
    this.#asked.push(this.#next);
    this.#questions = [];
    this.#next = [];
    this.#files = 0;
  }

  #give({ sizes, others }: FactsAnswer): void {
    let first = 0;
    for (const { found, from, to, files } of this.#asked.shift() ?? []) {
      learn(found, from, to, (number) => {
        const at = first + number;
        return others.get(at) ?? toFacts(sizes[at] ?? NaN);
      });
      first += files;
    }
    if (this.#isClosing && this.#asked.length === 0) this.#ended.resolve(undefined);
  }
}

function toFacts(size: number): FileFacts {
  return size < 0 ? { bytes: -1 - size, isExecutable: true } : { bytes: size, isExecutable: false };
}
