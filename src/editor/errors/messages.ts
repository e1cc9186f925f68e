import * as vscode from 'vscode';
import { AssessmentError, systemCode } from '../../core/errors.ts';
import type { FeaturesFault } from '../../core/features/features.ts';
import { maxPairs, type PairsFault } from '../../core/features/pairs.ts';
import { type ImportFault, maxImportBytes } from '../../core/findings/importExport/importFile.ts';
import { type Failure, isLive, type Run } from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { formatAccount, formatBytes, formatNumber } from '../formats.ts';
import {
  type ErrorMessage,
  openAsText,
  openFile,
  openSetting,
  showLog,
  signInAgain,
  toMessage,
  trackRun,
} from './remedies.ts';
import { describeServiceFailure } from './serviceMessages.ts';
import { describeBadSetting, describeTokenCommand } from './settingMessages.ts';

/** The message for an error; with a run, its sign-in button means the run's own account. */
export function describeError(error: unknown, run?: Run): ErrorMessage {
  if (error instanceof AssessmentError) return describeFailure({ kind: error.kind, ...error.data }, run);
  return describeFailure(toFileFailure(error) ?? { kind: 'unexpected' }, run);
}

/** Why the start of a run was refused; of a live application the reason may be its ownership (API reference, section 7). */
export function describeRefusal(failure: Failure, run: Run): ErrorMessage {
  const described = describeFailure(failure, run);
  const mayBeOwnership =
    run.workflow !== 'whitebox-assessment' && [400, 403].includes(failure.status ?? 0) && !isLive(run);
  if (!mayBeOwnership) return described;
  const hint = vscode.l10n.t(
    'The cause may be that the ownership of a target URL is not verified for your organization, which blackbox workflows need.',
  );
  return { ...described, message: `${described.message} ${hint}` };
}

