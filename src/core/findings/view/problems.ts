import { type Display, isDisplayed } from './filter.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** VS Code itself shows no more than so many problems of one file. */
const maxPerFile = 1_000;

/** Findings by the absolute path of the file that has their main place. */
export type FindingsOfFiles = ReadonlyMap<string, readonly ShownFinding[]>;

/** The findings that have a problem of their own, by the file of their main place: those with a place whose code is still there. */
export function problemsByFile(shown: readonly ShownFinding[]): FindingsOfFiles {
  const isThere = ({ places: [main] }: ShownFinding): boolean => main !== undefined && main.drift !== 'gone';
  return Map.groupBy(shown.filter(isThere), ({ places: [main] }) => main?.file ?? '');
}

/** How many of these findings the Problems panel does not show: hidden by settings, without a place, with code that is gone, or too many in one file. */
export function hiddenFromProblems(shown: readonly ShownFinding[], display: Display): number {
  const displayed = shown.filter((each) => isDisplayed(each, display));
  let visible = 0;
  for (const { length } of problemsByFile(displayed).values()) visible += Math.min(length, maxPerFile);
  return shown.length - visible;
}

/** A line of a file: an absolute path, counted from 1. */
export interface Spot {
  readonly file: string;
  readonly line: number;
}

/** Where a finding's main place is; in line 1 when the line is unknown. */
function spotOf({ places: [place] }: ShownFinding): Spot {
  return { file: place?.file ?? '', line: place?.startLine ?? 1 };
}

/** Findings in the order in which a person goes through them: by file, by line. */
export function inOrder(problems: FindingsOfFiles): ShownFinding[] {
  return [...problems.values()].flat().sort((one, other) => compare(spotOf(one), spotOf(other)));
}

/**
 * The position of the finding to go to: the neighbour of `current` while the cursor is still there, else the first one from the cursor on; after the
 * last comes the first. -1 when there is none.
 */
export function neighbour(
  ordered: readonly ShownFinding[],
  from: { readonly cursor: Spot | undefined; readonly current: ShownFinding | undefined },
  step: 1 | -1,
): number {
  const { cursor, current } = from;
  const count = ordered.length;
  if (count === 0) return -1;
  const first = step === 1 ? 0 : count - 1;
  if (cursor === undefined) return first;
  const at = ordered.findIndex((each) => isSame(each, current));
  const there = ordered[at];
  if (there !== undefined && isAt(there, cursor)) return (at + step + count) % count;
  const isAhead = (each: ShownFinding): boolean => compare(spotOf(each), cursor) * step > 0;
  const ahead = step === 1 ? ordered.findIndex(isAhead) : ordered.findLastIndex(isAhead);
  return ahead === -1 ? first : ahead;
}

function isSame(one: ShownFinding, other: ShownFinding | undefined): boolean {
  return one.run.id === other?.run.id && one.finding.index === other.finding.index;
}

/** Going to a finding without a line leaves the cursor where it was in the file. */
function isAt(shown: ShownFinding, cursor: Spot): boolean {
  const { file, line } = spotOf(shown);
  return file === cursor.file && (shown.places[0]?.startLine === undefined || line === cursor.line);
}

function compare(one: Spot, other: Spot): number {
  if (one.file !== other.file) return one.file < other.file ? -1 : 1;
  return one.line - other.line;
}
