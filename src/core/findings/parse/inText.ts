import { splitLines } from '../drift/lineText.ts';
import type { Place } from '../finding.ts';

/** A place with what only its text can tell: the line of a `charOffset`, and columns in UTF-16 units. */
export function inText(place: Place, text: string): Place {
  const { charOffset, inCodePoints = false, ...plain } = place;
  if (charOffset === undefined && !inCodePoints) return place;
  if (place.startLine === undefined) {
    if (charOffset === undefined) return plain;
    const offset = inCodePoints ? unitsOf(text, charOffset) : charOffset;
    if (offset > text.length) return plain;
    const before = splitLines(text.slice(0, offset));
    return { ...plain, startLine: before.length, startColumn: (before.at(-1) ?? '').length + 1 };
  }
  if (!inCodePoints) return plain;
  const lines = splitLines(text);
  const { startLine } = place;
  const { endLine = startLine, startColumn, endColumn } = plain;
  const toColumn = (line: number, column: number | undefined): number | undefined =>
    column === undefined ? undefined : unitsOf(lines[line - 1] ?? '', column - 1) + 1;
  return {
    ...plain,
    startColumn: toColumn(startLine, startColumn),
    endColumn: toColumn(endLine, endColumn),
  };
}

/** UTF-16 units of the first `count` code points; past the end, one for each. */
function unitsOf(text: string, count: number): number {
  let units = 0;
  for (let points = 0; points < count; points += 1) {
    if (units >= text.length) return units + count - points;
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}