/** The message for a failure that is stored with a run. */
export function describeFailure(
  failure: Failure | ({ kind: Failure['kind'] } & AssessmentError['data']),
  run?: Run,
): ErrorMessage {
  const t = vscode.l10n.t;
  const { subject = '', detail = '' } = failure;
  switch (failure.kind) {
    case 'unauthorized':
    case 'forbidden':
    case 'notFound':
    case 'rejected':
    case 'conflict':
    case 'capacity':
    case 'rateLimited':
    case 'serverError':
    case 'badResponse':
    case 'redirected':
    case 'addressRefused':
    case 'unsent':
    case 'connectionLost':
    case 'timeout':
    case 'tls':
    case 'proxy':
    case 'insecureUrl':
      return describeServiceFailure({ ...failure, kind: failure.kind }, run);
    case 'noFolder':
      return toMessage(t('Open the folder that you want to have assessed first.'), {
        title: t('Open Folder'),
        command: 'vscode.openFolder',
      });
    case 'notAFolder':
      return toMessage(
        t('This folder is not on this machine’s disk, so it cannot be packaged: {0}', subject),
      );
    case 'folderNotOpen':
      return toMessage(
        t(
          'Open the folder to try again: what you chose to leave out of it is known only where it is open: {0}',
          subject,
        ),
        {
          title: t('Open Folder'),
          command: 'vscode.openFolder',
          arguments: [vscode.Uri.file(subject), { forceNewWindow: true }],
        },
      );
    case 'nothingToSend':
      return toMessage(
        t(
          'There is nothing to send: the folder is empty, or ignore files and settings leave everything out.',
        ),
      );
    case 'archiveTooLarge':
      return toMessage(
        t(
          'The archive is larger than the limit of {0}. Leave more files out, or raise the limit.',
          formatBytes(failure.limit ?? 0),
        ),
        openSetting('whitebox.archive.maxSizeMB'),
      );
    case 'diskFull':
      return toMessage(t('The disk is full. Free some space and try again; nothing was lost.'));
    case 'sourceUnreadable':
      return toMessage(
        t(
          'What decides about the files to send cannot be read: {0}. A file must be an ordinary one of a usual size that you may read, an environment variable one that git takes.',
          failure.subject ?? detail,
        ),
      );
    case 'lengthChanged':
      return toMessage(t('The archive changed on disk while it was uploaded. Start again.'));
    case 'tooLarge':
      return toMessage(
        t(
          'The service sent more than the {0} that can be taken in. Ask whoever runs the service for the results.',
          formatBytes(failure.limit ?? 0),
        ),
        showLog(),
      );
    case 'malformedFindings':
      return toMessage(
        (failure.subject === undefined
          ? t(
              'The findings file cannot be read as a list of findings. It is kept as it came; the report may still open.',
            )
          : t(
              'The findings file of the run of {0} cannot be read as a list of findings. It is kept as it came; the report may still open.',
              failure.subject,
            )) + (failure.detail === undefined ? '' : ` (${failure.detail})`),
        showLog(),
      );
    case 'reportTooLarge':
      return toMessage(
        t(
          'This report has {0}, more than can be laid out here. It can be read as plain text.',
          formatBytes(failure.actual ?? 0),
        ),
        openAsText(failure.subject),
      );
    case 'findingsTooLarge':
      return toMessage(
        failure.subject === undefined
          ? t(
              'The findings file is larger than can be read. It is kept as it came, and is not tried again by itself; the report may still open.',
            )
          : t(
              'The findings file of the run of {0} is larger than can be read. It is kept as it came, and is not tried again by itself; the report may still open.',
              failure.subject,
            ),
        showLog(),
      );
    case 'badImport':
      return toMessage(describeImportFault(failure.subject as ImportFault, failure.detail), showLog());
    case 'badFeatures':
      return toMessage(describeFeaturesFault(failure.subject as FeaturesFault), showLog());
    case 'badPairs':
      return toMessage(describePairsFault(failure.subject as PairsFault));
    case 'noResult':
      return toMessage(
        t(
          'The service says that the run has ended, but not how. Track it again by its run ID later, or ask the vendor.',
        ),
        trackRun(),
        showLog(),
      );
    case 'unanswered':
      return toMessage(
        t(
          'The service has not answered about this run any more, so it is no longer watched. Should it still exist, track it again by its run ID.',
        ),
        trackRun(),
      );
    case 'notKept':
      return toMessage(
        t(
          'The assessment has started as run {0}, but VS Code’s storage does not take it ({1}). Free some space and leave this window open: it is tried again. Keep the run ID; with it the run can be tracked from anywhere.',
          subject,
          detail,
        ),
      );
    case 'triageDamaged':
      if (failure.limit !== undefined) {
        return toMessage(t('Only {0} triage decisions are read of those in {1}.', failure.limit, subject));
      }
      return toMessage(
        t(
          'The triage file cannot be read; nothing was changed. It is damaged, too large, or a newer version of this extension wrote it: {0}',
          subject,
        ),
        openFile(failure.subject),
      );
    case 'outsideFolder':
      return toMessage(
        t('Choose a folder inside the assessed folder; findings never lead out of it: {0}', subject),
      );
    case 'interrupted':
      return toMessage(
        t('VS Code was closed before the assessment had started. Nothing was started: use Retry Upload.'),
      );
    case 'startedElsewhere':
      return toMessage(t('An assessment is being started already. Finish or cancel that first.'));
    case 'busyElsewhere':
      return toMessage(t('Another window is taking care of this run. Do it there, or close that window.'));
    case 'runGone':
      return toMessage(
        t('This run is not in the list any more: it was removed, or its time in the history was over.'),
      );
    case 'changedMeanwhile':
      return toMessage(
        t(
          'The run has changed meanwhile and was left as it is. See what has become of it, then decide again.',
        ),
      );
    case 'runIdTaken':
      return toMessage(
        t('Another run in the list has this run ID already. Check the ID: each run has one of its own.'),
      );
    case 'notSignedIn':
      return run === undefined
        ? toMessage(t('Sign in to the assessment service first.'), signInAgain())
        : toMessage(t('Sign in to {0} first.', formatAccount(run)), signInAgain(run));
    case 'badTargetFile':
      return toMessage(
        t(
          'Runs are started from files named *.blackbox.json, on disk and in a folder of the workspace, not from this one: {0}',
          subject,
        ),
      );
    case 'noPassword':
      return toMessage(
        t(
          'The password of a login of this run is not kept any more, so nothing was sent. Start again: it is asked for then.',
        ),
      );
    case 'restricted':
      return toMessage(t('This is off in Restricted Mode. Trust this workspace first.'), {
        title: t('Manage Workspace Trust'),
        command: 'workbench.trust.manage',
      });
    case 'badSetting':
      return describeBadSetting(subject, failure.detail);
    case 'tokenCommand':
      return describeTokenCommand(subject, failure.detail);
    case 'storage':
      if (failure.subject !== undefined && failure.detail !== undefined)
        return toMessage(
          t(
            '{0} cannot be read or written ({1}). Check that you may, and that nothing else holds it, then try again.',
            failure.subject,
            failure.detail,
          ),
          showLog(),
        );
      return toMessage(
        t('VS Code’s storage for this extension cannot be read or written ({0}).', detail),
        showLog(),
      );
    case 'workerCrashed':
      return toMessage(
        t(
          'A worker of this extension ended before its work was done ({0}). Try again; should it come back, install the extension again.',
          detail,
        ),
        showLog(),
      );
    case 'unexpected':
      return toMessage(t('Something unexpected went wrong. The log has the details.'), showLog());
  }
}

