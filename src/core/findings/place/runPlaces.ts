import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Run } from '../../run/state/run.ts';
import { inParallel, inSlices, once } from '../../yieldingWork.ts';
import { splitLines } from '../drift/lineText.ts';
import { type CurrentText, type FollowedFile, followFile } from '../drift/followFile.ts';
import type { Finding, Place } from '../finding.ts';
import type { ResultFinding } from '../result/result.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';
import type { Resolver } from './resolver.ts';
import {
  type Decode,
  isSent,
  readSentFiles,
  readText,
  readTextBelow,
  type SentFile,
  type SentSpot,
  sourceFile,
  toText,
} from './sentFiles.ts';

/** The file on this machine that a place is in. */
interface LocatedFile extends Pick<ShownPlace, 'file' | 'folder' | 'path'> {
  /** The position of its target in the run. */
  readonly target: number;
  /** What was sent of it, if known. */
  readonly sent: SentFile | undefined;
}

export interface LocatedPlaces {
  readonly files: ReadonlyMap<Place, LocatedFile>;
  /** The names of files that are missing, and of the folders on the way to them. They may be created later. */
  readonly missing: ReadonlySet<string>;
}

const placesAtOnce = 100;

/** Finds the files that the places of a run's findings are in. Yields to other work. */
export async function locateFindings(
  { targets }: Run,
  runFolder: string,
  findings: readonly Pick<ResultFinding, 'finding' | 'sent'>[],
  resolver: Resolver,
): Promise<LocatedPlaces> {
  // Only a mapping leads to another sent file than the result names.
  const sentOfTarget = targets.map((_, target) => once(() => readSentFiles(runFolder, target)));
  const files = new Map<Place, LocatedFile>();
  const missing = new Set<string>();
  const locate = async ([place, spot]: readonly [Place, SentSpot | undefined]): Promise<void> => {
    const known = spot && { target: spot.target, path: spot.file.path };
    const found = await resolver.locate(place, known);
    if (found.kind === 'file') {
      const { absolute: file, target, path } = found;
      const folder = targets[target]?.folder ?? '';
      const isSpot = target === known?.target && path === known.path;
      const sent = isSpot ? spot?.file : (await sentOfTarget[target]?.())?.get(path);
      files.set(place, { file, folder, target, path, sent });
      return;
    }
    const paths = spot === undefined ? [place.path] : [place.path, spot.file.path];
    for (const name of paths.flatMap((path) => path.split(/[\\/]/))) missing.add(name);
  };
  const places = findings.flatMap(({ finding, sent }) =>
    finding.places.map((place, at) => [place, sent[at]] as const),
  );
  for (let start = 0; start < places.length; start += placesAtOnce) {
    await Promise.all(places.slice(start, start + placesAtOnce).map(locate));
    await setImmediate();
  }
  return { files, missing };
}

/** The places that have a file, with the lines that were reported. Reads no file. */
export function placesAsReported(
  findings: readonly Finding[],
  { files }: LocatedPlaces,
): readonly (readonly ShownPlace[])[] {
  return findings.map(({ places }) =>
    places.flatMap((place) => {
      const file = files.get(place);
      return file === undefined ? [] : [toShownPlace(file, place, unreadableText)];
    }),
  );
}

const filesAtOnce = 16;
/** Characters of texts that are kept in memory, of files that are followed from where they were first seen. */
const maxKept = 32_000_000;

/** A file and the places in it. */
type PlacesOfFile = readonly [file: string, places: readonly (readonly [Place, LocatedFile])[]];

/** The text of a file that is being edited, by its absolute path. */
type EditedText = (file: string) => string | undefined;

/** The places of a run's findings in files that change. */
export class RunPlaces {
  readonly #runFolder: string;
  readonly #decode: Decode;
  readonly #located: ReadonlyMap<Place, LocatedFile>;
  readonly #byFile: ReadonlyMap<string, PlacesOfFile[1]>;
  /** Files that changed while they were followed, or that are followed from the text first seen: that text may exist nowhere else now. */
  readonly #followed: Map<string, FollowedFile>;
  readonly #kept: { length: number };
  readonly #changed = new Set<string>();
  /** Names of missing files that findings point at, and of their folders. */
  readonly missing: ReadonlySet<string>;

