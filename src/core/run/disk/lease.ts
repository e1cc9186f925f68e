import { hash } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { createExclusive, isFolder, makePrivateFolder, makeSubfolder, unlessMissing } from '../../files.ts';
import type { Clock, Logger } from '../../ports.ts';

export interface LeaseDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

const renewMs = 5_000;
/** A lease that a window has seen unchanged this long, by its monotonic clock, is stale. */
export const staleMs = 30_000;
/**
 * A lease that names this host and a process that doesn't exist here is stale after this shorter
 * time. It isn't 0, because the process may run in another container with the same host name.
 */
export const deadMs = 10_000;

interface Sighting {
  readonly renewedMs: number;
  readonly unchangedMs: number;
  readonly lookedAt: number;
}

const sightings = new WeakMap<Clock, Map<string, Sighting>>();

/**
 * Only the window that holds a run's lease may start or drive the run. A lease renews itself until
 * it is released or lost.
 */
export interface Lease {
  /**
   * Aborts with `busyElsewhere` once a renewal finds that another window has the lease, or that its
   * file is gone.
   */
  readonly lost: AbortSignal;
  /** Throws `busyElsewhere` if the lease is lost, and errors of the disk. */
  renew(): Promise<void>;
  /** Never throws: a lease that can't be released soon becomes stale. */
  release(): Promise<void>;
}

/**
 * The file time of a released lease. Every file system can store it: FAT starts in 1980 and stores
 * only even seconds.
 */
const releasedMs = Date.UTC(2000, 0, 1);

const leaseName = /^lease-(\d+)\.json$/;

/**
 * Returns undefined if the lease is held, if another window takes it, or if the parent folder is
 * gone. The file with the highest number counts. A takeover creates the next file exclusively; the
 * former holder then finds its file gone or not the newest. The last file stays after a release, so
 * the next number is higher and no window mistakes another's file for its own.
 */
export async function takeLease(folder: string, deps: LeaseDeps): Promise<Lease | undefined> {
  const { clock } = deps;
  if (!(await makeSubfolder(folder))) return undefined;
  const held = await newest(folder);
  const heldFile = join(folder, nameOf(held));
  if (await isHeld(heldFile, clock)) return undefined;
  const number = held + 1;
  const file = join(folder, nameOf(number));
  const isCreated = await createExclusive(file, JSON.stringify({ pid: process.pid, host: hostname() }));
  if (!isCreated) return undefined;
  const isTaken = !(await isHeld(heldFile, clock)) && (await isRenewed(file, number, clock));
  if (!isTaken) {
    await rm(file, { force: true }).catch(() => setTime(file, releasedMs));
    return undefined;
  }
  sightings.get(clock)?.delete(heldFile);
  // On Windows, the old file may stay while a program has it open. Only the newest counts.
  await rm(heldFile, { force: true }).catch(() => undefined);
  return holdLease(file, number, deps);
}

/** Like `takeLease`, but waits for the lease of a process that has died. */
export async function awaitLease(folder: string, deps: LeaseDeps): Promise<Lease | undefined> {
  const lease = await takeLease(folder, deps);
  if (lease !== undefined || !(await isOfDeadProcess(join(folder, nameOf(await newest(folder))))))
    return lease;
  await deps.clock.sleep(deadMs);
  return takeLease(folder, deps);
}

