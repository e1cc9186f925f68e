import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from './errors.ts';
import { type Clock, Emitter, type Event, type Logger, systemClock } from './ports.ts';

/** All extensions share the extension host's thread, so a slice must be short. */
const sliceMs = 8;

export async function inParallel<T>(
  items: Iterable<T>,
  maxAtOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const workOn = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: maxAtOnce }, workOn));
}

/** Yields to other work every few milliseconds. */
export async function inSlices<T>(steps: Iterator<unknown, T>, signal?: AbortSignal): Promise<T> {
  signal?.throwIfAborted();
  let pauseAt = performance.now() + sliceMs;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (performance.now() < pauseAt) continue;
    await setImmediate();
    signal?.throwIfAborted();
    pauseAt = performance.now() + sliceMs;
  }
}

export function inBackground(work: PromiseLike<unknown>, log: Logger): void {
  work.then(undefined, (error: unknown) =>
    log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
}

/** Does the work at the first call. Later calls share the result, or try again after a failure. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

export function lazily<T>(make: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: make() }).value;
}

export function memoized<From, To>(
  ask: (from: From) => Promise<To>,
  keyOf: (from: From) => string,
): typeof ask {
  const answers = new Map<string, Promise<To>>();
  return (from) => {
    const key = keyOf(from);
    const answer = answers.get(key) ?? ask(from);
    answers.set(key, answer);
    return answer;
  };
}

/** When the signal aborts, throws its reason. The work, which others may await, continues. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The limit for VS Code or another extension to respond. */
const maxAnswerMs = 10_000;
/** The limit for longer work, such as a whole file or a question to a user. */
export const maxTransferMs = 120_000;

/**
 * Throws `noAnswer` after `maxMs`, or an `AbortError` when the signal aborts. The work itself can't
 * be stopped: a late answer is lost, and a late failure is ignored.
 */
export async function answerOf<T>(
  work: PromiseLike<T>,
  subject: string,
  { clock = systemClock, maxMs = maxAnswerMs, signal }: AnswerOptions = {},
): Promise<T> {
  const answered = new AbortController();
  const limit = async (): Promise<never> => {
    await clock.sleep(maxMs, AbortSignal.any([answered.signal, ...(signal === undefined ? [] : [signal])]));
    throw new AssessmentError('noAnswer', { subject });
  };
  try {
    return await Promise.race([work, limit()]);
  } finally {
    answered.abort();
  }
}

interface AnswerOptions {
  readonly clock?: Pick<Clock, 'sleep'>;
  readonly maxMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** The longest wait for a folder, such as a network share that doesn't respond. */
const maxSilenceMs = 2_000;
const maxCallsToFolder = 2;
const maxCalls = 3;

interface CalledFolder {
  outstanding: number;
  /** True from the timeout of a call until a late call returns. */
  isSilent: boolean;
}

/**
 * Limits the calls to folders, such as workspace folders. The extension host has four threads for
 * the asynchronous file access and name lookups of all extensions. A call to a share that doesn't
 * respond occupies a thread until it returns. So calls are counted until they return, even if
 * nobody waits for them. At most three run at a time, so that one thread is left for other work.
 */
export class FolderCalls {
  readonly #answered: Emitter<string>;
  readonly #folders = new Map<string, CalledFolder>();
  #outstanding = 0;
  /** The calls among `#outstanding` that nobody waits for any more. */
  #late = 0;
  /** The oldest call comes first. */
  #waiting: { readonly state: CalledFolder; readonly goOn: (mayCall: boolean) => void }[] = [];

  constructor(log: Logger) {
    this.#answered = new Emitter(log);
    this.onDidAnswer = this.#answered.event;
  }

  /** Fires with the folder when a late call returns, so that refused calls can be repeated. */
  readonly onDidAnswer: Event<string>;

  /**
   * Throws `noAnswer` two seconds after the call began, or at once while the folder is silent or
   * three calls are late. `call` must run one file operation at a time, and must not use `ask`.
   */
  async ask<T>(folder: string, call: () => Promise<T>): Promise<T> {
    const state = this.#folders.get(folder) ?? { outstanding: 0, isSilent: false };
    this.#folders.set(folder, state);
    const mayCall =
      this.#turnOf(state) ?? (await new Promise<boolean>((goOn) => this.#waiting.push({ state, goOn })));
    if (!mayCall) throw new AssessmentError('noAnswer', { subject: folder });
    let isLate = false;
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        isLate = true;
        state.isSilent = true;
        this.#late += 1;
        reject(new AssessmentError('noAnswer', { subject: folder }));
        this.#goOn();
      }, maxSilenceMs);
      const onReturn = (): void => {
        clearTimeout(timer);
        state.outstanding -= 1;
        this.#outstanding -= 1;
        if (isLate) {
          state.isSilent = false;
          this.#late -= 1;
          this.#answered.fire(folder);
        }
        this.#goOn();
      };
      call().finally(onReturn).then(resolve, reject);
    });
  }

  /** True if the call may begin, false if it is refused, undefined if it must wait. */
  #turnOf(state: CalledFolder): boolean | undefined {
    if (state.isSilent || this.#late === maxCalls) return false;
    if (state.outstanding === maxCallsToFolder || this.#outstanding === maxCalls) return undefined;
    state.outstanding += 1;
    this.#outstanding += 1;
    return true;
  }

  #goOn(): void {
    this.#waiting = this.#waiting.filter(({ state, goOn }) => {
      const mayCall = this.#turnOf(state);
      if (mayCall !== undefined) goOn(mayCall);
      return mayCall === undefined;
    });
  }
}
