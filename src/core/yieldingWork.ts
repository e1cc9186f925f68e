import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from './errors.ts';
import { type Clock, type Logger, systemClock } from './ports.ts';

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

/** Works at the first call; later calls share the result. After a failure, the next call works again. */
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

/** How long the host, or another extension, may take to answer. */
const maxAnswerMs = 10_000;
/** The same for a whole file, and where a person may be asked. */
export const maxTransferMs = 120_000;

/**
 * The answer of VS Code or of another extension. Throws `noAnswer` with the `subject` (its name) after `maxMs`, and the signal's reason. The work
 * itself can't be stopped: a late answer is lost, and a late failure is ignored.
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
