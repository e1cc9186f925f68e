import { type AssessmentError, knownError } from '../../errors.ts';
import { type EventOf, toAnswered } from '../state/event.ts';
import { type LiveRun, type RunIn, toFailure } from '../state/run.ts';
import type { RunDeps } from './step.ts';

/** Asks the service about a run; `isExtra` for a poll that comes out of turn. */
export async function poll(
  run: RunIn<'running' | 'cancelling'>,
  {
    clientFor,
    clock,
    random,
    signal,
    isExtra,
  }: Pick<RunDeps, 'clientFor' | 'clock' | 'random'> & { signal?: AbortSignal; isExtra: boolean },
): Promise<EventOf<'answered'>> {
  const description = await clientFor(run).describe(run.workflow, run.runId, { signal });
  return { ...toAnswered(run, description), jitter: random(), isExtra, at: clock.now() };
}

/** The event of a failed poll or download. */
export function toPollFailed(
  run: LiveRun,
  error: unknown,
  { clock, random, log, isExtra }: Pick<RunDeps, 'clock' | 'random' | 'log'> & { isExtra: boolean },
): EventOf<'pollFailed'> {
  const known = knownError(error);
  // One warning for each distinct failure: it may recur for days.
  log[isNew(run, known) ? 'warn' : 'debug'](`Run ${run.id}: the poll failed: ${known.message}`);
  const retryAfterMs = known.data.retryAfterMs ?? 0;
  return {
    type: 'pollFailed',
    failure: toFailure(known),
    retryAfterMs,
    jitter: random(),
    isExtra,
    at: clock.now(),
  };
}

function isNew({ trouble }: LiveRun, { kind, data }: AssessmentError): boolean {
  return trouble?.kind !== kind || trouble.status !== data.status;
}
