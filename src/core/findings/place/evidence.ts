import { join } from 'node:path';
import { AssessmentError, asUnknown } from '../../errors.ts';
import type { Run } from '../../run/state/run.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import { splitLines } from '../drift/lineText.ts';
import { indexQuotes } from '../drift/anchor.ts';
import { type Place, withoutQuote } from '../finding.ts';
import { createLocator } from './resolver.ts';
import {
  type Decode,
  type DecodedText,
  maxTextBytes,
  readSentText,
  readTextBelow,
  type SentFile,
  type SentOfRun,
} from './sentFiles.ts';

/** The most doubtful kind first. */
export const EVIDENCE = ['notAsSent', 'elsewhere', 'unchecked', 'asSent'] as const;

/** Whether the quote and the line of a place are in what was sent. */
export type Evidence =
  | { readonly kind: 'asSent'; readonly path: string }
  /** The quote is in another file that was sent. */
  | { readonly kind: 'elsewhere'; readonly path: string }
  /** `line` only for a place without a quote. */
  | { readonly kind: 'notAsSent'; readonly path: string; readonly missing: 'file' | 'quote' | 'line' }
  /** What is not known: what was sent, which file is meant, its text, or other files' texts; or the quote is too long to be searched for. */
  | {
      readonly kind: 'unchecked';
      readonly path: string;
      readonly unknown: 'sent' | 'file' | 'text' | 'archive' | 'encoding' | 'quote';
    };

/** For each place of a finding; undefined where there is nothing to check. */
export type EvidenceOfPlaces = readonly (Evidence | undefined)[];

export function leastOf(evidence: EvidenceOfPlaces = []): Evidence | undefined {
  return EVIDENCE.flatMap((kind) => evidence.find((each) => each?.kind === kind) ?? [])[0];
}

/** Limits on the search of archives for quotes that are not in their files: for one quote, for all, and their number. */
const maxSearchedBytes = 128 * 1024 * 1024;
const maxSearchedBytesOfAll = 16 * 1024 * 1024 * 1024;
const maxSearchedQuotes = 500;

/** What an earlier working out found for quotes, while the archive was here. */
export type KnownEvidence = ReadonlyMap<Place, Evidence | undefined>;

export interface RunSource {
  readonly run: Run;
  readonly runFolder: string;
  readonly sent: SentOfRun;
  readonly sentFile: (place: Place) => SentFile | 'ambiguous' | undefined;
  readonly decode: Decode;
}

interface CheckedPlace {
  /** With its lines in the sent text, as far as that is here. */
  readonly anchored: Place;
  readonly evidence: Evidence | undefined;
}

