import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { createExclusive } from '../../files.ts';
import type { Clock } from '../../ports.ts';

const lockRetryMs = 10;

/** A lease not renewed for this long looks abandoned. */
export const leaseMs = 20_000;

/** A living process, or one on another machine, may have slept: it has this long to renew its lease once that looks abandoned. */
export const patienceMs = 10_000;

/** Leases that look abandoned to a window, by file: when each was last renewed, and since when the window sees that, by its monotonic clock. */
const sightings = new WeakMap<Clock, Map<string, { readonly renewedMs: number; readonly since: number }>>();

/** The right to drive a run, which one window at a time holds. */
export interface Lease {
  /** Renews the lease; false when another window has taken it over: then nothing more may be done under it. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** The file time of a released lease, one that every file system can store: FAT starts in 1980 and has even seconds. */
const releasedMs = Date.UTC(2000, 0, 1);

const name = /^lease-(\d+)\.json$/;

/**
 * Takes the lease of a folder; undefined while a living window holds it. The holder is the window that made the file with the highest number:
 * a takeover makes the next one with exclusive create, which only one window can win, and the former holder finds its own file gone or no
 * longer the newest. The last file stays when its lease is released, so numbers only grow and no window mistakes another's file for its own.
 */
export async function takeLease(folder: string, clock: Clock): Promise<Lease | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const held = await newest(folder);
  const heldFile = held === undefined ? undefined : join(folder, nameOf(held));
  const isHeld = (): Promise<boolean> =>
    heldFile === undefined ? Promise.resolve(false) : isAlive(heldFile, clock);
  if (await isHeld()) return undefined;
  const number = (held ?? 0) + 1;
  const file = join(folder, nameOf(number));
  const taken = await createExclusive(file, JSON.stringify({ pid: process.pid, host: hostname() }));
  if (!taken) return undefined;
  let isReleased = false;
  let renewing: Promise<boolean> = Promise.resolve(true);
  const lease: Lease = {
    renew: () => {
      if (isReleased) return Promise.resolve(false);
      renewing = setTime(file, clock.now()).then(
        async (isThere) => isThere && (await newest(folder)) === number,
      );
      return renewing;
    },
    release: async () => {
      isReleased = true;
      // A renewal that is still running would undo the release.
      await Promise.allSettled([renewing]);
      await setTime(file, releasedMs);
    },
  };
  // A holder that was only slow may have renewed meanwhile: it keeps the lease.
  if ((await isHeld()) || !(await lease.renew())) {
    await rm(file, { force: true });
    return undefined;
  }
  if (heldFile !== undefined) {
    sightings.get(clock)?.delete(heldFile);
    await rm(heldFile, { force: true });
  }
  return lease;
}

/** Sets a lease file's time; false when the file, perhaps with its folder, is gone. */
async function setTime(file: string, ms: number): Promise<boolean> {
  try {
    await utimes(file, ms / 1000, ms / 1000);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function newest(folder: string): Promise<number | undefined> {
  const numbers = (await readEntries(folder)).flatMap((file) => {
    const number = name.exec(file)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

async function readEntries(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function nameOf(number: number): string {
  return `lease-${String(number)}.json`;
}

async function isAlive(path: string, clock: Clock): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (mtimeMs <= releasedMs || (await isOfDeadProcess(path))) return false;
    if (Math.abs(clock.now() - mtimeMs) <= leaseMs) return true;
    return !isPatienceOver(path, mtimeMs, clock);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isPatienceOver(path: string, renewedMs: number, clock: Clock): boolean {
  const mine = sightings.get(clock) ?? new Map<string, { renewedMs: number; since: number }>();
  sightings.set(clock, mine);
  const seen = mine.get(path);
  if (seen?.renewedMs === renewedMs) return clock.monotonic() - seen.since >= patienceMs;
  mine.set(path, { renewedMs, since: clock.monotonic() });
  return false;
}

async function isOfDeadProcess(path: string): Promise<boolean> {
  try {
    const { pid, host } = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string };
    return host === hostname() && !processExists(pid);
  } catch (error) {
    // Just created and not yet written, or damaged: its time alone decides.
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/**
 * Runs `act` while no other process does so for the same folder, so that nothing changes between a read and the write after it. For short work:
 * a dead or stale holder is replaced. Throws `notFound` when the parent of the lock's folder is gone.
 */
export async function withJournalLock<T>(folder: string, clock: Clock, act: () => Promise<T>): Promise<T> {
  for (;;) {
    await makeLockFolder(folder);
    const lease = await takeLease(folder, clock);
    if (lease === undefined) {
      await clock.sleep(lockRetryMs);
      continue;
    }
    try {
      return await act();
    } finally {
      await lease.release();
    }
  }
}

/** Without its parents: a removed run must not come back as an empty folder. */
async function makeLockFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new AssessmentError('notFound', {}, { cause: error });
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}
