import { join } from 'node:path';
import { followLines, isEditOf } from '../drift/followLines.ts';
import { compact, compactEach, contains, type LineRange, splitLines } from '../drift/lineText.ts';
import { anchorIn } from '../drift/anchor.ts';
import type { Finding, Place } from '../finding.ts';
import type { Named } from '../identity.ts';
import type { Decode } from '../place/encodings.ts';
import { readSentText, type SentOfRun, sentIn, type SentSpot } from '../place/sentFiles.ts';
import type { Run } from '../../run/state/run.ts';
import type { LaterPath } from './laterPath.ts';

/** What pairing needs of a finding. */
export interface PairedFinding extends Pick<Named, 'file' | 'index'> {
  readonly finding: Finding;
  /** The local ID of the run that reports it. */
  readonly run: string;
  /** The folder that it is about. */
  readonly home: string;
  /** Of its main place, as sent, else as reported. */
  readonly path: string;
  /** The sent files of its places, in their order. */
  readonly sent: readonly (SentSpot | undefined)[];
  /** `quoteKeyOf` each place; empty for a place without a quote that identifies code. */
  readonly quotes: readonly string[];
}

export interface LaterRun {
  readonly run: Run;
  /** The folder with the folders of all runs. */
  readonly runsFolder: string;
  readonly sent: SentOfRun;
  readonly laterPathOf: LaterPath;
}

/** Lines in the text that the later run was given. A finding with unknown lines has no entry. */
export type LaterLines = ReadonlyMap<PairedFinding, LineRange | 'gone'>;

/** Maps lines of an earlier text to the later one; undefined where it is not known what became of them. */
type LaterLinesOf = (range: LineRange) => LineRange | 'gone' | undefined;

/** Finds the lines of the main places of findings, which may be of several runs, in the text that a later run was given. */
export async function findLaterLines(
  later: LaterRun,
  findings: readonly PairedFinding[],
  decode: Decode,
): Promise<LaterLines> {
  const lines = new Map<PairedFinding, LineRange | 'gone'>();
  const byFile = Map.groupBy(findings, ({ run, sent: [spot] }) =>
    spot === undefined ? undefined : JSON.stringify([run, spot.target, spot.file.path]),
  );
  for (const [file, findingsOfFile] of byFile)
    if (file !== undefined) await addLines(findingsOfFile, later, decode, lines);
  return lines;
}

/** `findings` are of one run, and their main places in one file. */
async function addLines(
  findings: readonly PairedFinding[],
  later: LaterRun,
  decode: Decode,
  lines: Map<PairedFinding, LineRange | 'gone'>,
): Promise<void> {
  const [first] = findings;
  const spot = first?.sent[0];
  if (first === undefined || spot === undefined) return;
  const laterSpot = sentIn(later, spot.folder, later.laterPathOf(spot));
  if (laterSpot === 'unknown') return;
  if (laterSpot === undefined) {
    for (const finding of findings) lines.set(finding, 'gone');
    return;
  }
  const isUnchanged = laterSpot.file.sha256 === spot.file.sha256;
  // In an unchanged file, reported lines are later lines, except where a quote is on other lines.
  const needsText = !isUnchanged || findings.some(({ finding }) => finding.places[0]?.snippet !== undefined);
  const textOf = async (id: string, sent: SentSpot): Promise<string | undefined> =>
    (await readSentText(join(later.runsFolder, id), sent, decode))?.text;
  const text = needsText ? await textOf(first.run, spot) : undefined;
  const laterLinesOf = isUnchanged
    ? (range: LineRange) => range
    : mapLines(text, text === undefined ? undefined : await textOf(later.run.id, laterSpot));
  if (laterLinesOf === undefined) return;
  const linesOf = text === undefined ? reportedLines : quotedLinesIn(splitLines(text));
  for (const finding of findings) {
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
