import * as vscode from 'vscode';
import { AssessmentError, type OwnErrorKind, systemCode } from '../../core/errors.ts';
import type { FeaturesFault } from '../../core/features/features.ts';
import { maxPairs, type PairsFault } from '../../core/features/chosenPairs.ts';
import { type ImportFault, maxImportBytes } from '../../core/findings/importExport/readContent.ts';
import { isSarifFault } from '../../core/findings/parse/sarif.ts';
import { type Failure, isLive, type Run } from '../../core/run/state/run.ts';
import { maxIgnoreFileBytes } from '../../core/upload/ignore/readIgnoreFile.ts';
import { maxRules } from '../../core/upload/ignore/ignoreRules.ts';
import { visibleLine } from '../../core/visibleText.ts';
import { formatAccount, formatBytes, formatNumber } from '../formats.ts';
import {
  type ErrorMessage,
  type Message,
  type Messages,
  openAsText,
  openFile,
  openSetting,
  type RetryAdvice,
  retryAdvice,
  showLog,
  showRunsAction,
  signInAgain,
  trackRunAction,
} from './errorActions.ts';
import { saidBy, serviceMessages } from './serviceMessages.ts';
import { describeBadSetting, describeSecretStorage, describeTokenCommand } from './settingMessages.ts';

const t = vscode.l10n.t;

/** With a run, the sign-in button is for the run's account. */
export function describeError(error: unknown, run?: Run): ErrorMessage {
  if (error instanceof AssessmentError) return describeFailure({ kind: error.kind, ...error.data }, run);
  return describeFailure(toFileFailure(error) ?? { kind: 'unexpected' }, run);
}

export function describeRefusal(failure: Failure, run: Run): ErrorMessage {
  const described = describeFailure(failure, run);
  if (run.workflow === 'whitebox-assessment' || isLive(run)) return described;
  const ownership = t(
    'The ownership of a target URL might not be verified for your organization. Blackbox runs require verified ownership.',
  );
  if (failure.status === 400) return { ...described, message: `${described.message} ${ownership}` };
  if (failure.status !== 403) return described;
  const role = t('Another possible cause is that your role doesn’t allow this run.');
  return { message: `${ownership} ${role}${saidBy(failure)}`, actions: [showLog()] };
}

type AnyFailure = Failure | ({ kind: Failure['kind'] } & AssessmentError['data']);

export function describeTrouble(failure: AnyFailure, run: Run): ErrorMessage {
  return toMessage(failure, run, retryAdvice(true));
}

export function describeUnavailable(): string {
  return toMessage({ kind: 'secretStorage', subject: 'read' }, undefined, retryAdvice(true)).message;
}

export function describeFailure(failure: AnyFailure, run?: Run): ErrorMessage {
  return toMessage(failure, run, retryAdvice(false));
}

function toMessage(failure: AnyFailure, run: Run | undefined, advice: RetryAdvice): ErrorMessage {
  const messages = { ...serviceMessages(failure, run, advice), ...ownMessages(failure, run, advice) };
  const [message, ...actions] = messages[failure.kind]();
  // VS Code truncates a message without a button.
  return { message, actions: actions.length === 0 ? [showLog()] : actions };
}

