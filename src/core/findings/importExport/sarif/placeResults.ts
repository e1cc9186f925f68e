import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathInside } from '../../../paths.ts';
import type { Run } from '../../../run/state/run.ts';
import { isLiveFinding, mainPlacesOf, type Place } from '../../finding.ts';
import {
  maxTextBytes,
  readSent,
  type SentFile,
  type SentOfRun,
  sentIn,
  sourceFile,
} from '../../place/sentFiles.ts';
import {
  type DetailedFinding,
  localPlaceOf,
  type ShownFinding,
  type ShownPlace,
} from '../../shownFinding.ts';
import { type FileToRead, type LinesOfPlace, readLines, type Region } from './lineHash.ts';

/** A repository and its assessed folders; `path` is from its root, and empty for the root itself. */
export interface AssessedRepository {
  readonly root: string;
  readonly folders: readonly { readonly folder: string; readonly path: string }[];
}

/** `path` is from the root of the repository. */
export interface ResultPlace {
  readonly path: string;
  readonly region: Region;
  /** Of the line as sent; absent if that text is unknown. */
  readonly hash?: string | undefined;
  readonly sha256?: string | undefined;
}

export interface ResultInRepository {
  readonly shown: DetailedFinding;
  readonly main: ResultPlace;
  /** Whether `main` stands for the repository, since the finding names no file of it. */
  readonly isElsewhere: boolean;
  readonly others: ReadonlyMap<Place, ResultPlace>;
}

const firstLine: Region = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 };

const mainFiles = [
  /^readme(?:\.\w+)?$/i,
  /^package\.json$/,
  /^(?:pyproject\.toml|go\.mod|Cargo\.toml|composer\.json|Gemfile)$/,
  /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
];

interface Spot {
  readonly path: string;
  /** The file as sent, and where its bytes may still be; absent if unknown. */
  readonly sent?: { readonly file: SentFile; readonly candidates: readonly string[] } | undefined;
  readonly local?: ShownPlace | undefined;
}

/** Gives findings of a run, and of earlier runs, a file and a region in the repository. Regions of earlier runs are the present ones. */
export async function placeResults(
  run: Run,
  findings: readonly DetailedFinding[],
  repository: AssessedRepository,
  runFolderOf: (runId: string) => string,
): Promise<readonly ResultInRepository[]> {
  const spots = new Map<Place, Spot>();
  for (const group of Map.groupBy(findings, ({ run: { id } }) => id).values())
    await findSpots(group, repository, runFolderOf, spots);
  const lines = readAllLines(spots);
  const fallback = await mainFileOf(run, repository, runFolderOf(run.id));
  return findings.map((shown) => {
    const isEarlier = shown.run.id !== run.id;
    const others = new Map<Place, ResultPlace>();
    for (const place of shown.finding.places) {
      const spot = spots.get(place);
      const placed = spot && toResultPlace(place, spot, lines.get(place), isEarlier);
      if (placed !== undefined) others.set(place, placed);
    }
    const main = mainOf(shown, others, spots, run, repository);
    return { shown, others, main: main ?? fallback, isElsewhere: main === undefined };
  });
}

/** Undefined if the finding names no file of the repository. */
function mainOf(
  shown: ShownFinding,
  placed: ReadonlyMap<Place, ResultPlace>,
  spots: ReadonlyMap<Place, Spot>,
  run: Run,
  repository: AssessedRepository,
): ResultPlace | undefined {
  if (isLiveFinding(shown.finding)) {
    const path = inRepository(shown.run.targetFile ?? run.targetFile, repository);
    return path === undefined ? undefined : { path, region: firstLine };
  }
  const [main] = mainPlacesOf(shown.finding);
  const spot = main && spots.get(main);
  if (main === undefined || spot === undefined) return undefined;
  return placed.get(main) ?? { path: spot.path, region: firstLine, sha256: spot.sent?.file.sha256 };
}

