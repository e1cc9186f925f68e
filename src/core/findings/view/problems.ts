import { type Display, isDisplayed } from './filter.ts';
import { pathKey } from '../../paths.ts';
import { compareText } from './outline.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** VS Code shows at most this many problems of one file. */
const maxPerFile = 1_000;

export type FindingsOfFiles = ReadonlyMap<string, readonly ShownFinding[]>;

export function problemsByFile(shown: readonly ShownFinding[]): FindingsOfFiles {
  const isThere = ({ locations: [main] }: ShownFinding): boolean =>
    main !== undefined && main.drift !== 'gone';
  return Map.groupBy(shown.filter(isThere), (finding) => positionOf(finding).file);
}

export function hiddenFromProblems(shown: readonly ShownFinding[], display: Display): number {
  const displayed = shown.filter((finding) => isDisplayed(finding, display));
  let visible = 0;
  for (const { length } of problemsByFile(displayed).values()) visible += Math.min(length, maxPerFile);
  return shown.length - visible;
}

export interface Position {
  readonly file: string;
  readonly line: number;
}

function positionOf({ locations: [location] }: ShownFinding): Position {
  return { file: pathKey(location?.file ?? ''), line: location?.startLine ?? 1 };
}

export function inOrder(problems: FindingsOfFiles): ShownFinding[] {
  return [...problems.values()].flat().sort((a, b) => comparePositions(positionOf(a), positionOf(b)));
}

/**
 * Returns the index of the finding after or before `current`, or -1 without findings. If the cursor
 * has left `current`, searches from the cursor; without a cursor, returns the first or last. Wraps
 * around.
 */
export function neighbor(
  ordered: readonly ShownFinding[],
  { cursor, current }: { readonly cursor: Position | undefined; readonly current: ShownFinding | undefined },
  step: 1 | -1,
): number {
  const count = ordered.length;
  if (count === 0) return -1;
  const first = step === 1 ? 0 : count - 1;
  if (cursor === undefined) return first;
  const at = { file: pathKey(cursor.file), line: cursor.line };
  const index = ordered.findIndex(({ run, name }) => run.id === current?.run.id && name === current.name);
  const shown = ordered[index];
  if (shown !== undefined && isAt(shown, at)) return (index + step + count) % count;
  const isAhead = (other: ShownFinding): boolean => comparePositions(positionOf(other), at) * step > 0;
  const ahead = step === 1 ? ordered.findIndex(isAhead) : ordered.findLastIndex(isAhead);
  return ahead === -1 ? first : ahead;
}

/** Going to a finding without a line keeps the cursor's line, so any line of the file counts. */
function isAt(shown: ShownFinding, cursor: Position): boolean {
  const { file, line } = positionOf(shown);
  return file === cursor.file && (shown.locations[0]?.startLine === undefined || line === cursor.line);
}

function comparePositions(a: Position, b: Position): number {
  return compareText(a.file, b.file) || a.line - b.line;
}
