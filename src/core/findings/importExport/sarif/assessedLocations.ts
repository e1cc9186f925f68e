import type { Region } from 'sarif';
import { splitLines } from '../../drift/lineText.ts';
import type { Location } from '../../finding.ts';
import { readAsUploaded } from '../../location/uploadedFiles.ts';
import { localLocationOf, uploadedFileOf, type ShownFinding } from '../../shownFinding.ts';

export interface AssessedLocation {
  readonly folder: string;
  readonly path: string;
  readonly sha256?: string | undefined;
  /** Has both lines and both columns. Undefined if the line is unknown. */
  readonly region?: Region | undefined;
  /** GitHub's hash of the first line. Undefined if the uploaded text or the line is missing. */
  readonly hash?: string | undefined;
}

export type AssessedLocations = ReadonlyMap<Location, AssessedLocation>;

/** Lines are those of the result, in the text that the finding's own run uploaded. */
export async function readAssessedLocations(
  findings: readonly ShownFinding[],
  runFolderOf: (runId: string) => string,
): Promise<AssessedLocations> {
  const all = findings.flatMap((shown) =>
    shown.finding.locations.flatMap((location, at) => {
      const file = shown.uploaded[at] ?? localLocationOf(location, shown);
      return file === undefined
        ? []
        : [{ location, file, run: shown.run.id, uploaded: uploadedFileOf(location, shown) }];
    }),
  );
  const byFile = Map.groupBy(all, ({ run, file }) => [run, file.folder, file.path].join('\0'));
  const assessed = new Map<Location, AssessedLocation>();
  for (const inFile of byFile.values()) {
    const [{ run, uploaded } = { run: '', uploaded: undefined }] = inFile;
    // GitHub reads every file as UTF-8, and keeps its byte order mark.
    const text = uploaded && (await readAsUploaded(runFolderOf(run), uploaded))?.toString('utf8');
    const lines = text === undefined ? [] : splitLines(text);
    const hashes = hashLines(text ?? '', new Set(inFile.map(({ location }) => location.startLine)));
    for (const { location, file } of inFile) {
      const { folder, path } = file;
      const { startLine } = location;
      const isInText = startLine !== undefined && startLine <= lines.length;
      const region =
        startLine === undefined ? undefined : toRegion(startLine, location, isInText ? lines : []);
      const hash = isInText ? hashes.get(startLine) : undefined;
      assessed.set(location, { folder, path, sha256: uploaded?.sha256, region, hash });
    }
  }
  return assessed;
}

function toRegion(startLine: number, location: Location, lines: readonly string[]): Region {
  if (lines.length === 0) return { startLine, startColumn: 1, endLine: startLine, endColumn: 2 };
  const pastEnd = (line: number): number => (lines[line - 1]?.length ?? 0) + 1;
  const endLine = Math.min(location.endLine ?? startLine, lines.length);
  const { startColumn: reported = 1 } = location;
  const startColumn = reported < pastEnd(startLine) ? reported : 1;
  const endColumn = Math.min(location.endColumn ?? Infinity, pastEnd(endLine));
  const isBackward = startLine === endLine && endColumn <= startColumn;
  return { startLine, startColumn, endLine, endColumn: isBackward ? pastEnd(endLine) : endColumn };
}

const windowLength = 100;
const factor = 37;
const endOfFile = 0xffff;

/**
 * GitHub's `primaryLocationLineHash` (github/codeql-action, `src/fingerprints.ts`) is a polynomial,
 * in hex, over 100 characters from the start of the line, without spaces and tabs. It is followed
 * by the number of lines so far that have this value.
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

/** The hash is modulo 2^64. Two halves of 32 bits keep products exact. */
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