function ownMessages(
  failure: AssessmentError['data'],
  run: Run | undefined,
  { again, later }: RetryAdvice,
): Messages<OwnErrorKind> {
  const { subject = '', detail = '' } = failure;
  return {
    noFolder: () => [
      t('First open the folder that you want to assess.'),
      { title: t('Open Folder'), command: 'vscode.openFolder' },
    ],
    notAFolder: () => [t('Choose a folder on this machine’s disk. This folder is elsewhere: {0}', subject)],
    folderNotOpen: () => [
      t(
        'To retry, open the folder. Your choice of excluded files is available only where the folder is open: {0}',
        subject,
      ),
      {
        title: t('Open Folder'),
        command: 'vscode.openFolder',
        arguments: [vscode.Uri.file(subject), { forceNewWindow: true }],
      },
    ],
    nothingToSend: () => [
      t('There is nothing to upload. The folder is empty, or everything in it is excluded.'),
      { title: t('Preview Files to Upload'), command: 'whitebox.previewUpload' },
    ],
    archiveTooLarge: () => [
      t(
        'The archive is larger than the limit of {0}. Exclude more files, or raise the limit.',
        formatBytes(failure.limit ?? 0),
      ),
      openSetting('whitebox.archive.maxSizeMB'),
    ],
    diskFull: () => [t('The disk is full, but nothing was lost. Free up disk space.') + again],
    sourceUnreadable: () => [
      t(
        'Rules for selecting files can’t be read from {0}. A rule file must be readable and have at most {1} rules and {2}. An environment variable must have a value that Git accepts.',
        failure.subject ?? detail,
        formatNumber(maxRules),
        formatBytes((failure.actual === undefined ? failure.limit : undefined) ?? maxIgnoreFileBytes),
      ),
    ],
    ignoreFileUnreadable: () => describeIgnoreFile(subject, detail),
    lengthChanged: () => [t('The archive changed on disk while it was being uploaded. Start again.')],
    tooLarge: () => [
      t(
        'The service sent more than the limit of {0}. Ask your service provider for the results.',
        formatBytes(failure.limit ?? 0),
      ),
      showLog(),
    ],
    malformedFindings: () => [
      describeFindingsFile(failure.subject) + (failure.detail === undefined ? '' : ` (${failure.detail})`),
      showLog(),
    ],
    reportTooLarge: () => [
      t(
        'This report is too large ({0}) to show with formatting. You can open it as plain text.',
        formatBytes(failure.actual ?? 0),
      ),
      openAsText(subject),
    ],
    findingsTooLarge: () => [
      t(
        '{0} is too large to read. It is saved as received, and VS Code doesn’t read it again automatically. The report may still open.',
        findingsFileOf(failure.subject),
      ),
      showLog(),
    ],
    badImport: () => [describeImportFault(failure.subject as ImportFault, failure.detail), showLog()],
    badFeatures: () => [describeFeaturesFault(failure.subject as FeaturesFault), showLog()],
    badPairs: () => [
      describePairsFault(failure.subject as PairsFault),
      { title: t('Show'), command: 'whitebox.features.focus' },
    ],
    noResult: () => [
      t(
        'The service reports that the run has ended, but not with what result. Track the run again later by its run ID, or contact your service provider.',
      ),
      trackRunAction(),
      showLog(),
    ],
    unanswered: () => [
      t(
        'VS Code no longer checks this run. If the run still exists on the service, track it again by its run ID.',
      ),
      trackRunAction(),
    ],
    notSaved: () => [
      t(
        'Run {0} has started, but VS Code can’t save it ({1}). Free up disk space and keep this window open. VS Code retries automatically. Write down the run ID. You can use it to track the run on any machine.',
        subject,
        detail,
      ),
    ],
    triageDamaged: () =>
      failure.limit === undefined
        ? [
            t(
              'VS Code can’t read the triage file, so nothing was changed. The file is damaged, too large, or from a newer version of this extension: {0}',
              subject,
            ),
            openFile(subject),
          ]
        : [
            t(
              '{1} contains too many triage decisions. VS Code reads only {0} of them. Delete the decision files in this folder that you no longer need.',
              failure.limit,
              subject,
            ),
          ],
    outsideFolder: () => [
      t('Choose the assessed folder or a folder inside it. This folder is outside: {0}', subject),
    ],
    interrupted: () => [
      t(
        'The window that prepared the run closed or stopped responding, so nothing was started. To retry, use “{0}”.',
        run === undefined || run.workflow === 'whitebox-assessment' ? t('Retry Upload…') : t('Start Again…'),
      ),
      showRunsAction(),
    ],
    startedElsewhere: () => [t('You’re already starting another run. First finish or cancel that start.')],
    busyElsewhere: () => [
      t('Another window is managing this run. Continue in that window, or close that window.'),
    ],
    runGone: () => [
      t(
        'This run is no longer in the Runs view. It was removed, or its retention period on this machine ended.',
      ),
      showRunsAction(),
    ],
    changedMeanwhile: () => [
      t('The run changed in the meantime, so nothing was done. Check its current state, then decide again.'),
      showRunsAction(),
    ],
    runIdTaken: () => [
      t('Another run already has this run ID. Check the ID. Each run has its own ID.'),
      showRunsAction(),
    ],
    notSignedIn: () => [
      run === undefined
        ? t('Sign in to the assessment service first.')
        : t('Sign in to {0} first.', formatAccount(run)),
      signInAgain(run),
    ],
    badTargetFile: () => [
      t(
        'Runs can’t be started from this file: {0}. Use a file named *.blackbox.json that is on disk in a workspace folder.',
        subject,
      ),
    ],
    noPassword: () => [
      t('A login password for this run is no longer saved, so nothing was sent. Start again to enter it.'),
      { title: t('Manage Blackbox Passwords…'), command: 'whitebox.blackboxPasswords' },
    ],
    restricted: () => [
      t('This isn’t available in Restricted Mode. To use it, trust this workspace.'),
      { title: t('Manage Workspace Trust'), command: 'workbench.trust.manage' },
    ],
    badSetting: () => describeBadSetting(subject, failure.detail),
    tokenCommand: () => describeTokenCommand(subject, failure.detail),
    noAnswer: () => [t('{0} didn’t respond in time.', subject) + later, showLog()],
    notInTime: () => [t('The operation took too long, so VS Code stopped it.') + again, showLog()],
    secretStorage: () => [describeSecretStorage(subject, failure.detail) + again, showLog()],
    storage: () => [
      failure.subject === undefined || failure.detail === undefined
        ? t(
            'VS Code’s storage for this extension can’t be read or written ({0}). Check the free disk space and your permissions.',
            detail,
          ) + again
        : t(
            '{0} can’t be read or written ({1}). Check that you have permission and that no other program is using it.',
            subject,
            detail,
          ) + again,
      showLog(),
    ],
    workerCrashed: () => [
      t('A background task of this extension stopped unexpectedly ({0}).', detail) +
        again +
        ` ${t('If this keeps happening, reinstall the extension.')}`,
      showLog(),
    ],
    unexpected: () => [t('An unexpected error occurred. For details, see the log.'), showLog()],
  };
}

