/** A name of a path as a rule has it. `name` is in byte units (see `toUnits`), with its case folded as the rule's is. */
export interface NamePattern {
  /** The one name that it matches, if there is but one. */
  readonly literal: string | undefined;
  /** What it demands of a name's end, when that is all it demands (`*.log`). */
  readonly ending: string | undefined;
  matches(name: string): boolean;
}

/** Stands for any number of names of a path, at a rule's end for at least one. */
export const globstar = Symbol('**');

/** A rule's names, from the folder that it stands in. */
export type PathPattern = readonly (NamePattern | typeof globstar)[];

/** One rule of an ignore file. */
export interface Pattern {
  readonly negative: boolean;
  /** Matches folders only (the rule ended in `/`). */
  readonly folderOnly: boolean;
  /** What it matches; nothing for a rule that is not counted. A single name matches at any depth when `anywhere` says so. */
  readonly paths: readonly PathPattern[];
  readonly anywhere: boolean;
  /** True when the rule is not written plainly enough to give git's answer: then it leaves out more, or, as a negated one, is not counted. */
  readonly widened: boolean;
}

/** A unit's code, any one unit, any units, or one of a set. */
type Token = number | 'one' | 'any' | UnitSet;

interface UnitSet {
  readonly negated: boolean;
  readonly singles: readonly number[];
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

const maxLength = 4096;

/** Reads one line of an ignore file (in units, without its line end); undefined for blank lines, comments and rules that match nothing. */
export function parsePattern(line: string, ignoreCase: boolean): Pattern | undefined {
  let body = trimTrailingSpaces(line);
  if (body === '' || body.startsWith('#')) return undefined;
  const negative = body.startsWith('!');
  if (negative) body = body.slice(1);
  const folderOnly = body.endsWith('/');
  if (folderOnly) body = body.slice(0, -1);
  const nameOnly = !body.includes('/');
  if (body.startsWith('/')) body = body.slice(1);
  if (body === '') return undefined;

  const read = readNames(body, nameOnly, ignoreCase);
  if (read === undefined) return undefined;
  const { names, end } = read;
  if (names.some((name) => name !== globstar && name.length === 0)) return undefined;
  const widened = end !== 'plain';
  if (widened && negative) return { negative, folderOnly, paths: [], anywhere: false, widened };
  const path = names.map((name) => (name === globstar ? globstar : namePattern(name, ignoreCase)));
  const [first, only] = path;
  if (end === 'cut' && !nameOnly) {
    return { negative, folderOnly: false, paths: [path, [...path, globstar]], anywhere: false, widened };
  }
  const shape = { negative, folderOnly: folderOnly && end !== 'cut', widened };
  if (path.length === 2 && first === globstar && only !== undefined && only !== globstar) {
    return { ...shape, paths: [[only]], anywhere: true };
  }
  return { ...shape, paths: [path], anywhere: nameOnly };
}

/** git's `trim_trailing_spaces`: an escaped space stays. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end--;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes++;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/** A bracket expression from `[` to `]`, and one that is plain: single printable characters and ranges of letters or digits. */
const anySet = /\[[!^]?\]?(?:\[:[^\]]*:\]|\\[^]|[^\\\]])*\]/y;
const plainSet = /^\[([!^]?)((?:[0-9A-Za-z]-[0-9A-Za-z]|[ "-,.0-Z_-~])+)\]$/;

/**
 * The names of a rule, and how its end was come by: `plain`; `set` when stars stand for a set that is not plain; `cut` when a star stands for
 * the rest. Undefined when git gives up on the rule (a set or an escape without end), so that it matches nothing.
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
      // Stars beside a name: what git makes of them depends on its version (2.52) and on what stands before.
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
      // git folds the case of the path but not of an escaped letter, which then equals nothing.
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
    // git takes the start of a range for a single member, too: `[c-a]` matches `c`.
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
  const least = start.length + end.length;
  const oneStar = wild === last && tokens[wild] === 'any';
  return {
    literal: undefined,
    ending: oneStar && start === '' ? end : undefined,
    matches: (name) =>
      name.length >= least &&
      name.startsWith(start) &&
      name.endsWith(end) &&
      (oneStar || matchesTokens(tokens, name, ignoreCase)),
  };
}

function textOf(tokens: readonly Token[]): string {
  return String.fromCharCode(...tokens.filter((token) => typeof token === 'number'));
}

/** In time that grows with the product of both lengths at most: of all stars only the last is tried again. */
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
  // git compares a folded letter with a range in both cases, with a single member as it stands.
  const isLower = ignoreCase && unit >= 0x61 && unit <= 0x7a;
  const isMember = token.singles.includes(unit) || isWithin(unit) || (isLower && isWithin(unit - 0x20));
  return isMember !== token.negated;
}
