import type { BlockKind, Finding } from '../finding.ts';
import type { JsonObject } from '../parse/readValue.ts';

const blockNames: Readonly<Record<BlockKind, string>> = {
  details: 'details',
  impact: 'impact',
  exploitScenario: 'exploit_scenario',
  attackScenario: 'attack_scenario',
  evidence: 'evidence',
  reproductionSteps: 'reproduction_steps',
  proofOfConcept: 'poc',
  recommendation: 'further_recommendations',
};

/** A finding under plain names, without what it does not have. */
export function toPlainFinding(finding: Finding): JsonObject {
  const { id, title, severity, severityText, confidence, description, recommendation, places, cwes, cvss } =
    finding;
  const blocks = Map.groupBy(finding.blocks, ({ kind }) => blockNames[kind]);
  const parts: readonly (readonly [string, unknown])[] = [
    ['id', id],
    ['title', title],
    ['severity', severityText ?? severity],
    ['confidence', confidence],
    ['description', description],
    ...[...blocks].map(([name, texts]) => [name, texts.map(({ text }) => text).join('\n\n')] as const),
    ['recommendation', recommendation],
    ['locations', places],
    ['cwes', cwes],
    ['cvss', cvss],
  ];
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined && value !== ''));
}
