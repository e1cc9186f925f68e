const windowLength = 100;
const factor = 37;
const endOfFile = 0xffff;

/**
 * The `primaryLocationLineHash` of lines, as GitHub's `upload-sarif` action computes it (github/codeql-action, `src/fingerprints.ts`): in hex, a polynomial
 * over 100 characters from the start of the line without spaces and tabs, and then how many lines up to here have it.
 */
export function hashLines(
  text: string,
  wanted: ReadonlySet<number | undefined>,
): ReadonlyMap<number, string> {
  const code = text.replace(/\r\n?/g, '\n').replace(/[ \t]/g, '');
  const counts = new Map<string, number>();
  const hashes = new Map<number, string>();
  let start = 0;
  for (let line = 1; line === 1 || start > 0; line++) {
    const value = hashFrom(code, start);
    const count = (counts.get(value) ?? 0) + 1;
    counts.set(value, count);
    if (wanted.has(line)) hashes.set(line, `${value}:${String(count)}`);
    start = code.indexOf('\n', start) + 1;
  }
  return hashes;
}

/** Modulo 2^64, in two halves of 32 bits, so that products stay exact numbers. */
function hashFrom(code: string, start: number): string {
  let high = 0;
  let low = 0;
  for (let at = start; at < start + windowLength; at++) {
    const character = at < code.length ? code.charCodeAt(at) : at === code.length ? endOfFile : 0;
    const sum = low * factor + character;
    high = (high * factor + Math.floor(sum / 2 ** 32)) >>> 0;
    low = sum >>> 0;
  }
  return high === 0 ? low.toString(16) : high.toString(16) + low.toString(16).padStart(8, '0');
}
