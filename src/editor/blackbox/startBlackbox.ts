import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { predecessorOf } from '../../core/run/state/continuedRuns.ts';
import { isUnsent, type Run } from '../../core/run/state/run.ts';
import { type ApplicationInput, applicationSubject } from '../../core/workflows/application.ts';
import type { PasswordRequest, PasswordStore } from '../../core/workflows/passwordStore.ts';
import { toInput } from '../../core/workflows/targetFile.ts';
import type { WorkflowId } from '../../core/workflows/workflow.ts';
import type { Accounts } from '../account/accounts.ts';
import { signIn } from '../account/signIn.ts';
import { withProgress } from '../progress.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { offerToCancel } from '../upload/startAssessment.ts';
import type { FeaturesView } from './featuresView.ts';
import { askForPasswords, reopenAfterChanges } from './passwords.ts';
import { type BlackboxPlan, reopenAfterReading, type RequestDocuments } from './exactRequest.ts';
import { askToStart } from './startQuestion.ts';
import type { TargetDiagnostics } from './targetDiagnostics.ts';
import { acceptTexts, isUsableTargetFile, pickTargetFile, readSaved } from './targetFiles.ts';

export type BlackboxWorkflow = Exclude<WorkflowId, 'whitebox-assessment'>;

export interface BlackboxDeps {
  readonly accounts: Accounts;
  readonly runs: RunStore;
  readonly tracker: RunTracker;
  readonly log: Logger;
  readonly passwords: PasswordStore;
  readonly diagnostics: TargetDiagnostics;
  readonly features: Pick<FeaturesView, 'settled' | 'show'>;
  readonly requests: RequestDocuments;
  readonly secretWorkerFile: string;
  readonly parseWorkerFile: string;
}

export interface BlackboxStart {
  readonly workflow: BlackboxWorkflow;
  /** All that is sent but language and passwords. */
  readonly input: ApplicationInput;
  /** The workspace folder that the run stands under, absolute. */
  readonly folder: string;
  readonly targetFile?: string | undefined;
  /** By default the account of the settings, to which a person may have to sign in first. */
  readonly account?: Destination | undefined;
  /** By default that of the settings. */
  readonly language?: Run['language'] | undefined;
  /** By default those of the settings. */
  readonly webhookEndpointIds?: readonly string[] | undefined;
  readonly retryOf?: string | undefined;
  readonly confirms?: string | undefined;
  /** The name that the run has at first. */
  readonly label?: string | undefined;
  readonly continuesOnePair?: boolean | undefined;
  readonly remarks?: readonly string[];
  /** What a person has read with this input: passwords that are asked for are kept for it too. */
  readonly passwordsAlsoFor?: Pick<PasswordRequest, 'workflow' | 'input'> | undefined;
}

/** What a run that goes on from another takes over from it: where it runs, and who hears of its end. */
export function takenOver(
  run: Run,
): Pick<BlackboxStart, 'account' | 'folder' | 'targetFile' | 'language' | 'webhookEndpointIds'> {
  const { targets, targetFile, language, webhookEndpointIds } = run;
  return { account: run, folder: targets[0]?.folder ?? '', targetFile, language, webhookEndpointIds };
}

/**
 * Asks whether to start a blackbox run, with everything that is sent, and starts it; undefined when the person cancels. All starts come
 * here. After reading the exact request, a person reopens the question: `restart` reads the start from its source again.
 */
export async function startBlackbox(
  start: BlackboxStart,
  deps: BlackboxDeps,
  restart: () => Promise<Run | undefined>,
): Promise<Run | undefined> {
  const { accounts, runs, tracker } = deps;
  const { passwordsAlsoFor } = start;
  if (start.account === undefined && !(await accounts.isSignedIn()) && !(await signIn(accounts)))
    return undefined;
  const destination = start.account ?? readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  await runs.reload();
  const plan = toPlan(start, destination);
  // Before the questions, so that neither a second click nor another window starts a run on these targets meanwhile.
  const claim = await tracker.claim([applicationSubject(start.input)]);
  let outcome;
  try {
    // Another window may have started a run before the claim.
    await runs.reload();
    outcome = await askForPasswords(plan, deps, passwordsAlsoFor && { ...plan, ...passwordsAlsoFor });
    if (outcome === 'cancelled') return undefined;
    if (outcome === 'complete') {
      const answer = await askToStart(plan, runs.all(), start.remarks ?? []);
      if (answer === 'start') return await launch(plan, deps);
      if (answer === undefined) return undefined;
      await deps.requests.show(plan);
    }
  } finally {
    await claim.release();
  }
  if (outcome === 'reading') return reopenAfterChanges(restart);
  return reopenAfterReading(
    vscode.l10n.t('Nothing has been sent. After you’ve read the request, reopen the confirmation to start.'),
    restart,
  );
}

