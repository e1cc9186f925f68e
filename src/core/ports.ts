import { setTimeout as sleep } from 'node:timers/promises';

// What the core needs of its surroundings, as structural types that the editor's objects satisfy.

/** A `LogOutputChannel`. Its lines hold no tokens, presigned queries or file contents. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The editor's `SecretStorage`. */
export interface SecretStore {
  get(key: string, signal?: AbortSignal): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
}

/** The editor's `Memento`. */
export interface KeyValueStore {
  keys(): readonly string[];
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** Replaced in tests. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only grow; on some systems they stop while the machine sleeps. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with an `AbortError` when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export interface Disposable {
  dispose(): void;
}

/** The editor's `Event`: disposing the result unsubscribes. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/**
 * Calls listeners in the order in which they subscribed; an error of one is logged. The owner
 * exposes only `event`.
 */
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
