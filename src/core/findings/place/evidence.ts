import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import { splitLines } from '../drift/lineText.ts';
import { quotedIn } from '../drift/followFile.ts';
import type { Finding, Place } from '../finding.ts';
import { type Decode, readSentText, type RunSource, type SentSpot, toText } from './sentFiles.ts';

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

/** Evidence that an earlier reading found while the archive was here, by `evidenceKey`. */
export type KnownEvidence = ReadonlyMap<string, Evidence | undefined>;

export function evidenceKey({ path, targetIndex, startLine, snippet }: Place): string {
  return JSON.stringify([path, targetIndex, startLine, snippet]);
}

interface CheckedFinding {
  readonly finding: Finding;
  readonly sent: readonly (SentSpot | undefined)[];
}

/** Checks all quotes and lines of a run's findings; undefined for a finding with nothing to check. */
export async function checkEvidence(
  findings: readonly CheckedFinding[],
  source: RunSource,
  known: KnownEvidence,
  decode: Decode,
): Promise<readonly (EvidenceOfPlaces | undefined)[]> {
  const checked = new Map<Place, Evidence | undefined>();
  // What could not be checked before is tried again.
  const isKnown = (place: Place): boolean => {
    const key = evidenceKey(place);
    return known.has(key) && known.get(key)?.kind !== 'unchecked';
  };
  const byFile = new Map<string, { readonly spot: SentSpot; readonly places: Place[] }>();
  for (const { finding, sent } of findings)
    for (const [at, place] of finding.places.entries()) {
      const [key, spot] = [evidenceKey(place), sent[at]];
      if (isKnown(place)) checked.set(place, known.get(key));
      else if (spot === undefined) checked.set(place, await withoutFile(place, source));
      else {
        const file = `${String(spot.target)} ${spot.file.path}`;
        const ofFile = byFile.get(file);
        if (ofFile === undefined) byFile.set(file, { spot, places: [place] });
        else ofFile.places.push(place);
      }
    }
  for (const { spot, places } of byFile.values()) {
    const check = checkIn(await readSentText(source.runFolder, spot, decode), spot.file.path);
    for (const place of places) checked.set(place, check(place));
  }
  const missing = [...checked].flatMap(([place, evidence]) => {
    const isMissing = evidence?.kind === 'notAsSent' && place.snippet !== undefined;
    return isMissing && !isKnown(place) ? [place] : [];
  });
  for (const [place, evidence] of await searchElsewhere(missing, source, decode))
    checked.set(place, evidence);
  return findings.map(({ finding: { places } }) => {
    const evidence = places.map((place) => checked.get(place));
    return evidence.some((each) => each !== undefined) ? evidence : undefined;
  });
}

/** For a place in no file that is known to be sent. */
async function withoutFile(place: Place, { sent, resolver }: RunSource): Promise<Evidence | undefined> {
  const { path, snippet, startLine } = place;
  const found = await resolver.sentFile(place);
  const isMissing = !sent.includes(undefined) && found.kind === 'none' && found.reason === 'notFound';
  if (isMissing && (snippet ?? startLine) !== undefined) return { kind: 'notAsSent', path, missing: 'file' };
  if (snippet === undefined) return undefined;
  return { kind: 'unchecked', path, unknown: sent.includes(undefined) ? 'sent' : 'file' };
}

/** `text` is the file's sent text. */
function checkIn(text: string | undefined, path: string): (place: Place) => Evidence | undefined {
  if (text === undefined)
    return ({ snippet }) =>
      snippet === undefined ? undefined : { kind: 'unchecked', path, unknown: 'text' };
  const lines = splitLines(text);
  // False where the text has another encoding than it was read in.
  const isDecoded = !/[\uFFFD\0]/.test(text);
  const isQuoted = quotedIn(lines);
  return ({ snippet, startLine = 0 }) => {
    if (snippet === undefined)
      return startLine > lines.length ? { kind: 'notAsSent', path, missing: 'line' } : undefined;
    const isThere = isQuoted(snippet);
    if (isThere === undefined) return undefined;
    if (isThere === 'tooLong') return { kind: 'unchecked', path, unknown: 'quote' };
    if (isThere) return { kind: 'asSent', path };
    return isDecoded
      ? { kind: 'notAsSent', path, missing: 'quote' }
      : { kind: 'unchecked', path, unknown: 'encoding' };
  };
}

/** Searches all that was sent for quotes that are not in their files. Where an archive is gone, what is not found cannot be checked. */
async function searchElsewhere(
  missing: readonly Place[],
  { run, runFolder, sent }: RunSource,
  decode: Decode,
): Promise<ReadonlyMap<Place, Evidence>> {
  const found = new Map<Place, Evidence>();
  if (missing.length === 0) return found;
  const places = missing.slice(0, maxSearchedQuotes);
  let bytesLeft = maxSearchedBytes;
  let isGone = false;
  for (const [index, { archive, folder }] of run.targets.entries()) {
    if (archive === undefined) continue;
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
        const isQuoted = quotedIn(splitLines(await toText(content, join(folder, path), decode)));
        for (const place of places)
          if (!found.has(place) && isQuoted(place.snippet ?? '') === true)
            found.set(place, { kind: 'elsewhere', path });
      }
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      isGone = true;
    }
  }
  if (isGone)
    for (const place of missing)
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
