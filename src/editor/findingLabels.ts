import * as vscode from 'vscode';
import type { Verdict } from '../core/findings/result/result.ts';
import type { BlockKind, Finding, Location, LocationRole, Severity } from '../core/findings/finding.ts';
import type { Evidence } from '../core/findings/location/evidence.ts';
import { localLocationOf, type ShownFinding, type ShownLocation } from '../core/findings/shownFinding.ts';
import {
  isAcceptanceEnded,
  isDay,
  type TriageDecision,
  type TriageState,
} from '../core/findings/triage/triage.ts';
import { visibleLine } from '../core/visibleText.ts';
import { capitalized, formatDate, formatNumber } from './formats.ts';

const t = vscode.l10n.t;

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

export function roleLabel(role: LocationRole): string {
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

function untilLabel(until: string): string {
  return isDay(until) ? formatDate(until) : t('“{0}” (not a date)', visibleLine(until));
}

export function proposalsLabel(count: number): string {
  return count === 1
    ? t('1 new shared decision in this folder')
    : t('{0} new shared decisions in this folder', formatNumber(count));
}

export function verdictLabel(verdict: Verdict): string {
  return {
    new: t('new'),
    foundAgain: t('found again'),
    stillPresent: t('still present'),
    codeChanged: t('not found, code changed'),
    fileUnchanged: t('not found, file unchanged'),
    notUploaded: t('not uploaded this time'),
    reportedAgain: t('reported again'),
    carriedOver: t('carried over, not tested again'),
    pairTested: t('not found, pair tested again'),
    notApplicable: t('not applicable'),
    pairNotTested: t('pair not tested'),
    unknown: t('unknown whether still present'),
  }[verdict];
}

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
    case 'quoteFound':
      return t('quoted code found in the uploaded {0}', path);
    case 'quoteNotFound':
      return {
        quote: t('quoted code not found in the uploaded {0}', path),
        line: t('line not found in the uploaded {0}', path),
        file: t('file not uploaded: {0}', path),
      }[evidence.missing];
    case 'unchecked':
      return {
        upload: t('can’t be checked: the uploaded files are unknown'),
        file: t('can’t be checked: the file can’t be identified'),
        text: t('can’t be checked: the content of {0} wasn’t saved', path),
        encoding: t('can’t be checked: the encoding of {0} is unknown', path),
        quote: t('can’t be checked: searching for the quote takes too long'),
      }[evidence.unknown];
  }
}

export function shortfallLabel(shortfall: NonNullable<Finding['shortfall']>): string {
  return shortfall === 'clipped'
    ? t('in part, because it’s too long. “Show Raw JSON” shows all of it.')
    : t('only a small part, because VS Code doesn’t know its format. “Show Raw JSON” shows all of it.');
}

/** A location that is only in the details isn't looked up, so it has no state. */
export function locationStateLabel(location: Location, shown: ShownFinding): string | undefined {
  const here = localLocationOf(location, shown);
  if (here !== undefined) return driftLabel(here);
  return shown.finding.locations.includes(location) ? t('not in this workspace') : undefined;
}

export function driftLabel({ drift, startLine, reported }: ShownLocation): string | undefined {
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
