import { dayMs, isFinal, retentionMs, type Run, runIdOf } from './run.ts';
import { lastGoodAnswerAt } from './trouble.ts';

/** Local archives contain source code, so old ones are removed. */
export const maxArchiveAgeMs = 7 * dayMs;

/**
 * Returns wall-clock ms. The run may have ended long before VS Code saw its exit, so the period
 * counts from the last good response before that.
 */
export function resultsKeptUntil(run: Run): number | undefined {
  if (run.state === 'running' || run.state === 'cancelling') return lastGoodAnswerAt(run) + retentionMs;
  return 'exit' in run && run.exit !== undefined && run.exitedAt !== undefined
    ? (run.ranAt ?? run.exitedAt) + retentionMs
    : undefined;
}

/**
 * A run that may have files on the service is kept at least until the service is expected to have
 * removed them.
 */
export function isPastLocalRetention(run: Run, retainLocalDays: number, now: number): boolean {
  if (!isFinal(run) || run.noticeDue) return false;
  const days = leftUploads(run).length > 0 ? Math.max(retainLocalDays, retentionMs / dayMs) : retainLocalDays;
  return now - run.endedAt > days * dayMs;
}

export function hasArchives({ archivesRemovedAt, targets }: Run): boolean {
  return archivesRemovedAt === undefined && targets.some(({ archive }) => archive !== undefined);
}

export function needsArchives(run: Run): boolean {
  return hasArchives(run) && run.lacksRecord === true;
}

export function hasOldArchives(run: Run, now: number): boolean {
  return hasArchives(run) && now - run.createdAt > maxArchiveAgeMs;
}

/**
 * Returns the files that an ended run may have on the service. Without `deletesSource`, these are
 * only files of runs that never got a run ID and can't be running.
 */
export function uploadsToRemove(run: Run, deletesSource: boolean, now: number) {
  if (!isFinal(run) || now - run.endedAt > retentionMs) return [];
  const isUnused = runIdOf(run) === undefined && !(run.state === 'cancelled' && run.mayStillRun === true);
  if (!deletesSource && !isUnused) return [];
  return leftUploads(run);
}

function leftUploads({ targets }: Run) {
  return targets.flatMap(({ upload }, target) =>
    upload?.state === 'reserved' || upload?.state === 'confirmed'
      ? [{ target, fileId: upload.fileId, state: upload.state }]
      : [],
  );
}
