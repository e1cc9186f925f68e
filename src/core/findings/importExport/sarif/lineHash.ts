import { hash } from 'node:crypto';
import { readRegularFile } from '../../../files.ts';
import { splitLines } from '../../drift/lineText.ts';
import { anchorIn } from '../../drift/anchor.ts';
import type { Place } from '../../finding.ts';

/** A file as it was sent, and places in it. `candidates` are absolute paths of files that may still have its bytes. */
export interface FileToRead {
  readonly candidates: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
  readonly places: readonly Place[];
}

/** Columns count UTF-16 code units; the end is exclusive. */
export interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Of a place, in the text that was sent; `hash` is of the first line. */
export interface LinesOfPlace {
  readonly region: Region;
  readonly hash: string;
}

/** For each file, the lines of its places; undefined if the text or the line is unknown. Reads files synchronously. */
export function readLines(files: readonly FileToRead[]): readonly (readonly (LinesOfPlace | undefined)[])[] {
  return files.map(({ places, ...file }) => {
    const content = contentOf(file)?.toString('utf8');
    return content === undefined ? places.map(() => undefined) : linesOf(places, content);
  });
}

function contentOf({ candidates, bytes, sha256 }: Omit<FileToRead, 'places'>): Buffer | undefined {
  for (const file of candidates) {
    try {
      const content = readRegularFile(file, { maxBytes: bytes, followLink: true });
      if (content?.length === bytes && hash('sha256', content, 'hex') === sha256) return content;
    } catch {
      continue; // larger than what was sent, or unreadable
    }
  }
  return undefined;
}

function linesOf(places: readonly Place[], text: string): readonly (LinesOfPlace | undefined)[] {
  const lines = splitLines(text);
  const anchor = anchorIn(lines);
  const anchored = places.map((place) => anchor(place));
  const hashes = hashLines(text, new Set(anchored.map((each) => each?.startLine)));
  return anchored.map((range, at) => {
    const lineHash = range && hashes.get(range.startLine);
    if (range === undefined || lineHash === undefined) return undefined;
    const columns = range.isReanchored ? {} : { ...places[at] };
    return { region: toRegion(range, columns, lines), hash: lineHash };
  });
}

function toRegion(
  { startLine, endLine }: Pick<Region, 'startLine' | 'endLine'>,
  columns: Pick<Place, 'startColumn' | 'endColumn'>,
  lines: readonly string[],
): Region {
  const pastEnd = (line: number): number => (lines[line - 1]?.length ?? 0) + 1;
  const { startColumn: reported = 1 } = columns;
  const startColumn = reported < pastEnd(startLine) ? reported : 1;
  const endColumn = Math.min(columns.endColumn ?? Infinity, pastEnd(endLine));
  const isBackward = startLine === endLine && endColumn <= startColumn;
  return { startLine, startColumn, endLine, endColumn: isBackward ? pastEnd(endLine) : endColumn };
}

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
