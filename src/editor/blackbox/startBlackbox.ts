import { dirname } from 'node:path';
import { realpath } from 'node:fs/promises';
import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { RunTracker } from '../../core/run/runTracker.ts';
import type { StartOptions } from '../../core/run/start/start.ts';
import { predecessorOf } from '../../core/run/state/continuations.ts';
import { isUnsent, type Run } from '../../core/run/state/run.ts';
import { layersAt, nameBelow } from '../../core/upload/ignore/ruleLayers.ts';
import { findRepository, gitHome } from '../../core/upload/ignore/repository.ts';
import type { ApplicationInput } from '../../core/workflows/application.ts';
import { toInput } from '../../core/workflows/targetFile.ts';
import type { WorkflowId } from '../../core/workflows/workflow.ts';
import type { Accounts } from '../account/accounts.ts';
import { signIn } from '../account/signIn.ts';
import { withProgress } from '../progress.ts';
import { acceptForgetting } from '../runs/lostRuns.ts';
import { readAssessmentSettings, readDestination } from '../settings.ts';
import { showInformation } from '../showMessage.ts';
import { offerToCancel } from '../upload/startAssessment.ts';
import type { FeaturesView } from './featuresView.ts';
import { askForPasswords } from './passwordQuestions.ts';
import type { PasswordRequest, Passwords } from './passwords.ts';
import { askToStart, type BlackboxPlan, type RequestDocuments } from './startQuestion.ts';
import { acceptTexts, isUsableTargetFile, requestsOf, type TargetFiles } from './targetFiles.ts';

/** A workflow that tests a live application. */
export type BlackboxWorkflow = Exclude<WorkflowId, 'whitebox-assessment'>;

/** What starting a blackbox run works with. */
export interface BlackboxDeps {
  readonly accounts: Accounts;
  readonly runs: RunStore;
  readonly tracker: RunTracker;
  readonly log: Logger;
  readonly passwords: Passwords;
  readonly targetFiles: TargetFiles;
  readonly features: Pick<FeaturesView, 'settled'>;
  readonly requests: RequestDocuments;
  /** The worker of the credential check. */
  readonly secretWorkerFile: string;
}

/** What is to be started, before a person is asked. */
export interface BlackboxStart {
  readonly workflow: BlackboxWorkflow;
  /** All that is sent but language and passwords. */
  readonly input: ApplicationInput;
  /** The workspace folder that the run stands under, absolute. */
  readonly folder: string;
  readonly targetFile?: string | undefined;
  /** The run that it goes on from: it is started where that run is, in its language, with its notifications. */
  readonly continues?: Run | undefined;
  readonly language?: Run['language'] | undefined;
  readonly webhookEndpointIds?: readonly string[] | undefined;
  /** The failed run that this one retries. */
  readonly retryOf?: string | undefined;
  /** The fingerprint of the finding that it is to confirm. */
  readonly confirms?: string | undefined;
  /** Further paragraphs of the question. */
  readonly remarks?: readonly string[] | undefined;
  /** Requests that a person has read with this one: passwords that are asked for are kept for them too. */
  readonly passwordsAlsoFor?: ((destination: PasswordRequest) => readonly PasswordRequest[]) | undefined;
}

/** Asks whether to start a blackbox run, once and with everything that is sent, and starts it; undefined when the person cancels. All starts come here. */
export async function startBlackbox(start: BlackboxStart, deps: BlackboxDeps): Promise<Run | undefined> {
  const { accounts, runs, tracker, passwords } = deps;
  const { continues } = start;
  if (continues === undefined && !(await accounts.isSignedIn()) && !(await signIn(accounts)))
    return undefined;
  const destination = continues ?? readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  await runs.reload();
  const mayBeForgotten = runs.isTemporary;
  if (mayBeForgotten && !(await acceptForgetting(runs))) return undefined;
  const plan = toPlan(start, destination);
  // Before the questions, so that neither a second click nor another window starts a run on these targets meanwhile.
  const claim = await tracker.claim([claimOf(start.input)]);
  try {
    // Another window may have started a run before the claim.
    await runs.reload();
    const others = start.passwordsAlsoFor?.(plan) ?? [];
    if (!(await askForPasswords(plan, passwords, others))) return undefined;
    const answer = await askToStart(plan, runs.all(), start.remarks ?? []);
    if (answer === 'start') return await launch(plan, { claim, mayBeForgotten }, deps);
    if (answer === undefined) return undefined;
    await deps.requests.show(plan);
  } finally {
    await claim.release();
  }
  const again = vscode.l10n.t('Ask Again…');
  const pressed = await showInformation(
    vscode.l10n.t('Nothing has been sent. Start again once you have read the request.'),
    again,
  );
  return pressed === again ? startBlackbox(start, deps) : undefined;
}

/** A title names so many hosts. */
const maxHosts = 3;

/** Starts on the same URLs exclude each other, whatever the workflow. */
function claimOf({ target_urls }: ApplicationInput): string {
  return `blackbox ${JSON.stringify([...new Set(target_urls)].sort())}`;
}

function toPlan(start: BlackboxStart, { baseUrl, organizationId }: PasswordRequest): BlackboxPlan {
  const { workflow, input, folder, continues, targetFile, retryOf, confirms } = start;
  const settings = readAssessmentSettings(vscode.Uri.file(folder));
  const hosts = [...new Set(input.target_urls.map((url) => new URL(url).host))];
  const more = hosts.length > maxHosts ? [`+${String(hosts.length - maxHosts)}`] : [];
  return {
    workflow,
    baseUrl,
    organizationId,
    language: start.language ?? continues?.language ?? settings.language,
    webhookEndpointIds:
      start.webhookEndpointIds ?? continues?.webhookEndpointIds ?? settings.webhookEndpointIds,
    maxArchiveBytes: settings.maxArchiveBytes,
    targets: [{ folder, name: [...hosts.slice(0, maxHosts), ...more].join(', ') }],
    input,
    targetFile,
    retryOf,
    confirms,
  };
}