  /** Files that `former`, the same run's places, follows are followed further. */
  constructor(
    runFolder: string,
    { files, missing }: LocatedPlaces,
    decode: Decode,
    former: RunPlaces | undefined,
  ) {
    this.#runFolder = runFolder;
    this.#decode = decode;
    this.#followed = former === undefined ? new Map<string, FollowedFile>() : former.#followed;
    this.#kept = former === undefined ? { length: 0 } : former.#kept;
    this.#located = files;
    this.#byFile = Map.groupBy(files, ([, { file }]) => file);
    this.missing = missing;
  }

  /** Files that findings point at, absolute. */
  get files(): Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'> {
    return this.#byFile;
  }

  /** Files that findings point at and whose text differs from the one that was scanned. */
  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  /**
   * The places that have a file, in its current text. Unchanged files come first. `onSome` gets what is known after the first of them, and after all of them
   * if others have changed; undefined for a finding with a place that is not known yet.
   */
  async placesOf(
    findings: readonly Finding[],
    editedText: EditedText,
    onSome: (places: readonly (readonly ShownPlace[] | undefined)[]) => void = () => undefined,
  ): Promise<readonly (readonly ShownPlace[])[]> {
    const shown = new Map<Place, ShownPlace>();
    const shownOf = ({ places }: Finding): readonly ShownPlace[] =>
      places.flatMap((place) => shown.get(place) ?? []);
    const showSome = (): void => {
      const isKnown = (place: Place): boolean => shown.has(place) || !this.#located.has(place);
      onSome(findings.map((finding) => (finding.places.every(isKnown) ? shownOf(finding) : undefined)));
    };
    // Files are read in parallel, but places are found in one file at a time: the slices of several would add up to a long one.
    let placing = Promise.resolve();
    const show = async ([, places]: PlacesOfFile, text: CurrentText): Promise<void> => {
      placing = placing.then(() => inSlices(showPlaces(places, text, shown)));
      await placing;
    };

    const changed: PlacesOfFile[] = [];
    let unchangedCount = 0;
    await inParallel(this.#byFile, filesAtOnce, async (entry) => {
      const text = await this.#unchangedText(entry, editedText);
      if (text === undefined) {
        changed.push(entry);
        return;
      }
      await show(entry, text);
      unchangedCount += 1;
      if (unchangedCount === filesAtOnce) showSome();
    });
    if (changed.length > 0 && unchangedCount > 0) showSome();
    await inParallel(changed, filesAtOnce, async (entry) => {
      const text = await this.currentText(entry[0], editedText);
      if (text !== undefined) await show(entry, text);
    });
    return findings.map(shownOf);
  }

  /** Undefined for a file that is being edited, or that is not as it was sent. */
  async #unchangedText(
    [file, [first]]: PlacesOfFile,
    editedText: EditedText,
  ): Promise<CurrentText | undefined> {
    if (first === undefined || editedText(file) !== undefined) return undefined;
    const [, located] = first;
    const disk = await this.#readDisk(located);
    return disk.isSent ? this.#textOnDisk(located, disk) : undefined;
  }

  /** Undefined for a file that no finding points at. */
  async currentText(file: string, editedText: EditedText): Promise<CurrentText | undefined> {
    const [, located] = this.#byFile.get(file)?.[0] ?? [];
    if (located === undefined) return undefined;
    if (editedText(file) !== undefined && !this.#followed.has(file)) {
      // Kept, since saving the edited text removes the text that it starts from.
      const followed = await this.#follow(located, await this.#readDisk(located));
      if (!this.#followed.has(file)) this.#followed.set(file, followed);
    }
    // Asked again: the file may have been edited further, or saved, meanwhile.
    const text = editedText(file);
    const followed = this.#followed.get(file);
    return text === undefined || followed === undefined
      ? this.#textOnDisk(located, await this.#readDisk(located))
      : this.#compare(located, followed, splitLines(text));
  }

  async #textOnDisk(located: LocatedFile, disk: DiskText): Promise<CurrentText> {
    const { file } = located;
    if (disk.lines.length === 0) {
      if (existsSync(file)) return unreadableText;
      this.#changed.add(file);
      return deletedText;
    }
    const known = this.#followed.get(file);
    const canGoOn = known !== undefined && (known.isScanned || !disk.isSent);
    const followed = canGoOn ? known : await this.#follow(located, disk);
    if (known !== undefined || !followed.isScanned) this.#keep(file, followed, disk);
    return this.#compare(located, followed, disk.lines);
  }

  /** Follows a file from the text that was scanned, if that can be read, else from the text on the disk. */
  async #follow({ file, target, path, sent }: LocatedFile, disk: DiskText): Promise<FollowedFile> {
    if (sent === undefined || disk.isSent) return followFile(disk.lines, disk.isSent);
    const content = await readText(sourceFile(this.#runFolder, target, path));
    return content !== undefined && isSent(content, sent)
      ? followFile(splitLines(await toText(content, file, this.#decode)), true)
      : followFile(disk.lines, false);
  }

  async #readDisk({ file, folder, path, sent }: LocatedFile): Promise<DiskText> {
    const content = await readTextBelow(folder, path);
    if (content === undefined) return { lines: [], isSent: false };
    return {
      lines: splitLines(await toText(content, file, this.#decode)),
      isSent: sent !== undefined && isSent(content, sent),
    };
  }

  /** Keeps the text that a file is followed from, as far as there is room. */
  #keep(file: string, followed: FollowedFile, { lines }: DiskText): void {
    const isKept = this.#followed.has(file);
    if (!isKept) this.#kept.length += lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (isKept || this.#kept.length <= maxKept) this.#followed.set(file, followed);
  }

  /** Also records whether the file has changed since it was scanned. */
  #compare({ file, sent }: LocatedFile, followed: FollowedFile, lines: readonly string[]): CurrentText {
    const text = followed.compareWith(lines);
    // What was sent is neither on the disk nor kept: the file has changed, but it is not known where.
    const hasUnknownChanges = !followed.isScanned && sent !== undefined;
    if (text.isChanged || hasUnknownChanges) this.#changed.add(file);
    else this.#changed.delete(file);
    return text;
  }
}

const deletedText: CurrentText = { isChanged: true, placeOf: () => ({ drift: 'gone' }) };
/** For a text that is too large, or that the system does not give. */
const unreadableText: CurrentText = {
  isChanged: false,
  placeOf: ({ startLine, endLine, startColumn, endColumn }) => ({
    startLine,
    endLine,
    startColumn,
    endColumn,
    drift: 'unknown',
  }),
};

function* showPlaces(
  places: PlacesOfFile[1],
  text: CurrentText,
  shown: Map<Place, ShownPlace>,
): Generator<undefined, void> {
  for (const [place, located] of places) {
    shown.set(place, toShownPlace(located, place, text));
    yield;
  }
}

/** The place in the current text of its file. */
export function toShownPlace(
  { file, folder, path }: Pick<ShownPlace, 'file' | 'folder' | 'path'>,
  reported: Place,
  text: CurrentText,
): ShownPlace {
  const { startLine, endLine, startColumn, endColumn, drift } = text.placeOf(reported);
  return { file, folder, path, startLine, endLine, startColumn, endColumn, reported, drift };
}

/** Without lines when it cannot be read. */
interface DiskText {
  readonly lines: readonly string[];
  readonly isSent: boolean;
}

/**
 * The texts `path:line` that mean exactly one place. A report may write any of them and is as old as its run: the line is the reported one, the path the
 * reported or the current one, with `/`. A place whose code is gone is left out if its text also means a place with code.
 */
export function placeLinks(shown: readonly Pick<ShownFinding, 'places'>[]): ReadonlyMap<string, ShownPlace> {
  const links = new Map<string, ShownPlace>();
  const ambiguous = new Set<string>();
  const places = shown
    .flatMap((finding) => finding.places)
    .filter(({ startLine }) => startLine !== undefined);
  for (const place of places.toSorted((a, b) => Number(isGone(a)) - Number(isGone(b)))) {
    for (const label of labelsOf(place)) {
      const known = links.get(label) ?? place;
      if (isGone(place) && !isGone(known)) continue;
      if (known.file !== place.file || known.startLine !== place.startLine) ambiguous.add(label);
      links.set(label, known);
    }
  }
  for (const label of ambiguous) links.delete(label);
  return links;
}

function labelsOf(place: ShownPlace): string[] {
  const reported = place.reported.path.replaceAll('\\', '/').replace(/^\.\//, '');
  const line = place.reported.startLine ?? place.startLine;
  return [place.path, reported].map((path) => `${path}:${String(line)}`);
}

function isGone({ drift }: ShownPlace): boolean {
  return drift === 'gone';
}
