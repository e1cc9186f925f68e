import { AssessmentError, isAbortError, knownError, systemCode } from '../../errors.ts';
import type { Lease } from '../disk/lease.ts';
import { advance } from '../state/advance.ts';
import { backoff } from '../state/delays.ts';
import { isLive, type Run, type RunIn, runIdOf, toFailure } from '../state/run.ts';
import type { StartDeps } from '../steps/step.ts';
import { dispatch } from './dispatch.ts';
import { type PackedRun, signalOf } from './packRun.ts';
import { uploadFiles } from './uploadFiles.ts';

/**
 * Uploads a packed run, saves the intent to start it, and sends its start request. Resolves with
 * the run once it is running, unknown, or ended.
 */
export async function startRun({ run, lease }: PackedRun, deps: StartDeps): Promise<Run> {
  const { store, clock } = deps;
  const { id } = run;
  const moved = new AbortController();
  const signal = AbortSignal.any([signalOf(lease, deps), moved.signal]);
  signal.throwIfAborted();
  // From here on, another window ends the run if this one can't.
  await store.create(run);
  const following = store.onDidChange(() => {
    if (store.get(id)?.state !== 'preparing') moved.abort(new AssessmentError('busyElsewhere'));
  });
  let intended: Run;
  try {
    await uploadFiles(run, deps, signal);
    signal.throwIfAborted();
    await lease.renew();
    intended = await store.apply(id, { type: 'dispatchIntended', at: clock.now() });
    if (intended.state !== 'dispatching') throw new AssessmentError('busyElsewhere');
  } catch (error) {
    return await endUnsent(id, lease, error, deps);
  } finally {
    following.dispose();
  }
  return send(intended, lease, deps);
}

/** The files are already uploaded. */
export async function sendAgain(id: string, lease: Lease, deps: StartDeps): Promise<Run> {
  const intended = await deps.store.applyIfDue(id, { type: 'dispatchIntended', at: deps.clock.now() });
  if (intended?.state !== 'dispatching') throw new AssessmentError('busyElsewhere');
  return send(intended, lease, deps);
}

async function send(intended: RunIn<'dispatching'>, lease: Lease, deps: StartDeps): Promise<Run> {
  const { store, clock, random, log, notes, notSaved, stopped } = deps;
  const { id } = intended;
  const outcome = await dispatch(intended, lease, deps);
  const accepted = advance(intended, outcome);
  const newId = store.newId();
  for (let failures = 1; ; failures += 1) {
    // The note comes first, because the disk may refuse the journal. It is written at each attempt,
    // because another window may overwrite the notes.
    if (isLive(accepted)) notes?.keep(accepted, intended.intendedAt);
    try {
      const run = await store.apply(id, outcome).catch(undefinedIfGone);
      if (run !== undefined && (outcome.type !== 'dispatched' || runIdOf(run) === outcome.runId)) return run;
      log.warn(`The journal of run ${id} has changed since its start request: the answer gets its own`);
      return await store.create({ ...accepted, id: run === undefined ? id : newId });
    } catch (cause) {
      log.error(`Run ${id}: the outcome of its start request could not be saved: ${String(cause)}`);
      if (failures === 1 && outcome.type === 'dispatched') {
        const data = { subject: outcome.runId, detail: systemCode(cause) };
        notSaved.fire({ id, error: new AssessmentError('notSaved', data, { cause }) });
      }
      await clock.sleep(backoff(failures, random()), stopped);
    }
  }
}

async function endUnsent(
  id: string,
  lease: Lease,
  error: unknown,
  { store, clock, log, stopped }: StartDeps,
): Promise<Run> {
  lease.lost.throwIfAborted();
  stopped.throwIfAborted();
  const at = clock.now();
  if (isAbortError(error)) return store.apply(id, { type: 'abandoned', at });
  const known = knownError(error);
  if (known !== error)
    log.error(`Run ${id}: ${error instanceof Error ? String(error.stack) : String(error)}`);
  if (known.kind === 'busyElsewhere') throw known;
  return store.apply(id, { type: 'failed', failure: toFailure(known), at });
}

function undefinedIfGone(error: unknown): undefined {
  if (knownError(error).kind !== 'notFound') throw error;
}
