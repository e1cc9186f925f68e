import { createHash } from 'node:crypto';
import { severities, type ReportedFinding, type ReportLanguage } from '../runs/reportText.ts';
import { rules, type Rule } from './rules.ts';
import type { ArchiveEntry } from './unpack.ts';

/** The shape of a finding is invented, since the reference doesn't show it (section 2.4). */
export interface ServiceFinding {
  readonly id: string;
  readonly title: string;
  readonly severity: Rule['severity'];
  readonly cwe: string;
  readonly description: string;
  readonly recommendation: string;
  readonly locations: readonly {
    /** The path belongs to this one of the dispatched targets, from 0. */
    readonly target_index: number;
    readonly file_path: string;
    readonly start_line: number;
    readonly end_line: number;
    /** The snippet has whole lines. */
    readonly snippet: string;
  }[];
}

const analysed = /^(?!(?:.*\/)?node_modules\/).*\.(?:[cm]?[jt]s|[jt]sx|py)$/is;

/** Returns at most one finding for each rule. It has all locations in the file. */
export function analyse(
  { path, content }: ArchiveEntry,
  targetIndex: number,
  language: ReportLanguage,
): ServiceFinding[] {
  if (content === undefined || !analysed.test(path)) return [];
  const source = content.toString('utf8');
  const lines = source.split(/\r?\n/);
  const lineAt = (offset: number): number => source.slice(0, offset).split('\n').length;
  return rules.flatMap(({ pattern, cwe, severity, [language]: text }) => {
    const locations = [...source.matchAll(pattern)].map(({ index, 0: match }) => {
      const [start, end] = [lineAt(index), lineAt(index + match.length)];
      const snippet = lines.slice(start - 1, end).join('\n');
      return { target_index: targetIndex, file_path: path, start_line: start, end_line: end, snippet };
    });
    if (locations.length === 0) return [];
    const key = createHash('sha256').update(`${cwe}\n${targetIndex}\n${path}`).digest('hex');
    return [{ id: `WB-${key.slice(0, 12)}`, ...text, severity, cwe, locations }];
  });
}

/** Puts findings in the order of the report: the most severe first, then by file and line. */
export function byWeight(one: ServiceFinding, other: ServiceFinding): number {
  const [a, b] = [one, other].map(({ severity, locations: [first] }) => ({
    weight: severities.indexOf(severity),
    path: first?.file_path ?? '',
    line: first?.start_line ?? 0,
  })) as [Location, Location];
  return a.weight - b.weight || Number(a.path > b.path) - Number(a.path < b.path) || a.line - b.line;
}

interface Location {
  readonly weight: number;
  readonly path: string;
  readonly line: number;
}

export function toReported({ locations, ...finding }: ServiceFinding): ReportedFinding {
  const quotes = locations.map(({ file_path, start_line, snippet }) => ({
    name: `${file_path}:${start_line}`,
    code: snippet,
    codeLanguage: file_path.endsWith('.py') ? 'python' : (/\w+$/.exec(file_path)?.[0] ?? ''),
  }));
  return { ...finding, locations: quotes };
}
