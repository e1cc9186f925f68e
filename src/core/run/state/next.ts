import type { EventOf, RunEvent } from './advance.ts';
import { hasArchives, uploadsToRemove } from './retention.ts';
import type { Run, RunIn } from './run.ts';

export interface Circumstances {
  readonly now: number;
  /** The run ID from a note: the start request was accepted, but the journal doesn't say so yet. */
  readonly notedRunId: string | undefined;
  readonly deletesSource: boolean;
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** `record` changes only the journal. */
export type Next =
  | { readonly step: 'poll'; readonly run: RunIn<'running' | 'cancelling'> }
  | { readonly step: 'download' | 'saveResult'; readonly run: RunIn<'collecting'> }
  | { readonly step: 'announce' | 'removeArchives' | 'removeUploads'; readonly run: Run }
  | { readonly step: 'record'; readonly run: Run; readonly event: WithoutTime<RunEvent> };

/** Returns the steps that a run needs now, the most urgent first. */
export function next(run: Run, given: Circumstances): readonly Next[] {
  switch (run.state) {
    case 'preparing':
      return [{ step: 'record', run, event: { type: 'takenOver' } }];
    case 'dispatching':
      return [{ step: 'record', run, event: noted(run, given) ?? { type: 'takenOver' } }];
    case 'unknown': {
      const event = noted(run, given);
      return event === undefined ? notice(run) : [{ step: 'record', run, event }];
    }
    case 'running':
    case 'cancelling':
      return [{ step: 'poll', run }];
    case 'collecting':
      return [{ step: isDownloaded(run) ? 'saveResult' : 'download', run }];
    case 'succeeded':
    case 'aborted':
    case 'cancelled':
    case 'failed':
    case 'imported':
      return [...notice(run), ...archives(run), ...uploads(run, given)];
  }
}

function noted(
  run: RunIn<'dispatching' | 'unknown'>,
  { notedRunId: runId }: Circumstances,
): WithoutTime<EventOf<'dispatched'>> | undefined {
  return runId === undefined ? undefined : { type: 'dispatched', intendedAt: run.intendedAt, runId };
}

export function isDownloaded({ exit, artifacts = [] }: RunIn<'collecting'>): boolean {
  return exit.artifacts.every((name) => artifacts.some((artifact) => artifact.name === name));
}

function notice(run: Run): Next[] {
  return run.noticeDue ? [{ step: 'announce', run }] : [];
}

/**
 * Archives are needed until every artifact is downloaded and the findings are saved, because
 * findings show the uploaded text.
 */
function archives(run: Run): Next[] {
  const lacksResults = 'artifacts' in run && run.artifacts?.some(({ failure }) => failure !== undefined);
  const areNeeded = lacksResults === true || run.lacksRecord === true;
  return hasArchives(run) && !areNeeded ? [{ step: 'removeArchives', run }] : [];
}

function uploads(run: Run, { deletesSource, now }: Circumstances): Next[] {
  return uploadsToRemove(run, deletesSource, now).length > 0 ? [{ step: 'removeUploads', run }] : [];
}
