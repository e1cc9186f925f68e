/** Lines are 1-based, and both are included. */
export interface LineRange {
  readonly startLine: number;
  readonly endLine: number;
}

export interface CodeLines {
  readonly texts: readonly string[];
  /** Line numbers are 1-based. */
  readonly numbers: readonly number[];
  readonly positions: ReadonlyMap<string, readonly number[]>;
}

const maxComparisons = 1_000_000;

/** In a repetitive text, a search would otherwise take time quadratic in its length. */
const maxComparisonsPerCharacter = 10;
/** Most candidates differ within this number of characters. */
const maxHeadLength = 200;

/** Longer lines are probably generated, so their characters are not compared one by one. */
export const maxComparedLength = 5_000;

export function splitLines(text: string): readonly string[] {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return plain.split(plain.includes('\r') ? /\r\n|\r|\n/ : '\n');
}

export function compact(line: string): string {
  return line.replace(/\s+/g, '');
}

/** A line with dots and no word stands for lines that a quote omits. */
export function isElision(line: string): boolean {
  return /\.{3}|…/.test(line) && !/\w/.test(line);
}

/** Shorter parts also occur by chance. */
export const minPartLength = 4;

/**
 * Indexes a text by its groups of four characters. A lookup compares the part at the positions of
 * its rarest group. It returns undefined if that takes too long.
 */
export function indexText(text: string): (part: string) => readonly number[] | undefined {
  const bits = Math.min(16, 33 - Math.clz32(text.length));
  const groupAt = (of: string, at: number): number => {
    let mixed = 0;
    for (let next = at; next < at + minPartLength; next += 1)
      mixed = Math.imul(mixed ^ of.charCodeAt(next), 0x9e3779b1);
    return mixed >>> (32 - bits);
  };
  const last = text.length - minPartLength;
  // Positions are sorted by group; `begins` has the start of each group.
  const begins = new Uint32Array(2 ** bits + 1);
  const add = (group: number, count: number): number => (begins[group] = (begins[group] ?? 0) + count);
  for (let at = 0; at <= last; at += 1) add(groupAt(text, at), 1);
  for (let group = 1; group < begins.length; group += 1) add(group, begins[group - 1] ?? 0);
  const positions = new Uint32Array(Math.max(0, last + 1));
  for (let at = last; at >= 0; at -= 1) positions[add(groupAt(text, at), -1)] = at;
  return (part) => {
    let rarest = 0;
    let candidates = positions;
    for (let at = 0; at <= part.length - minPartLength; at += 1) {
      const group = groupAt(part, at);
      const here = positions.subarray(begins[group], begins[group + 1]);
      if (here.length < candidates.length) [rarest, candidates] = [at, here];
    }
    const head = part.slice(0, maxHeadLength);
    const found: number[] = [];
    let left = maxComparisonsPerCharacter * text.length;
    for (const position of candidates) {
      const start = position - rarest;
      if (start < 0 || !text.startsWith(head, start)) continue;
      if (text.startsWith(part, start)) found.push(start);
      left -= part.length;
      if (left < 0) return undefined;
    }
    return found;
  };
}

export function readCode(compacted: readonly string[]): CodeLines {
  const texts: string[] = [];
  const numbers: number[] = [];
  const positions = new Map<string, number[]>();
  for (const [at, text] of compacted.entries()) {
    if (text === '') continue;
    const known = positions.get(text);
    if (known === undefined) positions.set(text, [texts.length]);
    else known.push(texts.length);
    texts.push(text);
    numbers.push(at + 1);
  }
  return { texts, numbers, positions };
}

/** Returns the position of the last number that is not above `limit`, or -1. */
export function lastUpTo(limit: number, ascending: readonly number[]): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? Infinity) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function rangeOf(code: CodeLines, start: number, length: number): LineRange {
  const startLine = code.numbers[start] ?? 1;
  return { startLine, endLine: code.numbers[start + length - 1] ?? startLine };
}

/** Returns positions in `code.texts`, or none if there are too many to compare. */
export function findBlocks(code: CodeLines, block: readonly string[]): readonly number[] {
  const positionsOf = (at: number): readonly number[] => code.positions.get(block[at] ?? '') ?? [];
  let rarest = 0;
  for (const at of block.keys()) if (positionsOf(at).length < positionsOf(rarest).length) rarest = at;
  const candidates = positionsOf(rarest);
  if (candidates.length * block.length > maxComparisons) return [];
  return candidates
    .map((position) => position - rarest)
    .filter((start) => block.every((text, at) => code.texts[start + at] === text));
}
