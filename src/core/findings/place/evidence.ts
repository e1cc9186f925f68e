import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from '../../errors.ts';
import { inParallel, inSlices } from '../../yieldingWork.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import { splitLines } from '../drift/lineText.ts';
import { quotedIn } from '../drift/followFile.ts';
import type { Finding, Place } from '../finding.ts';
import {
  type Decode,
  readSentText,
  type RunSource,
  type SentFile,
  sentFileOf,
  type SentSpot,
  toText,
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
  /** What is not known: what was sent, which file is meant, or its text; or the quote is too long to be searched for. */
  | {
      readonly kind: 'unchecked';
      readonly path: string;
      readonly unknown: 'sent' | 'file' | 'text' | 'encoding' | 'quote';
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
const placesAtOnce = 500;
/** The size of Node's thread pool. Each file is in memory until it is checked. */
const filesAtOnce = 4;

/** Checks all quotes and lines of a run's findings; undefined for a finding with nothing to check. Yields to other work. */
export async function checkEvidence(
  findings: readonly Finding[],
  source: RunSource,
  decode: Decode,
): Promise<readonly (EvidenceOfPlaces | undefined)[]> {
  const all = findings.flatMap(({ places }) => places);
  const checked = new Map<Place, Evidence | undefined>();
  const byFile = new Map<SentFile, { readonly spot: SentSpot; readonly places: Place[] }>();
  for (const [at, place] of all.entries()) {
    // Promises that are resolved already do not yield to other work.
    if (at % placesAtOnce === 0) await setImmediate();
    const spot = (await sentFileOf(source, place)) ?? (await mappedSpotOf(source, place));
    const known = spot && byFile.get(spot.file);
    if (spot === undefined) checked.set(place, await withoutFile(place, source));
    else if (known === undefined) byFile.set(spot.file, { spot, places: [place] });
    else known.places.push(place);
  }
  // Files are read in parallel, but checked one at a time with a pause between two: the slices of several would add up to a long one.
  let checking: Promise<unknown> = Promise.resolve();
  await inParallel(byFile.values(), filesAtOnce, async ({ spot, places }) => {
    const text = await readSentText(source, spot, decode);
    checking = checking
      .then(() => setImmediate())
      .then(() => inSlices(checkPlaces(places, text, spot.file.path, checked)));
    await checking;
  });
  const missing = all.filter(
    (place) => checked.get(place)?.kind === 'notAsSent' && place.snippet !== undefined,
  );
  for (const [place, path] of await searchArchives(missing.slice(0, maxSearchedQuotes), source, decode))
    checked.set(place, { kind: 'elsewhere', path });
  return findings.map(({ places }) => {
    const evidence = places.map((place) => checked.get(place));
    return evidence.some((each) => each !== undefined) ? evidence : undefined;
  });
}

/** The sent file of a place whose path a person mapped. */
async function mappedSpotOf({ sent, resolver }: RunSource, place: Place): Promise<SentSpot | undefined> {
  const here = await resolver.locate(place);
  const file = here.kind === 'file' ? sent[here.target]?.get(here.path) : undefined;
  return here.kind === 'file' && file !== undefined ? { target: here.target, file } : undefined;
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
function* checkPlaces(
  places: readonly Place[],
  text: string | undefined,
  path: string,
  checked: Map<Place, Evidence | undefined>,
): Generator<undefined, void> {
  const lines = text === undefined ? undefined : splitLines(text);
  // False where the text has another encoding than it was read in.
  const isDecoded = text !== undefined && !/[\uFFFD\0]/.test(text);
  const isQuoted = lines && quotedIn(lines);
  const check = ({ snippet, startLine = 0 }: Place): Evidence | undefined => {
    if (lines === undefined || isQuoted === undefined)
      return snippet === undefined ? undefined : { kind: 'unchecked', path, unknown: 'text' };
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
  for (const place of places) {
    checked.set(place, check(place));
    yield;
  }
}

/** The paths of sent files that contain the quotes, as far as archives are still kept. */
async function searchArchives(
  places: readonly Place[],
  { run, runFolder, sent }: RunSource,
  decode: Decode,
): Promise<ReadonlyMap<Place, string>> {
  const found = new Map<Place, string>();
  let bytesLeft = maxSearchedBytes;
  for (const [index, { archive, folder }] of run.targets.entries()) {
    if (archive === undefined || found.size === places.length) continue;
    const wanted = new Set<string>();
    for (const { path, bytes } of sent[index]?.values() ?? []) {
      if (bytes > Math.min(maxSearchedFileBytes, bytesLeft)) continue;
      bytesLeft -= bytes;
      wanted.add(path);
    }
    try {
      for await (const { path, content } of readArchive(
        join(runFolder, archive.file),
        archive.type,
        wanted,
      )) {
        const isQuoted = quotedIn(splitLines(await toText(content, join(folder, path), decode)));
        const searchEach = function* (): Generator<undefined, void> {
          for (const place of places) {
            if (!found.has(place) && isQuoted(place.snippet ?? '') === true) found.set(place, path);
            yield;
          }
        };
        await inSlices(searchEach());
      }
    } catch (error) {
      // The archive may be deleted at any time after it was uploaded.
      if (!(error instanceof AssessmentError)) throw error;
    }
  }
  return found;
}
