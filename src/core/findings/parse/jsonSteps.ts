const mostDepth = 16;
const [tab, lineFeed, carriageReturn, space] = [9, 10, 13, 32];
const [quote, comma, colon, backslash] = [34, 44, 58, 92];
const [openArray, closeArray, openObject, closeObject] = [91, 93, 123, 125];

/** Thrown for a text that does not come apart, mostly since it is no JSON. */
class Uncut extends Error {}

/** A value, and where what follows it starts: a comma or the end of what it is in. */
interface Piece<T> {
  readonly value: T;
  readonly end: number;
}

/**
 * `JSON.parse` in steps of about `pieceLength` letters: it gives, and throws, the same. Large arrays and objects are taken apart at
 * their commas; what stands between these is left to `JSON.parse`, and so is a text that does not come apart.
 */
export function* parseJsonInSteps(text: string, pieceLength: number): Generator<undefined, unknown> {
  try {
    const { value, end } = yield* pieceAt(text, 0, pieceLength, 0);
    if (afterSpace(text, end) === text.length) return value;
  } catch (error) {
    if (!(error instanceof Uncut || error instanceof SyntaxError)) throw error;
  }
  return JSON.parse(text) as unknown;
}

function* pieceAt(
  text: string,
  from: number,
  pieceLength: number,
  depth: number,
): Generator<undefined, Piece<unknown>> {
  const end = endOfValue(text, from, from + pieceLength);
  if (end !== undefined) return { value: JSON.parse(text.slice(from, end)) as unknown, end };
  const start = afterSpace(text, from);
  if (depth > mostDepth) throw new Uncut();
  if (text.charCodeAt(start) === openArray) return yield* arrayAt(text, start, pieceLength, depth);
  if (text.charCodeAt(start) === openObject) return yield* objectAt(text, start, pieceLength, depth);
  throw new Uncut();
}

/** Small items are parsed many at a time. */
function* arrayAt(
  text: string,
  start: number,
  pieceLength: number,
  depth: number,
): Generator<undefined, Piece<readonly unknown[]>> {
  const value: unknown[] = [];
  for (let at = start; ;) {
    const end = endOfValues(text, at + 1, at + pieceLength);
    if (end === undefined) {
      const item = yield* pieceAt(text, at + 1, pieceLength, depth + 1);
      value.push(item.value);
      at = item.end;
    } else {
      const items = JSON.parse(`[${text.slice(at + 1, end)}]`) as unknown[];
      if (items.length === 0) throw new Uncut();
      for (const item of items) value.push(item);
      at = end;
    }
    yield;
    if (text.charCodeAt(at) === closeArray) return { value, end: afterSpace(text, at + 1) };
    if (text.charCodeAt(at) !== comma) throw new Uncut();
  }
}

function* objectAt(
  text: string,
  start: number,
  pieceLength: number,
  depth: number,
): Generator<undefined, Piece<object>> {
  const value = {};
  for (let at = start; ;) {
    const keyStart = afterSpace(text, at + 1);
    const keyEnd = text.charCodeAt(keyStart) === quote ? endOfString(text, keyStart) : -1;
    const colonAt = afterSpace(text, keyEnd);
    if (keyEnd < 0 || text.charCodeAt(colonAt) !== colon) throw new Uncut();
    const key = JSON.parse(text.slice(keyStart, keyEnd)) as string;
    const member = yield* pieceAt(text, colonAt + 1, pieceLength, depth + 1);
    // An assignment would take `__proto__` for more than a key.
    Object.defineProperty(value, key, {
      value: member.value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    yield;
    at = member.end;
    if (text.charCodeAt(at) === closeObject) return { value, end: afterSpace(text, at + 1) };
    if (text.charCodeAt(at) !== comma) throw new Uncut();
  }
}

/** Where the last of the values that end before `limit` does; undefined when none does. */
function endOfValues(text: string, start: number, limit: number): number | undefined {
  let last: number | undefined;
  for (let end = endOfValue(text, start, limit); end !== undefined;) {
    last = end;
    end = text.charCodeAt(end) === comma ? endOfValue(text, end + 1, limit) : undefined;
  }
  return last;
}

/** Where the comma or the bracket behind a value is, if it is before `limit`. */
function endOfValue(text: string, start: number, limit: number): number | undefined {
  let depth = 0;
  for (let at = start; at < limit; at += 1) {
    const letter = text.charCodeAt(at);
    if (letter === quote) {
      at = endOfString(text, at) - 1;
      if (at < 0) return undefined;
    } else if (letter === openArray || letter === openObject) depth += 1;
    else if (letter === closeArray || letter === closeObject) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (letter === comma) {
      if (depth === 0) return at;
    } else if (Number.isNaN(letter)) return undefined;
  }
  return undefined;
}

/** Where a string that starts here has ended; -1 when it does not. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((at - first) % 2 === 0) return at + 1;
  }
  return -1;
}

function afterSpace(text: string, start: number): number {
  for (let at = start; ; at += 1) {
    const letter = text.charCodeAt(at);
    if (letter !== space && letter !== lineFeed && letter !== tab && letter !== carriageReturn) return at;
  }
}