/** `subject` is a SARIF fault, or names one of two runs that were to be compared. */
function describeFindingsFile(subject: string | undefined): string {
  if (subject === undefined || !isSarifFault(subject))
    return t(
      '{0} can’t be read as a list of findings. It is saved as received, and the report may still open.',
      findingsFileOf(subject),
    );
  return {
    toolFailed: t(
      'The tool that wrote the findings file failed, so the file has no findings. It is saved as received.',
    ),
    noResults: t(
      'The findings file is a SARIF log without results. The tool ran no checks. The file is saved as received.',
    ),
    oldSarif: t(
      'The findings file is SARIF 1.0 or a draft of 2.0, which VS Code can’t read. Convert the file to SARIF 2.1.0 and import it.',
    ),
  }[subject];
}

function findingsFileOf(subject: string | undefined): string {
  return subject === undefined ? t('The findings file') : t('The findings file of the run “{0}”', subject);
}

function describeImportFault(fault: ImportFault, part?: string): string {
  const about = part === undefined ? '' : ` (${part})`;
  return {
    tooLarge: t(
      'Nothing was imported: the file, or a file inside it, is larger than {0} or contains too much to read.',
      formatBytes(maxImportBytes),
    ),
    notText: t('Nothing was imported: the file isn’t UTF-8 text. Save it as UTF-8 and try again.'),
    noFindings:
      t(
        'Nothing was imported: the file isn’t an offline bundle, a SARIF file, or a list of findings with locations. CSV files can’t be imported. Most tools can write SARIF.',
      ) + about,
    toolFailed:
      t(
        'Nothing was imported: the tool that wrote this file failed, so the file has no findings. Run the tool again.',
      ) + about,
    noResults: t('Nothing was imported: the file is a SARIF log without results. The tool ran no checks.'),
    oldSarif: t(
      'Nothing was imported: the file is SARIF 1.0 or a draft of 2.0, which VS Code can’t read. Convert the file to SARIF 2.1.0.',
    ),
    notABundle:
      t(
        'Nothing was imported: the archive isn’t a bundle that this extension can read. If a newer version exported it, update the extension.',
      ) + about,
    damaged:
      t('Nothing was imported: the bundle is damaged. Get another copy of the bundle and try again.') + about,
  }[fault];
}

