import { scanSet, writeSet } from './bracketSet.ts';

/** One rule of an ignore file, taken apart as git's `parse_path_pattern` does; text is in byte units (see `toUnits`). */
export interface Pattern {
  readonly negative: boolean;
  /** Matches folders only (the rule ended in `/`). */
  readonly folderOnly: boolean;
  /** Matches the last name of a path only: the rule has no `/` but perhaps a final one. */
  readonly nameOnly: boolean;
  /** Rules for npm `ignore`, without the anchoring slash, that together match what this one matches in git. */
  readonly bodies: readonly string[];
  /** True when git's answer cannot be given, and this pattern therefore leaves out more than git would. */
  readonly widened: boolean;
}

type Token =
  | { readonly kind: 'text'; readonly text: string; readonly escaped: boolean }
  | { readonly kind: 'one' }
  | { readonly kind: 'stars'; readonly count: number }
  | { readonly kind: 'set'; readonly members: readonly boolean[] }
  | { readonly kind: 'slash'; readonly escaped: boolean };

/** More globstars between slashes than this could make the regular expression behind a rule take polynomial time on deep paths. */
const maxGlobstars = 2;
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

  const shape = { negative, folderOnly, nameOnly };
  if (body.length > maxLength) return widen(shape, []);
  const tokens = tokenize(body, ignoreCase);
  if (tokens === undefined) return undefined;
  const literal = literalOfEmptyRest(tokens);
  if (literal !== undefined && !negative) return { ...shape, bodies: [literal], widened: false };
  if (matchesNothing(tokens)) return undefined;
  const bodies = nameOnly ? [tokens.map(writeInName).join('')] : writePath(tokens, negative);
  return bodies === undefined ? widen(shape, tokens) : { ...shape, bodies, widened: false };
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

/** Undefined when git gives up on the pattern (an unterminated set, a lone backslash at the end), so that it matches nothing. */
function tokenize(body: string, ignoreCase: boolean): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < body.length;) {
    const unit = body.charAt(at);
    if (unit === '*') {
      const start = at;
      while (body[at] === '*') at++;
      tokens.push({ kind: 'stars', count: at - start });
    } else if (unit === '?') {
      tokens.push({ kind: 'one' });
      at++;
    } else if (unit === '/') {
      tokens.push({ kind: 'slash', escaped: false });
      at++;
    } else if (unit === '[') {
      const set = scanSet(body, at, ignoreCase);
      if (set === undefined) return undefined;
      tokens.push({ kind: 'set', members: set.members });
      at = set.end;
    } else if (unit === '\\') {
      const escaped = body[at + 1];
      if (escaped === undefined) return undefined;
      if (escaped === '/') tokens.push({ kind: 'slash', escaped: true });
      // git folds the case of the path but not of an escaped letter, which then equals nothing.
      else if (ignoreCase && /[A-Z]/.test(escaped)) return undefined;
      else tokens.push({ kind: 'text', text: escaped, escaped: true });
      at += 2;
    } else {
      tokens.push({ kind: 'text', text: unit, escaped: false });
      at++;
    }
  }
  return tokens;
}

/** True for rules that no path can match: an empty name between slashes, or a set without members. */
function matchesNothing(tokens: readonly Token[]): boolean {
  return tokens.some((token, at) => {
    if (token.kind === 'set') return !token.members.includes(true);
    if (token.kind !== 'slash') return false;
    const before = tokens[at - 1];
    return before === undefined || before.kind === 'slash' || at === tokens.length - 1;
  });
}

/** A token of a rule that is compared with one name, where any run of stars means one. */
function writeInName(token: Token): string {
  switch (token.kind) {
    case 'text':
      return writeText(token.text);
    case 'one':
      return '?';
    case 'stars':
      return '*';
    case 'set':
      return writeSet(token.members);
    case 'slash':
      return '/';
  }
}

