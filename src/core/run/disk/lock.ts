import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { AssessmentError, systemCode } from '../../errors.ts';
import { createExclusive, readIfThere } from '../../files.ts';
import type { LeaseDeps } from './lease.ts';

const retryMs = 10;
/**
 * A lock file that is unchanged this long probably belongs to a dead process: a write takes
 * milliseconds.
 */
const staleMs = 10_000;

/** If several calls of this process want the same lock, they wait here, not on the disk. */
const queues = new Map<string, Promise<unknown>>();

class LostLock extends Error {}

/** Throws if the lock is lost or `isUnchanged` is false. `withLock` then begins again. */
export type RequireLock = (isUnchanged?: () => Promise<boolean>) => Promise<void>;

/**
 * Runs `act` while no other window does so for the same lock file. Two processes may both remove
 * the file of a dead process, so `act` must call `requireLock` right before each change. Throws
 * `notFound` if the file's folder is gone.
 */
export async function withLock<T>(
  path: string,
  deps: LeaseDeps,
  act: (requireLock: RequireLock) => Promise<T>,
): Promise<T> {
  const turn = (): Promise<T> => underFile(path, deps, act);
  const done = (queues.get(path) ?? Promise.resolve()).then(turn);
  const outcome = done.catch(() => undefined);
  queues.set(path, outcome);
  try {
    return await done;
  } finally {
    if (queues.get(path) === outcome) queues.delete(path);
  }
}

async function underFile<T>(
  path: string,
  deps: LeaseDeps,
  act: (requireLock: RequireLock) => Promise<T>,
): Promise<T> {
  for (;;) {
    const holder = randomBytes(8).toString('hex');
    await makeFile(path, holder, deps);
    const isHeld = async (): Promise<boolean> => (await readIfThere(path)) === holder;
    try {
      return await act(async (isUnchanged = () => Promise.resolve(true)) => {
        if (!(await isHeld()) || !(await isUnchanged())) throw new LostLock();
      });
    } catch (error) {
      if (!(error instanceof LostLock)) throw error;
    } finally {
      await release(path, isHeld, deps);
    }
  }
}

async function makeFile(path: string, holder: string, { clock }: LeaseDeps): Promise<void> {
  let seen: { readonly holder: string; readonly firstSeen: number } | undefined;
  while (!(await isMade(path, holder))) {
    const found = await readIfThere(path);
    if (found === undefined) continue;
    if (found !== seen?.holder) seen = { holder: found, firstSeen: clock.monotonic() };
    else if (clock.monotonic() - seen.firstSeen >= staleMs) await rm(path, { force: true });
    await clock.sleep(retryMs);
  }
}

async function isMade(path: string, holder: string): Promise<boolean> {
  try {
    return await createExclusive(path, holder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new AssessmentError('notFound', {}, { cause: error });
    throw error;
  }
}

/** A failure is only logged, because the file soon becomes stale. */
async function release(path: string, isHeld: () => Promise<boolean>, { log }: LeaseDeps): Promise<void> {
  try {
    if (await isHeld()) await rm(path, { force: true });
  } catch (error) {
    log.warn(`The lock ${path} could not be released: ${String(error)}`);
  }
}
