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
  const starts = (code.byKey.get(block[0] ?? newLine) ?? []).filter((start) =>
    block.every((key, at) => {
      const line = code.lines[start + at];
      return line !== undefined && code.keys[start + at] === key && isFree(line, key);
    }),
  );
  const [start] = starts;
  if (start === undefined || starts.length > 1) return undefined;
  const [first = 0, last = first] = [code.lines[start], code.lines[start + block.length - 1]];
  return { first, last };
}
