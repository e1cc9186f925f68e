import { splitLines } from '../../drift/lineText.ts';
import type { Place } from '../../finding.ts';
import { readAsSent, type SentFile } from '../../place/sentFiles.ts';
import { localPlaceOf, type ShownFinding } from '../../shownFinding.ts';
import { hashLines } from './lineHash.ts';

/** Columns count UTF-16 code units; the end is exclusive. */
export interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A place in what was assessed. `folder` is as the run's target names it, and `path` is relative to it. */
export interface AssessedPlace {
  readonly folder: string;
  readonly path: string;
  /** Of the file, if it is known what was sent of it. */
  readonly sha256?: string | undefined;
  /** Absent if the line is unknown. */
  readonly region?: Region | undefined;
  /** GitHub's hash of the first line; absent if the text that was sent is not on this machine. */
  readonly hash?: string | undefined;
}

export type AssessedPlaces = ReadonlyMap<Place, AssessedPlace>;

interface FilePlace extends Pick<AssessedPlace, 'folder' | 'path'> {
  readonly place: Place;
  readonly run: ShownFinding['run'];
  readonly file: SentFile | undefined;
}

/** The places of findings whose file is known: the lines of the result, in the text that the finding's own run was sent. */
export async function readAssessedPlaces(
  findings: readonly ShownFinding[],
  runFolderOf: (runId: string) => string,
): Promise<AssessedPlaces> {
  const places = findings.flatMap(filePlacesOf);
  const byFile = Map.groupBy(places, ({ run, folder, path }) => [run.id, folder, path].join('\0'));
  const assessed = new Map<Place, AssessedPlace>();
  for (const inFile of byFile.values()) {
    const [first] = inFile;
    const text = first && (await readSentText(first, runFolderOf));
    const lines = splitLines(text ?? '');
    const hashes = hashLines(text ?? '', new Set(inFile.map(({ place }) => place.startLine)));
    for (const { place, folder, path, file } of inFile) {
      const { startLine } = place;
      const isInText = text !== undefined && startLine !== undefined && startLine <= lines.length;
      assessed.set(place, {
        folder,
        path,
        sha256: file?.sha256,
        region: startLine === undefined ? undefined : toRegion(startLine, place, isInText ? lines : []),
        hash: isInText ? hashes.get(startLine) : undefined,
      });
    }
  }
  return assessed;
}

/** A place without a sent file has a file here if it is not known what was sent, or if a person mapped its path. */
function filePlacesOf(shown: ShownFinding): readonly FilePlace[] {
  const { run, finding, sent = [] } = shown;
  return finding.places.flatMap((place, at): FilePlace[] => {
    const [spot, local] = [sent[at], localPlaceOf(place, shown)];
    if (spot !== undefined)
      return [{ place, run, folder: spot.folder, path: spot.file.path, file: spot.file }];
    if (local === undefined) return [];
    return [{ place, run, folder: local.folder, path: local.path, file: local.sent }];
  });
}

async function readSentText(
  { run, folder, file }: FilePlace,
  runFolderOf: (runId: string) => string,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const target = run.targets.findIndex((each) => each.folder === folder);
  const from = { runFolder: runFolderOf(run.id), folder, target };
  // GitHub reads every file as UTF-8, with its byte order mark.
  return (await readAsSent(file, from, () => Promise.resolve(undefined)))?.toString('utf8');
}

/** Without the text, one column stands for the line. */
function toRegion(startLine: number, place: Place, lines: readonly string[]): Region {
  if (lines.length === 0) return { startLine, startColumn: 1, endLine: startLine, endColumn: 2 };
  const pastEnd = (line: number): number => (lines[line - 1]?.length ?? 0) + 1;
  const endLine = Math.min(place.endLine ?? startLine, lines.length);
  const { startColumn: reported = 1 } = place;
  const startColumn = reported < pastEnd(startLine) ? reported : 1;
  const endColumn = Math.min(place.endColumn ?? Infinity, pastEnd(endLine));
  const isBackward = startLine === endLine && endColumn <= startColumn;
  return { startLine, startColumn, endLine, endColumn: isBackward ? pastEnd(endLine) : endColumn };
}
