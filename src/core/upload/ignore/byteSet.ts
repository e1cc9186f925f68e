export type ByteSet = Uint32Array;

/** `unit` is a UTF-16 unit of text in Git's bytes (`toGitBytes`). */
export function hasByte(set: ByteSet, unit: number): boolean {
  const byte = unit & 0xff;
  return (((set[byte >>> 5] ?? 0) >>> (byte & 31)) & 1) === 1;
}

/**
 * Git's classes contain only ASCII. Each pair of characters is the first and the last byte of a
 * range.
 */
const classes: ReadonlyMap<string, string> = new Map([
  ['alnum', '09AZaz'],
  ['alpha', 'AZaz'],
  ['blank', '\t\t  '],
  ['cntrl', '\0\x1f\x7f\x7f'],
  ['digit', '09'],
  ['graph', '!~'],
  ['lower', 'az'],
  ['print', ' ~'],
  ['punct', '!/:@[`{~'],
  ['space', '\t\n\r\r  '],
  ['upper', 'AZ'],
  ['xdigit', '09AFaf'],
]);

const bracket = 0x5b;
const backslash = 0x5c;
const dash = 0x2d;

/**
 * Reads the set at `start` like Git (`dowild` in wildmatch.c). `end` is the index after the set's
 * `]`. Undefined if the set has no end or names an unknown class: then the rule matches nothing. A
 * `/` in a set matches nothing, because no name contains it.
 */
export function readSet(
  rule: string,
  start: number,
  ignoreCase: boolean,
): { set: ByteSet; end: number } | undefined {
  const set = new Uint32Array(8);
  /**
   * With `ignoreCase`, ranges and classes match both cases. A single upper-case letter matches
   * nothing, because Git lower-cases only the path.
   */
  const add = (from: number, to: number, inBothCases: boolean): void => {
    for (let byte = from & 0xff; byte <= (to & 0xff); byte++) addByte(set, byte);
    if (!inBothCases) return;
    const first = Math.max(from & 0xff, 0x41);
    const last = Math.min(to & 0xff, 0x5a);
    for (let byte = first; byte <= last; byte++) addByte(set, byte + 0x20);
  };
  /** Returns 0 beyond the end: a rule has no NUL. */
  const unitAt = (at: number): number => rule.charCodeAt(at) || 0;

  let at = start + 1;
  const isNegated = rule[at] === '!' || rule[at] === '^';
  if (isNegated) at++;
  /** The previous member, which a `-` makes the start of a range. 0 after a range or a class. */
  let before = 0;
  let close = -1;
  do {
    let unit = unitAt(at);
    if (unit === backslash) unit = unitAt(++at);
    else if (unit === dash && before !== 0 && unitAt(at + 1) !== 0 && rule[at + 1] !== ']') {
      if (unitAt(++at) === backslash) at++;
      if (unitAt(at) === 0) return undefined;
      add(before, unitAt(at++), ignoreCase);
      before = 0;
      continue;
    } else if (unit === bracket && rule[at + 1] === ':') {
      if (close < at) close = rule.indexOf(']', at);
      if (close < 0) return undefined;
      if (close > at + 2 && rule[close - 1] === ':') {
        const ranges = classes.get(rule.slice(at + 2, close - 1));
        if (ranges === undefined) return undefined;
        for (let pair = 0; pair < ranges.length; pair += 2)
          add(ranges.charCodeAt(pair), ranges.charCodeAt(pair + 1), ignoreCase);
        at = close + 1;
        before = 0;
        continue;
      }
    }
    if (unit === 0) return undefined;
    add(unit, unit, false);
    before = unit;
    at++;
  } while (rule[at] !== ']');
  if (isNegated) for (const [index, bits] of set.entries()) set[index] = ~bits;
  return { set, end: at + 1 };
}

function addByte(set: ByteSet, byte: number): void {
  set[byte >>> 5] = (set[byte >>> 5] ?? 0) | (1 << (byte & 31));
}
