import { setTimeout as sleep } from 'node:timers/promises';

// The core needs these from its surroundings. The editor's objects satisfy most of them.

/** Log lines must not contain tokens, presigned queries, or file contents. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface SecretStore {
  get(key: string, signal?: AbortSignal): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
}

export interface KeyValueStore {
  keys(): readonly string[];
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

export interface Clock {
  /** The wall clock's time, in milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only increase. On some systems they stop while the machine sleeps. */
  monotonic(): number;
  /** Rejects with an `AbortError` when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * The result returns the milliseconds since this call. The clock that has advanced more counts,
 * because the monotonic clock may stop while the machine sleeps.
 */
export function stopwatch(clock: Clock): () => number {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => Math.max(clock.now() - wall, clock.monotonic() - monotonic);
}

export interface Disposable {
  dispose(): void;
}

/** Like the editor's `Event`: disposing the result unsubscribes. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Calls listeners in the order of their subscriptions, and logs their errors. */
export class Emitter<T> {
  readonly #log: Logger;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(log: Logger) {
    this.#log = log;
  }

  readonly event: Event<T> = (listener): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#log.error(`A listener failed: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
      }
    }
  }
}

export type OnBytes = (done: number, total: number) => void;
