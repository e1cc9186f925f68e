import type { ReportingDescriptor, ReportingDescriptorReference, ToolComponent } from 'sarif';
import { perspectives } from '../../../workflows/blackboxInput.ts';
import { cweUrl, type Finding, type Severity, severityRank } from '../../finding.ts';
import { escapeMarkdown } from '../../view/findingMarkdown.ts';
import { escapeMessage, toSentence } from './sarifText.ts';

/** Score ranges of CVSS 3 and 4, and a typical score of each. */
const bands: Readonly<Record<Exclude<Severity, 'unrated'>, { from: number; below: number; usual: number }>> =
  {
    critical: { from: 9, below: 10.1, usual: 9.5 },
    high: { from: 7, below: 9, usual: 8 },
    medium: { from: 4, below: 7, usual: 5.5 },
    low: { from: 0.1, below: 4, usual: 2 },
    none: { from: 0, below: 0.1, usual: 0 },
  };

const maxId = 255;
/** GitHub refuses a rule with more than 20 tags. */
const maxTags = 20;

/** By rule ID, in the order of first appearance. */
export function groupByRule(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  return Map.groupBy(findings, toRuleId);
}

/** The same in every run for the same weakness; never the title, which a model may reword. */
export function toRuleId({ rule, cwes: [cwe], perspective }: Finding): string {
  const id = rule ?? (cwe === undefined ? perspective : `CWE-${String(cwe)}`);
  return id?.slice(0, maxId).toWellFormed() || 'unclassified';
}

/** Texts depend on the ID alone. */
export function toDescriptor(id: string, findings: readonly Finding[]): ReportingDescriptor {
  const cwes = cwesOf(findings);
  const scores = findings
    .map(securityScore)
    .filter((score) => score !== undefined)
    .filter((score) => score > 0);
  const cwe = /^CWE-(\d+)$/.exec(id)?.[1];
  const text = toSentence(escapeMessage(describe(id)));
  const page = cwe === undefined ? undefined : cweUrl(Number(cwe));
  const tags = ['security', ...cwes.map((number) => `external/cwe/cwe-${String(number).padStart(3, '0')}`)];
  return {
    id,
    name: id,
    shortDescription: { text },
    fullDescription: { text },
    help: {
      text: page === undefined ? text : `${text} ${page}`,
      markdown: page === undefined ? escapeMarkdown(text) : `[${text}](${page})`,
    },
    ...(page === undefined ? {} : { helpUri: page }),
    defaultConfiguration: { level: 'warning' },
    relationships: cwes.map((number) => ({ target: cweReference(number), kinds: ['relevant'] })),
    properties: {
      // The form that code scanning services look for.
      tags: tags.slice(0, maxTags),
      ...(scores.length === 0 ? {} : { 'security-severity': Math.max(...scores).toFixed(1) }),
    },
  };
}

function describe(id: string): string {
  if (/^CWE-\d+$/.test(id)) return `Weakness ${id} of the Common Weakness Enumeration`;
  if (id === 'unclassified') return 'Findings without a rule, a weakness number, or a perspective';
  if (perspectives.some((perspective) => perspective === id)) return `Findings of the perspective ${id}`;
  return `Findings of the rule ${id}`;
}

/** The CWEs of findings (SARIF 2.1.0, 3.19.3). */
export function cweTaxonomy(findings: readonly Finding[]): ToolComponent {
  return {
    name: 'CWE',
    organization: 'MITRE',
    shortDescription: { text: 'Common Weakness Enumeration' },
    informationUri: 'https://cwe.mitre.org/',
    isComprehensive: false,
    taxa: cwesOf(findings).map((cwe) => ({ id: String(cwe), helpUri: cweUrl(cwe) })),
  };
}

function cwesOf(findings: readonly Finding[]): number[] {
  return [...new Set(findings.flatMap(({ cwes }) => cwes))].sort((a, b) => a - b);
}

export function cweReference(cwe: number): ReportingDescriptorReference {
  return { id: String(cwe), toolComponent: { name: 'CWE', index: 0 } };
}

/** From 0 to 10: the finding's CVSS score if it fits the severity, else a typical score; undefined if unrated. */
export function securityScore({ severity, cvss }: Pick<Finding, 'severity' | 'cvss'>): number | undefined {
  if (severity === 'unrated') return undefined;
  const { from, below, usual } = bands[severity];
  const score = cvss?.score;
  return score !== undefined && score >= from && score < below ? score : usual;
}

/** The level of a failure. SARIF has no level for a failure without impact (2.1.0, 3.27.10). */
export function toLevel(severity: Severity): 'error' | 'warning' | 'note' {
  if (severity === 'unrated') return 'warning';
  const rank = severityRank(severity);
  return rank <= severityRank('high') ? 'error' : severity === 'medium' ? 'warning' : 'note';
}
