import type { AssessmentClient } from '../../api/client.ts';
import { holdsSecret } from '../../api/credentials.ts';
import { isExhausted, wasNeverSent } from '../../api/failure.ts';
import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import { workflows } from '../../workflows/workflows.ts';
import type { HeldLeases } from '../disk/heldLeases.ts';
import type { RunDeps } from '../runDeps.ts';
import type { RunEvent } from '../state/advance.ts';
import { type Run, type RunIn, toFailure } from '../state/run.ts';

/** Run IDs may hold the characters of a shorter password by chance. */
const minEchoLength = 8;

export type SendDeps = RunDeps & {
  readonly client: AssessmentClient;
  readonly leases: HeldLeases;
  readonly stopped: AbortSignal;
};

/** Puts the intent to dispatch a prepared or `unknown` run on disk. Throws `busyElsewhere` where another window drives the run. */
export async function intendDispatch(run: Run, deps: SendDeps): Promise<RunIn<'dispatching'>> {
  await requireLease(run.id, deps);
  const intended = await deps.store.applyIfDue(run.id, { type: 'dispatchIntended', at: deps.clock.now() });
  if (intended?.state !== 'dispatching') throw new AssessmentError('busyElsewhere');
  return intended;
}

/**
 * Sends an intended dispatch, and returns the outcome as an event that the caller saves. `dispatchLost`: the service may have accepted it
 * (docs/architecture.md, one run, step 6). A cancellation counts before and between sends: a sent request is never aborted. Throws `busyElsewhere`
 * when nothing was sent because another window drives the run or has advanced it.
 */
export async function sendDispatch(
  intended: RunIn<'dispatching'>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<RunEvent> {
  const { client, clock, log } = deps;
  const workflow = workflows[intended.workflow];
  const progress = { mayBeSent: false };
  const beforeSend = async (): Promise<void> => {
    // Called again only after a send that was surely refused.
    progress.mayBeSent = false;
    await requireIntent(intended, deps, signal);
    progress.mayBeSent = true;
  };
  try {
    const passwords = (await deps.passwordsOf?.(intended)) ?? [];
    const request = workflow.toRequest(intended, passwords);
    const runId = await client.dispatch(workflow, request, { signal, beforeSend });
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
      return { type: 'dispatchStopped', by: deps.stopped.aborted ? 'windowClose' : 'person', at };
    const error = knownError(cause);
    if (error.kind === 'busyElsewhere') throw error;
    const failure = toFailure(error);
    return !progress.mayBeSent || wasRefused(error)
      ? { type: 'failed', failure, at }
      : { type: 'dispatchLost', reason: failure, at };
  }
}

async function requireLease(id: string, { leases }: SendDeps): Promise<void> {
  if (!(await leases.renew(id))) throw new AssessmentError('busyElsewhere');
}

/** Throws `busyElsewhere` when another window has advanced the run while the dispatch waited, and the signal's reason. */
async function requireIntent(
  { id, intendedAt }: RunIn<'dispatching'>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await requireLease(id, deps);
    const run = await deps.store.refresh(id);
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
  return wasNeverSent(error) || (data.status !== undefined && data.status >= 400 && data.status < 500);
}
