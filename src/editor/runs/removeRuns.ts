import * as vscode from 'vscode';
import { isTransient } from '../../core/api/retry.ts';
import type { AssessmentError } from '../../core/errors.ts';
import type { RunNotes } from '../../core/run/disk/runNotes.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { isFinal, type Run, runIdOf } from '../../core/run/state/run.ts';
import { waitsForToken } from '../../core/run/state/trouble.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { describeError } from '../errors/errorMessages.ts';
import { formatNumber, formatTime } from '../formats.ts';
import { hasArtifact, titleOf } from './runLabels.ts';
import { withProgress, withViewProgress } from '../progress.ts';
import { readDeleteSourceAfterRun } from '../settings.ts';
import { askInDialog, showInformation, showWarning } from '../showMessage.ts';
import { pickRun } from './pickRun.ts';
import type { TrackDeps } from './trackRun.ts';

const t = vscode.l10n.t;

interface RemoveDeps {
  readonly tracker: RunTracker;
  readonly notes: RunNotes;
}

interface KeptRun {
  readonly run: Run;
  readonly failure: AssessmentError;
}

export function hasSource({ targets }: Run): boolean {
  return targets.some(({ upload }) => upload?.state === 'confirmed' || upload?.state === 'reserved');
}

export function losesSource({ targets }: Run): boolean {
  return targets.some(
    ({ upload }) =>
      upload?.state === 'reserved' || (upload?.state === 'confirmed' && readDeleteSourceAfterRun()),
  );
}

export async function deleteUploadedSource(
  { runs, tracker }: TrackDeps,
  selected: readonly Run[],
): Promise<void> {
  const candidates = (selected.length > 0 ? selected : runs.all()).filter(
    (run) => isFinal(run) && hasSource(run),
  );
  const chosen =
    selected.length > 1
      ? candidates
      : [await pickRun(candidates, t('Delete Uploaded Source'))].flatMap((run) => run ?? []);
  const [first] = chosen;
  if (first === undefined) return;
  const yes = t('Delete');
  const question =
    chosen.length === 1
      ? t('Delete the uploaded source code of {0} from the service?', titleOf(first))
      : t('Delete the uploaded source code of {0} runs from the service?', formatNumber(chosen.length));
  const detail = t('The findings and the report stay. The source on this machine doesn’t change.');
  if ((await askInDialog({ question, detail }, yes)) !== yes) return;
  const kept: KeptRun[] = [];
  await withViewProgress(async () => {
    for (const run of chosen) {
      const failure = lastingFailure(kept) ?? (await tracker.deleteUploads(run.id));
      if (failure !== undefined) kept.push({ run, failure });
    }
  });
  const [failed] = kept;
  if (failed === undefined) {
    void showInformation(t('The uploaded source was deleted.'));
    return;
  }
  const { message, actions } = describeError(failed.failure, failed.run);
  const text = t('Uploaded source couldn’t be deleted and may still be on the service. {0}', message);
  await showWarning(text, ...actions);
}

export async function removeRuns(deps: RemoveDeps, selected: readonly Run[]): Promise<void> {
  const chosen = selected.filter((run) => isFinal(run) || run.state === 'unknown');
  const [first] = chosen;
  if (first === undefined) return;
  const yes = t('Remove');
  const runIds = chosen.flatMap((run) => (run.state === 'failed' ? (run.runId ?? []) : []));
  const detail = [
    chosen.some((run) => hasArtifact(run, 'findings') || hasArtifact(run, 'report')) &&
      t('The findings and the report are deleted from this machine.'),
    runIds.length > 0 &&
      t(
        'VS Code doesn’t know how the run ended. If the run still exists on the service, you can track it again by its run ID: {0}',
        visibleLine(runIds.join(', ')),
      ),
    !chosen.every(isFinal) &&
      `${t('A run with an unconfirmed start is no longer watched.')} ${t('If the service accepted the start request, the run continues and spends credits.')}`,
    chosen.some(losesSource) && t('The uploaded source is deleted from the service.'),
    chosen.length < selected.length && t('Runs that haven’t ended aren’t removed.'),
  ];
  const question =
    chosen.length === 1
      ? t('Remove the run from {0} from the history?', formatTime(first.createdAt))
      : t('Remove {0} runs from the history?', formatNumber(chosen.length));
  if ((await askInDialog({ question, detail }, yes)) !== yes) return;
  const kept = await remove(chosen, deps);
  const [failed] = kept;
  if (failed === undefined) return;
  const { message, actions } = describeError(failed.failure, failed.run);
  const leave = { title: t('Remove Without Deleting Source') };
  const text =
    kept.length === 1
      ? t(
          'The run wasn’t removed because its uploaded source couldn’t be deleted. {0} If you remove the run anyway, the source stays on the service until its retention period ends.',
          message,
        )
      : t(
          '{0} runs weren’t removed because their uploaded source couldn’t be deleted. {1} If you remove the runs anyway, the source stays on the service until its retention period ends.',
          formatNumber(kept.length),
          message,
        );
  if ((await showWarning(text, ...actions, leave)) !== leave) return;
  const keptRuns = kept.map(({ run }) => run);
  await remove(keptRuns, deps, { leavesSource: true });
}

/** Returns a failure that the next runs would probably meet, too. */
function lastingFailure(kept: readonly KeptRun[]): AssessmentError | undefined {
  return kept.find(({ failure }) => isTransient(failure) || waitsForToken(failure))?.failure;
}

function remove(
  runs: readonly Run[],
  { tracker, notes }: RemoveDeps,
  options?: { leavesSource: boolean },
): Thenable<readonly KeptRun[]> {
  return withProgress(
    t('Removing from the history…'),
    async () => {
      const kept: KeptRun[] = [];
      for (const run of runs) {
        const known = losesSource(run) ? lastingFailure(kept) : undefined;
        const failure = known ?? (await tracker.remove(run.id, options));
        const runId = runIdOf(run);
        if (failure !== undefined) kept.push({ run, failure });
        else if (runId !== undefined) await notes.forget(runId);
      }
      return kept;
    },
    { cancellable: false },
  );
}
