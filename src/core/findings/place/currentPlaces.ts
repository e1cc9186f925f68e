import { asUnknown } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { type Drift, followLines } from '../drift/followLines.ts';
import { splitLines } from '../drift/lineText.ts';
import type { Place } from '../finding.ts';
import type { ShownPlace } from '../shownFinding.ts';
import { createDecode, type Encodings, readSentText, readTextBelow } from './sentFiles.ts';

export type LocatedFile = Pick<ShownPlace, 'file' | 'folder' | 'target' | 'path' | 'sent'>;

export interface PlacesOfFile {
  readonly run: string;
  readonly file: LocatedFile;
  readonly places: readonly Place[];
}

export interface CurrentPlaces {
  readonly places: readonly Omit<ShownPlace, keyof LocatedFile | 'reported' | 'isChanged'>[];
  readonly isChanged: boolean;
}

/** Plain data. */
export interface EditorTexts {
  /** Unsaved texts by `pathKey`. */
  readonly edited: ReadonlyMap<string, string>;
  readonly encodings: Encodings;
}

export function asReported(
  { places }: PlacesOfFile,
  { isAsSent = false, isChanged = false } = {},
): CurrentPlaces {
  const toCurrent = ({ startLine, endLine, startColumn, endColumn }: Place) => {
    const drift: Drift = isAsSent && startLine !== undefined ? 'same' : 'unknown';
    return { startLine, endLine, startColumn, endColumn, drift };
  };
  return { places: places.map(toCurrent), isChanged };
}

/** Takes long: for the worker. Undefined for a file that cannot be read now. */
export async function followFiles(
  files: readonly PlacesOfFile[],
  texts: EditorTexts,
  runFolderOf: (runId: string) => string,
): Promise<readonly (CurrentPlaces | undefined)[]> {
  const places: (CurrentPlaces | undefined)[] = [];
  for (const each of files) places.push(await followFile(each, texts, runFolderOf).catch(asUnknown));
  return places;
}

async function followFile(
  each: PlacesOfFile,
  texts: EditorTexts,
  runFolderOf: (runId: string) => string,
): Promise<CurrentPlaces> {
  const { run, file } = each;
  const decode = createDecode(texts.encodings);
  const content = await readTextBelow(file.folder, file.path);
  const current = texts.edited.get(pathKey(file.file)) ?? (content && decode(content, file.file).text);
  if (current === undefined) return asReported(each);
  const sent = file.sent && (await readSentText(runFolderOf(run), file.sent, decode))?.text;
  // What was sent is nowhere: the file has changed, but it is not known where.
  if (sent === undefined) return asReported(each, { isChanged: file.sent !== undefined });
  const [before, after] = [splitLines(sent), splitLines(current)];
  const isSame = before.length === after.length && before.every((line, at) => line === after[at]);
  const placeNow = followLines(before, after);
  const place = ({
    startLine,
    endLine = startLine,
    startColumn,
    endColumn,
  }: Place): CurrentPlaces['places'][number] => {
    if (startLine === undefined || endLine === undefined || startLine > before.length)
      return { drift: 'unknown' };
    const now = placeNow({ startLine, endLine });
    const isAsBefore =
      before[startLine - 1] === after[now.startLine - 1] && before[endLine - 1] === after[now.endLine - 1];
    return { ...now, ...(isAsBefore && { startColumn, endColumn }) };
  };
  return { places: each.places.map(place), isChanged: !isSame };
}
