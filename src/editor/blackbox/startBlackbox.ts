import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { predecessorOf } from '../../core/features/continuedRuns.ts';
import type { Assessment } from '../../core/run/state/newRun.ts';
import { isUnsent, type Run } from '../../core/run/state/run.ts';
import { type ApplicationInput, applicationSubject } from '../../core/workflows/blackboxInput.ts';
import type { EnteredPasswords, PasswordStore } from '../../core/workflows/passwordStore.ts';
import { toInput } from '../../core/workflows/targetFile.ts';
import type { WorkflowId } from '../../core/workflows/workflow.ts';
import type { Accounts } from '../account/accounts.ts';
import { signIn } from '../account/signIn.ts';
import { withProgress } from '../progress.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { offerToCancel } from '../upload/startAssessment.ts';
import { type BlackboxPlan, isReopened, type Reading, type RequestDocuments } from './exactRequest.ts';
import type { FeaturesView } from './featuresView.ts';
import { askForPasswords } from './passwords.ts';
import { askToStart } from './startQuestion.ts';
import type { TargetDiagnostics } from './targetDiagnostics.ts';
import { isUsableTargetFile, passesSecretCheck, pickTargetFile, readSaved } from './targetFiles.ts';

const t = vscode.l10n.t;

export type BlackboxWorkflow = Exclude<WorkflowId, 'whitebox-assessment'>;

export interface BlackboxDeps {
  readonly accounts: Accounts;
  readonly runs: RunStore;
  readonly tracker: RunTracker;
  readonly log: Logger;
  readonly passwords: PasswordStore;
  readonly diagnostics: TargetDiagnostics;
  readonly features: Pick<FeaturesView, 'whenSaved' | 'show'>;
  readonly requests: RequestDocuments;
  readonly secretWorkerFile: string;
  readonly parseWorkerFile: string;
}

export interface BlackboxStart extends Pick<
  Assessment,
  'targetFile' | 'confirms' | 'label' | 'continuesOnePair'
> {
  readonly workflow: BlackboxWorkflow;
  readonly input: ApplicationInput;
  readonly folder: string;
  readonly account?: Destination | undefined;
  readonly language?: Run['language'] | undefined;
  readonly webhookEndpointIds?: readonly string[] | undefined;
  readonly remarks?: readonly string[];
}

export async function startFromFile(
  workflow: BlackboxWorkflow,
  targetFile: vscode.Uri | undefined,
  deps: BlackboxDeps,
): Promise<void> {
  const uri = targetFile ?? (await pickTargetFile());
  if (uri !== undefined) await startBlackbox(() => readStart(workflow, uri, deps), deps);
}

export async function startAgain(run: Run | undefined, deps: BlackboxDeps): Promise<void> {
  if (run === undefined || !isUnsent(run) || run.workflow === 'whitebox-assessment') return;
  const { workflow, input, targetFile, confirms, label, continuesOnePair } = run;
  const isFromFile = targetFile !== undefined && input?.resume === undefined;
  if (isFromFile) return startFromFile(workflow, vscode.Uri.file(targetFile), deps);
  if (input === undefined) return;
  const predecessor = predecessorOf(run);
  const remarks =
    predecessor === undefined ? [] : [t('This run continues from the run with the ID {0}.', predecessor)];
  const about = { workflow, input, confirms, label, continuesOnePair, remarks };
  await startBlackbox(() => Promise.resolve({ ...inheritedFrom(run), ...about }), deps);
}

export function inheritedFrom(
  run: Run,
): Pick<BlackboxStart, 'account' | 'folder' | 'targetFile' | 'language' | 'webhookEndpointIds'> {
  const { targets, targetFile, language, webhookEndpointIds } = run;
  return { account: run, folder: targets[0]?.folder ?? '', targetFile, language, webhookEndpointIds };
}

export async function readStart(
  workflow: BlackboxWorkflow,
  uri: vscode.Uri,
  { diagnostics, secretWorkerFile }: Pick<BlackboxDeps, 'diagnostics' | 'secretWorkerFile'>,
): Promise<BlackboxStart | undefined> {
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  if (!isUsableTargetFile(uri) || folder === undefined)
    throw new AssessmentError('badTargetFile', { subject: uri.fsPath });
  const file = await readSaved(uri, diagnostics);
  if (file === undefined || !(await passesSecretCheck(uri, secretWorkerFile))) return undefined;
  return {
    workflow,
    input: toInput(file, workflow),
    folder,
    targetFile: uri.fsPath,
    language: file.language,
    webhookEndpointIds: file.notification?.webhook_endpoint_ids,
  };
}

/**
 * If the user opens the exact request or all changes, nothing is sent, and `read` is called again
 * when the user returns. Passwords are saved only if the user confirms the start.
 */
export async function startBlackbox(
  read: () => Promise<BlackboxStart | undefined>,
  deps: BlackboxDeps,
): Promise<void> {
  const entered: EnteredPasswords = new Map();
  let reading: Reading | undefined;
  do {
    const start = await read();
    reading = start && (await askAndLaunch(start, entered, deps));
  } while (reading !== undefined && (await isReopened(reading)));
}

async function askAndLaunch(
  { account, remarks = [], ...start }: BlackboxStart,
  entered: EnteredPasswords,
  deps: BlackboxDeps,
): Promise<Reading | undefined> {
  const { accounts, runs, tracker, passwords } = deps;
  if (account === undefined && !(await accounts.isSignedIn()) && !(await signIn(accounts))) return undefined;
  const destination = account ?? readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  const plan = toPlan(start, destination);
  // The claim comes before the questions, so that nothing else starts a run on the same targets.
  const claim = await tracker.claim([applicationSubject(start.input)]);
  try {
    // Another window may have started a run before the claim.
    await runs.reload();
    const outcome = await askForPasswords(plan, entered, deps);
    if (outcome !== 'complete') return outcome === 'cancelled' ? undefined : outcome;
    const answer = await askToStart(plan, runs.all(), remarks);
    if (answer === 'readingRequest') {
      await deps.requests.show(plan);
      return answer;
    }
    if (answer !== 'start') return undefined;
    claim.lost.throwIfAborted();
    await passwords.approve(plan, entered);
    await launch(plan, deps);
    return undefined;
  } finally {
    await claim.release();
  }
}

const maxHosts = 3;

function toPlan({ folder, ...start }: BlackboxStart, { baseUrl, organizationId }: Destination): BlackboxPlan {
  const { language, webhookEndpointIds, maxArchiveBytes } = readAssessmentSettings(vscode.Uri.file(folder));
  const hosts = [...new Set(start.input.target_urls.map((url) => new URL(url).host))];
  const more = hosts.length > maxHosts ? [`+${String(hosts.length - maxHosts)}`] : [];
  return {
    ...start,
    baseUrl,
    organizationId,
    language: start.language ?? language,
    webhookEndpointIds: start.webhookEndpointIds ?? webhookEndpointIds,
    maxArchiveBytes,
    targets: [{ folder, name: [...hosts.slice(0, maxHosts), ...more].join(', ') }],
  };
}

function launch(plan: BlackboxPlan, { tracker, log }: BlackboxDeps): Thenable<void> {
  const title = plan.workflow === 'blackbox-crawl' ? t('Starting the crawl…') : t('Starting the assessment…');
  return withProgress(title, async (_onStep, signal) => {
    const run = await tracker.start(plan, { signal });
    // A start request is not aborted: the run may have started although the user canceled.
    if (signal.aborted && run?.state === 'running') offerToCancel(run, log);
  });
}
