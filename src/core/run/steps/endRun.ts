import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { answerOf } from '../../yieldingWork.ts';
import { advance, type EventOf } from '../state/advance.ts';
import type { Run, RunIn } from '../state/run.ts';
import type { RunDeps, StepDeps } from './step.ts';

const maxWorkOutMs = 60_000;

export async function recordResult(run: RunIn<'collecting'>, deps: StepDeps): Promise<EventOf<'collected'>> {
  const collected = { type: 'collected', at: deps.clock.now() } as const;
  // The result depends on the final state of the run.
  const recordSaved = await saveRecord(advance(run, { ...collected, lacksRecord: true }), deps, deps.signal);
  deps.signal.throwIfAborted();
  return { ...collected, lacksRecord: recordSaved === undefined };
}

/** Undefined if a later attempt may save the findings. */
export async function saveRecord(
  run: Run,
  { clock, log, saveResult }: RunDeps,
  signal: AbortSignal,
): Promise<EventOf<'recordSaved'> | undefined> {
  const ended = new AbortController();
  try {
    const saving = Promise.resolve(saveResult?.(run, AbortSignal.any([signal, ended.signal])));
    await answerOf(saving, 'findings', { clock, maxMs: maxWorkOutMs });
    return { type: 'recordSaved', at: clock.now() };
  } catch (error) {
    log.warn(`Run ${run.id}: its findings could not be worked out: ${String(error)}`);
    return undefined;
  } finally {
    ended.abort();
  }
}

/**
 * Asks the workbench first, because it may be gone. Then notes that the end was shown, and shows it
 * unless another window has shown it. If the note can't be saved, this drive shows the end once,
 * and another drive may show it again.
 */
export async function announce(run: Run, deps: StepDeps): Promise<undefined> {
  const { store, askWorkbench, clock, signal, ended, firstSeen } = deps;
  await answerOf(Promise.resolve(askWorkbench?.()), 'VS Code', { clock });
  signal.throwIfAborted();
  try {
    const noted = await store.applyIfDue(run.id, { type: 'endNotified', at: clock.now() });
    const wasShown = firstSeen.delete('shown');
    if (noted !== undefined && !wasShown) ended.fire(noted);
  } catch (error) {
    const isGone = error instanceof AssessmentError && error.kind === 'notFound';
    if (!isGone && !firstSeen.has('shown')) ended.fire(run);
    firstSeen.set('shown', clock.monotonic());
    throw error;
  }
}

export async function removeArchives(
  run: Run,
  { store, clock }: RunDeps,
): Promise<EventOf<'archivesRemoved'>> {
  for (const { archive } of run.targets)
    if (archive !== undefined) await rm(join(store.folderOf(run.id), archive.file), { force: true });
  return { type: 'archivesRemoved', at: clock.now() };
}
