import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { markOf } from '../../files.ts';
import { answerOf } from '../../yieldingWork.ts';
import type { RunStore } from '../disk/runStore.ts';
import { advance } from '../state/advance.ts';
import type { EventOf } from '../state/event.ts';
import { isFinal, type Run } from '../state/run.ts';
import type { RunDeps, StepDeps } from './step.ts';

const maxWorkOutMs = 60_000;

/** Works out the findings. The run ends even if that fails; the try counts even if it ends this process. */
export async function workOut(run: Run, deps: StepDeps): Promise<EventOf<'collected'>> {
  const { clock, log } = deps;
  await deps.save({ type: 'workOutBegun', at: clock.now() });
  const ended = new AbortController();
  const signal = AbortSignal.any([deps.signal, ended.signal]);
  try {
    // What a run's findings mean depends on how it ends.
    const asEnded = advance(run, { type: 'collected', at: clock.now() });
    await answerOf(Promise.resolve(deps.workOut?.(asEnded, signal)), 'findings', {
      clock,
      maxMs: maxWorkOutMs,
    });
  } catch (error) {
    // Only this signal ends the work before its time: the next window tries again.
    if (deps.signal.aborted) {
      await deps.save({ type: 'workOutStopped', at: clock.now() });
      throw error;
    }
    log.warn(`Run ${run.id}: its findings could not be worked out: ${String(error)}`);
  } finally {
    ended.abort();
  }
  return { type: 'collected', at: clock.now() };
}

/**
 * Asks the workbench first, which may be gone; then notes that the end was shown, and shows it. An end that another window has noted is not shown.
 * Where the note cannot be saved, this window shows it once, and another may show it again rather than never.
 */
export async function announce(run: Run, deps: StepDeps): Promise<undefined> {
  const { store, askWorkbench, clock, signal, ended, shown } = deps;
  await answerOf(Promise.resolve(askWorkbench?.()), 'VS Code', { clock });
  // Another window may drive the run by now.
  signal.throwIfAborted();
  try {
    const noted = await store.applyIfDue(run.id, { type: 'endNotified', at: clock.now() });
    const wasShown = shown.delete(run.id);
    if (noted !== undefined && !wasShown) ended.fire(noted);
  } catch (error) {
    const isGone = error instanceof AssessmentError && error.kind === 'notFound';
    if (!isGone && !shown.has(run.id)) ended.fire(run);
    shown.add(run.id);
    throw error;
  }
}

export async function warnOfRetention(run: Run, deps: StepDeps): Promise<undefined> {
  const { store, clock, save, nearRetention } = deps;
  const isComplete = await hasResults(run, store);
  const noted = await save({ type: 'retentionNotified', at: clock.now() });
  if (!isComplete) nearRetention.fire(noted);
}

async function hasResults(run: Run, store: RunStore): Promise<boolean> {
  if (!isFinal(run)) return false;
  for (const { file } of 'artifacts' in run ? (run.artifacts ?? []) : []) {
    const mark = file === undefined ? undefined : await markOf(join(store.folderOf(run.id), file));
    if (mark === undefined) return false;
  }
  return true;
}

export async function removeArchives(
  run: Run,
  { store, clock }: Pick<RunDeps, 'store' | 'clock'>,
): Promise<EventOf<'archivesRemoved'>> {
  for (const { archive } of run.targets)
    if (archive !== undefined) await rm(join(store.folderOf(run.id), archive.file), { force: true });
  return { type: 'archivesRemoved', at: clock.now() };
}

/** Removes a run that sent nothing, or is past its retention period, with its folder. */
export async function forget(run: Run, { store, log }: Pick<RunDeps, 'store' | 'log'>): Promise<undefined> {
  log.info(
    `Run ${run.id} is removed: ${isFinal(run) ? 'its retention period is over' : 'its start was interrupted'}`,
  );
  await store.remove(run.id);
}
