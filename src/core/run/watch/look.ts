import type { AssessmentClient } from '../../api/client.ts';
import { isAbortError } from '../../errors.ts';
import type { Clock, Logger } from '../../ports.ts';
import { collectArtifacts } from '../finish/downloadArtifacts.ts';
import type { Run } from '../state/run.ts';
import type { RunStore } from '../disk/runStore.ts';

/** Takes what is wanted of a run's archives, with its artifacts in its folder and before the archives go. */
export type KeepSource = (run: Run, signal: AbortSignal) => Promise<void>;

/** Describes a live run on the service once; the window that drives it also downloads what it made once it has ended. Throws what went wrong. */
export async function look(
  run: Run,
  deps: {
    store: RunStore;
    client: AssessmentClient;
    clock: Clock;
    log: Logger;
    keepSource?: KeepSource | undefined;
    signal: AbortSignal;
    isDriven: () => boolean;
  },
): Promise<Run> {
  const { store, client, clock, signal } = deps;
  let current = run;
  if (current.state === 'running' || current.state === 'cancelling') {
    const description = await client.describe(current.workflow, current.runId, { signal });
    current = await store.apply(run.id, { type: 'answered', description, at: clock.now() });
  }
  if (current.state !== 'collecting' || !deps.isDriven()) return current;
  const artifacts = await collectArtifacts(current, {
    client,
    folder: store.folderOf(run.id),
    signal,
    onKept: (artifact) => store.apply(run.id, { type: 'artifactKept', artifact, at: clock.now() }),
  });
  await tryToKeepSource(current, deps);
  return store.apply(run.id, { type: 'collected', artifacts, at: clock.now() });
}

/** Has the source kept that a run's findings point at. It is for comfort: a failure is logged and holds nothing up. */
export async function tryToKeepSource(
  run: Run,
  deps: { keepSource?: KeepSource | undefined; signal: AbortSignal; log: Logger },
): Promise<void> {
  try {
    await deps.keepSource?.(run, deps.signal);
  } catch (error) {
    if (isAbortError(error)) throw error;
    deps.log.warn(`Run ${run.id}: the source that its findings point at was not kept: ${String(error)}`);
  }
}
