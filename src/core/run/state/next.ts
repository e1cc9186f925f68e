import {
  dayMs,
  isPastLocalRetention,
  isRetentionNoticeDue,
  maxArchiveAgeMs,
  retentionMs,
} from './deadlines.ts';
import type { EventOf, RunEvent } from './event.ts';
import { isFinal, type LiveRun, type Run, type RunIn, runIdOf, type Target, type Wait } from './run.ts';
import { untilTokenChanges, waitsForToken } from './waits.ts';

/** Files that the wall clock, which may be wrong, says are past their time are removed if that is still so a day later. */
const cleanUpDelayMs = dayMs;
/** A step that ends its process would otherwise end each process that takes the run over. */
const maxWorkOutTries = 2;

/** What counts beside the journal. */
export interface Circumstances {
  readonly now: number;
  /** The service's ID of a run that it accepted while the journal could not be written, from its note. */
  readonly notedRunId: string | undefined;
  readonly deletesSource: boolean;
  readonly retainLocalDays: number;
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** A step that a run needs, and the wait before it; `record` changes the journal alone. */
export type Next = { readonly wait?: Wait | undefined } & (
  | { readonly step: 'poll'; readonly run: RunIn<'running' | 'cancelling'> }
  | { readonly step: 'download' | 'workOut'; readonly run: RunIn<'collecting'> }
  | {
      readonly step: 'announce' | 'removeArchives' | 'removeUploads' | 'warnOfRetention' | 'forget';
      readonly run: Run;
    }
  | { readonly step: 'record'; readonly run: Run; readonly event: WithoutTime<RunEvent> }
);

/**
 * What a run needs from whoever holds its lease, the most urgent first: a window that holds its lease performs the first step whose wait is over, and
 * asks again. Empty for a run that needs nothing: then the lease is given back.
 */
export function next(run: Run, given: Circumstances): readonly Next[] {
  switch (run.state) {
    case 'preparing':
      return [{ step: 'record', run, event: { type: 'takenOver' } }];
    case 'dispatching':
      return [{ step: 'record', run, event: noted(run, given) ?? { type: 'takenOver' } }];
    case 'running':
    case 'cancelling':
      return [
        ...retentionNotice(run, given),
        ...localFiles(run, given),
        { step: 'poll', run, wait: check(run) },
      ];
    case 'collecting':
      return [...retentionNotice(run, given), collecting(run), ...localFiles(run, given)];
    case 'unknown': {
      const event = noted(run, given);
      if (event !== undefined) return [{ step: 'record', run, event }];
      // A clean-up that is not due yet keeps no lease.
      return [...notice(run), ...localFiles(run, given).filter(({ wait }) => isPast(wait, given))];
    }
    case 'succeeded':
    case 'aborted':
    case 'cancelled':
    case 'failed':
    case 'imported':
      return [
        ...notice(run),
        ...retentionNotice(run, given),
        ...localFiles(run, given),
        ...uploads(run, given),
      ];
  }
}

function noted(
  run: RunIn<'dispatching' | 'unknown'>,
  { notedRunId: runId }: Circumstances,
): WithoutTime<EventOf<'dispatched'>> | undefined {
  return runId === undefined ? undefined : { type: 'dispatched', intendedAt: run.intendedAt, runId };
}

function collecting(run: RunIn<'collecting'>): Next {
  if (run.isDownloaded !== true) return { step: 'download', run, wait: check(run) };
  if ((run.workOutTries ?? 0) < maxWorkOutTries) return { step: 'workOut', run };
  return { step: 'record', run, event: { type: 'collected' } };
}

function check({ check: wait, trouble }: LiveRun): Wait | undefined {
  return wait ?? (trouble !== undefined && waitsForToken(trouble) ? untilTokenChanges : undefined);
}

function notice(run: Run): Next[] {
  return run.noticeDue ? [{ step: 'announce', run }] : [];
}

function retentionNotice(run: Run, { now }: Circumstances): Next[] {
  return isRetentionNoticeDue(run, now) ? [{ step: 'warnOfRetention', run }] : [];
}

/** The source goes with the results; archives, and the run itself, past their time. */
function localFiles(run: Run, { now, retainLocalDays }: Circumstances): Next[] {
  const hasArchives =
    run.archivesRemovedAt === undefined && run.targets.some(({ archive }) => archive !== undefined);
  if (hasArchives && !needsArchives(run)) return [{ step: 'removeArchives', run }];
  const step = isPastLocalRetention(run, retainLocalDays, now)
    ? 'forget'
    : hasArchives && now - (run.uploadedAt ?? run.createdAt) > maxArchiveAgeMs
      ? 'removeArchives'
      : undefined;
  const { cleanUpDueAt: dueAt } = run;
  if (step === undefined)
    return dueAt === undefined ? [] : [{ step: 'record', run, event: { type: 'cleanUpNotDue' } }];
  if (dueAt === undefined) return [{ step: 'record', run, event: { type: 'cleanUpDue' } }];
  return [{ step, run, wait: { at: dueAt, ms: cleanUpDelayMs, firmMs: cleanUpDelayMs } }];
}

function isPast(wait: Wait | undefined, { now }: Circumstances): boolean {
  return wait === undefined || now >= wait.at + wait.ms;
}

/** True until every artifact is here: the text that findings point at is taken from the archives. */
function needsArchives(run: Run): boolean {
  return (
    !isFinal(run) ||
    ('artifacts' in run && (run.artifacts ?? []).some(({ failure }) => failure !== undefined))
  );
}

/** Uploads whose removal needs another token wait for `tokenChanged`, without a lease. */
function uploads(run: Run, { deletesSource, now }: Circumstances): Next[] {
  if (!mayHaveUploads(run, deletesSource, now)) return [];
  const { removal } = run;
  return removal !== undefined && removal.wait === undefined
    ? []
    : [{ step: 'removeUploads', run, wait: removal?.wait }];
}

export interface UploadToRemove {
  readonly target: number;
  readonly fileId: string;
  readonly state: 'reserved' | 'confirmed';
}

/** True for an ended run that may have files on the service; past `retentionMs` the service has removed them itself. */
export function mayHaveUploads(run: Run, includeConfirmed: boolean, now: number): boolean {
  if (!isFinal(run) || now - run.endedAt > retentionMs) return false;
  return uploadsToRemove(run, includeConfirmed).length > 0;
}

export function uploadsToRemove(run: Run, includeConfirmed: boolean): readonly UploadToRemove[] {
  return run.targets.flatMap(({ upload }, target) =>
    isToRemove(upload, run, includeConfirmed) ? [{ target, fileId: upload.fileId, state: upload.state }] : [],
  );
}

/** The files of a run with a run ID are confirmed. Of another run, one may still be a reservation, because `confirm` takes a conflict for success. */
function isToRemove(
  upload: Target['upload'],
  run: Run,
  includeConfirmed: boolean,
): upload is NonNullable<Target['upload']> & { state: 'reserved' | 'confirmed' } {
  if (upload?.state !== 'confirmed') return upload?.state === 'reserved';
  const isSurelyConfirmed = upload.isSure === true || runIdOf(run) !== undefined;
  return includeConfirmed || !isSurelyConfirmed;
}
