import * as vscode from 'vscode';
import { durationsBefore } from '../../core/findings/chooseRun.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { lastGoodAnswerAt } from '../../core/run/state/trouble.ts';
import { elapsedMs, isLive, type Run, wasStartedHere } from '../../core/run/state/run.ts';
import { describeTrouble } from '../errors/messages.ts';
import { formatDuration, formatTime } from '../formats.ts';
import { runTitle, stateLabel } from './runLabels.ts';

const t = vscode.l10n.t;

export interface StatusDeps {
  readonly runs: RunStore;
  readonly tracker: Pick<RunTracker, 'nextCheckAt'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What is known of an unfinished run, one fact a line. How much is left is not known, so nothing says it. */
export function statusLines(run: Run, deps: StatusDeps): string[] {
  const duration = formatDuration(elapsedMs(run, deps.clock.now()));
  const elapsed = isLive(run) && !wasStartedHere(run) ? t('watched for {0}', duration) : duration;
  const trouble = isLive(run) ? run.trouble : undefined;
  return [
    `${runTitle(run)}: ${stateLabel(run)}, ${elapsed}`,
    ...(run.state === 'unknown'
      ? [t('The response to the start request was lost. Decide how to continue.')]
      : []),
    ...(trouble === undefined ? [] : [describeTrouble(trouble, run).message]),
    ...waitingFacts(run, deps),
  ];
}

/** The last response, the next check, and how long earlier runs took; nothing for a run that isn't watched. */
export function waitingFacts(run: Run, { runs, tracker }: StatusDeps): string[] {
  if (!isLive(run)) return [];
  const nextCheckAt = tracker.nextCheckAt(run.id);
  const durations = durationsBefore(runs.all(), run);
  const [least, most] = [Math.min(...durations), Math.max(...durations)].map(formatDuration);
  return [
    t('Last response: {0}', formatTime(lastGoodAnswerAt(run))),
    ...(nextCheckAt === undefined ? [] : [t('Next check: {0}', formatTime(nextCheckAt))]),
    ...(durations.length === 0
      ? []
      : least === most
        ? [t('Earlier runs took {0}', least ?? '')]
        : [t('Earlier runs took {0} to {1}', least ?? '', most ?? '')]),
  ];
}
