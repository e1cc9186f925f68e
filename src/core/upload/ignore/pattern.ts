import { type ByteSet, hasByte, readSet } from './byteSet.ts';

/**
 * Converts text to the form that Git compares: each byte of its UTF-8 is one UTF-16 unit. Bytes
 * beyond ASCII are in the private use area, because Git folds the case of ASCII only.
 */
export function toGitBytes(text: string | Uint8Array): string {
  if (typeof text === 'string') return /[^\0-\x7f]/.test(text) ? toGitBytes(Buffer.from(text)) : text;
  const latin = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
  return latin.replace(/[\u0080-\u00ff]/g, (unit) => String.fromCharCode(0xf700 + unit.charCodeAt(0)));
}

/**
 * Matches one name of a path, in Git's bytes (`toGitBytes`), lower-cased if the rule ignores case.
 */
export interface NamePattern {
  readonly literal: string | undefined;
  /** The fixed end of a pattern that has only a star before it (`.log` for `*.log`). */
  readonly ending: string | undefined;
  matches(name: string): boolean;
}

/** Matches any number of names, but at least one at a rule's end. */
export const globstar = Symbol('**');

export type PathPattern = readonly (NamePattern | typeof globstar)[];

export interface Pattern {
  readonly negative: boolean;
  readonly folderOnly: boolean;
  /** With `anywhere`, the single name matches at any depth. */
  readonly path: PathPattern;
  readonly anywhere: boolean;
}

/**
 * A number is one byte, as a UTF-16 unit of `toGitBytes`. `one` is any byte, and `any` is any
 * number of bytes.
 */
type Token = number | 'one' | 'any' | ByteSet;

type Name = Token[] | typeof globstar;

/** No system has longer names. */
const maxNameBytes = 1024;
/** No system accepts paths with more names. */
const maxNames = 1 << 14;

/** Undefined for a rule that matches nothing. */
export function parsePattern(line: string, ignoreCase: boolean): Pattern | undefined {
  let body = trimTrailingSpaces(line);
  const negative = body.startsWith('!');
  if (negative) body = body.slice(1);
  const folderOnly = body.endsWith('/');
  if (folderOnly) body = body.slice(0, -1);
  const nameOnly = !body.includes('/');
  if (body.startsWith('/')) body = body.slice(1);

  const path = readNames(body, nameOnly, ignoreCase)?.map((name) =>
    name === globstar ? globstar : namePattern(name),
  );
  if (path === undefined) return undefined;
  const [first, only] = path;
  if (first === globstar && only !== undefined && only !== globstar && path.length === 2)
    return { negative, folderOnly, path: [only], anywhere: true };
  return { negative, folderOnly, path, anywhere: nameOnly };
}

function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes++;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/** Splits a rule into names, like Git 2.52 and later. */
function readNames(body: string, nameOnly: boolean, ignoreCase: boolean): Name[] | undefined {
  const names: Name[] = [];
  let name: Token[] = [];
  for (let at = 0; at < body.length;) {
    // Of two adjacent tokens, at most one is a star, and any other token needs a byte. So a longer
    // rule matches nothing.
    if (names.length > maxNames || name.length > 2 * maxNameBytes) return undefined;
    const unit = body.charAt(at);
    if (unit === '*') {
      const start = at;
      while (body[at] === '*') at++;
      const isEscapedSlash = body.startsWith('\\/', at);
      const endsName = at === body.length || body[at] === '/' || isEscapedSlash;
      if (nameOnly || at - start === 1 || !endsName || name.length > 0) name.push('any');
      else {
        // Before an escaped slash, `**` matches at least one name.
        if (isEscapedSlash) names.push(['any']);
        if (names.at(-1) !== globstar) names.push(globstar);
        if (at === body.length) return names;
        at += isEscapedSlash ? 2 : 1;
        if (at === body.length) names.push([]);
      }
    } else if (unit === '/' || body.startsWith('\\/', at)) {
      names.push(name);
      name = [];
      at += unit === '/' ? 1 : 2;
    } else if (unit === '?') {
      name.push('one');
      at++;
    } else if (unit === '[') {
      const read = readSet(body, at, ignoreCase);
      if (read === undefined) return undefined;
      name.push(read.set);
      at = read.end;
    } else if (unit === '\\') {
      const escaped = body[at + 1];
      // Git lower-cases the path but not an escaped letter, so the two never match.
      if (escaped === undefined || (ignoreCase && /[A-Z]/.test(escaped))) return undefined;
      name.push(escaped.charCodeAt(0));
      at += 2;
    } else {
      name.push((ignoreCase ? unit.toLowerCase() : unit).charCodeAt(0));
      at++;
    }
  }
  return [...names, name];
}

function namePattern(tokens: readonly Token[]): NamePattern {
  const wild = tokens.findIndex((token) => typeof token !== 'number');
  if (wild < 0) {
    const literal = textOf(tokens);
    return { literal, ending: undefined, matches: (name) => name === literal };
  }
  const start = textOf(tokens.slice(0, wild));
  const last = tokens.findLastIndex((token) => typeof token !== 'number');
  const end = textOf(tokens.slice(last + 1));
  const minLength = tokens.filter((token) => token !== 'any').length;
  const oneStar = wild === last && tokens[wild] === 'any';
  return {
    literal: undefined,
    ending: oneStar && start === '' ? end : undefined,
    matches: (name) =>
      name.length >= minLength &&
      name.startsWith(start) &&
      name.endsWith(end) &&
      (oneStar || matchesTokens(tokens, name)),
  };
}

function textOf(tokens: readonly Token[]): string {
  return String.fromCharCode(...tokens.filter((token) => typeof token === 'number'));
}

/** Backtracks only to the last star, so that the time is bounded by the product of both lengths. */
function matchesTokens(tokens: readonly Token[], name: string): boolean {
  let at = 0;
  let lastStar = -1;
  let starEnd = 0;
  for (let index = 0; index < name.length;) {
    const token = tokens[at];
    if (token === 'any') {
      lastStar = at++;
      starEnd = index;
    } else if (token !== undefined && matchesUnit(token, name.charCodeAt(index))) {
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

function matchesUnit(token: Exclude<Token, 'any'>, unit: number): boolean {
  if (typeof token === 'number') return token === unit;
  return token === 'one' || hasByte(token, unit);
}
