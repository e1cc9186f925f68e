import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import { isFinal, type Run } from '../../src/core/run/state/run.ts';
import { RunStore } from '../../src/core/run/disk/runStore.ts';
import { openWindow, setUpFixture } from '../unit/run/runWindow.ts';
import type { Scope } from '../unit/run/tempFolder.ts';
import { valueOf } from './seededValues.ts';
import { judge } from './verdict.ts';
import { silent } from '../silentLog.ts';

/** The life of a run has so many journal writes. */
export const journalWrites = 9;

export interface KillOutcome {
  /** The journal has this state after the kill. */
  readonly state: Run['state'] | 'no journal';
  readonly problems: readonly string[];
}

const moment = fc.oneof(
  fc.record({ phase: fc.constantFrom('before', 'after'), afterMs: fc.constant(0) }),
  fc.record({ phase: fc.constant('during' as const), afterMs: fc.nat({ max: 3 }) }),
);

/**
 * A child process starts an assessment and kills itself at the journal write chosen by the seed;
 * then a new window opens.
 */
export async function killOnce(scope: Scope, seed: number): Promise<KillOutcome> {
  const fixture = await setUpFixture(scope, { runDurationMs: 0 });
  const { service, clock, traffic } = fixture;
  const { baseUrl, organizationId, token } = service;
  const death = { write: 1 + (seed % journalWrites), ...valueOf(moment, seed) };
  const child = fork(join(import.meta.dirname, '../unit/run/disk/startingProcess.ts'), [], {
    stdio: 'inherit',
    execArgv: [],
  });
  const gone = once(child, 'exit');
  child.send({
    root: fixture.root,
    folder: fixture.folder,
    baseUrl,
    organizationId,
    token,
    death,
    speed: 100,
  });
  const [, signal] = (await gone) as [number | null, NodeJS.Signals | null];

  const left = new RunStore(fixture.root, { clock, log: silent });
  await left.reload();
  const [journal] = left.all();
  // Remains of a write are swept once no process can be writing them.
  clock.advance(120_000);
  const next = openWindow(scope, fixture);
  await clock.passUntil(next.tracker.resume(), traffic);
  for (const { id } of next.store.all())
    await next.until(id, (run) => run.state === 'unknown' || (isFinal(run) && !run.noticeDue));
  next.tracker.dispose();
  // After another start nothing is left to do, and a folder without a journal is gone.
  const last = openWindow(scope, fixture);
  await clock.passUntil(last.tracker.resume(), traffic);
  const problems = await judge({
    root: fixture.root,
    journals: last.store.all(),
    remote: service.runs(),
    files: service.files(),
    requests: service.requests,
    known: new Set(journal?.targets.flatMap(({ upload }) => upload?.fileId ?? [])),
    intents: 1,
    deleteSource: true,
    wasInterrupted: true,
    mayLoseDispatch: true,
  });
  const lines = [...next.lines, ...last.lines].join('\n');
  return {
    state: journal?.state ?? 'no journal',
    problems: [
      ...problems.map((problem) => `${problem}\n${lines}`),
      ...(signal === 'SIGKILL' ? [] : [`write ${String(death.write)} was never reached`]),
      ...(journal !== undefined && last.store.all().length === 0
        ? [`the run in ${journal.state} was lost`]
        : []),
    ],
  };
}
