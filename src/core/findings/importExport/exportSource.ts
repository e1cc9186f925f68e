import type { Run } from '../../run/state/run.ts';
import type { BlockKind, Finding } from '../finding.ts';
import type { Cut } from '../parse/parse.ts';
import type { JsonObject } from '../parse/json.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** What is exported of a run: all of its findings, whatever the settings hide, and what it does not report of earlier runs. */
export interface ExportSource {
  readonly run: Run;
  /** In the order of the findings file. */
  readonly shown: readonly ShownFinding[];
  /** When the findings file has more of them than are exported. */
  readonly cut?: Cut | undefined;
  /** As a `ShownRun` has them. */
  readonly absent?: readonly ShownFinding[] | undefined;
}

/** The program that writes an export. */
export interface ExportTool {
  readonly name: string;
  readonly version: string;
}

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
  const { feature, perspective, method, url } = finding;
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
    ['feature_name', feature],
    ['perspective', perspective],
    ['method', method],
    ['url', url],
  ];
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined && value !== ''));
}
