import * as vscode from 'vscode';
import { isOffline, needsDecision, waitsForToken } from '../../core/run/state/trouble.ts';
import { hasHitCreditLimit } from '../../core/features/continuedRuns.ts';
import {
  isFinal,
  isLive,
  keptArtifact,
  type Run,
  type RunIn,
  type Target,
} from '../../core/run/state/run.ts';
import { visibleLine } from '../../core/visibleText.ts';
import type { ApplicationInput } from '../../core/workflows/blackboxInput.ts';
import type { Continuation, NoContinuation, WorkflowId } from '../../core/workflows/workflow.ts';
import { formatList, formatNumber, formatTime } from '../formats.ts';

const t = vscode.l10n.t;

export function hasArtifact(run: Run, artifact: 'report' | 'findings' | 'features'): boolean {
  return isFinal(run) && keptArtifact(run, artifact) !== undefined;
}

export function titleOf({ targets }: { readonly targets: readonly { readonly name: string }[] }): string {
  return formatList(targets.map(({ name }) => name));
}

export function nameOf({ label, createdAt }: Run): string {
  return label ?? formatTime(createdAt);
}

export function runLabel(run: Run): string {
  return run.label === undefined ? t('run from {0}', formatTime(run.createdAt)) : t('run “{0}”', run.label);
}

/** Returns part of a sentence, such as "crawl of staging.example.com". */
export function workflowTitle(
  run: { readonly workflow: WorkflowId } & Parameters<typeof titleOf>[0],
): string {
  return run.workflow === 'blackbox-crawl'
    ? t('crawl of {0}', titleOf(run))
    : t('assessment of {0}', titleOf(run));
}

export function workflowLabel(workflow: WorkflowId): string {
  return {
    'whitebox-assessment': t('Whitebox assessment'),
    'blackbox-crawl': t('Crawl'),
    'blackbox-assessment': t('Blackbox assessment'),
  }[workflow];
}

export function kindLabel({ workflow, confirms }: Pick<Run, 'workflow' | 'confirms'>): string {
  return confirms === undefined ? workflowLabel(workflow) : t('Confirm Live');
}

export function runTitle(run: Pick<Run, 'workflow' | 'confirms' | 'targets'>): string {
  return `${kindLabel(run)} · ${visibleLine(titleOf(run))}`;
}

export function limitsLabel(workflow: WorkflowId, input: ApplicationInput): string {
  const atMost = (limit: number | undefined): string =>
    limit === undefined ? t('no limit') : t('at most {0}', formatNumber(limit));
  return workflow === 'blackbox-crawl'
    ? t('Credits: {0}', atMost(input.credit_limit))
    : t(
        'Credits for crawling: {0}; for testing: {1}',
        atMost(input.crawl_credit_limit),
        atMost(input.scan_credit_limit),
      );
}

export function continuationLabel(continuation: Continuation): string {
  return {
    assessPairs: t('Assess Chosen Pairs…'),
    continueAssessment: t('Continue with More Credits…'),
    crawlFurther: t('Crawl Further…'),
  }[continuation];
}

/** See docs/api.md, sections 2.7 and 2.8. */
export function noContinuationLabel(continuation: Continuation, reason: NoContinuation): string {
  const command = continuationLabel(continuation);
  if (reason === 'noFeatures')
    return t('“{0}” isn’t available: this run’s features aren’t on this machine.', command);
  return continuation === 'crawlFurther'
    ? t('“{0}” isn’t available: the service can continue only from a finished crawl.', command)
    : t(
        '“{0}” isn’t available: the service can continue only from a run that finished or reached its credit limit.',
        command,
      );
}

export function runStateLabel(run: Run): string {
  switch (run.state) {
    case 'preparing':
      return run.workflow === 'whitebox-assessment' ? t('uploading') : t('preparing');
    case 'dispatching':
      return t('starting');
    case 'unknown':
      return t('start unconfirmed');
    case 'running':
      return run.status ?? t('running');
    case 'cancelling':
      return t('canceling');
    case 'collecting':
      return t('downloading results');
    case 'succeeded':
      return t('finished');
    case 'aborted':
      if (hasHitCreditLimit(run)) return t('credit limit reached');
      return run.exit.kind === 'ABORTED'
        ? t('aborted ({0})', run.exit.abort?.code ?? '?')
        : t('ended ({0})', run.exit.kind);
    case 'cancelled':
      return run.mayStillRun === true ? t('no longer watched') : t('canceled');
    case 'failed':
      return run.failure.kind === 'unanswered' ? t('no longer watched') : t('failed');
    case 'imported':
      return t('imported');
  }
}

/** Never suggests a retry, which may spend credits twice. */
export function lostAnswerLabel({ kind, status, isPage }: RunIn<'unknown'>['reason']): string {
  if (kind === 'interrupted')
    return t('The window that sent the start request closed or stopped responding.');
  if (status === undefined) return t('No response was received.');
  if (kind === 'intercepted')
    return t('A web page came back instead of the service’s response (HTTP {0}).', status);
  if (isPage === true) return t('The service, or a proxy before it, responded with HTTP {0}.', status);
  return kind === 'badResponse'
    ? t('The response can’t be used (HTTP {0}).', status)
    : t('The service responded with HTTP {0}.', status);
}

export function uploadLabel(run: Run, target: Target): string | undefined {
  const { upload } = target;
  if (upload === undefined) return undefined;
  switch (upload.state) {
    case 'reserved':
      return atHost(isFinal(run) ? t('not yet deleted from the service') : t('being uploaded'), upload);
    case 'confirmed':
      return atHost(t('on the service since {0}', formatTime(upload.at)), upload);
    case 'cancelled':
      return t('upload canceled on {0}', formatTime(upload.at));
    case 'deleted':
      return t('deleted from the service on {0}', formatTime(upload.at));
  }
}

function atHost(state: string, { host }: NonNullable<Target['upload']>): string {
  return host === undefined ? state : t('{0}, stored at {1}', state, host);
}

export function commitLabel({ id, dirty }: NonNullable<Target['commit']>): string {
  return dirty ? t('{0} with uncommitted changes', id.slice(0, 10)) : id.slice(0, 10);
}

export function attentionLabel(run: Run, now: number): string | undefined {
  const trouble = isLive(run) ? run.trouble : undefined;
  if (trouble !== undefined && waitsForToken(trouble)) return t('sign-in needed');
  if (trouble?.kind === 'tokenCommand') return t('token command failed');
  if (trouble?.kind === 'secretStorage') return t('account not available yet');
  if (needsDecision(run, now)) return t('needs your decision');
  if (isOffline(run)) return t('offline');
  return trouble === undefined ? undefined : t('last check failed');
}
