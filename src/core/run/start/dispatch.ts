import { isExhausted, wasNeverSent } from '../../api/failure.ts';
import type { ArchiveType } from '../../api/schema.ts';
import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import type { RunEvent } from '../state/advance.ts';
import type { LaunchDeps } from './inputFiles.ts';
import { type Run, type RunIn, type Target, toFailure } from '../state/run.ts';
import type { RunStore } from '../disk/runStore.ts';

/** Puts the intent to dispatch on disk, for a run whose files are confirmed or knowingly again for an `unknown` one; throws `busyElsewhere` when another window drives the run or has moved it on. */
export async function intendDispatch(run: Run, deps: LaunchDeps): Promise<RunIn<'dispatching'>> {
  requireStorage(deps.store, deps.mayBeForgotten);
  await requireMine(deps);
  const intended = await deps.store.applyIfDue(run.id, { type: 'dispatchIntended', at: deps.clock.now() });
  if (intended?.state !== 'dispatching') throw new AssessmentError('busyElsewhere');
  return intended;
}

/**
 * Sends the dispatch that a run intends; what the service may have accepted without our knowing makes the run `unknown` (DESIGN, "Dispatch is
 * sent at most once per intent"). A cancellation and the window's end count while nothing is under way: a request that was sent is never torn
 * off. Resolves with what became of it, to be put on disk. Throws `busyElsewhere` when nothing was sent because another window drives the run
 * or has moved it on.
 */
export async function sendDispatch(
  intended: RunIn<'dispatching'>,
  deps: LaunchDeps,
  signal: AbortSignal | undefined,
): Promise<RunEvent> {
  const { client, clock } = deps;
  const { id, webhookEndpointIds } = intended;
  const request = {
    input: { targets: intended.targets.flatMap(toInput), language: intended.language },
    ...(webhookEndpointIds.length === 0
      ? {}
      : { notification: { webhook_endpoint_ids: [...webhookEndpointIds] } }),
  };
  let runId: string;
  const way = { mayBeSent: false };
  try {
    const beforeSend = async (): Promise<void> => {
      // What was sent before was refused, or it would not be sent again.
      way.mayBeSent = false;
      try {
        await requireIntent(intended, deps);
      } catch (cause) {
        // Sent as soon as the machine has a descriptor again.
        throw isExhausted(cause)
          ? new AssessmentError('unsent', { detail: systemCode(cause) }, { cause })
          : cause;
      } finally {
        // A window that closes has given its lease back: that is no other window's doing.
        signal?.throwIfAborted();
      }
      way.mayBeSent = true;
    };
    runId = await client.dispatch(intended.workflow, request, { signal, beforeSend });
  } catch (cause) {
    if (isAbortError(cause)) return stoppedDispatch(intended, deps);
    const error = knownError(cause);
    if (error.kind === 'busyElsewhere') throw error;
    const failure = toFailure(error);
    return !way.mayBeSent || wasRefused(error)
      ? { type: 'failed', failure, at: clock.now() }
      : { type: 'dispatchLost', reason: failure, at: clock.now() };
  }
  // Named in the log before the journal: a disk that fails now must not take the only trace of a paid run with it.
  deps.log.info(`Run ${id} was accepted as ${visibleLine(runId)}`);
  return { type: 'dispatched', runId, at: clock.now() };
}

/** A window that closes is no person's decision: the run says that nothing was started, unless what it sends again may have been. */
function stoppedDispatch({ resendOf }: RunIn<'dispatching'>, { stopped, clock }: LaunchDeps): RunEvent {
  return stopped.aborted && resendOf === undefined
    ? { type: 'failed', failure: { kind: 'interrupted' }, at: clock.now() }
    : { type: 'dispatchStopped', at: clock.now() };
}

/** Throws `storage` while runs are kept for this window only: what costs is not started unknowingly where it would be forgotten. */
export function requireStorage(store: RunStore, mayBeForgotten: boolean): void {
  if (store.isTemporary && !mayBeForgotten) throw new AssessmentError('storage', { detail: store.problem });
}

async function requireMine({ stillMine }: LaunchDeps): Promise<void> {
  if (!(await stillMine())) throw new AssessmentError('busyElsewhere');
}

/** What waited to be sent may have been overtaken meanwhile, by another window or by a late answer. */
async function requireIntent({ id, intendedAt }: RunIn<'dispatching'>, deps: LaunchDeps): Promise<void> {
  await requireMine(deps);
  const run = await deps.store.refresh(id);
  if (run?.state !== 'dispatching' || run.intendedAt !== intendedAt)
    throw new AssessmentError('busyElsewhere');
}

/** True when the service cannot have done what it was asked to: it never got the request, or it answered 4xx. A 408 is no such answer: proxies send it after they have passed a request on. */
export function wasRefused(error: AssessmentError): boolean {
  const status = error.data.status ?? 0;
  return wasNeverSent(error) || (status >= 400 && status < 500 && status !== 408);
}

function toInput(target: Target): { file_upload: { file_id: string; archive_type: ArchiveType } }[] {
  const { archive, upload } = target;
  return archive === undefined || upload === undefined
    ? []
    : [{ file_upload: { file_id: upload.fileId, archive_type: archive.type } }];
}
