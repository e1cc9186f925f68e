import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Run } from '../../run/state/run.ts';
import { inParallel, inSlices } from '../../yieldingWork.ts';
import { splitLines } from '../drift/lineText.ts';
import { type TextNow, type FollowedFile, followFile } from '../drift/followFile.ts';
import type { Finding, Place } from '../finding.ts';
import type { ShownFinding, ShownPlace } from '../shownFinding.ts';
import type { Resolver } from './resolver.ts';
import {
  type Decode,
  isSent,
  readText,
  type SentFile,
  type SentOfRun,
  sourceFile,
  toText,
} from './sentFiles.ts';

/** A file here that a place is in. */
interface Spot extends Pick<ShownPlace, 'file' | 'folder' | 'path'> {
  /** The position of the run's target that the file lies in. */
  readonly target: number;
  /** What was sent of it; undefined when that is not known. */
  readonly sent: SentFile | undefined;
}

/** Where the places of findings are. */
export interface LocatedPlaces {
  /** The files here. */
  readonly spots: ReadonlyMap<Place, Spot>;
  /** The names of files that are not here, and of the folders on the way to them: either may come back. */
  readonly missing: ReadonlySet<string>;
}

const placesAtOnce = 100;

/** Looks the places of a run's findings up; other work goes on meanwhile. */
export async function locateFindings(
  { targets }: Run,
  findings: readonly Finding[],
  { sent, resolver }: { sent: SentOfRun; resolver: Resolver },
): Promise<LocatedPlaces> {
  const spots = new Map<Place, Spot>();
  const missing = new Set<string>();
  const locate = async (place: Place): Promise<void> => {
    const found = await resolver.locate(place);
    if (found.kind === 'file') {
      const { absolute: file, target, path } = found;
      const folder = targets[target]?.folder ?? '';
      spots.set(place, { file, folder, target, path, sent: sent[target]?.get(path) });
      return;
    }
    const meant = await resolver.sentFile(place);
    const paths = [place.path, ...(meant.kind === 'file' ? [meant.path] : [])];
    for (const name of paths.flatMap((path) => path.split(/[\\/]/))) missing.add(name);
  };
  const places = findings.flatMap((finding) => finding.places);
  for (let start = 0; start < places.length; start += placesAtOnce) {
    await Promise.all(places.slice(start, start + placesAtOnce).map(locate));
    await setImmediate();
  }
  return { spots, missing };
}

/** The places of findings that are files here, as they were reported: no file is read. */
export function placesAsReported(
  findings: readonly Finding[],
  { spots }: LocatedPlaces,
): readonly (readonly ShownPlace[])[] {
  return findings.map(({ places }) =>
    places.flatMap((place) => {
      const spot = spots.get(place);
      return spot === undefined ? [] : [toShownPlace(spot, place, unreadText)];
    }),
  );
}

const filesAtOnce = 16;
/** So many letters of files that are followed from where they were first seen are kept in memory. */
const maxKept = 32_000_000;

type FilePlaces = readonly [file: string, placed: readonly (readonly [Place, Spot])[]];

/** Where the findings of a run are, in files that change. */
export class RunPlaces {
  readonly #runFolder: string;
  readonly #decode: Decode;
  readonly #byFile: ReadonlyMap<string, readonly (readonly [Place, Spot])[]>;
  /** Files that changed while they were followed, and those that are followed from where they were first seen: what was there may be nowhere else by now. */
  readonly #tracked: Map<string, FollowedFile>;
  readonly #kept: { letters: number };
  readonly #changed = new Set<string>();
  /** Names of files that findings point at and that are not here, and of their folders. */
  readonly missing: ReadonlySet<string>;

  /** `former` are the places of the same run as they were known so far: what they follow is followed on. */
  constructor(
    runFolder: string,
    { spots, missing }: LocatedPlaces,
    decode: Decode,
    former: RunPlaces | undefined,
  ) {
    this.#runFolder = runFolder;
    this.#decode = decode;
    this.#tracked = former === undefined ? new Map<string, FollowedFile>() : former.#tracked;
    this.#kept = former === undefined ? { letters: 0 } : former.#kept;
    this.#byFile = Map.groupBy(spots, ([, { file }]) => file);
    this.missing = missing;
  }

