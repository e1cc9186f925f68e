import { setTimeout as sleep } from 'node:timers/promises';

/** What the core asks of its surroundings, as structural types that the editor's own objects satisfy. */

/** A `LogOutputChannel`, or anything that takes its lines; never given tokens, presigned queries or file contents. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The editor's `SecretStorage`. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
}

/** The editor's `Memento`. */
export interface KeyValueStore {
  keys(): readonly string[];
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** Time, so that tests can own it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only grow; stands still while the machine sleeps on some systems. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with an `AbortError` when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system's clocks and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** Anything that can be let go. */
export interface Disposable {
  dispose(): void;
}

/** The editor's `Event`: subscribe with a listener, unsubscribe by disposing what comes back. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Calls the listeners of an event, in the order in which they subscribed; the owner shows others only `event`. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  /** Calls every listener that is subscribed at the start of the call. */
  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

/** Reports done and total bytes of a step. */
export type OnBytes = (done: number, total: number) => void;
