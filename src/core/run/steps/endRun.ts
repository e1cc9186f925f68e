import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { answerOf } from '../../yieldingWork.ts';
import { advance, type EventOf } from '../state/advance.ts';
import type { Run, RunIn } from '../state/run.ts';
import type { RunDeps, StepDeps } from './step.ts';

const maxWorkOutMs = 60_000;

/** Works out the findings; the run ends even if that fails. May be repeated: the result is replaced. */
export async function workOut(run: RunIn<'collecting'>, deps: StepDeps): Promise<EventOf<'collected'>> {
  const collected: EventOf<'collected'> = { type: 'collected', at: deps.clock.now() };
  const ended = new AbortController();
  const signal = AbortSignal.any([deps.signal, ended.signal]);
  try {
    // What a run's findings mean depends on how it ends.
    const work = Promise.resolve(deps.workOut?.(advance(run, collected), signal));
    await answerOf(work, 'findings', { clock: deps.clock, maxMs: maxWorkOutMs });
  } catch (error) {
    // The next window works them out.
    deps.signal.throwIfAborted();
    deps.log.warn(`Run ${run.id}: its findings could not be worked out: ${String(error)}`);
  } finally {
    ended.abort();
  }
  return collected;
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

/** May be repeated: a file that is gone is no failure. */
export async function removeArchives(
  run: Run,
  { store, clock }: Pick<RunDeps, 'store' | 'clock'>,
): Promise<EventOf<'archivesRemoved'>> {
  for (const { archive } of run.targets)
    if (archive !== undefined) await rm(join(store.folderOf(run.id), archive.file), { force: true });
  return { type: 'archivesRemoved', at: clock.now() };
}
