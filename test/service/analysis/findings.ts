import { createHash } from 'node:crypto';
import type { Match } from './analyse.ts';
import type { ReportLanguage } from './reportText.ts';
import type { Severity } from './rules.ts';
import { ruleTexts } from './ruleTexts.ts';

/** One entry of findings.json: an invented shape, since the reference shows none (section 2.4). */
export interface ServiceFinding {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly cwe: string;
  readonly description: string;
  readonly recommendation: string;
  readonly locations: readonly {
    /** Which of the dispatched targets the path belongs to, from 0. */
    readonly target_index: number;
    /** As the archive names the file. */
    readonly file_path: string;
    readonly start_line: number;
    readonly end_line: number;
    readonly snippet: string;
  }[];
}

/** The levels of severity, worst first. */
export const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'none'];

/** Matches as findings: one for each rule and file with all its places, worst first, then by file and line. */
export function toFindings(matches: readonly Match[], language: ReportLanguage): ServiceFinding[] {
  const groups = Map.groupBy(matches, ({ rule, targetIndex, path }) => `${rule.id}\n${targetIndex}\n${path}`);
  return [...groups]
    .map(([key, group]) => toFinding(key, group, language))
    .sort(
      (a, b) =>
        severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
        compareText(firstPath(a), firstPath(b)) ||
        firstLine(a) - firstLine(b),
    );
}

function toFinding(key: string, group: readonly Match[], language: ReportLanguage): ServiceFinding {
  const rule = group[0]?.rule;
  const text = rule && ruleTexts[rule.id]?.[language];
  if (!text) throw new Error(`no ${language} text for ${key}`);
  const locations = group
    .map(({ targetIndex, path, startLine, endLine, snippet }) => ({
      target_index: targetIndex,
      file_path: path,
      start_line: startLine,
      end_line: endLine,
      snippet,
    }))
    .sort((a, b) => a.start_line - b.start_line);
  const id = `WB-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
  const { title, description, recommendation } = text;
  return { id, title, severity: rule.severity, cwe: rule.cwe, description, recommendation, locations };
}

function firstPath(finding: ServiceFinding): string {
  return finding.locations[0]?.file_path ?? '';
}

function firstLine(finding: ServiceFinding): number {
  return finding.locations[0]?.start_line ?? 0;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
