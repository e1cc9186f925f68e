import * as vscode from 'vscode';
import { AssessmentError, type OwnErrorKind, systemCode } from '../../core/errors.ts';
import type { FeaturesFault } from '../../core/features/features.ts';
import { maxPairs, type PairsFault } from '../../core/features/pairs.ts';
import { type ImportFault, maxImportBytes } from '../../core/findings/importExport/importFile.ts';
import { type Failure, isLive, type Run } from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { formatAccount, formatBytes, formatNumber } from '../formats.ts';
import {
  type ErrorMessage,
  type Message,
  type Messages,
  openAsText,
  openFile,
  openSetting,
  openSettingsFile,
  showLog,
  signInAgain,
  trackRun,
} from './remedies.ts';
import { saidBy, serviceMessages } from './serviceMessages.ts';

/** The message for an error; with a run, its sign-in button means the run's own account. */
export function describeError(error: unknown, run?: Run): ErrorMessage {
  if (error instanceof AssessmentError) return describeFailure({ kind: error.kind, ...error.data }, run);
  return describeFailure(toFileFailure(error) ?? { kind: 'unexpected' }, run);
}

/** Why the start of a run was refused. The service starts a blackbox run only on applications whose ownership is verified. */
export function describeRefusal(failure: Failure, run: Run): ErrorMessage {
  const t = vscode.l10n.t;
  const described = describeFailure(failure, run);
  if (run.workflow === 'whitebox-assessment' || isLive(run)) return described;
  const ownership = t(
    'The ownership of a target URL may not be verified for your organization. Blackbox runs require this.',
  );
  switch (failure.status) {
    case 400:
      return { ...described, message: `${described.message} ${ownership}` };
    case 403: {
      const role = t('Your role might also not allow this run.');
      return { message: `${ownership} ${role}${saidBy(failure)}`, remedies: [showLog()] };
    }
    default:
      return described;
  }
}

/** The message for a failure that is stored with a run. */
export function describeFailure(
  failure: Failure | ({ kind: Failure['kind'] } & AssessmentError['data']),
  run?: Run,
): ErrorMessage {
  const messages = { ...serviceMessages(failure, run), ...ownMessages(failure, run) };
  const [message, ...remedies] = messages[failure.kind]();
  return { message, remedies };
}