function describeFeaturesFault(fault: FeaturesFault): string {
  return {
    absent: t(
      'This run’s features aren’t on this machine. To get them, use “Download Results Again” on the run. Older runs have no features.',
    ),
    tooLarge: t('The features file is too large to read. It is saved as received, and nothing was sent.'),
    malformed: t(
      'The features file can’t be read as a list of features. It is saved as received, and nothing was sent.',
    ),
  }[fault];
}

function describeIgnoreFile(file: string, code: string): Message {
  const unread = t(
    'VS Code can’t read {0} and doesn’t know what to exclude. Nothing has been sent.',
    visibleLine(file),
  );
  switch (code) {
    case 'EFTYPE':
      return [`${unread} ${t('A rule file can’t be a folder or a link. Replace or delete it.')}`];
    case 'EFBIG':
      return [
        `${unread} ${t('A rule file can have at most {0} rules and {1}. Shorten the file.', formatNumber(maxRules), formatBytes(maxIgnoreFileBytes))}`,
        openFile(file),
      ];
    case 'EILSEQ':
      return [`${unread} ${t('The file isn’t UTF-8 text. Save it as UTF-8.')}`, openFile(file)];
    default:
      return [`${unread} ${t('Allow your account to read the file, or delete the file.')} (${code})`];
  }
}

function describePairsFault(fault: PairsFault): string {
  return {
    none: t('Nothing was sent: no pair is chosen. Choose at least one in the Features view.'),
    tooMany: t(
      'Nothing was sent: more than {0} pairs are chosen. Choose fewer in the Features view, or all of them without priorities.',
      formatNumber(maxPairs),
    ),
    gone: t(
      'Nothing was sent: some chosen features no longer exist. Clear their checkboxes in the Features view.',
    ),
    damaged: t(
      'Nothing was sent: the pairs chosen for this run can’t be read. Choose again in the Features view.',
    ),
  }[fault];
}

const diskFullCodes = ['ENOSPC', 'EDQUOT'];

function toFileFailure(error: unknown): Failure | undefined {
  const found = error instanceof vscode.FileSystemError ? parseVSCodeError(error) : readSystemError(error);
  if (found === undefined) return undefined;
  const { code, path } = found;
  return diskFullCodes.includes(code)
    ? { kind: 'diskFull' }
    : { kind: 'storage', subject: visibleLine(path ?? t('The file')), detail: code };
}

/**
 * VS Code gives the system's code and the path only in its message: "Error: EACCES: permission
 * denied, open '/a/b'".
 */
function parseVSCodeError(error: vscode.FileSystemError): { code: string; path?: string | undefined } {
  const [, code, path] = /\b(E[A-Z]{2,}|UNKNOWN): [^']*(?:'(.*)')?/.exec(error.message) ?? [];
  return { code: code ?? error.code, path };
}

function readSystemError(error: unknown): { code: string; path?: string | undefined } | undefined {
  const code = systemCode(error);
  if (code === undefined || !/^(?:E[A-Z0-9]+|UNKNOWN)$/.test(code)) return undefined;
  const { path, dest } = error as { path?: unknown; dest?: unknown };
  // If the error names two files, `path` is usually a temporary file that was to become `dest`.
  const file = [dest, path].find((candidate) => typeof candidate === 'string');
  return file === undefined && !diskFullCodes.includes(code) ? undefined : { code, path: file };
}
