import { byteAt, fromByte } from './units.ts';

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[^ -~\x80-\xff]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** A bracket expression as git's wildmatch reads it, as the set of bytes it matches (index: the byte, folded when case is ignored). */
export function scanSet(
  body: string,
  start: number,
  ignoreCase: boolean,
): { members: boolean[]; end: number } | undefined {
  const members = new Array<boolean>(256).fill(false);
  const add = (matches: (byte: number) => boolean): void => {
    for (let byte = 1; byte < 256; byte++) {
      if (matches(byte) || (ignoreCase && byte >= 0x61 && byte <= 0x7a && matches(byte - 0x20))) {
        members[byte] = true;
      }
    }
  };
  let at = start + 1;
  const negated = body[at] === '!' || body[at] === '^';
  if (negated) at++;
  let previous: number | undefined;
  do {
    const unit = body[at];
    if (unit === undefined) return undefined;
    if (unit === '-' && previous !== undefined && body[at + 1] !== undefined && body[at + 1] !== ']') {
      at++;
      if (body[at] === '\\') at++;
      if (body[at] === undefined) return undefined;
      const from = previous;
      const to = byteAt(body, at);
      add((byte) => byte >= from && byte <= to);
      previous = undefined;
    } else if (unit === '[' && body[at + 1] === ':') {
      const close = body.indexOf(']', at + 2);
      if (close < 0) return undefined;
      if (close > at + 2 && body[close - 1] === ':') {
        const name = body.slice(at + 2, close - 1);
        const members = Object.hasOwn(classes, name) ? classes[name] : undefined;
        if (members === undefined) return undefined;
        // Of the classes only `upper` folds in git; the others name both cases or mean the case they name.
        if (name === 'upper') add((byte) => members.test(String.fromCharCode(byte)));
        else addExact((byte) => members.test(String.fromCharCode(byte)));
        previous = undefined;
        at = close;
      } else {
        addExact((byte) => byte === 0x5b);
        previous = 0x5b;
      }
    } else {
      if (unit === '\\') at++;
      if (body[at] === undefined) return undefined;
      const single = byteAt(body, at);
      addExact((byte) => byte === single);
      previous = single;
    }
    at++;
  } while (body[at] !== ']');
  if (negated) for (let byte = 0; byte < 256; byte++) members[byte] = members[byte] !== true;
  members[0] = false;
  members[0x2f] = false;
  if (ignoreCase) members.fill(false, 0x41, 0x5b);
  return { members, end: at + 1 };

  // A single member is compared with the folded byte as it stands: an upper-case one then equals nothing.
  function addExact(matches: (byte: number) => boolean): void {
    for (let byte = 1; byte < 256; byte++) if (matches(byte)) members[byte] = true;
  }
}

/** The set as a bracket expression that `ignore` reads the same way. */
export function writeSet(members: readonly boolean[]): string {
  let out = '[';
  for (let byte = 1; byte < 256; byte++) {
    if (members[byte] !== true) continue;
    let last = byte;
    while (members[last + 1] === true) last++;
    const quote = (value: number): string =>
      (/[0-9A-Za-z]/.test(fromByte(value)) ? '' : '\\') + fromByte(value);
    out += last - byte < 2 ? quote(byte) : `${quote(byte)}-${quote(last)}`;
    if (last - byte === 1) out += quote(last);
    byte = last;
  }
  return `${out}]`;
}
