import { readFile, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import type { Clock } from '../../ports.ts';

/** Nothing is removed, and no run given up, before so much waking time has passed since it was first seen that it might be. */
export const leastWakingMs = 24 * 60 * 60 * 1000;
/** A longer step may be sleep, which some systems' clocks count. */
const longestStepMs = 60 * 60 * 1000;

/** Counts the time that passes while this machine is awake, in steps from one look to the next, by the clock that only grows: whoever adds the steps up is not misled by a wall clock that jumps. */
export class WakingTime {
  readonly #clock: Clock;
  readonly #looks = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waking milliseconds since the last look at this thing in this window; 0 for the first. */
  step(thing: string): number {
    const now = this.#clock.monotonic();
    const last = this.#looks.get(thing) ?? now;
    this.#looks.set(thing, now);
    return Math.min(now - last, longestStepMs);
  }
}

const noteSchema = z.object({ wakingMs: z.number(), at: z.number() });

/**
 * True once something has been due, whenever it was looked at, for 24 h of waking time. That it is due, and for how long, is noted in a file,
 * which several windows may add to; the note goes when it is not due any more.
 */
export async function isLongDue(
  isDue: boolean,
  note: string,
  { clock, waking }: { clock: Clock; waking: WakingTime },
): Promise<boolean> {
  if (!isDue) {
    await rm(note, { force: true });
    return false;
  }
  const at = clock.now();
  const stepMs = waking.step(note);
  const known = await readNote(note);
  // Of a time that another window has added already, this one adds no more than what has passed since.
  const wakingMs = known === undefined ? 0 : known.wakingMs + Math.min(stepMs, Math.abs(at - known.at));
  await writeFileAtomic(note, JSON.stringify({ wakingMs, at }));
  return wakingMs >= leastWakingMs;
}

async function readNote(path: string): Promise<z.infer<typeof noteSchema> | undefined> {
  try {
    return noteSchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
