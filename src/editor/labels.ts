import * as vscode from 'vscode';
import type { Verdict } from '../core/findings/result/verdict.ts';
import type { BlockKind, Finding, PlaceRole, Severity } from '../core/findings/finding.ts';
import type { Evidence } from '../core/findings/place/evidence.ts';
import type { ShownFinding, ShownPlace } from '../core/findings/shownFinding.ts';
import {
  isAcceptanceEnded,
  isDay,
  type TriageDecision,
  type TriageState,
} from '../core/findings/triage/triage.ts';
import { isOffline, needsDecision } from '../core/run/state/trouble.ts';
import { hasHitCreditLimit } from '../core/run/state/continuedRuns.ts';
import { isFinal, isLive, type Run, type RunIn, type Target, titleOf } from '../core/run/state/run.ts';
import { waitsForToken } from '../core/run/state/trouble.ts';
import { keptArtifact } from '../core/run/state/artifacts.ts';
import { visibleLine } from '../core/visibleText.ts';
import type { ApplicationInput } from '../core/workflows/application.ts';
import type { Continuation, NoContinuation, WorkflowId } from '../core/workflows/workflow.ts';
import { formatDate, formatNumber, formatTime } from './formats.ts';

const t = vscode.l10n.t;

/** A label that begins a row or a heading. */
export function capitalized(label: string): string {
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

export function hasArtifact(run: Run, artifact: 'report' | 'findings' | 'features'): boolean {
  return isFinal(run) && keptArtifact(run, artifact) !== undefined;
}

export function nameOf({ label, createdAt }: Run): string {
  return label ?? formatTime(createdAt);
}

export function runLabel(run: Run): string {
  return run.label === undefined ? t('run from {0}', formatTime(run.createdAt)) : t('run “{0}”', run.label);
}

/** "crawl of staging.example.com", in a sentence. */
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

/** Why a run can't be continued (docs/api.md, sections 2.7 and 2.8). */
export function noContinuationLabel(continuation: Continuation, reason: NoContinuation): string {
  const command = continuationLabel(continuation);
  if (reason === 'noFeatures')
    return t('{0} isn’t available: this run’s features aren’t on this machine.', command);
  return continuation === 'crawlFurther'
    ? t('{0} isn’t available: the service can continue only from a finished crawl.', command)
    : t(
        '{0} isn’t available: the service can continue only from a run that finished or reached its credit limit.',
        command,
      );
}

export function stateLabel(run: Run): string {
  switch (run.state) {
    case 'preparing':
      return run.workflow === 'whitebox-assessment'
        ? {
            uploading: t('uploading'),
            confirming: t('confirming the upload'),
          }[run.step]
        : t('preparing');
    case 'dispatching':
      return t('starting');
    case 'unknown':
      return t('start unconfirmed');
    case 'running':
      return run.status ?? t('running');
    case 'cancelling':
      return t('cancelling');
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
      return run.mayStillRun === true ? t('no longer watched') : t('cancelled');
    case 'failed':
      return run.failure.kind === 'unanswered' ? t('no longer watched') : t('failed');
    case 'imported':
      return t('imported');
  }
}

/** Why a dispatch has no usable response. Never suggests to try again, which may cost twice. */
export function lostAnswerLabel({ kind, status }: RunIn<'unknown'>['reason']): string {
  if (kind === 'interrupted')
    return t('The window that sent the start request closed or stopped responding.');
  if (status === undefined) return t('No response was received.');
  if (kind === 'intercepted')
    return t('A web page came back instead of the service’s response (HTTP {0}).', status);
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
      return t('upload cancelled on {0}', formatTime(upload.at));
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

export function severityLabel(severity: Severity): string {
  return {
    critical: t('Critical'),
    high: t('High'),
    medium: t('Medium'),
    low: t('Low'),
    none: t('No impact'),
    unrated: t('Unrated'),
  }[severity];
}

export function titleOfFinding({ title, id }: Pick<Finding, 'title' | 'id'>): string {
  return title === '' ? id : title;
}

export function blockLabel(kind: BlockKind): string {
  return {
    details: t('Details'),
    impact: t('Impact'),
    exploitScenario: t('Exploit scenario'),
    attackScenario: t('Attack scenario'),
    evidence: t('Evidence'),
    reproductionSteps: t('How to reproduce'),
    rootCause: t('Root cause'),
    proofOfConcept: t('Proof of concept'),
    recommendation: t('Recommendation'),
    other: t('Other fields'),
  }[kind];
}

export function roleLabel(role: PlaceRole): string {
  const source = t({ message: 'Source', comment: ['the first step of an attack path'] });
  return { source, step: t('Step'), sink: t('Sink'), evidence: t('Evidence'), related: t('Related') }[role];
}

export function triageLabel(state: TriageState): string {
  return {
    open: t({ message: 'Open', comment: ['a triage state'] }),
    confirmed: t('Confirmed'),
    falsePositive: t('False positive'),
    acceptedRisk: t('Accepted risk'),
    fixed: t('Fixed'),
  }[state];
}

/** Includes the last day of an acceptance, and whether an agent or the tool decided; not the note. */
export function decisionLabel(decision: TriageDecision): string {
  const { state, until, via } = decision;
  const day = until === undefined ? '' : untilLabel(until);
  const label = isAcceptanceEnded(decision)
    ? t('Acceptance ended on {0}', day)
    : until === undefined
      ? triageLabel(state)
      : t('Accepted risk until {0}', day);
  if (via === 'tool') return t('{0} (set in the tool)', label);
  return via === 'agent' ? t('{0} (set by an agent)', label) : label;
}

/** Text that is no date stands in quotes. */
function untilLabel(until: string): string {
  return isDay(until) ? formatDate(until) : t('“{0}” (not a date)', visibleLine(until));
}

export function proposalsLabel(count: number): string {
  return count === 1
    ? t('1 new decision came with this folder')
    : t('{0} new decisions came with this folder', formatNumber(count));
}

export function verdictLabel(verdict: Verdict): string {
  return {
    new: t('new'),
    backAgain: t('found again'),
    stillThere: t('still present'),
    codeChanged: t('not found, code changed'),
    sameBytes: t('not found, file unchanged'),
    notSent: t('not uploaded this time'),
    reportedAgain: t('reported again'),
    carriedOver: t('carried over, not tested again'),
    pairTested: t('not found, pair tested again'),
    notApplicable: t('not applicable'),
    pairNotTested: t('pair not tested'),
    unknown: t('unknown whether still present'),
  }[verdict];
}

/** A finding without a verdict was not compared. */
export function verdictHeading(verdict: Verdict | undefined): string {
  const label = verdict === undefined ? t('not compared') : verdictLabel(verdict);
  return capitalized(label);
}

export function decidedBeforeLabel(decision: ShownFinding['decidedBefore']): string | undefined {
  return decision && t('earlier decision was “{0}”; check it', triageLabel(decision.state));
}

export function evidenceLabel(evidence: Evidence): string {
  const path = visibleLine(evidence.path);
  switch (evidence.kind) {
    case 'asSent':
      return t('in {0} as uploaded', path);
    case 'elsewhere':
      return t('elsewhere in the uploaded files: {0}', path);
    case 'notAsSent':
      return {
        quote: t('not in {0} as uploaded', path),
        line: t('line not in {0} as uploaded', path),
        file: t('not in the uploaded files: {0}', path),
      }[evidence.missing];
    case 'unchecked':
      return {
        sent: t('can’t be checked: the uploaded files are unknown'),
        file: t('can’t be checked: the file can’t be identified'),
        text: t('can’t be checked: the content of {0} wasn’t saved', path),
        archive: t('can’t be checked: the archive is no longer on this machine'),
        encoding: t('can’t be checked: the encoding of {0} is unknown', path),
        quote: t('can’t be checked: the quote is too long'),
      }[evidence.unknown];
  }
}

export function shortfallLabel(shortfall: NonNullable<Finding['shortfall']>): string {
  return shortfall === 'clipped'
    ? t('in part, because it’s too long. “Show Raw JSON” shows all of it.')
    : t(
        'only a little, because its format in the findings file is unknown. “Show Raw JSON” shows all of it.',
      );
}

/** How the code of a place has changed since the assessment, or that its line is unknown. */
export function driftLabel({ drift, startLine, reported }: ShownPlace): string | undefined {
  switch (drift) {
    case 'moved':
      return t('moved');
    case 'changed':
      return t('changed');
    case 'gone':
      return t('gone');
    case 'unknown':
      if (startLine !== undefined) return undefined;
      return reported.startLine === undefined
        ? t('line unknown')
        : t('line unknown: the file ends before line {0}', reported.startLine);
    case 'same':
      return undefined;
  }
}

/** What is the matter with an unfinished run. */
export function attentionLabel(run: Run, now: number): string | undefined {
  const trouble = isLive(run) ? run.trouble : undefined;
  if (trouble !== undefined && waitsForToken(trouble)) return t('sign-in needed');
  if (trouble?.kind === 'tokenCommand') return t('token command failed');
  if (trouble?.kind === 'secretStorage') return t('account not available yet');
  if (needsDecision(run, now)) return t('needs your decision');
  if (isOffline(run)) return t('offline');
  return trouble === undefined ? undefined : t('last check failed');
}
