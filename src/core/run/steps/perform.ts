import type { RunEvent } from '../state/advance.ts';
import type { Next } from '../state/next.ts';
import { downloadArtifacts } from './downloadArtifacts.ts';
import { announce, removeArchives, recordResult } from './endRun.ts';
import { poll } from './poll.ts';
import { sendRemovals } from './sendRemovals.ts';
import type { StepDeps } from './step.ts';

export async function perform(ready: Next, deps: StepDeps): Promise<RunEvent | undefined> {
  switch (ready.step) {
    case 'record':
      deps.log.info(`Run ${ready.run.id}: ${ready.event.type}`);
      return { ...ready.event, at: deps.clock.now() };
    case 'poll':
      return poll(ready.run, deps);
    case 'download':
      return downloadArtifacts(ready.run, deps);
    case 'saveResult':
      return recordResult(ready.run, deps);
    case 'announce':
      return announce(ready.run, deps);
    case 'removeArchives':
      return removeArchives(ready.run, deps);
    case 'removeUploads':
      return sendRemovals(ready.run, deps.deleteSourceAfterRun(), deps, deps.signal);
  }
}
