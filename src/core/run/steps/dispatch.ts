import { holdsSecret } from '../../api/credentials.ts';
import { isExhausted, isProvablyUnsent } from '../../api/failure.ts';
import { idempotent, withRetry } from '../../api/retry.ts';
import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import { workflows } from '../../workflows/workflows.ts';
import { advance } from '../state/advance.ts';
import type { RunEvent } from '../state/event.ts';
import { type Run, type RunIn, runIdOf, toFailure } from '../state/run.ts';
import type { RunDeps, StepDeps } from './step.ts';

/** Run IDs may hold the characters of a shorter password by chance. */
const minEchoLength = 8;

/**
 * Sends an intended dispatch, and returns the outcome as an event that the caller saves. `dispatchLost`: the service may have accepted it
 * (docs/architecture.md, one run, step 6). A cancellation counts before and between sends: a sent request is never aborted. Throws `busyElsewhere`
 * when nothing was sent because another window drives the run or has advanced it.
 */
export async function dispatch(intended: RunIn<'dispatching'>, deps: StepDeps): Promise<RunEvent> {
  const { clock, log, signal } = deps;
  const workflow = workflows[intended.workflow];
  const progress = { mayBeSent: false };
  const beforeSend = async (): Promise<void> => {
    // Called again only after a send that was surely refused.
    progress.mayBeSent = false;
    await requireIntent(intended, deps);
    progress.mayBeSent = true;
  };
  try {
    const passwords = (await deps.passwordsOf?.(intended)) ?? [];
    const request = workflow.toRequest(intended, passwords);
    const runId = await deps.clientFor(intended).dispatch(workflow, request, { signal, beforeSend });
    // A run ID is saved, shown and logged: it must not repeat a password of the request.
    const longPasswords = passwords.filter(({ length }) => length >= minEchoLength);
    if (holdsSecret(runId, longPasswords))
      return { type: 'dispatchLost', reason: { kind: 'badResponse', status: 200 }, at: clock.now() };
    // Logged before the journal is written: if the disk fails, this is the only trace of a paid run.
    log.info(`Run ${intended.id} was accepted as ${visibleLine(runId)}`);
    return { type: 'dispatched', runId, at: clock.now() };
  } catch (cause) {
    const at = clock.now();
    if (isAbortError(cause))
      return {
        type: 'dispatchStopped',
        by: deps.start.signal?.aborted === true ? 'person' : 'windowClose',
        at,
      };
    const error = knownError(cause);
    if (error.kind === 'busyElsewhere') throw error;
    const failure = toFailure(error);
    return !progress.mayBeSent || wasRefused(error)
      ? { type: 'failed', failure, at }
      : { type: 'dispatchLost', reason: failure, at };
  }
}

/** Throws `busyElsewhere` when another window has advanced the run while the dispatch waited, and the signal's reason. */
async function requireIntent(
  { id, intendedAt }: RunIn<'dispatching'>,
  { store, renewLease, signal }: StepDeps,
): Promise<void> {
  try {
    if (!(await renewLease())) throw new AssessmentError('busyElsewhere');
    const run = await store.refresh(id);
    if (run?.state !== 'dispatching' || run.intendedAt !== intendedAt)
      throw new AssessmentError('busyElsewhere');
  } catch (cause) {
    const code = systemCode(cause);
    // The client sends again after `unsent`.
    throw isExhausted(code) ? new AssessmentError('unsent', { detail: code }, { cause }) : cause;
  } finally {
    // Replaces the error: a closing window has released the lease itself.
    signal.throwIfAborted();
  }
}

/**
 * True when the service cannot have acted: nothing was sent, or it answered 4xx. Not after 408 and 499 (`timeout`), which proxies send after
 * passing a request on, nor after a page: a proxy may have put it in place of the service's answer.
 */
export function wasRefused(error: AssessmentError): boolean {
  const { kind, data } = error;
  if (kind === 'timeout' || kind === 'intercepted') return false;
  return isProvablyUnsent(error) || (data.status !== undefined && data.status >= 400 && data.status < 500);
}

/**
 * Asks the service to end a run, and saves what is known of that. Returns the service's `conflict`: the run may have ended. Throws every other
 * failure, after saving that nothing was accepted where that is sure.
 */
export async function sendCancellation(
  run: RunIn<'running'>,
  deps: Pick<RunDeps, 'store' | 'clientFor' | 'clock' | 'random' | 'log'>,
): Promise<AssessmentError | undefined> {
  const { store, clientFor, clock, log } = deps;
  const client = clientFor(run);
  const sentAt = clock.now();
  let saved: Promise<unknown> | undefined;
  // Saved first: if the answer is lost, the run's end is still a cancellation. Sent even if that fails: a run that goes on costs credits.
  const beforeSend = async (): Promise<void> => {
    saved ??= store.apply(run.id, { type: 'cancelSent', at: sentAt }).catch((error: unknown) => {
      log.warn(`Run ${run.id}: its cancellation was not saved: ${String(error)}`);
    });
    await saved;
  };
  const progress = { mayBeAccepted: false };
  const send = async (): Promise<void> => {
    try {
      await client.cancel(run.workflow, run.runId, { beforeSend });
    } catch (error) {
      progress.mayBeAccepted ||= !(error instanceof AssessmentError && wasRefused(error));
      throw error;
    }
  };
  try {
    await withRetry(idempotent, send, deps);
    await store.apply(run.id, { type: 'cancelAsked', at: clock.now() });
    return undefined;
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    if (!progress.mayBeAccepted)
      await store.apply(run.id, { type: 'cancelRefused', sentAt, at: clock.now() });
    if (error.kind !== 'conflict') throw error;
    return error;
  }
}

/** Saves the outcome of a dispatch. Writes a lost journal again. Where the journal has moved on, an accepted run gets another one. */
export async function saveOutcome(
  intended: RunIn<'dispatching'>,
  outcome: RunEvent,
  { store, log }: Pick<RunDeps, 'store' | 'log'>,
): Promise<Run> {
  const { id } = intended;
  try {
    const run = await store.apply(id, outcome);
    if (outcome.type === 'dispatched' && runIdOf(run) !== outcome.runId) {
      log.warn(`Run ${id} has changed state since its start request, although the service accepted it`);
      await store.create(advance({ ...intended, id: store.newId() }, outcome));
    }
    return run;
  } catch (error) {
    if (!(error instanceof AssessmentError && error.kind === 'notFound')) throw error;
  }
  log.warn(`Run ${id}: its journal is gone since the start request, and is written again`);
  const run = advance(intended, outcome);
  await store.create(run);
  return run;
}