/** Why something could not be done here, by kind. */
function ownMessages(failure: AssessmentError['data'], run: Run | undefined): Messages<OwnErrorKind> {
  const t = vscode.l10n.t;
  const { subject = '', detail = '' } = failure;
  return {
    noFolder: () => [
      t('Open the folder that you want to have assessed first.'),
      {
        title: t('Open Folder'),
        command: 'vscode.openFolder',
      },
    ],
    notAFolder: () => [t('This is no folder on this machine’s disk. Choose one that is: {0}', subject)],
    folderNotOpen: () => [
      t(
        'Open the folder to try again: what you chose to leave out of it is known only where it is open: {0}',
        subject,
      ),
      {
        title: t('Open Folder'),
        command: 'vscode.openFolder',
        arguments: [vscode.Uri.file(subject), { forceNewWindow: true }],
      },
    ],
    nothingToSend: () => [
      t('There is nothing to send: the folder is empty, or ignore files and settings leave everything out.'),
    ],
    archiveTooLarge: () => [
      t(
        'The archive is larger than the limit of {0}. Leave more files out, or raise the limit.',
        formatBytes(failure.limit ?? 0),
      ),
      openSetting('whitebox.archive.maxSizeMB'),
    ],
    diskFull: () => [t('The disk is full. Free some space and try again; nothing was lost.')],
    sourceUnreadable: () => [
      t(
        'What decides about the files to send cannot be read: {0}. A file must be an ordinary one of a usual size that you may read, an environment variable one that git takes.',
        failure.subject ?? detail,
      ),
    ],
    lengthChanged: () => [t('The archive changed on disk while it was uploaded. Start again.')],
    tooLarge: () => [
      t(
        'The service sent more than the {0} that can be taken in. Ask whoever runs the service for the results.',
        formatBytes(failure.limit ?? 0),
      ),
      showLog(),
    ],
    malformedFindings: () => [
      (failure.subject === undefined
        ? t(
            'The findings file cannot be read as a list of findings. It is kept as it came; the report may still open.',
          )
        : t(
            'The findings file of the run of {0} cannot be read as a list of findings. It is kept as it came; the report may still open.',
            failure.subject,
          )) + (failure.detail === undefined ? '' : ` (${failure.detail})`),
      showLog(),
    ],
    reportTooLarge: () => [
      t(
        'This report has {0}, more than can be laid out here. It can be read as plain text.',
        formatBytes(failure.actual ?? 0),
      ),
      openAsText(subject),
    ],
    findingsTooLarge: () => [
      failure.subject === undefined
        ? t(
            'The findings file is larger than can be read. It is kept as it came, and is not tried again by itself; the report may still open.',
          )
        : t(
            'The findings file of the run of {0} is larger than can be read. It is kept as it came, and is not tried again by itself; the report may still open.',
            failure.subject,
          ),
      showLog(),
    ],
    badImport: () => [describeImportFault(failure.subject as ImportFault, failure.detail), showLog()],
    badFeatures: () => [describeFeaturesFault(failure.subject as FeaturesFault), showLog()],
    badPairs: () => [describePairsFault(failure.subject as PairsFault)],
    noResult: () => [
      t(
        'The service says that the run has ended, but not how. Track it again by its run ID later, or ask the vendor.',
      ),
      trackRun(),
      showLog(),
    ],
    unanswered: () => [
      t(
        'The service has not answered about this run any more, so it is no longer watched. Should it still exist, track it again by its run ID.',
      ),
      trackRun(),
    ],
    notKept: () => [
      t(
        'Run {0} has started, but VS Code can’t save it ({1}). Free up disk space and keep this window open. Saving is retried automatically. Note the run ID so that you can track the run from anywhere.',
        subject,
        detail,
      ),
    ],
    triageDamaged: () =>
      failure.limit === undefined
        ? [
            t(
              'The triage file cannot be read; nothing was changed. It is damaged, too large, or a newer version of this extension wrote it: {0}',
              subject,
            ),
            openFile(subject),
          ]
        : [t('Only {0} triage decisions are read of those in {1}.', failure.limit, subject)],
    outsideFolder: () => [
      t('Choose a folder inside the assessed folder; findings never lead out of it: {0}', subject),
    ],
    interrupted: () => [
      t(
        'VS Code was closed before the run had started. Nothing was started: use {0}.',
        run === undefined || run.workflow === 'whitebox-assessment' ? t('Retry Upload') : t('Start Again…'),
      ),
    ],
    startedElsewhere: () => [t('A run is being started already. Finish or cancel that first.')],
    busyElsewhere: () => [t('Another window is taking care of this run. Do it there, or close that window.')],
    runGone: () => [
      t('This run is not in the list any more: it was removed, or its time in the history was over.'),
    ],
    changedMeanwhile: () => [
      t('The run has changed meanwhile and was left as it is. See what has become of it, then decide again.'),
    ],
    runIdTaken: () => [
      t('Another run in the list has this run ID already. Check the ID: each run has one of its own.'),
    ],
    notSignedIn: () => [
      run === undefined
        ? t('Sign in to the assessment service first.')
        : t('Sign in to {0} first.', formatAccount(run)),
      signInAgain(run),
    ],
    badTargetFile: () => [
      t(
        'Runs are started from files named *.blackbox.json, on disk and in a folder of the workspace, not from this one: {0}',
        subject,
      ),
    ],
    noPassword: () => [
      t(
        'The password of a login of this run is not kept any more, so nothing was sent. Start again: it is asked for then.',
      ),
    ],
    restricted: () => [
      t('This is off in Restricted Mode. Trust this workspace first.'),
      {
        title: t('Manage Workspace Trust'),
        command: 'workbench.trust.manage',
      },
    ],
    badSetting: () => describeBadSetting(subject, failure.detail),
    tokenCommand: () => describeTokenCommand(subject, failure.detail),
    storage: () => [
      failure.subject === undefined || failure.detail === undefined
        ? t('VS Code’s storage for this extension cannot be read or written ({0}).', detail)
        : t(
            '{0} cannot be read or written ({1}). Check that you may, and that nothing else holds it, then try again.',
            subject,
            detail,
          ),
      showLog(),
    ],
    workerCrashed: () => [
      t(
        'A worker of this extension ended before its work was done ({0}). Try again; should it come back, install the extension again.',
        detail,
      ),
      showLog(),
    ],
    unexpected: () => [t('Something unexpected went wrong. The log has the details.'), showLog()],
  };
}

/** Why a file could not be imported; `part` is the entry inside it that the fault is about. */
function describeImportFault(fault: ImportFault, part?: string): string {
  const t = vscode.l10n.t;
  const about = part === undefined ? '' : ` (${part})`;
  const sentences: Record<ImportFault, string> = {
    tooLarge: t(
      'Nothing was imported: the file, or one inside it, is larger than {0}, or holds more than can be read.',
      formatBytes(maxImportBytes),
    ),
    notText: t('Nothing was imported: the file is not UTF-8 text. Save it as UTF-8 and try again.'),
    notRead: t(
      'Nothing was imported: tables are not read. Export an Offline Bundle instead: it brings the findings and all that goes with them.',
    ),
    noFindings:
      t('Nothing was imported: the file is neither a bundle nor SARIF, nor a findings file.') + about,
    toolFailed:
      t(
        'Nothing was imported: the tool that wrote this file failed, so the file has no findings. Run the tool again.',
      ) + about,
    notABundle: t('Nothing was imported: the archive is not a bundle that this extension exported.') + about,
    newerVersion: t(
      'Nothing was imported: the bundle comes from a newer version of this extension. Update it and try again.',
    ),
    encrypted: t('Nothing was imported: the archive is encrypted. A bundle never is.'),
    damaged: t('Nothing was imported: the bundle is damaged. Have it sent again.') + about,
  };
  return sentences[fault];
}

