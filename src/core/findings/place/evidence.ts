import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import type { Run } from '../../run/state/run.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import { splitLines } from '../drift/lineText.ts';
import { type Anchor, indexQuotes } from '../drift/anchor.ts';
import { type Place, withoutQuote } from '../finding.ts';
import { inText } from '../parse/sarif.ts';
import type { Resolver } from './resolver.ts';
import {
  type Decode,
  type DecodedText,
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

/** The most doubtful evidence. */
export function leastOf(evidence: EvidenceOfPlaces = []): Evidence | undefined {
  return EVIDENCE.flatMap((kind) => evidence.find((each) => each?.kind === kind) ?? [])[0];
}

/** Limits on the search of archives for quotes that are not in their files. */
const maxSearchedBytes = 64 * 1024 * 1024;
const maxSearchedFileBytes = 1024 * 1024;
const maxSearchedQuotes = 500;

/** What an earlier working out found for quotes, while the archive was here. */
export type KnownEvidence = ReadonlyMap<Place, Evidence | undefined>;

export interface RunSource {
  readonly run: Run;
  readonly runFolder: string;
  readonly sent: SentOfRun;
  readonly resolver: Resolver;
}

/** The places of a finding as reported, and the sent file of each. */
interface ReportedPlaces {
  readonly places: readonly Place[];
  readonly sent: readonly (SentFile | undefined)[];
}

interface CheckedPlace {
  /** With its lines in the sent text, as far as that is here. */
  readonly anchored: Place;
  readonly evidence: Evidence | undefined;
}

/** Looks up all quotes and lines in what was sent. */
export async function checkEvidence(
  findings: readonly ReportedPlaces[],
  source: RunSource,
  known: KnownEvidence,
  decode: Decode,
): Promise<ReadonlyMap<Place, CheckedPlace>> {
  // What could not be checked before is tried again.
  const isKnown = (place: Place): boolean => known.has(place) && known.get(place)?.kind !== 'unchecked';
  const checked = new Map<Place, CheckedPlace>();
  const all = findings.flatMap(({ places, sent }) => places.map((place, at) => ({ place, file: sent[at] })));
  const keyOf = (file: SentFile | undefined): string =>
    file === undefined ? '' : `${String(file.target)} ${file.path}`;
  for (const places of Map.groupBy(all, ({ file }) => keyOf(file)).values()) {
    const file = places[0]?.file;
    const text = file && (await readSentText(source.runFolder, file, decode));
    const checkInText = text && checkerIn(text, file.path);
    for (const { place } of places) {
      const { anchored, evidence } = checkInText?.(place) ?? (await withoutText(place, file, source, decode));
      checked.set(place, {
        anchored: withoutQuote(anchored),
        evidence: isKnown(place) ? known.get(place) : evidence,
      });
    }
  }
  const missing = [...checked].flatMap(([place, { evidence }]) => {
    const isMissing = evidence?.kind === 'notAsSent' && place.snippet !== undefined;
    return isMissing && !isKnown(place) ? [place] : [];
  });
  for (const [place, evidence] of await searchElsewhere(missing, source, decode))
    checked.set(place, { anchored: checked.get(place)?.anchored ?? place, evidence });
  return checked;
}

/** Checks places in the text of their file. */
function checkerIn(decoded: DecodedText, path: string): (place: Place) => CheckedPlace {
  const lines = splitLines(decoded.text);
  const { anchorOf, isQuoted } = indexQuotes(lines);
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
    const place = inText(reported, decoded.text);
    return { anchored: anchoredAt(place, anchorOf(place)), evidence: check(place) };
  };
}

function anchoredAt(place: Place, anchor: Anchor | undefined): Place {
  const withoutColumns = { ...place, startColumn: undefined, endColumn: undefined };
  if (anchor === undefined) return { ...withoutColumns, startLine: undefined, endLine: undefined };
  const { startLine, endLine, isReanchored } = anchor;
  const isOneLine = place.endLine === undefined && endLine === startLine;
  return { ...(isReanchored ? withoutColumns : place), startLine, endLine: isOneLine ? undefined : endLine };
}

/** For a place whose file is not known, or whose file's sent text is not here. */
async function withoutText(
  place: Place,
  file: SentFile | undefined,
  { sent, resolver }: RunSource,
  decode: Decode,
): Promise<CheckedPlace> {
  const { path, snippet, startLine } = place;
  if (file === undefined && !sent.includes(undefined)) {
    const isMissing = (await resolver.sentFile(place)) === 'notFound';
    if (isMissing && (snippet ?? startLine) !== undefined)
      return { anchored: place, evidence: { kind: 'notAsSent', path, missing: 'file' } };
  }
  const unknown = file !== undefined ? 'text' : sent.includes(undefined) ? 'sent' : 'file';
  return {
    // The file here is the best that there is to correct a line by a quote.
    anchored: unknown === 'sent' ? await anchoredHere(place, resolver, decode) : place,
    evidence: snippet === undefined ? undefined : { kind: 'unchecked', path: file?.path ?? path, unknown },
  };
}

async function anchoredHere(place: Place, resolver: Resolver, decode: Decode): Promise<Place> {
  const isPlain =
    place.snippet === undefined && place.charOffset === undefined && place.inCodePoints !== true;
  const found = isPlain ? undefined : await resolver.locate(place);
  if (typeof found !== 'object') return place;
  const content = await readTextBelow(found.folder, found.path);
  return content ? checkerIn(decode(content, found.file), found.path)(place).anchored : place;
}

/** Searches all that was sent for quotes that are not in their files. What is not searched for, or not found where an archive is gone, cannot be checked. */
async function searchElsewhere(
  missing: readonly Place[],
  { run, runFolder, sent }: RunSource,
  decode: Decode,
): Promise<ReadonlyMap<Place, Evidence>> {
  const found = new Map<Place, Evidence>();
  const places = missing.slice(0, maxSearchedQuotes);
  let bytesLeft = maxSearchedBytes;
  // A bundle has no archive.
  let isGone = run.state === 'imported';
  for (const [index, { archive, folder }] of run.targets.entries()) {
    if (archive === undefined || places.length === 0) continue;
    const wanted = new Set<string>();
    for (const { path, bytes } of sent[index]?.values() ?? []) {
      if (bytes > Math.min(maxSearchedFileBytes, bytesLeft)) continue;
      bytesLeft -= bytes;
      wanted.add(path);
    }
    try {
      const file = join(runFolder, archive.file);
      for await (const { path, content } of readArchive(file, archive.type, wanted)) {
        if (content.includes(0)) continue; // no text
        const { isQuoted } = indexQuotes(splitLines(decode(content, join(folder, path)).text));
        for (const place of places)
          if (!found.has(place) && isQuoted(place.snippet ?? '') === true)
            found.set(place, { kind: 'elsewhere', path });
      }
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      isGone = true;
    }
  }
  for (const place of isGone ? missing : missing.slice(maxSearchedQuotes))
    if (!found.has(place)) found.set(place, { kind: 'unchecked', path: place.path, unknown: 'archive' });
  return found;
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
