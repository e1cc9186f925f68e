import { asUnknown } from '../../errors.ts';
import type { Run } from '../../run/state/run.ts';
import { splitLines } from '../drift/lineText.ts';
import { indexQuotes } from '../drift/anchor.ts';
import { type Place, withoutQuote } from '../finding.ts';
import { createLocator, type Locate } from './resolver.ts';
import {
  type Decode,
  type DecodedText,
  readSentText,
  readTextBelow,
  type SentFile,
  type SentOfRun,
} from './sentFiles.ts';

export const EVIDENCE = ['notAsSent', 'unchecked', 'asSent'] as const;

/** Whether quote and line of a place are in what was sent. */
export type Evidence =
  | { readonly kind: 'asSent'; readonly path: string }
  /** `line` only for a place without a quote. */
  | { readonly kind: 'notAsSent'; readonly path: string; readonly missing: 'file' | 'quote' | 'line' }
  /** Something is not known, or searching for the quote takes too long. */
  | { readonly kind: 'unchecked'; readonly path: string; readonly unknown: Unknown };

type Unknown = 'sent' | 'file' | 'text' | 'encoding' | 'quote';

/** Undefined where there is nothing to check. */
export type EvidenceOfPlaces = readonly (Evidence | undefined)[];

export function leastOf(evidence: EvidenceOfPlaces = []): Evidence | undefined {
  return EVIDENCE.flatMap((kind) => evidence.find((each) => each?.kind === kind) ?? [])[0];
}

/** No finding is lost for its quote: the rest is unchecked. */
const maxCheckMs = 20_000;

/** Found while the sent text was here. */
export type KnownEvidence = ReadonlyMap<Place, Evidence | undefined>;

export interface RunSource {
  readonly run: Run;
  readonly runFolder: string;
  readonly sent: SentOfRun;
  readonly sentFile: (place: Place) => SentFile | 'ambiguous' | undefined;
  readonly decode: Decode;
}

interface CheckedPlace {
  /** Its lines are those of the sent text, if that is here. */
  readonly anchored: Place;
  readonly evidence: Evidence | undefined;
}

export async function checkEvidence(
  places: readonly Place[],
  source: RunSource,
  known: KnownEvidence,
  maxMs = maxCheckMs,
): Promise<ReadonlyMap<Place, CheckedPlace>> {
  const checked = new Map<Place, CheckedPlace>();
  const add = (place: Place, { anchored, evidence }: CheckedPlace): void => {
    const former = known.get(place);
    const isKept = evidence?.kind === 'unchecked' && former !== undefined && former.kind !== 'unchecked';
    checked.set(place, { anchored: withoutQuote(anchored), evidence: isKept ? former : evidence });
  };
  const { runFolder, sent, sentFile, decode } = source;
  const notSent = sent.includes(undefined) ? 'sent' : undefined;
  const end = performance.now() + maxMs;
  const isLate = (): boolean => performance.now() > end;
  for (const [file, inFile] of Map.groupBy(places, sentFile)) {
    if (typeof file === 'object') {
      const { path } = file;
      const text = isLate() ? undefined : await readSentText(runFolder, file, decode).catch(asUnknown);
      const check = text && checkerIn(text, path);
      for (const place of inFile) {
        const found = isLate() ? undefined : check?.(place);
        const evidence = withoutText({ ...place, path }, isLate() ? 'quote' : 'text');
        add(place, found ?? { anchored: place, evidence });
      }
      continue;
    }
    const unknown = notSent ?? (file === 'ambiguous' ? 'file' : undefined);
    // The file here is the best that there is to correct a line by a quote.
    const anchored = unknown === 'sent' ? await anchorHere(inFile, source, isLate) : undefined;
    for (const place of inFile)
      add(place, { anchored: anchored?.get(place) ?? place, evidence: withoutText(place, unknown) });
  }
  return checked;
}

function checkerIn(decoded: DecodedText, path: string): (place: Place) => CheckedPlace {
  const lines = splitLines(decoded.text);
  const { anchor, isQuoted } = indexQuotes(lines);
  const check = ({ snippet, startLine = 0 }: Place): Evidence | undefined => {
    if (snippet === undefined)
      return startLine > lines.length ? { kind: 'notAsSent', path, missing: 'line' } : undefined;
    const isThere = isQuoted(snippet);
    if (isThere === undefined) return undefined;
    if (isThere === 'tooLong') return { kind: 'unchecked', path, unknown: 'quote' };
    if (isThere) return { kind: 'asSent', path };
    return decoded.isExact
      ? { kind: 'notAsSent', path, missing: 'quote' }
      : { kind: 'unchecked', path, unknown: 'encoding' };
  };
  return (reported) => {
    const place = inUnits(reported, lines);
    return { anchored: anchor(place), evidence: check(place) };
  };
}

/** Columns then count UTF-16 units, as the text does. */
function inUnits({ inCodePoints, ...place }: Place, lines: readonly string[]): Place {
  if (inCodePoints !== true) return place;
  const { startLine = 0, endLine = startLine, startColumn, endColumn } = place;
  const toUnits = (line: number, column = 0): number | undefined => {
    const points = Array.from((lines[line - 1] ?? '').slice(0, 2 * column)).slice(0, column - 1);
    return column === 0 ? undefined : points.join('').length + column - points.length;
  };
  return { ...place, startColumn: toUnits(startLine, startColumn), endColumn: toUnits(endLine, endColumn) };
}

/** The file was not sent, is not known, or has no sent text here. */
function withoutText(
  { path, snippet, startLine }: Place,
  unknown: Unknown | undefined,
): Evidence | undefined {
  if (unknown !== undefined) return snippet === undefined ? undefined : { kind: 'unchecked', path, unknown };
  return (snippet ?? startLine) === undefined ? undefined : { kind: 'notAsSent', path, missing: 'file' };
}

async function anchorHere(
  places: readonly Place[],
  { run: { targets }, sent, decode }: RunSource,
  isLate: () => boolean,
): Promise<ReadonlyMap<Place, Place>> {
  const anchored = new Map<Place, Place>();
  const knowsSent = sent.map((files) => files !== undefined);
  const locate = createLocator(targets, knowsSent);
  const found: { readonly place: Place; readonly here: NonNullable<Awaited<ReturnType<Locate>>> }[] = [];
  for (const place of places) {
    const needsText = place.snippet !== undefined || place.inCodePoints === true;
    const here = needsText && !isLate() ? await locate(place).catch(asUnknown) : undefined;
    if (here !== undefined) found.push({ place, here });
  }
  for (const inFile of Map.groupBy(found, ({ here }) => here.file).values()) {
    const [{ here } = {}] = inFile;
    const reading = here && !isLate() ? readTextBelow(here.folder, here.path) : undefined;
    const content = await reading?.catch(asUnknown);
    const check = here && content && checkerIn(decode(content, here.file), here.path);
    for (const { place } of inFile)
      if (check !== undefined && !isLate()) anchored.set(place, check(place).anchored);
  }
  return anchored;
}

/** A place that was sent in no file, and is found here through a mapping, cannot be checked. */
export function asPlaced(
  evidence: EvidenceOfPlaces | undefined,
  isHere: (at: number) => boolean,
): EvidenceOfPlaces | undefined {
  const isMapped = (each: Evidence | undefined, at: number): boolean =>
    each?.kind === 'notAsSent' && each.missing === 'file' && isHere(at);
  if (evidence?.some(isMapped) !== true) return evidence;
  return evidence.map((each, at) =>
    each !== undefined && isMapped(each, at) ? { kind: 'unchecked', path: each.path, unknown: 'file' } : each,
  );
}
