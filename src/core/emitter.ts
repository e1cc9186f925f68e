import type { Disposable, Event } from './ports.ts';

/** Calls the listeners of an event, in the order in which they subscribed; the owner shows others only `event`. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Subscribes a listener. */
  readonly event: Event<T> = (listener): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  /** Calls every listener that is subscribed at the start of the call. */
  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
