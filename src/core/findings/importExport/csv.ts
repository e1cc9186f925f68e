import type { Location } from '../finding.ts';
import { type DetailedFinding, type DetailedRun, folderOf } from '../shownFinding.ts';
import type { Target } from '../../run/state/run.ts';
import { clip, visibleText } from '../../visibleText.ts';
import { isUndecided } from '../triage/triage.ts';

const columns: readonly (readonly [string, (shown: DetailedFinding) => string | number | undefined])[] = [
  ['id', ({ finding }) => finding.id],
  ['title', ({ finding }) => finding.title],
  ['severity', ({ finding: { severity, severityText } }) => severityText ?? severity],
  ['confidence', ({ details }) => details.confidence],
  ['cwe', ({ finding }) => finding.cwes.map((cwe) => `CWE-${String(cwe)}`).join(' ')],
  ['cvss_score', ({ finding }) => finding.cvss?.score],
  ['cvss_vector', ({ finding }) => finding.cvss?.vector],
  ['file', ({ finding }) => finding.locations[0]?.path],
  ['start_line', ({ finding }) => finding.locations[0]?.startLine],
  ['end_line', ({ finding }) => finding.locations[0]?.endLine],
  ['start_column', ({ finding }) => finding.locations[0]?.startColumn],
  ['end_column', ({ finding }) => finding.locations[0]?.endColumn],
  ['snippet', ({ details }) => details.locations[0]?.snippet],
  ['feature', ({ finding }) => finding.feature],
  ['perspective', ({ finding }) => finding.perspective],
  ['method', ({ finding }) => finding.method],
  ['url', ({ finding }) => finding.url],
  ['description', ({ details }) => details.description],
  ['recommendation', ({ details }) => details.recommendation],
  ['other_locations', ({ finding }) => finding.locations.slice(1).map(toText).join('\n')],
  ['triage', ({ triage }) => (isUndecided(triage) ? '' : triage.state)],
  ['triage_note', ({ triage }) => triage.note],
  ['triage_until', ({ triage }) => triage.until],
  ['triage_via', ({ triage }) => triage.via],
  ['verdict', ({ verdict }) => verdict],
  ['owner', ({ owners }) => (owners === 'unknown' ? owners : owners?.join(' '))],
  ['folder', (shown) => targetOf(shown)?.name],
  ['commit', (shown) => targetOf(shown)?.commit?.id],
  ['uncommitted_changes', (shown) => targetOf(shown)?.commit && String(targetOf(shown)?.commit?.dirty)],
  ['file_sha256', ({ uploaded }) => uploaded[0]?.sha256],
  ['fingerprint', ({ fingerprint }) => fingerprint],
];

function targetOf(shown: DetailedFinding): Target | undefined {
  return shown.run.targets.find(({ folder }) => folder === folderOf(shown));
}

/**
 * Matches where a spreadsheet would read a formula: at the start of a cell or a line, and after a
 * separator of any locale. A separator may split even a quoted cell. Full-width signs (Excel in
 * Japanese) and signs after an apostrophe count, too.
 */
const beforeFormula = /^(?='*[\t\r\n])|(?<=(?:^|[,;|\t\r\n])[ "]{0,8})(?='*[=+\-@＝＋－＠])/g;

/** Longer cells break a spreadsheet's row in two. */
const maxCellLength = 32_000;

/** Includes absent findings. With the byte order mark, spreadsheets read the text as UTF-8. */
export function toCsv({ shown, absent = [] }: DetailedRun): string {
  const names = columns.map(([name]) => name);
  const rows = [...shown, ...absent].map((finding) => columns.map(([, read]) => toCell(read(finding))));
  // Quotes and line ends follow RFC 4180.
  const inQuotes = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  return `\uFEFF${[names, ...rows].map((cells) => `${cells.map(inQuotes).join(',')}\r\n`).join('')}`;
}

function toCell(value: string | number | undefined): string {
  const text = visibleText(String(value ?? '')).replaceAll(beforeFormula, "'");
  return text.length > maxCellLength ? `${clip(text, maxCellLength - 1)}…` : text;
}

function toText({ path, startLine, label }: Location): string {
  const location = startLine === undefined ? path : `${path}:${String(startLine)}`;
  return label === undefined ? location : `${location} ${label}`;
}
