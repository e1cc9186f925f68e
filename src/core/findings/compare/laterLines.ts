import { setImmediate } from 'node:timers/promises';
import { inSlices } from '../../yieldingWork.ts';
import { followLines, isEditOf } from '../drift/drift.ts';
import { compact, compactEach, contains, type LineRange, splitLines } from '../drift/lineText.ts';
import { anchorIn } from '../drift/followFile.ts';
import type { Place } from '../finding.ts';
import {
  type Decode,
  readSentText,
  type RunSource,
  type SentFile,
  sentFileOf,
  sentIn,
  type SentSpot,
} from '../place/sentFiles.ts';
import type { RunFinding } from './findingsOfRun.ts';

/** Lines in the text that the later run was given. A finding with unknown lines has no entry. */
export type LaterLines = ReadonlyMap<RunFinding, LineRange | 'gone'>;

/** Findings whose main place is in one file that was sent in one run. */
interface FindingsOfFile {
  readonly source: RunSource;
  readonly spot: SentSpot;
  readonly findings: RunFinding[];
}

/** Maps lines of an earlier text to the later one; undefined where it is not known what became of them. */
type LaterLinesOf = (range: LineRange) => LineRange | 'gone' | undefined;

const findingsAtOnce = 500;

/** Finds the lines of the main places of findings, which may be of several runs, in the text that the run `later` was given. */
export async function findLaterLines(
  later: RunSource,
  findings: readonly RunFinding[],
  decode: Decode,
): Promise<LaterLines> {
  const lines = new Map<RunFinding, LineRange | 'gone'>();
  for (const file of await groupByFile(findings)) await addLines(file, later, decode, lines);
  return lines;
}

async function groupByFile(findings: readonly RunFinding[]): Promise<Iterable<FindingsOfFile>> {
  // The objects of files differ between runs.
  const groups = new Map<SentFile, FindingsOfFile>();
  for (const [at, finding] of findings.entries()) {
    if (at % findingsAtOnce === 0) await setImmediate();
    const { source } = finding;
    const [main] = finding.finding.places;
    const spot = main && (await sentFileOf(source, main));
    if (spot === undefined) continue;
    const group = groups.get(spot.file);
    if (group === undefined) groups.set(spot.file, { source, spot, findings: [finding] });
    else group.findings.push(finding);
  }
  return groups.values();
}

async function addLines(
  { source, spot, findings }: FindingsOfFile,
  later: RunSource,
  decode: Decode,
  lines: Map<RunFinding, LineRange | 'gone'>,
): Promise<void> {
  const laterSpot = sentIn(later, source.run.targets[spot.target]?.folder, spot.file.path);
  if (laterSpot === 'unknown') return;
  if (laterSpot === undefined) {
    for (const finding of findings) lines.set(finding, 'gone');
    return;
  }
  const isUnchanged = laterSpot.file.sha256 === spot.file.sha256;
  // In an unchanged file, reported lines are later lines, except where a quote is on other lines.
  const needsText = !isUnchanged || findings.some(({ finding }) => finding.places[0]?.snippet !== undefined);
  const text = needsText ? await readSentText(source, spot, decode) : undefined;
  const laterLinesOf = isUnchanged
    ? (range: LineRange) => range
    : mapLines(text, text === undefined ? undefined : await readSentText(later, laterSpot, decode));
  if (laterLinesOf === undefined) return;
  await inSlices(addEach(findings, text, laterLinesOf, lines));
}

function* addEach(
  findings: readonly RunFinding[],
  text: string | undefined,
  laterLinesOf: LaterLinesOf,
  lines: Map<RunFinding, LineRange | 'gone'>,
): Generator<undefined, void> {
  const linesOf = text === undefined ? reportedLines : quotedLinesIn(splitLines(text));
  for (const finding of findings) {
    yield;
    const [main] = finding.finding.places;
    const range = main && linesOf(main);
    const laterRange = range && laterLinesOf(range);
    if (laterRange !== undefined) lines.set(finding, laterRange);
  }
}

function reportedLines({ startLine, endLine = startLine }: Place): LineRange | undefined {
  return startLine === undefined || endLine === undefined ? undefined : { startLine, endLine };
}

/** Finds the lines of a place in a text, with all lines of context that its quote has. */
function quotedLinesIn(lines: readonly string[]): (place: Place) => LineRange | undefined {
  const anchorOf = anchorIn(lines);
  const compactAt = compactEach(lines);
  return (place) => {
    const anchor = anchorOf(place);
    if (anchor === undefined) return undefined;
    const { startLine, endLine } = anchor;
    const quoted = splitLines(place.snippet?.trim() ?? '').map(compact);
    const [first = ''] = quoted;
    const linesAbove = quoted.findIndex((_, at) => contains(compactAt(startLine - 1 - at), first) === true);
    if (first === '' || linesAbove < 0) return { startLine, endLine };
    const start = startLine - linesAbove;
    return { startLine: start, endLine: Math.max(endLine, start + quoted.length - 1) };
  };
}

/** Undefined where one of the texts is not available. */
function mapLines(text: string | undefined, laterText: string | undefined): LaterLinesOf | undefined {
  if (text === undefined || laterText === undefined) return undefined;
  const [lines, laterLines] = [splitLines(text), splitLines(laterText)];
  const mapRange = followLines(lines)(laterLines);
  return (range) => {
    const { drift, startLine, endLine } = mapRange(range);
    if (drift === 'unknown') return undefined;
    if (drift === 'gone') return 'gone';
    if (drift !== 'changed') return { startLine, endLine };
    // Changed lines may be other code that replaced the earlier code.
    const isEdit = isEditOf(
      laterLines.slice(startLine - 1, endLine),
      lines.slice(range.startLine - 1, range.endLine),
    );
    return isEdit === undefined ? undefined : isEdit ? { startLine, endLine } : 'gone';
  };
}
