import { setImmediate } from 'node:timers/promises';
import { inSlices } from '../../yieldingWork.ts';
import { followLines, isEditOf } from '../drift/drift.ts';
import { compact, compactEach, contains, type LineRange, splitLines } from '../drift/lineText.ts';
import { anchorIn } from '../drift/followFile.ts';
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

/** Lines in the text of the later run: undefined for code that is gone there. A finding whose lines nobody knows is missing. */
export type LaterLines = ReadonlyMap<RunFinding, LineRange | undefined>;

const chunk = 500;

/** Finds the main places of findings, which may be of several runs, in the text that the run `later` was given. */
export async function findLaterLines(
  later: RunSource,
  findings: readonly RunFinding[],
  decode: Decode,
): Promise<LaterLines> {
  const known = new Map<RunFinding, LineRange | undefined>();
  for (const { spot, found } of await groupByFile(findings)) await follow(later, spot, found, decode, known);
  return known;
}

async function groupByFile(
  findings: readonly RunFinding[],
): Promise<Iterable<{ readonly spot: SentSpot; readonly found: RunFinding[] }>> {
  // Each run has file objects of its own.
  const groups = new Map<SentFile, { readonly spot: SentSpot; readonly found: RunFinding[] }>();
  for (const [at, each] of findings.entries()) {
    if (at % chunk === 0) await setImmediate();
    const [place] = each.finding.places;
    const spot = place && (await sentFileOf(each.source, place));
    if (spot === undefined) continue;
    const group = groups.get(spot.file);
    if (group === undefined) groups.set(spot.file, { spot, found: [each] });
    else group.found.push(each);
  }
  return groups.values();
}

/** Follows findings of one file of one run. */
async function follow(
  later: RunSource,
  spot: SentSpot,
  found: readonly RunFinding[],
  decode: Decode,
  known: Map<RunFinding, LineRange | undefined>,
): Promise<void> {
  const source = found[0]?.source ?? later;
  const there = sentIn(later, source.run.targets[spot.target]?.folder, spot.file.path);
  if (there === 'unknown') return;
  if (there === undefined) {
    for (const each of found) known.set(each, undefined);
    return;
  }
  // In equal bytes, only a quote may say other lines than those that were reported.
  const isEqual = there.file.sha256 === spot.file.sha256;
  const isRead = !isEqual || found.some(({ finding }) => finding.places[0]?.snippet !== undefined);
  const text = isRead ? await readSentText(source, spot, decode) : undefined;
  const lines = text === undefined ? undefined : splitLines(text);
  const anchor = lines && anchorIn(lines);
  const compactAt = compactEach(lines ?? []);
  const map = await lineMap(text, isEqual, () => readSentText(later, there, decode));
  if (map === undefined) return;
  const followEach = function* (): Generator<undefined, void> {
    for (const each of found) {
      yield;
      const [main] = each.finding.places;
      const { startLine, endLine = startLine } = main ?? {};
      const reported = startLine === undefined || endLine === undefined ? undefined : { startLine, endLine };
      const anchored = main && anchor ? anchor(main) : reported;
      const range = anchored && map(withQuote(anchored, main?.snippet, compactAt));
      if (range !== undefined) known.set(each, range === 'gone' ? undefined : range);
    }
  };
  await inSlices(followEach());
}

/** The lines of a place with all that its quote has of context around them. */
function withQuote(
  { startLine, endLine }: LineRange,
  snippet: string | undefined,
  compactAt: (at: number) => string,
): LineRange {
  const quoted = splitLines(snippet?.trim() ?? '').map(compact);
  const [first = ''] = quoted;
  const above = quoted.findIndex((_, at) => contains(compactAt(startLine - 1 - at), first) === true);
  if (first === '' || above < 0) return { startLine, endLine };
  const start = startLine - above;
  return { startLine: start, endLine: Math.max(endLine, start + quoted.length - 1) };
}

/** Maps lines of one sent text to another; the map gives undefined where nobody knows what became of them. Undefined where a text is not here. */
async function lineMap(
  before: string | undefined,
  isEqual: boolean,
  readLater: () => Promise<string | undefined>,
): Promise<((range: LineRange) => LineRange | 'gone' | undefined) | undefined> {
  if (isEqual) return (range) => range;
  const text = before === undefined ? undefined : await readLater();
  if (before === undefined || text === undefined) return undefined;
  const [lines, laterLines] = [splitLines(before), splitLines(text)];
  const mapRange = followLines(lines)(laterLines);
  const textOf = (some: readonly string[], { startLine, endLine }: LineRange): readonly string[] =>
    some.slice(startLine - 1, endLine);
  return (range) => {
    const { drift, ...there } = mapRange(range);
    if (drift === 'unknown') return undefined;
    if (drift !== 'changed') return drift === 'gone' ? 'gone' : there;
    // Other code may stand in its place.
    const isEdit = isEditOf(textOf(laterLines, there), textOf(lines, range));
    return isEdit === false ? 'gone' : isEdit && there;
  };
}