function holdLease(file: string, number: number, { clock, log }: LeaseDeps): Lease {
  const released = new AbortController();
  const lost = new AbortController();
  let renewing: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    if (!lost.signal.aborted && !(await isRenewed(file, number, clock)))
      lost.abort(new AssessmentError('busyElsewhere'));
    lost.signal.throwIfAborted();
  };
  const keepRenewing = async (): Promise<void> => {
    for (let failures = 0; !released.signal.aborted && !lost.signal.aborted;) {
      await clock.sleep(renewMs, released.signal);
      renewing = renew();
      // A failure isn't a loss: this window may still have the lease. A disk may be full or
      // read-only for days, so only the first failure is a warning.
      await renewing.then(
        () => (failures = 0),
        (error: unknown) => {
          failures += 1;
          log[failures === 1 ? 'warn' : 'debug'](`The lease ${file} could not be renewed: ${String(error)}`);
        },
      );
    }
  };
  keepRenewing().catch(() => undefined); // release() aborts the sleep.
  return {
    lost: lost.signal,
    renew: () => (renewing = renew()),
    release: async () => {
      released.abort();
      // A renewal in progress would undo the release.
      await Promise.allSettled([renewing]);
      await setTime(file, releasedMs).catch((error: unknown) => {
        log.warn(`The lease ${file} could not be released: ${String(error)}`);
      });
    },
  };
}

async function isRenewed(file: string, number: number, clock: Clock): Promise<boolean> {
  return (await setTime(file, clock.now())) && (await newest(dirname(file))) === number;
}

async function setTime(file: string, ms: number): Promise<boolean> {
  try {
    await utimes(file, ms / 1000, ms / 1000);
    return true;
  } catch (error) {
    // On Windows, a lost disk looks like a missing file. In that case, the folder three levels up,
    // which holds all runs or claims, is missing, too.
    if (systemCode(error) === 'ENOENT' && (await isFolder(resolve(file, '../../..')))) return false;
    throw error;
  }
}

async function newest(folder: string): Promise<number> {
  const files = (await unlessMissing(() => readdir(folder))) ?? [];
  return Math.max(0, ...files.map((file) => Number(leaseName.exec(file)?.[1] ?? 0)));
}

function nameOf(number: number): string {
  return `lease-${String(number)}.json`;
}

async function isHeld(path: string, clock: Clock): Promise<boolean> {
  const found = await unlessMissing(() => stat(path));
  if (found === undefined || found.mtimeMs <= releasedMs) return false;
  const unchangedMs = msUnchanged(path, found.mtimeMs, clock);
  return unchangedMs < deadMs || (unchangedMs < staleMs && !(await isOfDeadProcess(path)));
}

/** Counts at most `deadMs` between two sightings, because the machine may have slept. */
function msUnchanged(path: string, renewedMs: number, clock: Clock): number {
  const seenHere = sightings.get(clock) ?? new Map<string, Sighting>();
  sightings.set(clock, seenHere);
  const lookedAt = clock.monotonic();
  const seen = seenHere.get(path);
  const unchangedMs =
    seen?.renewedMs === renewedMs ? seen.unchangedMs + Math.min(lookedAt - seen.lookedAt, deadMs) : 0;
  seenHere.set(path, { renewedMs, unchangedMs, lookedAt });
  return unchangedMs;
}

async function isOfDeadProcess(path: string): Promise<boolean> {
  try {
    const { pid, host } = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string };
    return host === hostname() && !processExists(pid);
  } catch (error) {
    // If the file is empty, damaged, gone, or in use by another program, its time alone decides.
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    if (['EBUSY', 'ENOENT'].includes(systemCode(error) ?? '')) return false;
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

/** The right to start a run of some subjects: folders, or an application (`applicationSubject`). */
export type StartClaim = Pick<Lease, 'lost' | 'release'>;

/** Claims all subjects or none. */
export async function claimStart(
  subjects: readonly string[],
  folder: string,
  deps: LeaseDeps,
): Promise<StartClaim> {
  const leases: Lease[] = [];
  const release = async (): Promise<void> => {
    for (const lease of leases) await lease.release();
  };
  try {
    for (const subject of new Set(subjects)) {
      const own = join(folder, hash('sha256', subject, 'hex').slice(0, 32));
      await makePrivateFolder(own);
      const lease = await awaitLease(join(own, 'lease'), deps);
      if (lease === undefined) throw new AssessmentError('startedElsewhere');
      leases.push(lease);
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { lost: AbortSignal.any(leases.map(({ lost }) => lost)), release };
}
