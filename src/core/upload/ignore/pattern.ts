/** Text as git compares it: each byte of its UTF-8 is one UTF-16 unit. Bytes past ASCII are in the private use area: git folds the case of ASCII only. */
export function toGitBytes(text: string | Uint8Array): string {
  if (typeof text === 'string') return /[^\0-\x7f]/.test(text) ? toGitBytes(Buffer.from(text)) : text;
  const latin = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
  return latin.replace(/[\u0080-\u00ff]/g, (unit) => String.fromCharCode(0xf700 + unit.charCodeAt(0)));
}

/** Matches one name of a path, in git's bytes (`toGitBytes`), lower-cased if the rule ignores case. */
export interface NamePattern {
  /** The only name that it matches. */
  readonly literal: string | undefined;
  /** The end of all names that it matches, if the pattern says no more (`*.log`). */
  readonly ending: string | undefined;
  matches(name: string): boolean;
}

/** Matches any number of names; at a rule's end at least one. */
export const globstar = Symbol('**');

/** Relative to the folder of the ignore file. */
export type PathPattern = readonly (NamePattern | typeof globstar)[];

export interface Pattern {
  readonly negative: boolean;
  /** The rule ends in `/`. */
  readonly folderOnly: boolean;
  /** Empty for a rule that is dropped. With `anywhere`, the single name matches at any depth. */
  readonly paths: readonly PathPattern[];
  readonly anywhere: boolean;
  /** True for a rule outside the plain grammar: it leaves out more than in git, or, if negated, is dropped. */
  readonly widened: boolean;
}

/** A byte, any one byte, any bytes, or one byte of a set. */
type Token = number | 'one' | 'any' | UnitSet;