/** Why the features of a run cannot be shown, or pairs of them chosen. */
function describeFeaturesFault(fault: FeaturesFault): string {
  const t = vscode.l10n.t;
  const sentences: Record<FeaturesFault, string> = {
    absent: t(
      'The features of this run are not on this machine. Download its artifacts again; runs from before the service gave features have none.',
    ),
    tooLarge: t('The features file is larger than can be read. It is kept as it came; nothing was sent.'),
    malformed: t(
      'The features file cannot be read as a list of features. It is kept as it came; nothing was sent.',
    ),
  };
  return sentences[fault];
}

/** Why the chosen pairs cannot be assessed. */
function describePairsFault(fault: PairsFault): string {
  const t = vscode.l10n.t;
  const sentences: Record<PairsFault, string> = {
    none: t('Nothing was sent: no pair is chosen. Choose some in the Features view.'),
    tooMany: t(
      'Nothing was sent: more than {0} pairs are chosen. Choose fewer in the Features view, or all of them without priorities.',
      formatNumber(maxPairs),
    ),
    gone: t(
      'Nothing was sent: some of what is chosen is no longer among the features. Uncheck it in the Features view.',
    ),
    damaged: t(
      'Nothing was sent: the choice of pairs that is kept with this run cannot be read. Choose again in the Features view.',
    ),
  };
  return sentences[fault];
}

/** What is wrong with a setting, or with an answer given at sign-in; `values` are those that are allowed, or VS Code's own error about its settings file. */
function describeBadSetting(subject: string, values: string | undefined): Message {
  const t = vscode.l10n.t;
  const key = `whitebox.${subject}`;
  const inSettings = (message: string): Message => [message, openSetting(key)];
  switch (subject) {
    case 'baseUrl':
      return inSettings(t('Enter an address such as https://assessment.example.com/v1.'));
    case 'settings.json':
      return [
        t(
          'The token was accepted and kept, but VS Code cannot write the service and the organization into its settings file. Correct that file, then sign in again, or enter both there: {0}',
          values ?? '',
        ),
        openSettingsFile(),
      ];
    case 'token':
      return [t('A token is one line of letters, digits and signs, without spaces.')];
    case 'notification.webhookEndpointIds':
      return inSettings(t('The webhook endpoints must be a list of at most 100 IDs, none of them empty.'));
    case 'runs.retainLocalDays':
      return inSettings(t('The setting {0} must be a number of at least 1.', key));
    case 'archive.maxSizeMB':
      return inSettings(t('The setting {0} must be a number above 0.', key));
    case 'archive.includeNestedRepositories':
    case 'runs.deleteSourceAfterRun':
      return inSettings(t('The setting {0} must be true or false, without quotes.', key));
    case 'tokenCommand':
      return inSettings(
        t('The setting {0} must be a list: the program and then its arguments, each in quotes.', key),
      );
    case 'archive.exclude':
      return inSettings(t('The setting {0} must be a list of patterns.', key));
    default:
      return values === undefined
        ? [t('A value is not one that the service accepts: {0}', subject), showLog()]
        : inSettings(t('The setting {0} has a value that it cannot have. It can be: {1}.', key, values));
  }
}

/** Why the token command gave no token; `detail` is core's word for it, or how the program ended. */
function describeTokenCommand(program: string, detail: string | undefined): Message {
  if (detail === 'notAList') return describeBadSetting('tokenCommand', undefined);
  const t = vscode.l10n.t;
  const why = (): string => {
    switch (detail) {
      case 'sameToken':
        return t(
          'The token command printed the token again that the service has refused. Run it in a terminal, and sign in again where it takes its token from.',
        );
      case 'notOneLine':
        return t(
          'The token command {0} printed something that is no token. It must print one line without spaces, and nothing else.',
          program,
        );
      case 'noAnswer':
        return t(
          'The token command {0} did not end within 30 seconds. Run it in a terminal: it may wait for an answer.',
          program,
        );
      case undefined:
        return t('The token command {0} failed. Run it in a terminal to see why.', program);
      default:
        return t('The token command {0} failed ({1}). Run it in a terminal to see why.', program, detail);
    }
  };
  return [why(), openSetting('whitebox.tokenCommand'), showLog()];
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
