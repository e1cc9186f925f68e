import { existsSync } from 'node:fs';
import { type Decode, toText } from './decodeText.ts';
import type { Finding, Place } from '../finding.ts';
import type { ShownPlace } from '../shownFinding.ts';
import { splitLines } from '../drift/lineText.ts';
import { inSlices } from '../../yieldingWork.ts';
import type { Located, Spot } from './locateFindings.ts';
import { isSent, readText, sourceFile } from './sentFiles.ts';
import { type TextNow, type TrackedFile, trackFile } from '../drift/trackedFile.ts';

const filesAtOnce = 16;
/** So many letters of files that are followed from where they were first seen are kept in memory. */
const maxKept = 32_000_000;

/** Where the findings of a run are, in files that change. */
export class RunPlaces {
  readonly #runFolder: string;
  readonly #decode: Decode;
  readonly #located: Located['spots'];
  readonly #spots: ReadonlyMap<string, Spot>;
  /** Files that changed while they were followed, and those that are followed from where they were first seen: what was there may be nowhere else by now. */
  readonly #tracked: Map<string, TrackedFile>;
  readonly #kept: { letters: number };
  readonly #changed = new Set<string>();
  /** Names of files that findings point at and that are not here, and of their folders. */
  readonly missing: ReadonlySet<string>;

  /** `former` are the places of the same run as they were known so far: what they follow is followed on. */
  constructor(
    runFolder: string,
    { spots: located, missing }: Located,
    decode: Decode,
    former: RunPlaces | undefined,
  ) {
    this.#runFolder = runFolder;
    this.#decode = decode;
    this.#tracked = former === undefined ? new Map<string, TrackedFile>() : former.#tracked;
    this.#kept = former === undefined ? { letters: 0 } : former.#kept;
    this.#located = located;
    this.missing = missing;
    this.#spots = new Map(located.map(({ spot }) => [spot.file, spot]));
  }

  /** Files that findings point at and whose text is not the one that was scanned. */
  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  /** The places of findings that are files here, as they are now; `textOf` gives the text of a file that is being edited. */
  async placesOf(
    findings: readonly Finding[],
    textOf: (file: string) => string | undefined,
  ): Promise<readonly (readonly ShownPlace[])[]> {
    const shown = new Map<Place, ShownPlace>();
    // Files are read side by side, but the slices of several would be one long one.
    let placing = Promise.resolve();
    const look = async ([file, told]: [string, Located['spots']]): Promise<void> => {
      const text = textOf(file);
      if (text !== undefined) await this.prepare(file);
      const now = text === undefined ? await this.lookAtDisk(file) : this.look(file, text);
      if (now === undefined) return;
      placing = placing.then(() => inSlices(showPlaces(told, now, shown)));
      await placing;
    };
    const waiting = Map.groupBy(this.#located, ({ spot }) => spot.file).entries();
    const lookOn = async (): Promise<void> => {
      for (const each of waiting) await look(each);
    };
    await Promise.all(Array.from({ length: filesAtOnce }, lookOn));
    return findings.map(({ places }) => places.flatMap((place) => shown.get(place) ?? []));
  }

  /** True when `look` can answer about a file. */
  isReady(file: string): boolean {
    return this.#tracked.has(file);
  }

  /** Reads what `look` needs, and keeps it, since an edit may be about to take it from the disk. */
  async prepare(file: string): Promise<void> {
    const spot = this.#spots.get(file);
    if (spot === undefined || this.#tracked.has(file)) return;
    const tracked = await this.#track(spot, await this.#readDisk(spot));
    if (!this.#tracked.has(file)) this.#tracked.set(file, tracked);
  }

  /** A file that is ready, with this text. */
  look(file: string, text: string): TextNow | undefined {
    const tracked = this.#tracked.get(file);
    return tracked === undefined ? undefined : this.#note(file, tracked, splitLines(text));
  }

  /** A file as it is on the disk. */
  async lookAtDisk(file: string): Promise<TextNow | undefined> {
    const spot = this.#spots.get(file);
    if (spot === undefined) return undefined;
    const disk = await this.#readDisk(spot);
    if (disk.lines.length === 0) {
      const now = existsSync(file) ? unreadText : noText;
      if (now.isChanged) this.#changed.add(file);
      return now;
    }
    const known = this.#tracked.get(file);
    const isKnown = known !== undefined && (known.isScanned || !disk.isSent);
    const tracked = isKnown ? known : await this.#track(spot, disk);
    if (known !== undefined || !tracked.isScanned) this.#keep(file, tracked, disk);
    return this.#note(file, tracked, disk.lines);
  }

  /** Starts from the text that was scanned when that can be had, else from the one that is there. */
  async #track({ file, target, path, sent }: Spot, disk: DiskText): Promise<TrackedFile> {
    if (sent === undefined || disk.isSent) return trackFile(disk.lines, disk.isSent);
    const kept = await readText(sourceFile(this.#runFolder, target, path));
    return kept !== undefined && isSent(kept, sent)
      ? trackFile(splitLines(await toText(kept, file, this.#decode)), true)
      : trackFile(disk.lines, false);
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
  #keep(file: string, tracked: TrackedFile, { lines }: DiskText): void {
    if (!this.#tracked.has(file)) this.#kept.letters += lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (this.#tracked.has(file) || this.#kept.letters <= maxKept) this.#tracked.set(file, tracked);
  }

  #note(file: string, tracked: TrackedFile, lines: readonly string[]): TextNow {
    const now = tracked.look(lines);
    // What was sent is known, and is neither on the disk nor kept: the file has changed, who knows where.
    const isOther = !tracked.isScanned && this.#spots.get(file)?.sent !== undefined;
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
  told: Located['spots'],
  now: TextNow,
  shown: Map<Place, ShownPlace>,
): Generator<undefined, void> {
  for (const { spot, places } of told) {
    for (const place of places) {
      shown.set(place, toShownPlace(spot, place, now));
      yield;
    }
  }
}

/** A place that is a file here, in that file's present text. */
export function toShownPlace(
  { file, folder, path }: Pick<ShownPlace, 'file' | 'folder' | 'path'>,
  told: Place,
  now: TextNow,
): ShownPlace {
  const { startLine, endLine, startColumn, endColumn, drift } = now.placeOf(told);
  return { file, folder, path, startLine, endLine, startColumn, endColumn, told, drift };
}

/** A file's text on the disk; without lines when it cannot be read. */
interface DiskText {
  readonly lines: readonly string[];
  readonly isSent: boolean;
}
