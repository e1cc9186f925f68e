import { blankLine, type LineKey, newLine } from './lineText.ts';

/** The code of a text: its lines that are not blank, in order. */
export interface CodeLines {
  /** The number of each line in its text, 0-based. */
  readonly lines: readonly number[];
  readonly keys: readonly LineKey[];
  /** Where each key is in `keys`. */
  readonly byKey: ReadonlyMap<LineKey, readonly number[]>;
}

/** Reads the code of a text for `findBlock`. */
export function codeOf(text: readonly LineKey[]): CodeLines {
  const lines: number[] = [];
  const keys: LineKey[] = [];
  const byKey = new Map<LineKey, number[]>();
  for (const [line, key] of text.entries()) {
    if (key === blankLine) continue;
    if (key !== newLine) {
      const places = byKey.get(key);
      if (places === undefined) byKey.set(key, [keys.length]);
      else places.push(keys.length);
    }
    lines.push(line);
    keys.push(key);
  }
  return { lines, keys, byKey };
}

/** The first and last line of the only place where a block stands whose lines are all free; undefined when there is none, or several. */
export function findBlock(
  block: readonly LineKey[],
  code: CodeLines,
  isFree: (line: number, key: LineKey) => boolean,
): { readonly first: number; readonly last: number } | undefined {
  const placesOf = (key: LineKey): readonly number[] => code.byKey.get(key) ?? [];
  const stands = (start: number): boolean =>
    block.every((key, at) => {
      const line = code.lines[start + at];
      return line !== undefined && code.keys[start + at] === key && isFree(line, key);
    });
  // The rarest line leads: there are the fewest places to compare.
  const lead = block.reduce(
    (best, key, at) => (placesOf(key).length < placesOf(block[best] ?? newLine).length ? at : best),
    0,
  );
  let start: number | undefined;
  for (const place of placesOf(block[lead] ?? newLine)) {
    if (!stands(place - lead)) continue;
    if (start !== undefined) return undefined;
    start = place - lead;
  }
  if (start === undefined) return undefined;
  const [first = 0, last = first] = [code.lines[start], code.lines[start + block.length - 1]];
  return { first, last };
}
