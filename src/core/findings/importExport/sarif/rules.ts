import type { ReportingDescriptor, ReportingDescriptorReference, ToolComponent } from 'sarif';
import { perspectives } from '../../../workflows/application.ts';
import { type Finding, type Severity, severityRank } from '../../finding.ts';
import { escaped, sentence } from './sarifText.ts';

/** Where the bands of CVSS 3 and 4 begin and end, and a score that stands for each. */
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

/** The rules of some findings, each with its findings, in the order in which they first appear. */
export function groupByRule(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  return Map.groupBy(findings, toRuleId);
}

/** The same for the same weakness in every run: no title, since a model may reword it. */
export function toRuleId({ rule, cwes: [cwe], perspective }: Finding): string {
  const id = rule ?? (cwe === undefined ? perspective : `CWE-${String(cwe)}`);
  return id?.slice(0, maxId).toWellFormed() || 'unclassified';
}

/** A rule for readers of SARIF: its texts depend on its ID alone. */
export function toDescriptor(id: string, findings: readonly Finding[]): ReportingDescriptor {
  const cwes = [...new Set(findings.flatMap((finding) => finding.cwes))].sort((one, other) => one - other);
  const scores = findings
    .map(securityScore)
    .filter((score) => score !== undefined)
    .filter((score) => score > 0);
  const cwe = /^CWE-(\d+)$/.exec(id)?.[1];
  const text = sentence(escaped(describe(id)));
  const page = cwe === undefined ? undefined : cwePage(Number(cwe));
  const tags = ['security', ...cwes.map((each) => `external/cwe/cwe-${String(each).padStart(3, '0')}`)];
  return {
    id,
    name: id,
    shortDescription: { text },
    fullDescription: { text },
    help: {
      text: page === undefined ? text : `${text} ${page}`,
      markdown: page === undefined ? asMarkdown(text) : `[${text}](${page})`,
    },
    ...(page === undefined ? {} : { helpUri: page }),
    defaultConfiguration: { level: 'warning' },
    relationships: cwes.map((each) => ({ target: cweReference(each), kinds: ['relevant'] })),
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

/** A text in which Markdown shows every character as it is. */
function asMarkdown(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

function cwePage(cwe: number): string {
  return `https://cwe.mitre.org/data/definitions/${String(cwe)}.html`;
}

/** The taxonomy of the weaknesses that findings name (SARIF 2.1.0, 3.19.3). */
export function cweTaxonomy(findings: readonly Finding[]): ToolComponent {
  const taxa = [...new Set(findings.flatMap(({ cwes }) => cwes))].sort((one, other) => one - other);
  return {
    name: 'CWE',
    organization: 'MITRE',
    shortDescription: { text: 'Common Weakness Enumeration' },
    informationUri: 'https://cwe.mitre.org/',
    isComprehensive: false,
    taxa: taxa.map((cwe) => ({ id: String(cwe), helpUri: cwePage(cwe) })),
  };
}

/** A weakness as results and rules refer to it. */
export function cweReference(cwe: number): ReportingDescriptorReference {
  return { id: String(cwe), toolComponent: { name: 'CWE', index: 0 } };
}

/** A score of 0 to 10 that says what the severity says: the finding's own CVSS score where it does; undefined when unrated. */
export function securityScore({ severity, cvss }: Pick<Finding, 'severity' | 'cvss'>): number | undefined {
  if (severity === 'unrated') return undefined;
  const { from, below, usual } = bands[severity];
  const score = cvss?.score;
  return score !== undefined && score >= from && score < below ? score : usual;
}

/** The level of a result that is a failure; SARIF has none for a failure without impact (2.1.0, 3.27.10). */
export function toLevel(severity: Severity): 'error' | 'warning' | 'note' {
  if (severity === 'unrated') return 'warning';
  const rank = severityRank(severity);
  return rank <= severityRank('high') ? 'error' : severity === 'medium' ? 'warning' : 'note';
}
