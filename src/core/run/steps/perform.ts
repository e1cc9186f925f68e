import type { RunEvent } from '../state/advance.ts';
import type { Next } from '../state/next.ts';
import { downloadArtifacts } from './downloadArtifacts.ts';
import { announce, removeArchives, workOut } from './endRun.ts';
import { poll } from './poll.ts';
import { removeUploads } from './removeUploads.ts';
import type { StepDeps } from './step.ts';

export async function perform(due: Next, deps: StepDeps): Promise<RunEvent | undefined> {
  switch (due.step) {
    case 'record':
      deps.log.info(`Run ${due.run.id}: ${due.event.type}`);
      return { ...due.event, at: deps.clock.now() };
    case 'poll':
      return poll(due.run, deps);
    case 'download':
      return downloadArtifacts(due.run, deps);
    case 'workOut':
      return workOut(due.run, deps);
    case 'announce':
      return announce(due.run, deps);
    case 'removeArchives':
      return removeArchives(due.run, deps);
    case 'removeUploads':
      return removeUploads(due.run, deps.deleteSourceAfterRun(), deps, deps.signal);
  }
}
