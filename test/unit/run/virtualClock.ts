import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../../src/core/ports.ts';
import type { Scope } from './tempFolder.ts';

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** `advance` moves both clocks, `moveWall` the wall clock only. */
export class VirtualClock implements Clock {
  #wall = Date.now();
  #monotonic = 1_000;
  #sleepers: Sleeper[] = [];
  #onSleep = new Set<() => void>();
  /** The durations of all sleeps are in order. */
  readonly slept: number[] = [];

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const leave = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      const sleeper: Sleeper = { due: this.#monotonic + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', abort);
      for (const listener of [...this.#onSleep]) listener();
    });
  }

  advance(ms: number): void {
    this.#wall += ms;
    // `performance.now()` has fractions of a millisecond.
    this.#monotonic += ms + 2 ** -10;
    for (const sleeper of this.#sleepers.filter(({ due }) => due <= this.#monotonic)) sleeper.wake();
  }

  /** Changes the wall clock alone, as a sleeping machine or a corrected clock does. */
  moveWall(ms: number): void {
    this.#wall += ms;
  }

  async whenAsleep(): Promise<void> {
    if (this.#sleepers.length > 0) return;
    await new Promise<void>((resolve) => {
      const listener = (): void => {
        this.#onSleep.delete(listener);
        resolve();
      };
      this.#onSleep.add(listener);
    });
  }

  /**
   * Advances the time from sleep to sleep until the promise settles, never while a request, thread,
   * disk work, or real timer is running.
   */
  async passUntil<T>(promise: Promise<T>, traffic: Traffic): Promise<T> {
    let closed = false;
    const noted = promise.then(
      () => void (closed = true),
      () => void (closed = true),
    );
    const isClosed = (): boolean => closed;
    while (!isClosed()) {
      if (this.#sleepers.length === 0) await Promise.race([noted, this.whenAsleep()]);
      await whenStill(traffic, noted, isClosed);
      if (isClosed()) break;
      const next = Math.min(...this.#sleepers.map(({ due }) => due));
      if (Number.isFinite(next)) this.advance(Math.max(0, next - this.#monotonic));
    }
    return promise;
  }

  /**
   * Resolves when no request, thread, disk work or real timer is running, without advancing the
   * time.
   */
  async rest(traffic: Traffic): Promise<void> {
    await whenStill(traffic, new Promise(() => undefined), () => false);
  }
}

/**
 * Resolves when no request, work on the disk or real timer has been under way for some turns of the
 * event loop: one quiet turn may lie between two steps of the same work. A turn makes no promise,
 * since the test runner follows each of them at many times its own cost.
 */
function whenStill(traffic: Traffic, end: Promise<void>, isOver: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let quietTurns = 0;
    let workTurns = 0;
    const turn = (): void => {
      const isBusy = traffic.isBusy();
      workTurns = !isBusy && hasWork(traffic.othersTimers) ? workTurns + 1 : 0;
      quietTurns = isBusy || workTurns > 0 ? 0 : quietTurns + 1;
      if (isOver() || quietTurns === 4) resolve();
      else if (isBusy) void Promise.race([end, traffic.whenQuiet()]).then(() => setImmediate(turn));
      // Longer work waits for the disk itself.
      else if (workTurns > 20) {
        ownTimers += 1;
        setTimeout(() => {
          ownTimers -= 1;
          setImmediate(turn);
        }, 1);
      } else setImmediate(turn);
    };
    setImmediate(turn);
  });
}

let ownTimers = 0;

/**
 * Virtual time must not advance while this process reads or writes files, connects, or waits in
 * real time.
 */
function hasWork(othersTimers: number): boolean {
  const kinds = process.getActiveResourcesInfo();
  if (kinds.some((kind) => kind.includes('Req') || kind === 'TCPConnectWrap')) return true;
  return countTimers(kinds) > othersTimers + ownTimers;
}

function countTimers(kinds: readonly string[]): number {
  return kinds.filter((kind) => kind === 'Timeout').length;
}

export interface Traffic {
  readonly isBusy: () => boolean;
  readonly whenQuiet: () => Promise<void>;
  /** These real timers were running before, as those of the test runner. */
  readonly othersTimers: number;
}

export function watchTraffic(t: Scope): Traffic {
  const underWay = new Set<ClientRequest | Worker>();
  let waiting: (() => void)[] = [];
  const end = (one: ClientRequest | Worker): void => {
    underWay.delete(one);
    if (underWay.size > 0) return;
    for (const go of waiting) go();
    waiting = [];
  };
  const onRequest = (message: unknown): void => {
    const { request } = message as { request: ClientRequest };
    underWay.add(request);
    request.once('close', () => end(request));
  };
  const onThread = (worker: Worker): void => {
    underWay.add(worker);
    // Every fixture of a test adds listeners.
    worker.setMaxListeners(0);
    worker.once('exit', () => end(worker));
  };
  subscribe('http.client.request.created', onRequest);
  process.on('worker', onThread);
  t.after(() => {
    unsubscribe('http.client.request.created', onRequest);
    process.off('worker', onThread);
  });
  return {
    othersTimers: countTimers(process.getActiveResourcesInfo()),
    isBusy: () => underWay.size > 0,
    whenQuiet: () =>
      underWay.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
  };
}
