import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import { predecessorOf } from '../../core/features/continuedRuns.ts';
import { isUnsent, type Run } from '../../core/run/state/run.ts';
import { type ApplicationInput, applicationSubject } from '../../core/workflows/blackboxInput.ts';
import type { EnteredPasswords, PasswordRequest, PasswordStore } from '../../core/workflows/passwordStore.ts';
import { toInput } from '../../core/workflows/targetFile.ts';
import type { WorkflowId } from '../../core/workflows/workflow.ts';
import type { Accounts } from '../account/accounts.ts';
import { signIn } from '../account/signIn.ts';
import { withProgress } from '../progress.ts';
import { type Destination, readAssessmentSettings, readDestination } from '../settings.ts';
import { offerToCancel } from '../upload/startAssessment.ts';
import {
  type BlackboxPlan,
  type Reading,
  reopenAfterReading,
  type RequestDocuments,
} from './exactRequest.ts';
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
  readonly features: Pick<FeaturesView, 'settled' | 'show'>;
  readonly requests: RequestDocuments;
  readonly secretWorkerFile: string;
  readonly parseWorkerFile: string;
  /** The passwords entered for a start whose question is opened again. */
  readonly entered?: EnteredPasswords | undefined;
}

/** A blackbox run to start. Account, language and webhooks default to the settings. */
export interface BlackboxStart {
  readonly workflow: BlackboxWorkflow;
  readonly input: ApplicationInput;
  /** The workspace folder that the run stands under, absolute. */
  readonly folder: string;
  readonly targetFile?: string | undefined;
  readonly account?: Destination | undefined;
  readonly language?: Run['language'] | undefined;
  readonly webhookEndpointIds?: readonly string[] | undefined;
  readonly retryOf?: string | undefined;
  readonly confirms?: string | undefined;
  readonly label?: string | undefined;
  readonly continuesOnePair?: boolean | undefined;
  readonly remarks?: readonly string[];
  /** A second request that the same question shows: entered passwords are saved for it too. */
  readonly passwordsAlsoFor?: Pick<PasswordRequest, 'workflow' | 'input'> | undefined;
}

/** Starts a crawl or an assessment from a target file, which a person picks where none is named. */
export async function startFromFile(
  workflow: BlackboxWorkflow,
  targetFile: vscode.Uri | undefined,
  deps: BlackboxDeps,
  retryOf?: string,
): Promise<Run | undefined> {
  const start = await readStart(workflow, targetFile, deps);
  if (start === undefined) return undefined;
  const uri = vscode.Uri.file(start.targetFile);
  return startBlackbox({ ...start, retryOf }, deps, (again) => startFromFile(workflow, uri, again, retryOf));
}

/** Starts a failed run again that was never sent: from its current target file, or from its journal if it continues another run. */
export async function startAgain(run: Run | undefined, deps: BlackboxDeps): Promise<Run | undefined> {
  if (run === undefined || !isUnsent(run) || run.workflow === 'whitebox-assessment') return undefined;
  const { workflow, input, targetFile, confirms, label, continuesOnePair } = run;
  const isFromFile = targetFile !== undefined && input?.resume === undefined;
  if (isFromFile) return startFromFile(workflow, vscode.Uri.file(targetFile), deps, run.id);
  if (input === undefined) return undefined;
  const predecessor = predecessorOf(run);
  const remarks =
    predecessor === undefined ? [] : [t('This run continues from the run with the ID {0}.', predecessor)];
  const about = { workflow, input, confirms, label, continuesOnePair, retryOf: run.id, remarks };
  return startBlackbox({ ...inheritedFrom(run), ...about }, deps, (again) => startAgain(run, again));
}

/** What a run inherits from the run that it continues or repeats. */
export function inheritedFrom(
  run: Run,
): Pick<BlackboxStart, 'account' | 'folder' | 'targetFile' | 'language' | 'webhookEndpointIds'> {
  const { targets, targetFile, language, webhookEndpointIds } = run;
  return { account: run, folder: targets[0]?.folder ?? '', targetFile, language, webhookEndpointIds };
}

/** Reads a start from a target file; undefined where the file has problems or a person refuses. Throws `badTargetFile`. */
export async function readStart(
  workflow: BlackboxWorkflow,
  targetFile: vscode.Uri | undefined,
  { diagnostics, secretWorkerFile }: Pick<BlackboxDeps, 'diagnostics' | 'secretWorkerFile'>,
): Promise<(BlackboxStart & { readonly targetFile: string }) | undefined> {
  const uri = targetFile ?? (await pickTargetFile());
  if (uri === undefined) return undefined;
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
    // The question about a crawl shows all that an assessment sends, and not the other way round.
    passwordsAlsoFor:
      workflow === 'blackbox-crawl'
        ? { workflow: 'blackbox-assessment', input: toInput(file, 'blackbox-assessment') }
        : undefined,
  };
}

/**
 * Every start of a blackbox run comes here: missing passwords, the start question, the dispatch. A person can read the exact request or all changes
 * first; nothing is sent then, and `restart` reads the start from its source again. Undefined when the person cancels: then nothing is saved either.
 */
export async function startBlackbox(
  start: BlackboxStart,
  deps: BlackboxDeps,
  restart: (again: BlackboxDeps) => Promise<Run | undefined>,
): Promise<Run | undefined> {
  const { accounts, runs, tracker, passwords } = deps;
  if (start.account === undefined && !(await accounts.isSignedIn()) && !(await signIn(accounts)))
    return undefined;
  const destination = start.account ?? readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  await runs.reload();
  const plan = toPlan(start, destination);
  // Claimed before the questions: no second click and no other window starts a run on these targets meanwhile.
  const claim = await tracker.claim([applicationSubject(start.input)]);
  const entered: EnteredPasswords = new Map(deps.entered);
  let answer;
  try {
    // Another window may have started a run before the claim.
    await runs.reload();
    answer = await ask(plan, start, entered, deps);
    if (answer === 'start') {
      await passwords.approve(
        plan,
        entered,
        start.passwordsAlsoFor && { ...plan, ...start.passwordsAlsoFor },
      );
      return await launch(plan, deps);
    }
  } finally {
    await claim.release();
  }
  return answer === 'cancelled' ? undefined : reopenAfterReading(answer, () => restart({ ...deps, entered }));
}

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

async function ask(
  plan: BlackboxPlan,
  { remarks = [] }: BlackboxStart,
  entered: EnteredPasswords,
  deps: BlackboxDeps,
): Promise<'start' | 'cancelled' | Reading> {
  const outcome = await askForPasswords(plan, entered, deps);
  if (outcome !== 'complete') return outcome;
  const answer = await askToStart(plan, deps.runs.all(), remarks);
  if (answer === 'readingRequest') await deps.requests.show(plan);
  return answer;
}

function launch(plan: BlackboxPlan, { tracker, log }: BlackboxDeps): Thenable<Run | undefined> {
  const title = plan.workflow === 'blackbox-crawl' ? t('Starting the crawl…') : t('Starting the assessment…');
  return withProgress(title, async (_onStep, signal) => {
    const run = await tracker.start(plan, { signal });
    // A dispatch is not interrupted: the run may have started although the person cancelled.
    if (signal.aborted && run?.state === 'running') offerToCancel(run, log);
    return run;
  });
}
