import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { createExclusive } from '../files.ts';
import type { Clock } from '../ports.ts';

/** A lease not renewed for so long may be taken over. */
export const leaseMs = 20_000;

/** The right to drive a run, which one window at a time holds. */
export interface Lease {
  /** Renews the lease; false when another window has taken it over, and then nothing may be done under it any more. */
  renew(): Promise<boolean>;
  /** Gives the lease back. */
  release(): Promise<void>;
}

const name = /^lease-(\d+)\.json$/;

/**
 * Takes the lease of a folder, or returns undefined while a living window holds it. The holder is whoever made the file with the highest
 * number: takeover makes the next one with exclusive create, which only one window can win, and a former holder finds its own file gone or
 * passed. Numbers only grow, since the last file stays when its lease is given back: nobody can mistake another's file for their own.
 */
export async function takeLease(folder: string, clock: Clock): Promise<Lease | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const held = await newest(folder);
  const heldFile = held === undefined ? undefined : join(folder, nameOf(held));
  if (heldFile !== undefined && (await isAlive(heldFile, clock.now()))) return undefined;
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
      // A renewal under way would bring the lease to life again.
      await Promise.allSettled([renewing]);
      await setTime(file, 0);
    },
  };
  // A holder that was only slow may have renewed since it was looked at, and goes first.
  const stillHeld = heldFile !== undefined && (await isAlive(heldFile, clock.now()));
  if (stillHeld || !(await lease.renew())) {
    await rm(file, { force: true });
    return undefined;
  }
  if (heldFile !== undefined) await rm(heldFile, { force: true });
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

async function isAlive(path: string, now: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Math.abs(now - mtimeMs) > leaseMs) return false;
    const { pid, host } = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string };
    return host !== hostname() || processExists(pid);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    // Made this instant and not yet written, or damaged: its time alone decides.
    if (error instanceof SyntaxError || error instanceof TypeError) return true;
    throw error;
  }
}

/** True while this machine runs a process of this ID. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}
