import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
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
 * number: takeover makes the next one with exclusive create, which only one window can win, and a former holder finds its own file gone.
 */
export async function takeLease(folder: string, clock: Clock): Promise<Lease | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const held = await newest(folder);
  if (held !== undefined && (await isAlive(join(folder, held.file), clock.now()))) return undefined;
  const file = join(folder, `lease-${String((held?.number ?? 0) + 1)}.json`);
  const taken = await createExclusive(file, JSON.stringify({ pid: process.pid, host: hostname() }));
  if (!taken) return undefined;
  if (held !== undefined) await rm(join(folder, held.file), { force: true });
  const lease: Lease = {
    renew: async () => {
      const now = clock.now() / 1000;
      try {
        await utimes(file, now, now);
        return (await newest(folder))?.file === basename(file);
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return false;
        throw error;
      }
    },
    release: () => rm(file, { force: true }),
  };
  return (await lease.renew()) ? lease : undefined;
}

async function newest(folder: string): Promise<{ file: string; number: number } | undefined> {
  const leases = (await readdir(folder)).flatMap((file) => {
    const number = name.exec(file)?.[1];
    return number === undefined ? [] : [{ file, number: Number(number) }];
  });
  return leases.sort((one, other) => other.number - one.number)[0];
}

async function isAlive(path: string, now: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Math.abs(now - mtimeMs) > leaseMs) return false;
    const { pid, host } = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string };
    return host !== hostname() || processExists(pid);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    // Made this instant and not yet written: its time alone decides.
    if (error instanceof SyntaxError) return true;
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