interface UnitSet {
  readonly negated: boolean;
  readonly singles: readonly number[];
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

const maxLength = 4096;

/** Reads one rule in git's bytes; undefined for one that git cannot read, which matches nothing. */
export function parsePattern(line: string, ignoreCase: boolean): Pattern | undefined {
  let body = trimTrailingSpaces(line);
  const negative = body.startsWith('!');
  if (negative) body = body.slice(1);
  const folderOnly = body.endsWith('/');
  if (folderOnly) body = body.slice(0, -1);
  const nameOnly = !body.includes('/');
  if (body.startsWith('/')) body = body.slice(1);

  const read = readNames(body, nameOnly, ignoreCase);
  if (read === undefined) return undefined;
  const { names, end } = read;
  const widened = end !== 'plain';
  if (widened && negative) return { negative, folderOnly, paths: [], anywhere: false, widened };
  const path = names.map((name) => (name === globstar ? globstar : namePattern(name, ignoreCase)));
  const [first, only] = path;
  if (end === 'cut' && !nameOnly) {
    return { negative, folderOnly: false, paths: [path, [...path, globstar]], anywhere: false, widened };
  }
  const shape = { negative, folderOnly, widened };
  if (path.length === 2 && first === globstar && only !== undefined && only !== globstar) {
    return { ...shape, paths: [[only]], anywhere: true };
  }
  return { ...shape, paths: [path], anywhere: nameOnly };
}

/** git's `trim_trailing_spaces`: an escaped space stays. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes++;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/** A bracket expression. */
const anySet = /\[[!^]?\]?(?:\[:[^\]]*:\]|\\[^]|[^\\\]])*\]/y;
/** With single printable characters and ranges of letters or digits only. */
const plainSet = /^\[([!^]?)((?:[0-9A-Za-z]-[0-9A-Za-z]|[ "-,.0-Z_-~])+)\]$/;

/**
 * The names of a rule. `plain`: exact. `set`: a star replaces a set that is not plain. `cut`: a star replaces the rest of the rule. Undefined for an
 * unfinished set or escape.
 */
function readNames(
  body: string,
  nameOnly: boolean,
  ignoreCase: boolean,
): { names: (Token[] | typeof globstar)[]; end: 'plain' | 'set' | 'cut' } | undefined {
  const names: (Token[] | typeof globstar)[] = [];
  let name: Token[] = [];
  let end: 'plain' | 'set' = 'plain';
  const cut = (): { names: typeof names; end: 'cut' } => ({
    names: [...names, [...name, 'any']],
    end: 'cut',
  });
  if (body.length > maxLength) return cut();
  for (let at = 0; at < body.length;) {
    const unit = body.charAt(at);
    if (unit === '*') {
      const start = at;
      while (body[at] === '*') at++;
      const endsName = at === body.length || body[at] === '/' || body.startsWith('\\/', at);
      if (nameOnly || at - start === 1 || !endsName) name.push('any');
      // Stars beside a name: git's answer depends on its version (2.52) and on the text before.
      else if (name.length > 0 || body[at] === '\\') return cut();
      else {
        if (names.at(-1) !== globstar) names.push(globstar);
        if (at === body.length) return { names, end };
        at++;
        if (at === body.length) names.push([]);
      }
    } else if (unit === '/') {
      names.push(name);
      name = [];
      at++;
    } else if (unit === '?') {
      name.push('one');
      at++;
    } else if (unit === '[') {
      anySet.lastIndex = at;
      const [set] = anySet.exec(body) ?? [];
      if (set === undefined && !body.includes(']', at)) return undefined;
      if (set === undefined || set.includes('/')) return cut();
      const token = readSet(set);
      if (token === 'any') end = 'set';
      name.push(token);
      at += set.length;
    } else if (unit === '\\') {
      const escaped = body[at + 1];
      // git lower-cases the path but not an escaped letter: the two never match.
      if (escaped === undefined || (ignoreCase && /[A-Z]/.test(escaped))) return undefined;
      if (escaped === '/') return cut();
      name.push(escaped.charCodeAt(0));
      at += 2;
    } else {
      name.push((ignoreCase ? unit.toLowerCase() : unit).charCodeAt(0));
      at++;
    }
  }
  return { names: [...names, name], end };
}

function readSet(text: string): UnitSet | 'any' {
  const [, negation, members] = plainSet.exec(text) ?? [];
  if (members === undefined) return 'any';
  const singles: number[] = [];
  const ranges: [number, number][] = [];
  for (const member of members.match(/.-.|./g) ?? []) {
    // git also takes the start of a range as a single member: `[c-a]` matches `c`.
    singles.push(member.charCodeAt(0));
    if (member.length > 1) ranges.push([member.charCodeAt(0), member.charCodeAt(2)]);
  }
  return { negated: negation !== '', singles, ranges };
}

function namePattern(tokens: readonly Token[], ignoreCase: boolean): NamePattern {
  const wild = tokens.findIndex((token) => typeof token !== 'number');
  if (wild < 0) {
    const literal = textOf(tokens);
    return { literal, ending: undefined, matches: (name) => name === literal };
  }
  const start = textOf(tokens.slice(0, wild));
  const last = tokens.findLastIndex((token) => typeof token !== 'number');
  const end = textOf(tokens.slice(last + 1));
  const minLength = start.length + end.length;
  const oneStar = wild === last && tokens[wild] === 'any';
  return {
    literal: undefined,
    ending: oneStar && start === '' ? end : undefined,
    matches: (name) =>
      name.length >= minLength &&
      name.startsWith(start) &&
      name.endsWith(end) &&
      (oneStar || matchesTokens(tokens, name, ignoreCase)),
  };
}

function textOf(tokens: readonly Token[]): string {
  return String.fromCharCode(...tokens.filter((token) => typeof token === 'number'));
}

/** Backtracks to the last star only: the time is bounded by the product of both lengths. */
function matchesTokens(tokens: readonly Token[], name: string, ignoreCase: boolean): boolean {
  let at = 0;
  let lastStar = -1;
  let starEnd = 0;
  for (let index = 0; index < name.length;) {
    const token = tokens[at];
    if (token === 'any') {
      lastStar = at++;
      starEnd = index;
    } else if (token !== undefined && matchesUnit(token, name.charCodeAt(index), ignoreCase)) {
      at++;
      index++;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      index = ++starEnd;
    } else return false;
  }
  while (tokens[at] === 'any') at++;
  return at === tokens.length;
}

function matchesUnit(token: Exclude<Token, 'any'>, unit: number, ignoreCase: boolean): boolean {
  if (typeof token === 'number') return token === unit;
  if (token === 'one') return true;
  const isWithin = (code: number): boolean => token.ranges.some(([from, to]) => code >= from && code <= to);
  // git compares a lower-cased letter with a range in both cases, with a single member as it is.
  const isLower = ignoreCase && unit >= 0x61 && unit <= 0x7a;
  const isMember = token.singles.includes(unit) || isWithin(unit) || (isLower && isWithin(unit - 0x20));
  return isMember !== token.negated;
}