/** Why a file could not be imported; `part` is the entry inside it that the fault is about. */
function describeImportFault(fault: ImportFault, part?: string): string {
  const t = vscode.l10n.t;
  const about = part === undefined ? '' : ` (${part})`;
  switch (fault) {
    case 'tooLarge':
      return t(
        'Nothing was imported: the file, or one inside it, is larger than {0}, or holds more than can be read.',
        formatBytes(maxImportBytes),
      );
    case 'notText':
      return t('Nothing was imported: the file is not UTF-8 text. Save it as UTF-8 and try again.');
    case 'notRead':
      return t(
        'Nothing was imported: tables are not read. Export an Offline Bundle instead: it brings the findings and all that goes with them.',
      );
    case 'noFindings':
      return t('Nothing was imported: the file is neither a bundle nor SARIF, nor a findings file.') + about;
    case 'notABundle':
      return t('Nothing was imported: the archive is not a bundle that this extension exported.') + about;
    case 'newerVersion':
      return t(
        'Nothing was imported: the bundle comes from a newer version of this extension. Update it and try again.',
      );
    case 'encrypted':
      return t('Nothing was imported: the archive is encrypted. A bundle never is.');
    case 'damaged':
      return t('Nothing was imported: the bundle is damaged. Have it sent again.') + about;
  }
}

/** Why the features of a run cannot be shown, or pairs of them chosen. */
function describeFeaturesFault(fault: FeaturesFault): string {
  const t = vscode.l10n.t;
  switch (fault) {
    case 'absent':
      return t(
        'The features of this run are not on this machine. Download its artifacts again; runs from before the service gave features have none.',
      );
    case 'tooLarge':
      return t('The features file is larger than can be read. It is kept as it came; nothing was sent.');
    case 'malformed':
      return t(
        'The features file cannot be read as a list of features. It is kept as it came; nothing was sent.',
      );
  }
}

/** Why the chosen pairs cannot be assessed. */
function describePairsFault(fault: PairsFault): string {
  const t = vscode.l10n.t;
  switch (fault) {
    case 'none':
      return t('Nothing was sent: no pair is chosen. Choose some in the Features view.');
    case 'tooMany':
      return t(
        'Nothing was sent: more than {0} pairs are chosen. Choose fewer in the Features view, or all of them without priorities.',
        formatNumber(maxPairs),
      );
    case 'gone':
      return t(
        'Nothing was sent: some of what is chosen is no longer among the features. Uncheck it in the Features view.',
      );
    case 'damaged':
      return t(
        'Nothing was sent: the choice of pairs that is kept with this run cannot be read. Choose again in the Features view.',
      );
  }
}

/** A file system's error as `diskFull`, or as `storage` with the file and the system's code; undefined for any other error. */
function toFileFailure(error: unknown): Failure | undefined {
  const found = error instanceof vscode.FileSystemError ? parseVSCodeError(error) : readSystemError(error);
  if (found === undefined) return undefined;
  const { code, path } = found;
  return ['ENOSPC', 'EDQUOT'].includes(code)
    ? { kind: 'diskFull' }
    : { kind: 'storage', subject: visibleLine(path ?? vscode.l10n.t('The file')), detail: code };
}

/** VS Code gives the system's code and the path only inside its message: "Error: EACCES: permission denied, open '/a/b'". */
function parseVSCodeError(error: vscode.FileSystemError): { code: string; path?: string | undefined } {
  const [, code, path] = /\b(E[A-Z]{2,}): [^']*(?:'(.*)')?/.exec(error.message) ?? [];
  return { code: code ?? error.code, path };
}

function readSystemError(error: unknown): { code: string; path?: string | undefined } | undefined {
  const code = systemCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return undefined;
  const { path, dest } = error as { path?: unknown; dest?: unknown };
  // Of two files, the person named the one to be written.
  const named = [dest, path].find((each) => typeof each === 'string');
  return named === undefined && !['ENOSPC', 'EDQUOT'].includes(code) ? undefined : { code, path: named };
}
