import * as vscode from 'vscode';
import { readIfThere } from '../../core/files.ts';
import { isOnlyPairOf, pairsToContinue } from '../../core/features/chosenPairs.ts';
import { testsOnePair } from '../../core/findings/chooseRun.ts';
import { continuationsOf } from '../../core/features/continuedRuns.ts';
import { type Run, runIdOf } from '../../core/run/state/run.ts';
import { type ApplicationInput, creditLimits, sharedInput } from '../../core/workflows/blackboxInput.ts';
import { changesBetween, sentPartsOf } from '../../core/workflows/requestChanges.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { readTargetFile, toInput } from '../../core/workflows/targetFile.ts';
import type { Continuation } from '../../core/workflows/workflow.ts';
import { firstLines, formatNumber } from '../formats.ts';
import { continuationLabel, noContinuationLabel, runLabel } from '../runs/runLabels.ts';
import { pickRun } from '../runs/pickRun.ts';
import { showInformation } from '../showMessage.ts';
import {
  type BlackboxDeps,
  type BlackboxStart,
  type BlackboxWorkflow,
  readStart,
  startBlackbox,
  inheritedFrom,
} from './startBlackbox.ts';
import { pickTargetFile } from './targetFiles.ts';
import { describeChanges } from './whatChanged.ts';
import { showRunsAction } from '../errors/errorActions.ts';

const t = vscode.l10n.t;

export async function continueRun(
  continuation: Continuation,
  chosen: Run | undefined,
  deps: BlackboxDeps,
): Promise<void> {
  const canContinue = deps.runs.all().filter((run) => continuationsOf(run).get(continuation) === true);
  const run = chosen ?? (await pickRun(canContinue, continuationLabel(continuation)));
  const runId = run && runIdOf(run);
  if (run === undefined || runId === undefined) return;
  const allowed = continuationsOf(run).get(continuation);
  if (allowed !== true) {
    // A keyboard shortcut can run the command on a run for which menus hide it.
    const why = noContinuationLabel(continuation, allowed ?? 'notEligible');
    await showInformation(why, showRunsAction());
    return;
  }
  await startBlackbox(() => readContinuation(continuation, run, runId, deps), deps);
}

async function readContinuation(
  continuation: Continuation,
  run: Run,
  runId: string,
  deps: BlackboxDeps,
): Promise<BlackboxStart | undefined> {
  const pairs = await pairsFor(continuation, run, deps);
  if (pairs === 'unknown') {
    await deps.features.show(run);
    const message = t(
      'VS Code doesn’t know which pairs were chosen for this run. Choose pairs in the Features view, then try again.',
    );
    const choose = { title: t('Choose Pairs…'), command: 'whitebox.choosePairs' };
    await showInformation(message, choose);
    return undefined;
  }
  const workflow = continuation === 'crawlFurther' ? 'blackbox-crawl' : 'blackbox-assessment';
  const source = await sourceOf(run, workflow, deps);
  if (source === undefined) return undefined;
  const limits = await askForLimits(workflow, source.proposal);
  if (limits === undefined) return undefined;
  return {
    ...source.start,
    workflow,
    input: {
      ...inputToRepeat(source.start.input, workflow),
      ...limits,
      resume: toResume(continuation, run.workflow, runId),
      ...(pairs !== 'all' && { pairs }),
    },
    ...(continuation === 'continueAssessment' && onePairMembers(run, pairs)),
    remarks: [describeContinuation(continuation, run, pairs), ...source.remarks],
  };
}

type Pairs = Exclude<Awaited<ReturnType<typeof pairsToContinue>>, 'unknown'>;

async function pairsFor(
  continuation: Continuation,
  run: Run,
  { runs, features, parseWorkerFile }: BlackboxDeps,
): Promise<Pairs | 'unknown'> {
  if (continuation === 'crawlFurther') return 'all';
  await features.whenSaved();
  return pairsToContinue(run, runs.folderOf(run.id), parseWorkerFile);
}

/**
 * If a continuation of a one-pair run tests one pair, it is a one-pair run, too. It is for the same
 * finding only if it tests the same pair.
 */
function onePairMembers(
  run: Run,
  pairs: Pairs,
): Pick<BlackboxStart, 'continuesOnePair' | 'confirms' | 'label'> {
  if (pairs === 'all' || pairs.length !== 1 || !testsOnePair(run)) return {};
  return {
    continuesOnePair: true,
    ...(isOnlyPairOf(run, pairs) && { confirms: run.confirms, label: run.label }),
  };
}

