import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from './errors.ts';
import { type Clock, Emitter, type Event, type Logger, systemClock } from './ports.ts';

/** The thread is shared with every other extension. */
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

/** Takes steps, and yields to other work every few milliseconds. Throws the signal's reason. */
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

/** For work that nobody awaits; a failure is logged. */
export function inBackground(work: PromiseLike<unknown>, log: Logger): void {
  work.then(undefined, (error: unknown) =>
    log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
}

/**
 * Works at the first call; later calls share the result. After a failure, the next call works
 * again.
 */
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

/** `once` for work that has its result at once. */
export function lazily<T>(make: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: make() }).value;
}

/** Asks once for each key. */
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

/**
 * The result of work that others may also wait for. After the signal aborts, throws its reason, and
 * the work goes on.
 */
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

/** How long the host, or another extension, may take to answer. */
const maxAnswerMs = 10_000;
/** The same for a whole file, and where a user may be asked. */
export const maxTransferMs = 120_000;

/**
 * The answer of VS Code or of another extension. Throws `noAnswer` with the `subject` (its name)
 * after `maxMs`, and the signal's reason. The work itself can't be stopped: a late answer is lost,
 * and a late failure is ignored.
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

/** A network share that does not answer keeps nobody waiting for longer. */
const maxSilenceMs = 2_000;
const maxCallsToFolder = 2;
const maxCalls = 3;

interface CalledFolder {
  outstanding: number;
  /** True while a call was left without an answer, and none has returned since. */
  isSilent: boolean;
}

/**
 * Calls to folders of the workspace, for whatever the extension host reads there by itself. All
 * file access and name look-ups of the host, other extensions' included, run on four threads, and a
 * call to a share that does not answer holds one until it returns. So calls are counted until they
 * return, even if nobody waits for them any more, and one thread is always left.
 */
export class FolderCalls {
  readonly #answered: Emitter<string>;
  readonly #folders = new Map<string, CalledFolder>();
  #outstanding = 0;
  /** Those of `#outstanding` that nobody waits for any more. */
  #late = 0;
  /** In the order in which they were asked. */
  #waiting: { readonly state: CalledFolder; readonly goOn: (mayCall: boolean) => void }[] = [];

  constructor(log: Logger) {
    this.#answered = new Emitter(log);
    this.onDidAnswer = this.#answered.event;
  }

  /**
   * Fires with the folder when a late call returns: what was refused meanwhile can be asked again.
   */
  readonly onDidAnswer: Event<string>;

  /**
   * The answer of one call, in its turn. Throws `noAnswer` after two seconds, and at once while the
   * folder, or too many other folders, leave calls unanswered. `call` has one file operation under
   * way at a time, and asks for nothing here.
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

  /** True: the call is counted. False: it is refused. Undefined: it has to wait. */
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