function writeText(text: string): string {
  // `ignore` takes a final carriage return for the line's end.
  if (text === '\r') return '[\r]';
  return /[\\*?[\]!# ]/.test(text) ? `\\${text}` : text;
}

// `a**//`: git before 2.52 cuts off `a` and finds that the rest, `**/`, matches an empty name: the rule means `a/`.
function literalOfEmptyRest(tokens: readonly Token[]): string | undefined {
  const start = tokens.findIndex((token) => !isLiteral(token));
  const isSo =
    start > 0 &&
    tokens[start - 1]?.kind !== 'slash' &&
    isStars(tokens[start], 2) &&
    tokens.length === start + 2 &&
    tokens[start + 1]?.kind === 'slash';
  return isSo ? tokens.slice(0, start).map(writeInName).join('') : undefined;
}

/** A rule that is compared with a whole path; undefined when `ignore` cannot answer for it as git does, in bounded time. */
function writePath(tokens: readonly Token[], negative: boolean): string[] | undefined {
  if (tokens.some((token, at) => token.kind === 'slash' && token.escaped && isStars(tokens[at - 1], 2))) {
    return undefined;
  }
  const start = tokens.findIndex((token) => !isLiteral(token));
  const rest = tokens.slice(start + 1);
  // `a**/b`: git since 2.52 reads `a*/b`. Before, it cut off the literal start of a rule and read the rest, `**/b`, as if it stood
  // alone, which also matches `ab` and `ax/y/b`. A rule that leaves out means both here, one that brings back means the first.
  if (
    negative ||
    !isStars(tokens[start], 2) ||
    !endsName(rest[0]) ||
    start === 0 ||
    tokens[start - 1]?.kind === 'slash'
  ) {
    return writeAll([tokens]);
  }
  const literal = tokens.slice(0, start);
  if (rest.length === 0) {
    return writeAll([
      [...literal, star],
      [...literal, star, slash, globstar],
    ]);
  }
  if (isStars(rest[1], 1)) return undefined;
  const after = rest.slice(1);
  return writeAll([
    [...literal, ...after],
    [...literal, star, slash, ...after],
    [...literal, star, slash, globstar, slash, ...after],
  ]);
}

const star: Token = { kind: 'stars', count: 1 };
const globstar: Token = { kind: 'stars', count: 2 };
const slash: Token = { kind: 'slash', escaped: false };

function isStars(token: Token | undefined, atLeast: number): boolean {
  return token?.kind === 'stars' && token.count >= atLeast;
}

function isLiteral(token: Token): boolean {
  return (token.kind === 'text' || token.kind === 'slash') && !token.escaped;
}

function endsName(next: Token | undefined): boolean {
  return next === undefined || next.kind === 'slash';
}

function writeAll(rules: readonly (readonly Token[])[]): string[] | undefined {
  const written = rules.map(writeTokens);
  return written.every((rule) => rule !== undefined) ? written : undefined;
}

function writeTokens(tokens: readonly Token[]): string | undefined {
  const parts: string[] = [];
  let globstars = 0;
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    if (
      !isStars(token, 2) ||
      !endsName(tokens[at + 1]) ||
      (before !== undefined && before.kind !== 'slash')
    ) {
      parts.push(writeInName(token));
    } else if (parts.at(-2) === '**') {
      parts.pop(); // `**/**` says no more than `**`, and costs more.
    } else {
      parts.push('**');
      if (at > 0 && at < tokens.length - 1) globstars++;
    }
  }
  return globstars > maxGlobstars ? undefined : parts.join('');
}

/** What stands for a rule whose answer is not git's: every path that starts as the rule does, or, for a rule that brings back, nothing. */
function widen(
  shape: Pick<Pattern, 'negative' | 'folderOnly' | 'nameOnly'>,
  tokens: readonly Token[],
): Pattern | undefined {
  if (shape.negative) return undefined;
  if (shape.nameOnly) return { ...shape, folderOnly: false, bodies: ['*'], widened: true };
  const end = tokens.findIndex((token) => !isLiteral(token));
  const start = tokens.slice(0, Math.max(end, 0)).map(writeInName).join('');
  const bodies = start === '' ? ['**'] : [`${start}*`, `${start}*/**`];
  return { ...shape, folderOnly: false, bodies, widened: true };
}
