import { basename } from 'node:path';
import * as vscode from 'vscode';
import { durationsBefore } from '../../core/findings/chooseRun.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { failsAgain } from '../../core/findings/result/readResult.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { isDownloaded } from '../../core/run/state/next.ts';
import { needsArchives } from '../../core/run/state/retention.ts';
import { lastGoodAnswerAt } from '../../core/run/state/trouble.ts';
import {
  elapsedMs,
  isFinal,
  isLive,
  type LiveRun,
  type Run,
  wasStartedHere,
} from '../../core/run/state/run.ts';
import { describeTrouble } from '../errors/errorMessages.ts';
import { compact, formatDuration, formatList, formatTime } from '../formats.ts';
import { runTitle, runStateLabel } from './runLabels.ts';

const t = vscode.l10n.t;

export interface StatusDeps {
  readonly runs: RunStore;
  readonly tracker: Pick<RunTracker, 'nextCheckAt'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** No line says how much longer the run will take, because that is unknown. */
export function statusLines(run: Run, deps: StatusDeps): string[] {
  const duration = formatDuration(elapsedMs(run, deps.clock.now()));
  const elapsed = isLive(run) && !wasStartedHere(run) ? t('watched for {0}', duration) : duration;
  const trouble = isLive(run) ? run.trouble : undefined;
  return compact(
    `${runTitle(run)}: ${runStateLabel(run)}, ${elapsed}`,
    run.state === 'unknown' && t('The response to the start request was lost. Decide how to continue.'),
    trouble && describeTrouble(trouble, run).message,
    ...nextSteps(run, deps),
    ...waitingFacts(run, deps),
  );
}

export function nextSteps(run: Run, deps: StatusDeps): string[] {
  if (isFinal(run) || run.state === 'unknown') return [];
  if (!vscode.workspace.isTrusted)
    return [
      t('This window is in Restricted Mode, so it doesn’t check runs. To check runs, trust this workspace.'),
    ];
  if (isLive(run)) return nextCheck(run, deps);
  switch (run.state) {
    case 'preparing':
      return run.workflow === 'whitebox-assessment'
        ? [t('When the upload is complete, VS Code sends the start request.')]
        : [];
    case 'dispatching':
      return [t('VS Code is waiting for the response to the start request.')];
  }
}

function nextCheck(run: LiveRun, { tracker, clock }: StatusDeps): string[] {
  const { trouble } = run;
  if (trouble?.kind === 'notSignedIn') return [t('When you sign in, VS Code checks the run again.')];
  if (run.state === 'collecting' && isDownloaded(run)) return [t('VS Code is reading the findings.')];
  const at = tracker.nextCheckAt(run.id);
  if (at === undefined || at <= clock.now())
    return run.state === 'collecting' && trouble === undefined
      ? [t('VS Code is downloading the results.')]
      : [];
  const time = formatTime(at);
  switch (trouble?.kind) {
    case 'unauthorized':
      return [t('Until you sign in, VS Code tries the same token again. Next check: {0}', time)];
    case 'tokenCommand':
      return [t('VS Code runs the token command again. Next check: {0}', time)];
    default:
      return [t('Next check: {0}', time)];
  }
}

export function stepsAfterEnd(
  run: Run,
  { tracker, clock, findings }: StatusDeps & { readonly findings: FindingStore },
): string[] {
  if (!isFinal(run)) return [];
  const isReading = findings.reading().some(({ id }) => id === run.id);
  const { failure, unread = [] } = findings.shownRuns().find((shown) => shown.run.id === run.id) ?? {};
  const folders = formatList(unread.map((folder) => basename(folder)));
  const isReadAgain = failure !== undefined && !failsAgain(failure);
  const deletionAt = tracker.nextCheckAt(run.id) ?? 0;
  return compact(
    isReading && t('VS Code is reading the findings.'),
    isReadAgain && t('When this window gets the focus, VS Code reads the findings again.'),
    unread.length > 0 && t('When {0} can be read, VS Code compares the findings with its files.', folders),
    needsArchives(run) && t('When you next open a window, VS Code tries again to save the findings.'),
    deletionAt > clock.now() &&
      t('VS Code retries the deletion of the uploaded source: {0}', formatTime(deletionAt)),
  );
}

export function waitingFacts(run: Run, { runs }: StatusDeps): string[] {
  if (!isLive(run)) return [];
  const durations = durationsBefore(runs.all(), run);
  const [least, most] = [formatDuration(Math.min(...durations)), formatDuration(Math.max(...durations))];
  return compact(
    t('Last response: {0}', formatTime(lastGoodAnswerAt(run))),
    durations.length > 0 &&
      (least === most ? t('Earlier runs took {0}', least) : t('Earlier runs took {0} to {1}', least, most)),
  );
}
