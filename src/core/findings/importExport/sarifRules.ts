import { createHash } from 'node:crypto';
import type { ReportingDescriptor, ReportingDescriptorReference, ToolComponent } from 'sarif';
import type { Finding } from '../finding.ts';
import { securityScore } from './securityScore.ts';

/** What results say about their rule. */
export interface Rules {
  readonly descriptors: ReportingDescriptor[];
  of(finding: Finding): { ruleId: string; ruleIndex: number };
}

/** One rule for each weakness and title, since readers of SARIF show a rule's text as the name of its results. */
export function createRules(findings: readonly Finding[]): Rules {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const id = toRuleId(finding);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [finding]);
    else group.push(finding);
  }
  const indexes = new Map([...groups.keys()].map((id, index) => [id, index]));
  return {
    descriptors: [...groups].map(([id, group]) => toDescriptor(id, group)),
    of: (finding) => {
      const ruleId = toRuleId(finding);
      return { ruleId, ruleIndex: indexes.get(ruleId) ?? -1 };
    },
  };
}

/** The taxonomy of the weaknesses that are spoken of (SARIF 2.1.0, 3.19.3). */
export function cweTaxonomy(cwes: readonly number[]): ToolComponent {
  const taxa = [...new Set(cwes)].sort((one, other) => one - other);
  return {
    name: 'CWE',
    organization: 'MITRE',
    shortDescription: { text: 'Common Weakness Enumeration' },
    informationUri: 'https://cwe.mitre.org/',
    isComprehensive: false,
    taxa: taxa.map((cwe) => ({ id: String(cwe), helpUri: helpUri(cwe) })),
  };
}

/** A weakness as results and rules refer to it. */
export function cweReference(cwe: number): ReportingDescriptorReference {
  return { id: String(cwe), toolComponent: { name: 'CWE', index: 0 } };
}

/** A score in the form of the `security-severity` property. */
export function toScoreText(score: number): string {
  return score.toFixed(1);
}

function toRuleId({ cwes: [cwe], title }: Finding): string {
  const name = createHash('sha256').update(title).digest('hex').slice(0, 8);
  return `${cwe === undefined ? 'finding' : `CWE-${String(cwe)}`}/${name}`;
}

function toDescriptor(id: string, group: readonly Finding[]): ReportingDescriptor {
  const cwes = [...new Set(group.flatMap((finding) => finding.cwes))];
  const scores = group.map(securityScore).filter((score) => score !== undefined);
  const [cwe] = cwes;
  const title = group[0]?.title ?? '';
  return {
    id,
    shortDescription: { text: title === '' ? id : title },
    ...(cwe === undefined ? {} : { helpUri: helpUri(cwe) }),
    relationships: cwes.map((each) => ({ target: cweReference(each), kinds: ['relevant'] })),
    properties: {
      // The form that code scanning services look for.
      tags: ['security', ...cwes.map((each) => `external/cwe/cwe-${String(each).padStart(3, '0')}`)],
      ...(scores.length === 0 ? {} : { 'security-severity': toScoreText(Math.max(...scores)) }),
    },
  };
}

function helpUri(cwe: number): string {
  return `https://cwe.mitre.org/data/definitions/${String(cwe)}.html`;
}
