import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { ImportFault } from '../../core/findings/importExport/importFault.ts';
import type { Failure, Run } from '../../core/run/state/run.ts';
import { describeBadSetting } from './badSettings.ts';
import { toFileFailure } from './fileFailure.ts';
import { formatAccount, formatBytes } from '../formats.ts';
import { describeImportFault } from './importFaults.ts';
import {
  openAsText,
  openFile,
  openSetting,
  type Remedy,
  showLog,
  signInAgain,
  trackRun,
} from './remedies.ts';
import { describeWay } from './wayFailure.ts';
import { describeTokenCommand } from './tokenCommandFailure.ts';

/** An error as a sentence that says what to do next, and what a button can do; about a run, signing in means its own service and organization. */
export function describeError(error: unknown, run?: Run): { message: string; remedies: Remedy[] } {
  if (error instanceof AssessmentError) return describeFailure({ kind: error.kind, ...error.data }, run);
  return describeFailure(toFileFailure(error) ?? { kind: 'unexpected' }, run);
}

/** The same for a failure that was kept with a run. */
export function describeFailure(
  failure: Failure | ({ kind: Failure['kind'] } & AssessmentError['data']),
  run?: Run,
): { message: string; remedies: Remedy[] } {
  const said =
    failure.detail === undefined ? '' : ` ${vscode.l10n.t('The service said: {0}', failure.detail)}`;
  const origin = failure.origin ?? vscode.l10n.t('the service');
  const t = vscode.l10n.t;
  const plain = (message: string, ...remedies: Remedy[]) => ({ message, remedies });
  switch (failure.kind) {
    case 'unauthorized':
      return plain(
        t(
          'The access token for {0} is invalid or has expired. Sign in again; runs already started are not affected.',
          run === undefined ? origin : formatAccount(run),
        ),
        signInAgain(run),
      );
    case 'forbidden':
      if (failure.subject === 'upload')
        return plain(
          t(
            'The upload took longer than the service allows, three times. Leave more files out, or retry the upload on a faster connection.',
          ) + said,
          showLog(),
        );
      return plain(
        t('You are not allowed to do this in this organization. Check the organization ID and your role.') +
          said,
        signInAgain(run),
      );
    case 'notFound':
      if (failure.subject === 'artifact')
        return plain(
          t(
            'The service does not have this result of the run, or keeps it no longer. Try to download it again later, or ask whoever runs the service.',
          ) + said,
          showLog(),
        );
      if (failure.subject === 'organization')
        return plain(
          t(
            '{0} does not know this address or this organization. Check the path of the base URL and the organization ID.',
            origin,
          ) + said,
          signInAgain(run),
        );
      return plain(
        t(
          'The service does not know this organization or run, or its results are past their retention. Check the organization ID.',
        ) + said,
        signInAgain(run),
      );
    case 'rejected':
      return plain(
        t(
          'The service refused the request. The log has the details; give them to whoever runs the service.',
        ) + said,
        showLog(),
      );
    case 'conflict':
      return plain(
        t('The service cannot do this in the present state. Check the run’s status, then try again.') + said,
        showLog(),
      );
    case 'capacity':
      return plain(
        t(
          'The organization’s storage on the service is full, or the archive is too large for it. Delete uploaded source that is no longer needed, or leave more files out.',
        ) + said,
        { title: t('Delete Uploaded Source…'), command: 'whitebox.deleteUploadedSource' },
      );
    case 'rateLimited':
      return plain(t('The service asks to wait before the next request. Try again later.') + said);
    case 'serverError':
      return plain(t('The service failed ({0}). Try again later.', failure.status ?? 500) + said, showLog());
    case 'badResponse':
      return plain(
        t(
          '{0} answered with something that is not the assessment API. Check the base URL, and whether a proxy answers in its place.',
          origin,
        ) + said,
        openSetting('whitebox.baseUrl'),
      );
    case 'redirected':
      if (failure.subject === 'files')
        return plain(
          t(
            '{0}, where the service keeps files, redirects to another address ({1}). Redirects are not followed, so that files go where the service said. Try again later; should it last, tell whoever runs the service.',
            origin,
            failure.status ?? '',
          ),
          showLog(),
        );
      return plain(
        t(
          '{0} redirects to another address. Redirects are not followed, so that your token stays where it belongs: enter the final address as base URL.',
          origin,
        ),
        openSetting('whitebox.baseUrl'),
      );
    case 'addressRefused':
      return plain(
        t(
          '{0}, where the service keeps files, refused the transfer ({1}). Try again later. Should a proxy or filter of your company have answered in its place, have it let this address through.',
          origin,
          failure.status ?? '',
        ) + said,
        showLog(),
      );
    case 'unsent':
    case 'connectionLost':
    case 'timeout':
    case 'tls':
    case 'proxy':
    case 'insecureUrl':
      return describeWay({ ...failure, kind: failure.kind }, origin);
    case 'noFolder':
      return plain(t('Open the folder that you want to have assessed first.'), {
        title: t('Open Folder'),
        command: 'vscode.openFolder',
      });
    case 'notAFolder':
      return plain(
        t('This folder is not on this machine’s disk, so it cannot be packaged: {0}', failure.subject ?? ''),
      );
    case 'folderNotOpen':
      return plain(
        t(
          'Open the folder to try again: what you chose to leave out of it is known only where it is open: {0}',
          failure.subject ?? '',
        ),
        {
          title: t('Open Folder'),
          command: 'vscode.openFolder',
          arguments: [vscode.Uri.file(failure.subject ?? ''), { forceNewWindow: true }],
        },
      );
    case 'nothingToSend':
      return plain(
        t(
          'There is nothing to send: the folder is empty, or ignore files and settings leave everything out.',
        ),
      );
    case 'archiveTooLarge':
      return plain(
        t(
          'The archive is larger than the limit of {0}. Leave more files out, or raise the limit.',
          formatBytes(failure.limit ?? 0),
        ),
        openSetting('whitebox.archive.maxSizeMB'),
      );
    case 'diskFull':
      return plain(t('The disk is full. Free some space and try again; nothing was lost.'));
    case 'sourceUnreadable':
      return plain(
        t(
          'What decides about the files to send cannot be read: {0}. A file must be an ordinary one of a usual size that you may read, an environment variable one that git takes.',
          failure.subject ?? failure.detail ?? '',
        ),
      );
    case 'lengthChanged':
      return plain(t('The archive changed on disk while it was uploaded. Start again.'));
    case 'tooLarge':
      return plain(
        t(
          'The service sent more than the {0} that can be taken in. Ask whoever runs the service for the results.',
          formatBytes(failure.limit ?? 0),
        ),
        showLog(),
      );
    case 'malformedFindings':
      return plain(
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
      return plain(
        t(
          'This report has {0}, more than can be laid out here. It can be read as plain text.',
          formatBytes(failure.actual ?? 0),
        ),
        openAsText(failure.subject),
      );
    case 'findingsTooLarge':
      return plain(
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
      return plain(describeImportFault(failure.subject as ImportFault, failure.detail), showLog());
    case 'noResult':
      return plain(
        t(
          'The service says that the run has ended, but not how. Track it again by its run ID later, or ask the vendor.',
        ),
        trackRun(),
        showLog(),
      );
    case 'unanswered':
      return plain(
        t(
          'The service has not answered about this run any more, so it is no longer watched. Should it still exist, track it again by its run ID.',
        ),
        trackRun(),
      );
    case 'notKept':
      return plain(
        t(
          'The assessment has started as run {0}, but VS Code’s storage does not take it ({1}). Free some space and leave this window open: it is tried again. Keep the run ID; with it the run can be tracked from anywhere.',
          failure.subject ?? '',
          failure.detail ?? '',
        ),
      );
    case 'triageDamaged':
      if (failure.limit !== undefined) {
        return plain(
          t('Only {0} triage decisions are read of those in {1}.', failure.limit, failure.subject ?? ''),
        );
      }
      return plain(
        t(
          'The triage file cannot be read; nothing was changed. It is damaged, too large, or a newer version of this extension wrote it: {0}',
          failure.subject ?? '',
        ),
        openFile(failure.subject),
      );
    case 'outsideFolder':
      return plain(
        t(
          'Choose a folder inside the assessed folder; findings never lead out of it: {0}',
          failure.subject ?? '',
        ),
      );
    case 'interrupted':
      return plain(
        t('VS Code was closed before the assessment had started. Nothing was started: use Retry Upload.'),
      );
    case 'startedElsewhere':
      return plain(t('An assessment is being started already. Finish or cancel that first.'));
    case 'busyElsewhere':
      return plain(t('Another window is taking care of this run. Do it there, or close that window.'));
    case 'runGone':
      return plain(
        t('This run is not in the list any more: it was removed, or its time in the history was over.'),
      );
    case 'changedMeanwhile':
      return plain(
        t(
          'The run has changed meanwhile and was left as it is. See what has become of it, then decide anew.',
        ),
      );
    case 'runIdTaken':
      return plain(
        t('Another run in the list has this run ID already. Check the ID: each run has one of its own.'),
      );
    case 'notSignedIn':
      return run === undefined
        ? plain(t('Sign in to the assessment service first.'), signInAgain())
        : plain(t('Sign in to {0} first.', formatAccount(run)), signInAgain(run));
    case 'restricted':
      return plain(t('This is off in Restricted Mode. Trust this workspace first.'), {
        title: t('Manage Workspace Trust'),
        command: 'workbench.trust.manage',
      });
    case 'badSetting':
      return describeBadSetting(failure.subject ?? '', failure.detail);
    case 'tokenCommand':
      if (failure.detail === 'notAList') return describeBadSetting('tokenCommand', undefined);
      return plain(
        describeTokenCommand(failure.subject ?? '', failure.detail),
        openSetting('whitebox.tokenCommand'),
        showLog(),
      );
    case 'storage':
      if (failure.subject !== undefined && failure.detail !== undefined)
        return plain(
          t(
            '{0} cannot be read or written ({1}). Check that you may, and that nothing else holds it, then try again.',
            failure.subject,
            failure.detail,
          ),
          showLog(),
        );
      return plain(
        t('VS Code’s storage for this extension cannot be read or written ({0}).', failure.detail ?? ''),
        showLog(),
      );
    case 'workerCrashed':
      return plain(
        t(
          'A worker of this extension ended before its work was done ({0}). Try again; should it come back, install the extension again.',
          failure.detail ?? '',
        ),
        showLog(),
      );
    case 'unexpected':
      return plain(t('Something unexpected went wrong. The log has the details.'), showLog());
  }
}
