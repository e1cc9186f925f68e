import { Worker } from 'node:worker_threads';
import type { FactsAnswer, FactsQuestion } from './factsWorker.ts';
import type { FileFacts } from './fileFacts.ts';

type Take = (facts: readonly FileFacts[]) => void;

/** Files asked about with one message. */
const batchFiles = 512;

/** Asks about files in a thread of its own, while the walk goes on. */
export class FactsThread {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<undefined>();
  /** Who waits for facts about how many files, by batch. */
  readonly #asked: { files: number; take: Take }[][] = [];
  #questions: FactsQuestion[] = [];
  #waiting: { files: number; take: Take }[] = [];
  #files = 0;
  #isClosing = false;

  constructor(workerFile: string | URL) {
    this.#worker = new Worker(workerFile);
    this.#ended.promise.catch(() => undefined);
    this.#worker.on('message', (answer: FactsAnswer) => this.#give(answer));
    this.#worker.on('error', this.#ended.reject);
    this.#worker.on('exit', () => this.#ended.reject(new Error('the thread that asks about files ended')));
  }

  /** Asks about files in `folder` (ends in a separator); `take` is called later, before `end` resolves. */
  ask(folder: string, names: readonly string[], take: Take): void {
    this.#questions.push({ folder, names: names.join('/') });
    this.#waiting.push({ files: names.length, take });
    this.#files += names.length;
    if (this.#files >= batchFiles) this.#post();
  }

  /** Resolves when all that was asked is answered; rejects with the signal's reason. */
  async end(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#files > 0) this.#post();
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
    this.#asked.push(this.#waiting);
    this.#questions = [];
    this.#waiting = [];
    this.#files = 0;
  }

  #give({ sizes, others }: FactsAnswer): void {
    let at = 0;
    for (const { files, take } of this.#asked.shift() ?? []) {
      const facts: FileFacts[] = [];
      for (const end = at + files; at < end; at++) facts.push(others.get(at) ?? toFacts(sizes[at] ?? NaN));
      take(facts);
    }
    if (this.#isClosing && this.#asked.length === 0) this.#ended.resolve(undefined);
  }
}

function toFacts(size: number): FileFacts {
  return size < 0 ? { bytes: -1 - size, isExecutable: true } : { bytes: size, isExecutable: false };
}