async function findSpots(
  findings: readonly ShownFinding[],
  repository: AssessedRepository,
  runFolderOf: (runId: string) => string,
  spots: Map<Place, Spot>,
): Promise<void> {
  const [first] = findings;
  if (first === undefined) return;
  const { run } = first;
  const runFolder = runFolderOf(run.id);
  const sent = await readSent(run, runFolder);
  for (const { finding, places, sent: sentFiles = [] } of findings)
    for (const [at, place] of finding.places.entries()) {
      const local = localPlaceOf(place, { places });
      // A path mapped by a person leads to a file in the workspace.
      const mapped = local && sentIn({ run, sent }, local.folder, local.path);
      const found = sentFiles[at] ?? (typeof mapped === 'object' ? mapped : undefined);
      const folder = found === undefined ? local?.folder : run.targets[found.target]?.folder;
      const path = found?.file.path ?? local?.path;
      const base = repository.folders.find((assessed) => assessed.folder === folder)?.path;
      // Nothing but the name is known of a file that was not sent.
      if (base === undefined || path === undefined || (found === undefined && mapped === undefined)) continue;
      const candidates = found && [
        sourceFile(runFolder, found.target, found.file.path),
        join(folder ?? '', ...found.file.path.split('/')),
      ];
      spots.set(place, {
        path: joinPath(base, path),
        sent: found && candidates && { file: found.file, candidates },
        local,
      });
    }
}

/** The lines of all places whose sent text may still be on this machine. */
function readAllLines(spots: ReadonlyMap<Place, Spot>): ReadonlyMap<Place, LinesOfPlace | undefined> {
  const byFile = Map.groupBy(spots, ([, { sent }]) => sent?.candidates[0]);
  const files = [...byFile.values()].flatMap((placed): FileToRead[] => {
    const { file, candidates = [] } = placed[0]?.[1].sent ?? {};
    if (file === undefined || file.bytes > maxTextBytes) return [];
    return [{ candidates, bytes: file.bytes, sha256: file.sha256, places: placed.map(([place]) => place) }];
  });
  const read = readLines(files);
  return new Map(files.flatMap(({ places }, file) => places.map((place, at) => [place, read[file]?.[at]])));
}

function toResultPlace(
  place: Place,
  { path, sent, local }: Spot,
  lines: LinesOfPlace | undefined,
  isEarlier: boolean,
): ResultPlace | undefined {
  const sha256 = sent?.file.sha256;
  if (isEarlier && local?.startLine !== undefined && local.drift !== 'gone') {
    const isSameText = local.drift === 'same' || local.drift === 'moved';
    const region = isSameText && lines !== undefined ? lines.region : firstLine;
    return { path, region: movedTo(local.startLine, region), hash: lines?.hash };
  }
  if (lines !== undefined) return { path, ...lines, sha256 };
  const startLine = sent === undefined ? local?.startLine : place.startLine;
  return startLine === undefined ? undefined : { path, region: movedTo(startLine, firstLine), sha256 };
}

function movedTo(startLine: number, region: Region): Region {
  return { ...region, startLine, endLine: startLine + region.endLine - region.startLine };
}

/** Line 1 of the file that best stands for the repository, among the files sent or, if those are unknown, the present ones. */
async function mainFileOf(
  run: Run,
  { folders }: AssessedRepository,
  runFolder: string,
): Promise<ResultPlace> {
  const sent: SentOfRun = await readSent(run, runFolder);
  const files: { readonly path: string; readonly name: string; readonly sha256: string | undefined }[] = [];
  for (const { folder, path } of folders) {
    const sentFiles = sent[run.targets.findIndex((target) => target.folder === folder)];
    const names = sentFiles === undefined ? await namesIn(folder) : [...sentFiles.keys()];
    for (const name of names.sort())
      files.push({ path: joinPath(path, name), name, sha256: sentFiles?.get(name)?.sha256 });
  }
  const first = mainFiles.flatMap((pattern) => files.find(({ name }) => pattern.test(name)) ?? [])[0];
  const { path = 'README.md', sha256 } = first ?? files[0] ?? {};
  return { path, region: firstLine, sha256 };
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

function inRepository(file: string | undefined, { root, folders }: AssessedRepository): string | undefined {
  if (file === undefined) return undefined;
  for (const { folder, path } of folders) {
    const inFolder = pathInside(folder, file);
    if (inFolder !== undefined) return joinPath(path, inFolder);
  }
  return pathInside(root, file);
}

function joinPath(base: string, path: string): string {
  return base === '' ? path : `${base}/${path}`;
}