/** A title names so many hosts. */
const maxHosts = 3;

function toPlan(start: BlackboxStart, { baseUrl, organizationId }: Destination): BlackboxPlan {
  const { workflow, input, folder, targetFile, retryOf, confirms, label, continuesOnePair } = start;
  const settings = readAssessmentSettings(vscode.Uri.file(folder));
  const hosts = [...new Set(input.target_urls.map((url) => new URL(url).host))];
  const more = hosts.length > maxHosts ? [`+${String(hosts.length - maxHosts)}`] : [];
  return {
    workflow,
    baseUrl,
    organizationId,
    language: start.language ?? settings.language,
    webhookEndpointIds: start.webhookEndpointIds ?? settings.webhookEndpointIds,
    maxArchiveBytes: settings.maxArchiveBytes,
    targets: [{ folder, name: [...hosts.slice(0, maxHosts), ...more].join(', ') }],
    input,
    targetFile,
    retryOf,
    confirms,
    label,
    continuesOnePair,
  };
}

function launch(plan: BlackboxPlan, { tracker, log }: BlackboxDeps): Thenable<Run | undefined> {
  const t = vscode.l10n.t;
  const title = plan.workflow === 'blackbox-crawl' ? t('Starting the crawl…') : t('Starting the assessment…');
  return withProgress(title, async (_onStep, signal) => {
    const run = await tracker.start(plan, { signal });
    // A dispatch is not interrupted: the run may have started although the person cancelled.
    if (signal.aborted && run?.state === 'running') offerToCancel(run, log);
    return run;
  });
}

/** Starts a crawl or an assessment from a target file, which a person picks where none is given. */
export async function startFromFile(
  workflow: BlackboxWorkflow,
  given: vscode.Uri | undefined,
  deps: BlackboxDeps,
  retryOf?: string,
): Promise<Run | undefined> {
  const start = await readStart(workflow, given, deps);
  if (start === undefined) return undefined;
  const restart = () => startFromFile(workflow, vscode.Uri.file(start.targetFile), deps, retryOf);
  return startBlackbox({ ...start, retryOf }, deps, restart);
}

/** Starts a failed run again that was never sent: from its target file as it is by now, or, where it goes on from another run, with what its journal has. */
export async function startAgain(run: Run | undefined, deps: BlackboxDeps): Promise<Run | undefined> {
  if (run === undefined || !isUnsent(run) || run.workflow === 'whitebox-assessment') return undefined;
  const { workflow, input, targetFile, confirms, label, continuesOnePair } = run;
  const isFromFile = targetFile !== undefined && input?.resume === undefined;
  if (isFromFile) return startFromFile(workflow, vscode.Uri.file(targetFile), deps, run.id);
  if (input === undefined) return undefined;
  const before = predecessorOf(run);
  const remarks =
    before === undefined ? [] : [vscode.l10n.t('This run continues from the run with the ID {0}.', before)];
  const kind = { workflow, confirms, label, continuesOnePair, retryOf: run.id };
  const start = { ...takenOver(run), ...kind, input, remarks };
  return startBlackbox(start, deps, () => startAgain(run, deps));
}

/** Reads a start from a target file, given or picked; undefined for one with problems or refused texts. Throws `badTargetFile`. */
export async function readStart(
  workflow: BlackboxWorkflow,
  given: vscode.Uri | undefined,
  { diagnostics, secretWorkerFile }: Pick<BlackboxDeps, 'diagnostics' | 'secretWorkerFile'>,
): Promise<(BlackboxStart & { readonly targetFile: string }) | undefined> {
  const uri = given ?? (await pickTargetFile());
  if (uri === undefined) return undefined;
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  if (!isUsableTargetFile(uri) || folder === undefined)
    throw new AssessmentError('badTargetFile', { subject: uri.fsPath });
  const file = await readSaved(uri, diagnostics);
  if (file === undefined || !(await acceptTexts(uri, secretWorkerFile))) return undefined;
  return {
    workflow,
    input: toInput(file, workflow),
    folder,
    targetFile: uri.fsPath,
    language: file.language,
    webhookEndpointIds: file.notification?.webhook_endpoint_ids,
    // The question about a crawl shows all that an assessment sends, and not the other way round.
    passwordsAlsoFor:
      workflow === 'blackbox-crawl'
        ? { workflow: 'blackbox-assessment', input: toInput(file, 'blackbox-assessment') }
        : undefined,
  };
}
