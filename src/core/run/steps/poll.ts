import { type AssessmentError, knownError } from '../../errors.ts';
import { type EventOf, toAnswered } from '../state/event.ts';
import { type LiveRun, type RunIn, toFailure } from '../state/run.ts';
import type { RunDeps } from './step.ts';

/** Asks the service about a run. May be repeated: it changes nothing there. */
export async function poll(
  run: RunIn<'running' | 'cancelling'>,
  { clientFor, clock, signal }: Pick<RunDeps, 'clientFor' | 'clock'> & { signal?: AbortSignal },
): Promise<EventOf<'answered'>> {
  const description = await clientFor(run).describe(run.workflow, run.runId, { signal });
  return { ...toAnswered(run, description), at: clock.now() };
}

/** The event of a failed poll or download. */
export function toPollFailed(
  run: LiveRun,
  error: unknown,
  { clock, log }: Pick<RunDeps, 'clock' | 'log'>,
): EventOf<'pollFailed'> {
  const known = knownError(error);
  // One warning for each distinct failure: it may recur for days.
  log[isNew(run, known) ? 'warn' : 'debug'](`Run ${run.id}: the poll failed: ${known.message}`);
  return {
    type: 'pollFailed',
    failure: toFailure(known),
    retryAt: toRetryAt(known, clock.now()),
    at: clock.now(),
  };
}

export function toRetryAt({ data: { retryAfterMs } }: AssessmentError, now: number): number | undefined {
  return retryAfterMs === undefined ? undefined : now + retryAfterMs;
}

function isNew({ trouble }: LiveRun, { kind, data }: AssessmentError): boolean {
  return trouble?.kind !== kind || trouble.status !== data.status;
}
