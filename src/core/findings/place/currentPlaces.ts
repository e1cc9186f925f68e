import { existsSync } from 'node:fs';
import { pathKey } from '../../paths.ts';
import { type CurrentPlace, followFile } from '../drift/followFile.ts';
import { splitLines } from '../drift/lineText.ts';
import type { Place } from '../finding.ts';
import { inText } from '../parse/inText.ts';
import type { ShownPlace } from '../shownFinding.ts';
import {
  type Decode,
  isSent,
  readText,
  readTextBelow,
  type SentFile,
  sourceFile,
  toText,
} from './sentFiles.ts';

/** A file on this machine that places of a run are in. */
export interface LocatedFile extends Pick<ShownPlace, 'file' | 'folder' | 'path'> {
  /** The position of its target in the run. */
  readonly target: number;
  /** What was sent of it, if known. */
  readonly sent: SentFile | undefined;
}

export interface PlacesOfFile {
  /** The local ID of the run that reports the places. */
  readonly run: string;
  readonly file: LocatedFile;
  readonly places: readonly Place[];
}

/** Where the places of a file are in its current text. */
export interface CurrentPlaces {
  /** In the order of the reported places. */
  readonly ranges: readonly CurrentPlace[];
  /** True when the text differs from the one that was scanned. */
  readonly isChanged: boolean;
  /** To be given to the next placement. */
  readonly seen?: SeenText | undefined;
}

/** The text of a file when it was first seen. The file is followed from there if the text that was sent is not on this machine. */
export interface SeenText {
  readonly text: string;
  /** True if it is the text that was sent. */
  readonly isScanned: boolean;
}

/** What current places depend on, besides the files on the disk. */
export interface KnownTexts {
  /** The texts of files with unsaved changes, by `pathKey`. */
  readonly edited: ReadonlyMap<string, string>;
  /** By `seenKey`. */
  readonly seen: ReadonlyMap<string, SeenText>;
}

export function seenKey(runId: string, file: string): string {
  return `${runId} ${pathKey(file)}`;
}

/** In characters, of all files of a run and of the earlier runs that it is compared with: they stay in the extension host’s memory. */
const maxSeenLength = 32_000_000;

/** Adds the first texts to those that are known, as far as there is room. */
export function keepSeen(
  known: KnownTexts['seen'],
  first: Iterable<readonly [string, SeenText]>,
): KnownTexts['seen'] {
  const kept = new Map(known);
  let room = [...known.values()].reduce((left, { text }) => left - text.length, maxSeenLength);
  for (const [key, seen] of first) {
    if (seen.text.length > room) continue;
    room -= seen.text.length;
    kept.set(key, seen);
  }
  return kept;
}

export interface TextSource extends KnownTexts {
  readonly runFolderOf: (runId: string) => string;
  readonly decode: Decode;
}

/** Undefined for a file that is being edited, or that is not as it was sent. */
export async function placesInUnchanged(
  { file, places }: PlacesOfFile,
  { edited, decode }: TextSource,
): Promise<CurrentPlaces | undefined> {
  if (edited.has(pathKey(file.file))) return undefined;
  const content = await readTextBelow(file.folder, file.path);
  if (content === undefined || !isAsSent(content, file)) return undefined;
  const text = await toText(content, file.file, decode);
  return follow({ text, isScanned: true }, text, places);
}

export async function placesInFile(
  { run, file, places }: PlacesOfFile,
  { runFolderOf, edited, seen, decode }: TextSource,
): Promise<CurrentPlaces> {
  const content = await readTextBelow(file.folder, file.path);
  const onDisk = content && (await toText(content, file.file, decode));
  const isDiskAsSent = content !== undefined && isAsSent(content, file);
  const unsaved = edited.get(pathKey(file.file));
  const current = unsaved ?? onDisk;
  if (current === undefined)
    return existsSync(file.file)
      ? asReported(places)
      : { ranges: places.map(() => ({ drift: 'gone' })), isChanged: true };
  const kept = sourceFile(runFolderOf(run), file.target, file.path);
  const known = seen.get(seenKey(run, file.file));
  const scanned = isDiskAsSent ? onDisk : await readKept(file, kept, decode);
  const from =
    scanned === undefined
      ? (known ?? { text: onDisk ?? current, isScanned: false })
      : { text: scanned, isScanned: true };
  // Saving the unsaved text removes the text that it is followed from.
  const isLostBySaving = isDiskAsSent && unsaved !== undefined && !existsSync(kept);
  const isKnown = known !== undefined && known.isScanned === from.isScanned;
  const { ranges, isChanged } = follow(from, current, places);
  return {
    ranges,
    // What was sent is nowhere: the file has changed, but it is not known where.
    isChanged: isChanged || (!from.isScanned && file.sent !== undefined),
    seen: (scanned === undefined || isLostBySaving) && !isKnown ? from : undefined,
  };
}

/** The places as they were reported, for a text that is not read. */
export function asReported(places: readonly Place[]): CurrentPlaces {
  const toRange = ({ startLine, endLine, startColumn, endColumn }: Place): CurrentPlace => ({
    startLine,
    endLine,
    startColumn,
    endColumn,
    drift: 'unknown',
  });
  return { ranges: places.map(toRange), isChanged: false };
}

function follow({ text, isScanned }: SeenText, current: string, places: readonly Place[]): CurrentPlaces {
  const lines = splitLines(text);
  const now = followFile(lines, isScanned).compareWith(current === text ? lines : splitLines(current));
  return { ranges: places.map((place) => now.placeOf(inText(place, text))), isChanged: now.isChanged };
}

/** The text that was sent, as it was kept when the run ended. */
async function readKept(
  { file, sent }: LocatedFile,
  kept: string,
  decode: Decode,
): Promise<string | undefined> {
  const content = sent && (await readText(kept));
  return content && isSent(content, sent) ? toText(content, file, decode) : undefined;
}

function isAsSent(content: Buffer, { sent }: LocatedFile): boolean {
  return sent !== undefined && isSent(content, sent);
}
