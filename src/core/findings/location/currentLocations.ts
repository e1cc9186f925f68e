import { asUnknown } from '../../errors.ts';
import { pathKey } from '../../paths.ts';
import { type Drift, followLines } from '../drift/followLines.ts';
import { splitLines } from '../drift/lineText.ts';
import type { Location } from '../finding.ts';
import type { ShownLocation } from '../shownFinding.ts';
import { createDecode, type Encodings, readUploadedText, readTextBelow } from './uploadedFiles.ts';

export type LocatedFile = Pick<ShownLocation, 'file' | 'folder' | 'target' | 'path' | 'uploaded'>;

export interface LocationsOfFile {
  readonly run: string;
  readonly file: LocatedFile;
  readonly locations: readonly Location[];
}

export interface CurrentLocations {
  readonly locations: readonly Omit<ShownLocation, keyof LocatedFile | 'reported' | 'isChanged'>[];
  readonly isChanged: boolean;
}

export interface EditorTexts {
  /** The keys are `pathKey`s of unsaved files. */
  readonly edited: ReadonlyMap<string, string>;
  readonly encodings: Encodings;
}

export function asReported(
  { locations }: LocationsOfFile,
  { isAsUploaded = false, isChanged = false } = {},
): CurrentLocations {
  const toCurrent = ({ startLine, endLine, startColumn, endColumn }: Location) => {
    const drift: Drift = isAsUploaded && startLine !== undefined ? 'same' : 'unknown';
    return { startLine, endLine, startColumn, endColumn, drift };
  };
  return { locations: locations.map(toCurrent), isChanged };
}

/** May block its thread for seconds. A file that can't be read now has an undefined entry. */
export async function followFiles(
  files: readonly LocationsOfFile[],
  texts: EditorTexts,
  runFolderOf: (runId: string) => string,
): Promise<readonly (CurrentLocations | undefined)[]> {
  const locations: (CurrentLocations | undefined)[] = [];
  for (const each of files) locations.push(await followFile(each, texts, runFolderOf).catch(asUnknown));
  return locations;
}

async function followFile(
  each: LocationsOfFile,
  texts: EditorTexts,
  runFolderOf: (runId: string) => string,
): Promise<CurrentLocations> {
  const { run, file } = each;
  const decode = createDecode(texts.encodings);
  const content = await readTextBelow(file.folder, file.path);
  const current = texts.edited.get(pathKey(file.file)) ?? (content && decode(content, file.file).text);
  if (current === undefined) return asReported(each);
  const uploaded = file.uploaded && (await readUploadedText(runFolderOf(run), file.uploaded, decode))?.text;
  // Without the uploaded text, it is unknown where the file has changed.
  if (uploaded === undefined) return asReported(each, { isChanged: file.uploaded !== undefined });
  const [before, after] = [splitLines(uploaded), splitLines(current)];
  const isSame = before.length === after.length && before.every((line, at) => line === after[at]);
  const follow = followLines(before, after);
  const location = (reported: Location): CurrentLocations['locations'][number] => {
    const { startLine, endLine = startLine, startColumn, endColumn } = reported;
    if (startLine === undefined || endLine === undefined || startLine > before.length)
      return { drift: 'unknown' };
    const now = follow({ startLine, endLine });
    const isAsBefore =
      before[startLine - 1] === after[now.startLine - 1] && before[endLine - 1] === after[now.endLine - 1];
    return { ...now, ...(isAsBefore && { startColumn, endColumn }) };
  };
  return { locations: each.locations.map(location), isChanged: !isSame };
}
