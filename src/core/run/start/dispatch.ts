import { holdsSecret } from '../../api/credentials.ts';
import { isExhausted, wasRefused } from '../../api/failure.ts';
import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import { workflows } from '../../workflows/workflows.ts';
import type { Lease } from '../disk/lease.ts';
import type { RunStore } from '../disk/runStore.ts';
import type { RunEvent } from '../state/advance.ts';
import { type RunIn, toFailure } from '../state/run.ts';
import type { StartDeps } from '../steps/step.ts';
import { signalOf } from './packRun.ts';

/** A run ID may contain a shorter password by chance. */
const minEchoLength = 8;

/**
 * Sends a start request whose intent is saved, and returns the outcome as an event. `dispatchLost`
 * means that the service may have accepted it (docs/architecture.md, one run, step 6). Throws
 * `busyElsewhere` if another window drives or has advanced the run.
 */
export async function dispatch(
  intended: RunIn<'dispatching'>,
  lease: Lease,
  deps: StartDeps,
): Promise<RunEvent> {
  const { clock, log } = deps;
  // A cancellation counts before and between attempts: a request that was sent is never aborted.
  const signal = signalOf(lease, deps);
  const { intendedAt } = intended;
  const workflow = workflows[intended.workflow];
  const progress = { mayBeSent: false };
  const beforeSend = async (): Promise<void> => {
    // A second call follows only a request that was surely refused or never left this machine.
    progress.mayBeSent = false;
    await requireIntent(intended, lease, signal, deps.store);
    progress.mayBeSent = true;
  };
  try {
    const passwords = (await deps.passwordsOf?.(intended)) ?? [];
    const request = workflow.toRequest(intended, passwords);
    const runId = await deps.clientFor(intended).dispatch(workflow, request, { signal, beforeSend });
    // A run ID is saved, shown, and logged, so it must not repeat a password of the request.
    const longPasswords = passwords.filter(({ length }) => length >= minEchoLength);
    if (holdsSecret(runId, longPasswords))
      return { type: 'dispatchLost', reason: { kind: 'badResponse', status: 200 }, at: clock.now() };
    // The ID is logged before it is saved, so that the log names a run that spends credits even if
    // the disk fails.
    log.info(`Run ${intended.id} was accepted as ${visibleLine(runId)}`);
    return { type: 'dispatched', intendedAt, runId, at: clock.now() };
  } catch (cause) {
    const at = clock.now();
    if (isAbortError(cause)) {
      const by = deps.cancelled?.aborted === true ? 'user' : 'windowClose';
      return { type: 'dispatchStopped', intendedAt, by, at };
    }
    const error = knownError(cause);
    if (error.kind === 'busyElsewhere') throw error;
    const failure = toFailure(error);
    return !progress.mayBeSent || wasRefused(error)
      ? { type: 'failed', intendedAt, failure, at }
      : { type: 'dispatchLost', reason: failure, at };
  }
}

async function requireIntent(
  { id, intendedAt }: RunIn<'dispatching'>,
  lease: Lease,
  signal: AbortSignal,
  store: RunStore,
): Promise<void> {
  try {
    await lease.renew();
    const run = await store.refresh(id);
    if (run?.state !== 'dispatching' || run.intendedAt !== intendedAt)
      throw new AssessmentError('busyElsewhere');
  } catch (cause) {
    const code = systemCode(cause);
    throw isExhausted(code) ? new AssessmentError('unsent', { detail: code }, { cause }) : cause;
  } finally {
    // If the start was stopped, the signal's reason replaces any other error.
    signal.throwIfAborted();
  }
}
