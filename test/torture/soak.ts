import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isFinal } from '../../src/core/run/state/run.ts';
import { openWindow, setUpFixture } from '../unit/run/runWindow.ts';
import type { Scope } from '../unit/run/tempFolder.ts';
import { randomOf } from './seededValues.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const hourMs = 3_600_000;
/** A day has so many steps, of which one is offline. */
const steps = 8;
/** Resources held longer are leaks. */
const releaseMs = 60_000;
const maxDriftBytes = 5 * 1024 * 1024;
/** A run is polled no more often in its first day. */
const maxPolls = 240;

export interface SoakOutcome {
  readonly state: string;
  readonly problems: readonly string[];
}

interface Measure {
  readonly heapBytes: number;
  readonly handles: number;
}

/**
 * Two windows watch runs for virtual days: one run throughout, one more each day, with daily
 * faults.
 */
export async function soak(
  scope: Scope,
  { days, dayHours = 24 }: { days: number; dayHours?: number },
  workerFile?: string,
): Promise<SoakOutcome> {
  const fixture = await setUpFixture(scope);
  const { service, clock, traffic } = fixture;
  const random = randomOf(1);
  const options = { random, ...(workerFile === undefined ? {} : { workerFile }) };
  const windows = [openWindow(scope, fixture, options), openWindow(scope, fixture, options)] as const;
  const [first, second] = windows;
  const long = await first.start();
  await clock.passUntil(second.tracker.resume(), traffic);
  const problems: string[] = [];
  const measures: Measure[] = [];
  const step = (): Promise<void> => clock.passUntil(clock.sleep((dayHours * hourMs) / steps), traffic);
  for (let day = 0; day < days; day += 1) {
    const asked = fixture.sent('/describe');
    const beside = await (day % 2 === 0 ? first : second).start();
    for (let passed = 0; passed < steps; passed += 1) {
      // Early: the wait after failures is over before the day is.
      const heal = passed === 1 ? service.addFault({ match: {}, before: { kind: 'reset' } }) : undefined;
      await step();
      heal?.();
      if (passed === 5 && 'runId' in beside && beside.runId !== undefined)
        await service.finishRun(beside.runId);
    }
    const describes = fixture.sent('/describe') - asked;
    // Two runs, of which one lived three quarters of the day.
    if (describes > 2 * maxPolls) problems.push(`day ${String(day)}: ${String(describes)} describes`);
    const end = first.store.get(beside.id) ?? second.store.get(beside.id);
    if (end === undefined || !isFinal(end))
      problems.push(`day ${String(day)}: the run is ${String(end?.state)}`);
    // Memory of the test itself does not count.
    for (const kept of [clock.slept, service.requests, ...windows.map(({ lines }) => lines)])
      (kept as unknown[]).length = 0;
    await clock.rest(traffic);
    await untilReleased();
    collectGarbage();
    measures.push({
      heapBytes: process.memoryUsage().heapUsed,
      handles: process.getActiveResourcesInfo().length,
    });
  }
  const [early, late] = [measures[0], measures.at(-1)];
  if (early === undefined || late === undefined) return { state: 'nothing', problems };
  const drift = late.heapBytes - early.heapBytes;
  if (drift > maxDriftBytes) problems.push(`the heap grew by ${String(drift)} bytes`);
  if (late.handles > early.handles)
    problems.push(`handles: ${measures.map(({ handles }) => handles).join(', ')}`);
  const watched = first.store.get(long.id)?.state;
  if (watched !== 'running') problems.push(`the long run is ${String(watched)}`);
  const handles = `handles ${String(early.handles)} to ${String(late.handles)}`;
  return { state: `${String(days)} days, heap ${(drift / 2 ** 20).toFixed(2)} MB, ${handles}`, problems };
}

/** Resolves when sockets are closed and no disk work is running. */
async function untilReleased(): Promise<void> {
  const until = performance.now() + releaseMs;
  const isHeld = (kind: string): boolean => kind === 'TCPSocketWrap' || kind.includes('Req');
  while (process.getActiveResourcesInfo().some(isHeld) && performance.now() < until) await setImmediate();
}
