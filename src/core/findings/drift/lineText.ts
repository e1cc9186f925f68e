/** What a line with white space aside is known by: a number, 0 for a blank line. */
export type LineKey = number;

/** The key of a blank line. */
export const blankLine: LineKey = 0;
/** The key of every line that the text before does not have. */
export const newLine: LineKey = -1;

/** The lines of a text, as an editor counts them. */
export function splitLines(text: string): readonly string[] {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return plain.split(plain.includes('\r') ? /\r\n|\r|\n/ : '\n');
}

/** A line without its white space. */
export function compact(line: string): string {
  return line.replace(/\s+/g, '');
}

/** A text whose lines others are compared with. */
export interface KeyedText {
  readonly lines: readonly string[];
  readonly keys: readonly LineKey[];
  /** The keys that lines of another text have here. */
  keysOf(now: readonly string[]): readonly LineKey[];
  /** How many letters the line with this key has, white space aside. */
  sizeOf(key: LineKey): number;
}

/** Reads a text once, to compare it with others. */
export function keyText(lines: readonly string[]): KeyedText {
  const byText = new Map<string, LineKey>([['', blankLine]]);
  const byLine = new Map<string, LineKey>();
  const sizes = [0];
  const keys = lines.map((line) => {
    const text = compact(line);
    const key = byText.get(text) ?? sizes.push(text.length) - 1;
    byText.set(text, key);
    byLine.set(line, key);
    return key;
  });
  const keyOf = (line: string): LineKey => byLine.get(line) ?? byText.get(compact(line)) ?? newLine;
  return {
    lines,
    keys,
    keysOf: (now) => {
      // A keystroke leaves all lines but a few as they were: those are not looked up.
      const limit = Math.min(lines.length, now.length);
      let head = 0;
      while (head < limit && lines[head] === now[head]) head += 1;
      let tail = 0;
      while (tail < limit - head && lines[lines.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
      const middle = now.slice(head, now.length - tail).map(keyOf);
      return [...keys.slice(0, head), ...middle, ...keys.slice(keys.length - tail)];
    },
    sizeOf: (key) => sizes[key] ?? 0,
  };
}