  /** Files that findings point at, absolute. */
  get files(): Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'> {
    return this.#byFile;
  }

  /** Files that findings point at and whose text is not the one that was scanned. */
  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  /**
   * The places of findings that are files here, as they are now; `textOf` gives the text of a file that is being edited. Where some files have changed since they were sent,
   * `onUnchanged` gets the places in the others first, undefined for a finding with places in the changed ones.
   */
  async placesOf(
    findings: readonly Finding[],
    textOf: (file: string) => string | undefined,
    onUnchanged?: (places: readonly (readonly ShownPlace[] | undefined)[]) => void,
  ): Promise<readonly (readonly ShownPlace[])[]> {
    const shown = new Map<Place, ShownPlace>();
    // Files are read side by side, but the slices of several would be one long one.
    let placing = Promise.resolve();
    const show = async ([, placed]: FilePlaces, now: TextNow): Promise<void> => {
      placing = placing.then(() => inSlices(showPlaces(placed, now, shown)));
      await placing;
    };
    const changed: FilePlaces[] = [];
    await inParallel(this.#byFile, filesAtOnce, async (entry) => {
      const [file, [first]] = entry;
      const disk = first && textOf(file) === undefined ? await this.#readDisk(first[1]) : undefined;
      if (first !== undefined && disk?.isSent === true)
        await show(entry, await this.#textOnDisk(first[1], disk));
      else changed.push(entry);
    });
    const isChanged = new Set(changed.flatMap(([, placed]) => placed.map(([place]) => place)));
    if (changed.length > 0 && shown.size > 0)
      onUnchanged?.(
        findings.map(({ places }) =>
          places.some((place) => isChanged.has(place))
            ? undefined
            : places.flatMap((place) => shown.get(place) ?? []),
        ),
      );
    await inParallel(changed, filesAtOnce, async (entry) => {
      const now = await this.textNow(entry[0], textOf);
      if (now !== undefined) await show(entry, now);
    });
    return findings.map(({ places }) => places.flatMap((place) => shown.get(place) ?? []));
  }

  /** A file's present text, which `textOf` gives while it is being edited; undefined for a file that no finding points at. */
  async textNow(file: string, textOf: (file: string) => string | undefined): Promise<TextNow | undefined> {
    const [spot] = this.#byFile.get(file)?.map(([, each]) => each) ?? [];
    if (spot === undefined) return undefined;
    if (textOf(file) !== undefined && !this.#tracked.has(file)) {
      // It is kept, since an edit may be about to take it from the disk.
      const tracked = await this.#track(spot, await this.#readDisk(spot));
      if (!this.#tracked.has(file)) this.#tracked.set(file, tracked);
    }
    // It may have been edited on, or saved, meanwhile.
    const text = textOf(file);
    const tracked = this.#tracked.get(file);
    return text === undefined || tracked === undefined
      ? this.#textOnDisk(spot, await this.#readDisk(spot))
      : this.#look(spot, tracked, splitLines(text));
  }

  async #textOnDisk(spot: Spot, disk: DiskText): Promise<TextNow> {
    const { file } = spot;
    if (disk.lines.length === 0) {
      const now = existsSync(file) ? unreadText : noText;
      if (now.isChanged) this.#changed.add(file);
      return now;
    }
    const known = this.#tracked.get(file);
    const isKnown = known !== undefined && (known.isScanned || !disk.isSent);
    const tracked = isKnown ? known : await this.#track(spot, disk);
    if (known !== undefined || !tracked.isScanned) this.#keep(file, tracked, disk);
    return this.#look(spot, tracked, disk.lines);
  }

  /** Starts from the text that was scanned when that can be had, else from the one that is there. */
  async #track({ file, target, path, sent }: Spot, disk: DiskText): Promise<FollowedFile> {
    if (sent === undefined || disk.isSent) return followFile(disk.lines, disk.isSent);
    const kept = await readText(sourceFile(this.#runFolder, target, path));
    return kept !== undefined && isSent(kept, sent)
      ? followFile(splitLines(await toText(kept, file, this.#decode)), true)
      : followFile(disk.lines, false);
  }

  async #readDisk({ file, sent }: Spot): Promise<DiskText> {
    const content = await readText(file);
    if (content === undefined) return { lines: [], isSent: false };
    return {
      lines: splitLines(await toText(content, file, this.#decode)),
      isSent: sent !== undefined && isSent(content, sent),
    };
  }

  /** What was scanned can be read again, but not the first text that was seen: it is kept as far as there is room. */
  #keep(file: string, tracked: FollowedFile, { lines }: DiskText): void {
    if (!this.#tracked.has(file)) this.#kept.letters += lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (this.#tracked.has(file) || this.#kept.letters <= maxKept) this.#tracked.set(file, tracked);
  }

  /** Looks at a text, and records whether it is the one that was scanned. */
  #look({ file, sent }: Spot, tracked: FollowedFile, lines: readonly string[]): TextNow {
    const now = tracked.look(lines);
    // What was sent is known, and is neither on the disk nor kept: the file has changed, who knows where.
    const isOther = !tracked.isScanned && sent !== undefined;
    if (now.isChanged || isOther) this.#changed.add(file);
    else this.#changed.delete(file);
    return now;
  }
}

const noText: TextNow = { isChanged: true, placeOf: () => ({ drift: 'gone' }) };
/** A text that is too large to be read, or that the system does not give. */
const unreadText: TextNow = {
  isChanged: false,
  placeOf: ({ startLine, endLine, startColumn, endColumn }) => ({
    startLine,
    endLine,
    startColumn,
    endColumn,
    drift: 'unknown',
  }),
};

/** Finds the places of one file in its present text. */
function* showPlaces(
  placed: readonly (readonly [Place, Spot])[],
  now: TextNow,
  shown: Map<Place, ShownPlace>,
): Generator<undefined, void> {
  for (const [place, spot] of placed) {
    shown.set(place, toShownPlace(spot, place, now));
    yield;
  }
}

/** A place that is a file here, in that file's present text. */
export function toShownPlace(
  { file, folder, path }: Pick<ShownPlace, 'file' | 'folder' | 'path'>,
  reported: Place,
  now: TextNow,
): ShownPlace {
  const { startLine, endLine, startColumn, endColumn, drift } = now.placeOf(reported);
  return { file, folder, path, startLine, endLine, startColumn, endColumn, reported, drift };
}

/** A file's text on the disk; without lines when it cannot be read. */
interface DiskText {
  readonly lines: readonly string[];
  readonly isSent: boolean;
}

/**
 * The texts `path:line` that mean exactly one place, as a report may write them, which is as old as its run: with the path as it came, and as it
 * is here, always with `/`, and with the line that was reported. Code that is gone has no text that means code which is there.
 */
export function placeLinks(shown: readonly Pick<ShownFinding, 'places'>[]): ReadonlyMap<string, ShownPlace> {
  const links = new Map<string, ShownPlace>();
  const ambiguous = new Set<string>();
  const places = shown.flatMap((each) => each.places).filter(({ startLine }) => startLine !== undefined);
  for (const place of places.toSorted((one, other) => Number(isGone(one)) - Number(isGone(other)))) {
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