function launch(
  plan: BlackboxPlan,
  options: Pick<StartOptions, 'claim' | 'mayBeForgotten'>,
  { tracker, log }: BlackboxDeps,
): Thenable<Run | undefined> {
  const t = vscode.l10n.t;
  const title = plan.workflow === 'blackbox-crawl' ? t('Starting the crawl…') : t('Starting the assessment…');
  return withProgress(title, async (_onStep, signal) => {
    const run = await tracker.start(plan, { ...options, signal });
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
  const uri = given ?? (await pickTargetFile());
  if (uri === undefined) return undefined;
  const read = await readForStart(uri, deps);
  if (read === undefined) return undefined;
  const { file, folder } = read;
  return startBlackbox(
    {
      workflow,
      input: toInput(file, workflow),
      folder,
      targetFile: uri.fsPath,
      language: file.language,
      webhookEndpointIds: file.notification?.webhook_endpoint_ids,
      retryOf,
      // The question about a crawl shows all that an assessment sends, and not the other way round.
      ...(workflow === 'blackbox-crawl' && {
        passwordsAlsoFor: (destination: PasswordRequest) => requestsOf(file, destination),
      }),
    },
    deps,
  );
}

/** Starts a failed run again that was never sent: from its target file as it is by now, or, where it goes on from another run, with what its journal has. */
export async function startAgain(run: Run | undefined, deps: BlackboxDeps): Promise<Run | undefined> {
  if (run === undefined || !isUnsent(run) || run.workflow === 'whitebox-assessment') return undefined;
  const { workflow, input, targetFile, targets, language, webhookEndpointIds, confirms } = run;
  const isFromFile = targetFile !== undefined && input?.resume === undefined;
  if (isFromFile) return startFromFile(workflow, vscode.Uri.file(targetFile), deps, run.id);
  const folder = targets[0]?.folder;
  if (input === undefined || folder === undefined) return undefined;
  const before = predecessorOf(run);
  const remarks =
    before === undefined ? [] : [vscode.l10n.t('It goes on from the run with the ID {0}.', before)];
  const origin = { targetFile, language, webhookEndpointIds, confirms, retryOf: run.id, remarks };
  return startBlackbox({ workflow, input, folder, continues: run, ...origin }, deps);
}

/** Reads a target file whose texts may be sent, with the workspace folder that holds it; undefined where it is not right, or not to be sent. Throws `badTargetFile` for one that nothing is started from. */
export async function readForStart(
  uri: vscode.Uri,
  { targetFiles, secretWorkerFile }: Pick<BlackboxDeps, 'targetFiles' | 'secretWorkerFile'>,
): Promise<{ file: NonNullable<Awaited<ReturnType<TargetFiles['read']>>>; folder: string } | undefined> {
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  if (!isUsableTargetFile(uri) || folder === undefined)
    throw new AssessmentError('badTargetFile', { subject: uri.fsPath });
  const file = await targetFiles.read(uri);
  return file !== undefined && (await acceptTexts(uri, secretWorkerFile)) ? { file, folder } : undefined;
}

/** The target file that a person picks in the workspace, without those in ignored folders and in those that are left out of searches. */
export async function pickTargetFile(): Promise<vscode.Uri | undefined> {
  const t = vscode.l10n.t;
  if (vscode.workspace.workspaceFolders === undefined) throw new AssessmentError('noFolder');
  const found = await vscode.workspace.findFiles('**/*.blackbox.json', leftOutOfSearches());
  const ignored = await Promise.all(found.map(isInIgnoredFolder));
  const files = found.filter((_, index) => ignored[index] === false).map(({ fsPath }) => fsPath);
  if (files.length === 0) {
    const make = t('New Blackbox Target File…');
    const message = t('There is no blackbox target file in this workspace: make one first.');
    const pressed = await showInformation(message, make);
    if (pressed === make) await vscode.commands.executeCommand('whitebox.newBlackboxTarget');
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(files.sort(), {
    title: t('Choose a Blackbox Target File'),
    ignoreFocusOut: true,
  });
  return picked === undefined ? undefined : vscode.Uri.file(picked);
}

/** The globs of `files.exclude` and `search.exclude` that are on, as one. */
function leftOutOfSearches(): string {
  const settings = vscode.workspace.getConfiguration();
  const globs = ['files.exclude', 'search.exclude'].flatMap((key) =>
    Object.entries(settings.get<Record<string, unknown>>(key, {})).flatMap(([glob, isOn]) =>
      isOn === true && !/[{},]/.test(glob) ? [glob] : [],
    ),
  );
  return `{${globs.join(',')}}`;
}

/** True for a file in a folder that ignore files leave out of an upload. */
async function isInIgnoredFolder(uri: vscode.Uri): Promise<boolean> {
  const root = await realpath(dirname(uri.fsPath));
  const within = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  const surroundings = { home: gitHome(), env: process.env };
  const repository = await findRepository(root, surroundings);
  const sources = {
    surroundings,
    nameOf: nameBelow(root),
    onWidened: () => undefined,
    signal: undefined,
  };
  const { ignoredBy } = await layersAt(root, repository, sources, { exclude: [], within });
  return ignoredBy !== undefined;
}