export async function checkEvidence(
  places: readonly Place[],
  source: RunSource,
  known: KnownEvidence,
): Promise<ReadonlyMap<Place, CheckedPlace>> {
  const checked = new Map<Place, CheckedPlace>();
  const missing: Place[] = [];
  const isSentKnown = !source.sent.includes(undefined);
  const anchorHere = anchorOnDisk(source);
  for (const [file, inFile] of Map.groupBy(places, source.sentFile)) {
    const isFile = typeof file === 'object';
    const reading = isFile ? readSentText(source.runFolder, file, source.decode) : undefined;
    const text = await reading?.catch(asUnknown);
    const checkInText = text && isFile ? checkerIn(text, file.path) : undefined;
    const unknown = isFile ? 'text' : !isSentKnown ? 'sent' : file === 'ambiguous' ? 'file' : undefined;
    for (const place of inFile) {
      const { anchored, evidence } = checkInText?.(place) ?? {
        // The file here is the best that there is to correct a line by a quote.
        anchored: unknown === 'sent' ? await anchorHere(place) : place,
        evidence: withoutText({ ...place, path: isFile ? file.path : place.path }, unknown),
      };
      const former = known.get(place);
      const isMissing = evidence?.kind === 'notAsSent' && place.snippet !== undefined;
      // Another quote with this key, with lines left out, may be in the text.
      const isKept =
        former !== undefined &&
        former.kind !== 'unchecked' &&
        (evidence?.kind === 'unchecked' || (isMissing && former.kind !== 'asSent'));
      checked.set(place, { anchored: withoutQuote(anchored), evidence: isKept ? former : evidence });
      if (isMissing && !isKept) missing.push(place);
    }
  }
  for (const [place, evidence] of await searchElsewhere(missing, source))
    checked.set(place, { anchored: checked.get(place)?.anchored ?? place, evidence });
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

/** A place with columns that count UTF-16 units, as its text does. */
function inUnits({ inCodePoints, ...place }: Place, lines: readonly string[]): Place {
  if (inCodePoints !== true) return place;
  const { startLine = 0, endLine = startLine, startColumn, endColumn } = place;
  const toUnits = (line: number, column = 0): number | undefined => {
    const points = Array.from((lines[line - 1] ?? '').slice(0, 2 * column)).slice(0, column - 1);
    return column === 0 ? undefined : points.join('').length + column - points.length;
  };
  return { ...place, startColumn: toUnits(startLine, startColumn), endColumn: toUnits(endLine, endColumn) };
}

/** For a place whose file was not sent, is not known, or has no sent text here. */
function withoutText(
  { path, snippet, startLine }: Place,
  unknown: 'text' | 'file' | 'sent' | undefined,
): Evidence | undefined {
  if (unknown !== undefined) return snippet === undefined ? undefined : { kind: 'unchecked', path, unknown };
  return (snippet ?? startLine) === undefined ? undefined : { kind: 'notAsSent', path, missing: 'file' };
}

function anchorOnDisk({ run: { targets }, sent, decode }: RunSource): (place: Place) => Promise<Place> {
  const knowsSent = sent.map((files) => files !== undefined);
  const locate = createLocator(targets, knowsSent);
  return async (place) => {
    const needsText = place.snippet !== undefined || place.inCodePoints === true;
    const found = needsText ? await locate(place).catch(asUnknown) : undefined;
    const content = found && (await readTextBelow(found.folder, found.path).catch(asUnknown));
    return content ? checkerIn(decode(content, found.file), found.path)(place).anchored : place;
  };
}

/** Searches all that was sent for quotes that are not in their files. What is not found, and was not searched for in all texts, cannot be checked. */
async function searchElsewhere(
  missing: readonly Place[],
  { run, runFolder, sent, decode }: RunSource,
): Promise<ReadonlyMap<Place, Evidence>> {
  const found = new Map<Place, Evidence>();
  const wanted = missing.slice(0, maxSearchedQuotes).map((place) => ({ place, word: wordOf(place.snippet) }));
  let bytesLeft = Math.min(maxSearchedBytes, maxSearchedBytesOfAll / wanted.length);
  // A bundle has no archive.
  let isPartial = run.state === 'imported';
  for (const [index, { archive, folder }] of run.targets.entries()) {
    if (archive === undefined || wanted.length === 0) continue;
    const paths = new Set<string>();
    for (const { path, bytes } of sent[index]?.values() ?? []) {
      if (bytes > maxTextBytes) continue;
      bytesLeft -= bytes;
      if (bytesLeft >= 0) paths.add(path);
    }
    try {
      const file = join(runFolder, archive.file);
      for await (const { path, content } of readArchive(file, archive.type, paths)) {
        if (content.includes(0)) continue; // no text
        const { text } = decode(content, join(folder, path));
        const possible = wanted.filter(({ place, word }) => !found.has(place) && text.includes(word));
        const isQuoted = possible.length > 0 ? indexQuotes(splitLines(text)).isQuoted : undefined;
        for (const { place } of possible)
          if (isQuoted?.(place.snippet ?? '') === true) found.set(place, { kind: 'elsewhere', path });
      }
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      isPartial = true;
    }
  }
  for (const place of isPartial || bytesLeft < 0 ? missing : missing.slice(maxSearchedQuotes))
    if (!found.has(place)) found.set(place, { kind: 'unchecked', path: place.path, unknown: 'archive' });
  return found;
}

/** A long word of a quote: a text without it does not have the quote, and need not be indexed. A line of dots, which is left out, has none. */
function wordOf(quote = ''): string {
  const words = quote.match(/\w{4,}/g) ?? [];
  return words.reduce((best, word) => (word.length > best.length ? word : best), '');
}

/** Evidence as it is shown: a place that was sent in no file, and is found here through a mapping, cannot be checked. */
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
