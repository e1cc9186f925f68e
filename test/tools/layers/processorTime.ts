import { readdirSync, readFileSync } from 'node:fs';

/** A process was last seen to have used this much, in clock ticks. */
interface Usage {
  readonly pid: number;
  readonly parent: number;
  /** A process ID can be used again, with another start. */
  readonly startedAt: string;
  readonly own: number;
  /** This counts children that have ended and that the process waited for, theirs included. */
  readonly ofEnded: number;
}

/** A measured process has this in its environment. It finds daemons, which leave the tree. */
const markVariable = 'MEASURED_BY';

const ticksPerSecond = 100;

/**
 * Measures this process and all that it starts, by reading all processes once a second. The system
 * adds the time of a process only to a parent that waits for it, and nobody waits for a process
 * that is killed with its parent. The returned function ends the measurement and returns seconds,
 * or undefined on systems other than Linux.
 */
export function measureProcessorTime(): () => number | undefined {
  if (process.platform !== 'linux') return () => undefined;
  process.env[markVariable] = String(process.pid);
  const usages = new Map<string, Usage & { readonly sample: number }>();
  const strangers = new Set<string>();
  let sample = 0;
  const look = (): void => {
    sample += 1;
    const running = readUsages();
    const isOurs = (usage: Usage | undefined): boolean => {
      if (usage === undefined) return false;
      if (usage.pid === process.pid || usages.has(keyOf(usage))) return true;
      if (isOurs(running.get(usage.parent))) return true;
      if (strangers.has(keyOf(usage))) return false;
      if (hasMark(usage.pid)) return true;
      strangers.add(keyOf(usage));
      return false;
    };
    for (const usage of running.values()) if (isOurs(usage)) usages.set(keyOf(usage), { ...usage, sample });
  };
  const timer = setInterval(look, 1000).unref();
  return () => {
    clearInterval(timer);
    look();
    return sumOf([...usages.values()]) / ticksPerSecond;
  };
}

function sumOf(usages: readonly (Usage & { readonly sample: number })[]): number {
  const childrenOf = Map.groupBy(usages, ({ parent }) => parent);
  const known = new Set(usages.map(({ pid }) => pid));
  const withChildren = (one: (typeof usages)[number]): number => {
    const children = childrenOf.get(one.pid) ?? [];
    const sum = (ended: boolean): number =>
      children
        .filter(({ sample }) => sample < one.sample === ended)
        .reduce((ticks, child) => ticks + withChildren(child), 0);
    // Ended children count as they were seen or as the system told the parent, if that is more.
    return one.own + sum(false) + Math.max(one.ofEnded, sum(true));
  };
  return usages
    .filter(({ parent }) => !known.has(parent))
    .reduce((ticks, root) => ticks + withChildren(root), 0);
}

function readUsages(): Map<number, Usage> {
  const usages = new Map<number, Usage>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/u.test(name)) continue;
    const stat = readOrNothing(`/proc/${name}/stat`);
    // The name of the program, in parentheses, may have any characters.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = (first: number): number => Number(fields[first]) + Number(fields[first + 1]);
    if (stat !== '')
      usages.set(Number(name), {
        pid: Number(name),
        parent: Number(fields[1]),
        startedAt: fields[19] ?? '',
        own: ticks(11),
        ofEnded: ticks(13),
      });
  }
  return usages;
}

function hasMark(pid: number): boolean {
  const environment = readOrNothing(`/proc/${String(pid)}/environ`);
  return environment.split('\0').includes(`${markVariable}=${String(process.pid)}`);
}

/** Returns nothing for a process that has just ended, or is another user's. */
function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function keyOf({ pid, startedAt }: Usage): string {
  return `${String(pid)} ${startedAt}`;
}