async function sourceOf(run: Run, workflow: BlackboxWorkflow, deps: BlackboxDeps) {
  const { input, targetFile } = run;
  const inherited = inheritedFrom(run);
  if (input === undefined) {
    const uri = await pickTargetFile();
    const start = uri && (await readStart(workflow, uri, deps));
    const remark = t(
      'The run was started elsewhere, so VS Code doesn’t know its request. The target URLs in the chosen file must match the run’s, or the service rejects the start request.',
    );
    const { account, folder } = inherited;
    return start && { start: { ...start, account, folder }, proposal: start.input, remarks: [remark] };
  }
  const read = readTargetFile((targetFile && (await readIfThere(targetFile))) ?? '');
  const file = 'file' in read ? read.file : undefined;
  const asUploaded = { ...run, input };
  const asInFile = {
    input: file ? toInput(file, workflow) : input,
    language: file?.language ?? run.language,
    webhookEndpointIds: file?.notification?.webhook_endpoint_ids ?? run.webhookEndpointIds,
  };
  const changes = changesBetween(
    sentPartsOf(asUploaded),
    sentPartsOf(asInFile),
    workflow === 'blackbox-crawl',
  );
  const differs = t(
    'VS Code sends the request as it was for that run, without later changes in the target file. Added (+) and removed (−) since then:',
  );
  return {
    start: { ...inherited, input },
    proposal: asInFile.input,
    remarks: changes.length === 0 ? [] : [`${differs}\n${describeChanges(changes).text}`],
  };
}

/** Only the request of a crawl has instructions outside `authentication`. */
function inputToRepeat(input: ApplicationInput, workflow: BlackboxWorkflow): ApplicationInput {
  const { additional_instructions } = input;
  const isSent = workflow === 'blackbox-crawl' && additional_instructions !== undefined;
  return { ...sharedInput(input), ...(isSent && { additional_instructions }) };
}

function toResume(
  continuation: Continuation,
  workflow_id: Run['workflow'],
  workflow_run_id: string,
): NonNullable<ApplicationInput['resume']> {
  const reference = { workflow_id, workflow_run_id };
  switch (continuation) {
    case 'assessPairs':
      return { kind: 'assess_crawled_features', assess_crawled_features: reference };
    case 'continueAssessment':
      return { kind: 'continue_assessment', continue_assessment: reference };
    case 'crawlFurther':
      return { workflow_id: 'blackbox-crawl', workflow_run_id };
  }
}

function describeContinuation(continuation: Continuation, run: Run, pairs: Pairs): string {
  const from = t('This run continues from the {0}.', runLabel(run));
  const what = describePairs(pairs);
  switch (continuation) {
    case 'assessPairs':
      return `${from} ${t('This run is a new assessment of the features of that run.')} ${what}`;
    case 'continueAssessment':
      return `${from} ${t('Pairs already tested are carried over and not tested again.')} ${what}`;
    case 'crawlFurther':
      return `${from} ${t('The features found so far are kept. Credits are spent even if nothing new is found.')}`;
  }
}

const maxPairsNamed = 5;

function describePairs(pairs: Pairs): string {
  if (pairs === 'all')
    return t('The service tests all pairs: each feature, from each perspective that applies.');
  const names = pairs
    .slice(0, maxPairsNamed)
    .map(({ feature_name, perspective }) => `${clip(visibleLine(feature_name), 60)} · ${perspective}`);
  return `${t('The service tests only these pairs: {0}.', formatNumber(pairs.length))}\n${firstLines(names, pairs.length)}`;
}

type Limits = Pick<ApplicationInput, 'credit_limit' | 'scan_credit_limit' | 'crawl_credit_limit'>;

async function askForLimits(
  workflow: BlackboxWorkflow,
  proposal: ApplicationInput,
): Promise<Limits | undefined> {
  const { minScan, minCrawl, max } = creditLimits;
  const questions =
    workflow === 'blackbox-crawl'
      ? ([['credit_limit', t('Credits for crawling'), minCrawl]] as const)
      : ([
          ['scan_credit_limit', t('Credits for testing'), minScan],
          ['crawl_credit_limit', t('Credits for crawling'), minCrawl],
        ] as const);
  let limits: Limits = {};
  for (const [name, title, min] of questions) {
    const range = [formatNumber(min), formatNumber(max)] as const;
    const typed = await vscode.window.showInputBox({
      title,
      prompt: t('Maximum number of credits to spend, from {0} to {1}. Leave empty for no limit.', ...range),
      value: proposal[name]?.toString() ?? '',
      ignoreFocusOut: true,
      validateInput: (text) =>
        isLimit(text.trim(), min)
          ? undefined
          : t('Enter a whole number from {0} to {1}, or leave this empty.', ...range),
    });
    if (typed === undefined) return undefined;
    if (typed.trim() !== '') limits = { ...limits, [name]: Number(typed) };
  }
  return limits;
}

function isLimit(text: string, min: number): boolean {
  if (text === '') return true;
  return /^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= creditLimits.max;
}
