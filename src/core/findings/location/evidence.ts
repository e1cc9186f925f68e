import { asUnknown } from '../../errors.ts';
import type { Run } from '../../run/state/run.ts';
import { splitLines } from '../drift/lineText.ts';
import { indexQuotes } from '../drift/anchor.ts';
import { type Location, withoutQuote } from '../finding.ts';
import { createLocator, type Locate } from './resolver.ts';
import {
  type Decode,
  type DecodedText,
  readUploadedText,
  readTextBelow,
  type UploadedFile,
  type UploadedFiles,
} from './uploadedFiles.ts';

export const EVIDENCE = ['quoteNotFound', 'unchecked', 'quoteFound'] as const;

export type Evidence =
  | { readonly kind: 'quoteFound'; readonly path: string }
  /** `line` means that a location without a quote is beyond the end of the file. */
  | { readonly kind: 'quoteNotFound'; readonly path: string; readonly missing: 'file' | 'quote' | 'line' }
  | { readonly kind: 'unchecked'; readonly path: string; readonly unknown: Unknown };

type Unknown = 'upload' | 'file' | 'text' | 'encoding' | 'quote';

/** An entry is undefined if there is nothing to check, as in a quote of only punctuation. */
export type EvidenceOfLocations = readonly (Evidence | undefined)[];

export function leastOf(evidence: EvidenceOfLocations = []): Evidence | undefined {
  return EVIDENCE.flatMap((kind) => evidence.find((each) => each?.kind === kind) ?? [])[0];
}

/** Quotes that are not checked in this time keep the known evidence, if any. */
const maxCheckMs = 20_000;

/** This former evidence is kept where a check now gives `unchecked`. */
export type KnownEvidence = ReadonlyMap<Location, Evidence | undefined>;

export interface RunSource {
  readonly run: Run;
  readonly runFolder: string;
  readonly uploaded: UploadedFiles;
  readonly uploadedFile: (location: Location) => UploadedFile | 'ambiguous' | undefined;
  readonly decode: Decode;
}

interface CheckedLocation {
  /**
   * Has the lines of the uploaded text or, if the upload is unknown, of the local file. If no
   * text is read, lines are as reported.
   */
  readonly anchored: Location;
  readonly evidence: Evidence | undefined;
}

export async function checkEvidence(
  locations: readonly Location[],
  source: RunSource,
  known: KnownEvidence,
  maxMs = maxCheckMs,
): Promise<ReadonlyMap<Location, CheckedLocation>> {
  const checked = new Map<Location, CheckedLocation>();
  const add = (location: Location, { anchored, evidence }: CheckedLocation): void => {
    const former = known.get(location);
    const isKept = evidence?.kind === 'unchecked' && former !== undefined && former.kind !== 'unchecked';
    checked.set(location, { anchored: withoutQuote(anchored), evidence: isKept ? former : evidence });
  };
  const { runFolder, uploaded, uploadedFile, decode } = source;
  const notUploaded = uploaded.includes(undefined) ? 'upload' : undefined;
  const end = performance.now() + maxMs;
  const isLate = (): boolean => performance.now() > end;
  for (const [file, inFile] of Map.groupBy(locations, uploadedFile)) {
    if (typeof file === 'object') {
      const { path } = file;
      const text = isLate() ? undefined : await readUploadedText(runFolder, file, decode).catch(asUnknown);
      const check = text && checkerIn(text, path);
      for (const location of inFile) {
        const found = isLate() ? undefined : check?.(location);
        const evidence = withoutText({ ...location, path }, isLate() ? 'quote' : 'text');
        add(location, found ?? { anchored: location, evidence });
      }
      continue;
    }
    const unknown = notUploaded ?? (file === 'ambiguous' ? 'file' : undefined);
    const anchored = unknown === 'upload' ? await anchorHere(inFile, source, isLate) : undefined;
    for (const location of inFile)
      add(location, {
        anchored: anchored?.get(location) ?? location,
        evidence: withoutText(location, unknown),
      });
  }
  return checked;
}

function checkerIn(decoded: DecodedText, path: string): (location: Location) => CheckedLocation {
  const lines = splitLines(decoded.text);
  const { anchor, isQuoted } = indexQuotes(lines);
  const check = ({ snippet, startLine = 0 }: Location): Evidence | undefined => {
    if (snippet === undefined)
      return startLine > lines.length ? { kind: 'quoteNotFound', path, missing: 'line' } : undefined;
    const isThere = isQuoted(snippet);
    if (isThere === undefined) return undefined;
    if (isThere === 'tooLong') return { kind: 'unchecked', path, unknown: 'quote' };
    if (isThere) return { kind: 'quoteFound', path };
    return decoded.isExact
      ? { kind: 'quoteNotFound', path, missing: 'quote' }
      : { kind: 'unchecked', path, unknown: 'encoding' };
  };
  return (reported) => {
    const location = inUnits(reported, lines);
    return { anchored: anchor(location), evidence: check(location) };
  };
}

/** Converts columns from code points to UTF-16 units. */
function inUnits({ inCodePoints, ...location }: Location, lines: readonly string[]): Location {
  if (inCodePoints !== true) return location;
  const { startLine = 0, endLine = startLine, startColumn, endColumn } = location;
  const toUnits = (line: number, column = 0): number | undefined => {
    const points = Array.from((lines[line - 1] ?? '').slice(0, 2 * column)).slice(0, column - 1);
    return column === 0 ? undefined : points.join('').length + column - points.length;
  };
  return {
    ...location,
    startColumn: toUnits(startLine, startColumn),
    endColumn: toUnits(endLine, endColumn),
  };
}

function withoutText(
  { path, snippet, startLine }: Location,
  unknown: Unknown | undefined,
): Evidence | undefined {
  if (unknown !== undefined) return snippet === undefined ? undefined : { kind: 'unchecked', path, unknown };
  return (snippet ?? startLine) === undefined ? undefined : { kind: 'quoteNotFound', path, missing: 'file' };
}

async function anchorHere(
  locations: readonly Location[],
  { run: { targets }, uploaded, decode }: RunSource,
  isLate: () => boolean,
): Promise<ReadonlyMap<Location, Location>> {
  const anchored = new Map<Location, Location>();
  const knowsUploaded = uploaded.map((files) => files !== undefined);
  const locate = createLocator(targets, knowsUploaded);
  const found: { readonly location: Location; readonly here: NonNullable<Awaited<ReturnType<Locate>>> }[] =
    [];
  for (const location of locations) {
    const needsText = location.snippet !== undefined || location.inCodePoints === true;
    const here = needsText && !isLate() ? await locate(location).catch(asUnknown) : undefined;
    if (here !== undefined) found.push({ location, here });
  }
  for (const inFile of Map.groupBy(found, ({ here }) => here.file).values()) {
    const [{ here } = {}] = inFile;
    const reading = here && !isLate() ? readTextBelow(here.folder, here.path) : undefined;
    const content = await reading?.catch(asUnknown);
    const check = here && content && checkerIn(decode(content, here.file), here.path);
    for (const { location } of inFile)
      if (check !== undefined && !isLate()) anchored.set(location, check(location).anchored);
  }
  return anchored;
}

/** A path without an uploaded file is `unchecked` if a user mapped it to a local file. */
export function asLocated(
  evidence: EvidenceOfLocations | undefined,
  isHere: (at: number) => boolean,
): EvidenceOfLocations | undefined {
  return evidence?.map((each, at) =>
    each?.kind === 'quoteNotFound' && each.missing === 'file' && isHere(at)
      ? { kind: 'unchecked', path: each.path, unknown: 'file' }
      : each,
  );
}
