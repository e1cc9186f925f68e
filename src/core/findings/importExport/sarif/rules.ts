import type { ReportingDescriptor } from 'sarif';
import { cweUrl, type Details, type Finding, type Severity, severityRank } from '../../finding.ts';

/** These are the score ranges of CVSS 3 and 4, each with a typical score. */
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

/** The title is not used, since a model may reword it. */
export function toRuleId({ rule, cwes: [cwe], perspective }: Finding): string {
  const id = rule ?? (cwe === undefined ? perspective : `CWE-${String(cwe)}`);
  return id?.slice(0, maxId).toWellFormed() || 'unclassified';
}

export function toDescriptor(id: string, findings: readonly Finding[]): ReportingDescriptor {
  const cwes = [...new Set(findings.flatMap((finding) => finding.cwes))].sort((a, b) => a - b);
  const scores = findings.flatMap((finding) => securityScore(finding) || []);
  const cwe = /^CWE-(\d+)$/.exec(id)?.[1];
  const text = toSentence(escapeMessage(describe(id)));
  const page = cwe === undefined ? undefined : cweUrl(Number(cwe));
  // Code scanning services look for tags of this form.
  const tags = ['security', ...cwes.map((number) => `external/cwe/cwe-${String(number).padStart(3, '0')}`)];
  return {
    id,
    name: id,
    shortDescription: { text },
    fullDescription: { text },
    help: { text: page === undefined ? text : `${text} ${page}` },
    helpUri: page,
    defaultConfiguration: { level: 'warning' },
    properties: {
      tags: tags.slice(0, maxTags),
      'security-severity': scores.length === 0 ? undefined : Math.max(...scores).toFixed(1),
    },
  };
}

function describe(id: string): string {
  if (/^CWE-\d+$/.test(id)) return `Weakness ${id} of the Common Weakness Enumeration`;
  if (id === 'unclassified') return 'Findings without a rule, a weakness number, or a perspective';
  return `Findings of the kind ${id}`;
}

export function securityScore({ severity, cvss }: Pick<Finding, 'severity' | 'cvss'>): number | undefined {
  if (severity === 'unrated') return undefined;
  const { from, below, usual } = bands[severity];
  const score = cvss?.score;
  return score !== undefined && score >= from && score < below ? score : usual;
}

/** `none` becomes `note`: SARIF has no level for a failure without impact (2.1.0, 3.27.10). */
export function toLevel(severity: Severity): 'error' | 'warning' | 'note' {
  if (severity === 'unrated') return 'warning';
  const rank = severityRank(severity);
  return rank <= severityRank('high') ? 'error' : severity === 'medium' ? 'warning' : 'note';
}

export function toMessage({ id, title }: Finding, { description }: Details): string {
  const first = toSentence(title.trim() === '' ? id : title.trim());
  const remainder = description === '' || description === title ? '' : `\n\n${description}`;
  return escapeMessage(`${first}${remainder}`);
}

/** GitHub shows only the first sentence where space is short. */
function toSentence(text: string): string {
  return /[.!?。！？]$/.test(text) ? text : `${text}.`;
}

/** Escapes what SARIF would read as a link (2.1.0, 3.11.6) or a placeholder (3.11.5). */
export function escapeMessage(text: string): string {
  return text.toWellFormed().replace(/[{}]/g, '$&$&').replaceAll('](', ']\\(');
}
