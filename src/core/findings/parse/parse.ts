import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { AssessmentError } from '../../errors.ts';
import { type Finding, type Place, severityRank } from '../finding.ts';
import { type Item, fieldsOf, findList } from './findList.ts';
import { readRating } from './rating.ts';
import { isLoneFinding, readFinding } from './readFinding.ts';
import { parseJsonInSteps } from './jsonSteps.ts';
import { createLook, type Look, normalKey } from './readValue.ts';
import { atOnce, inSlices } from '../slices.ts';
import { createShapes } from './shapes.ts';

/** Most findings that are read when the caller names no other number. */
export const MAX_FINDINGS = 50_000;

/** Longer texts are parsed piece by piece: `JSON.parse` takes its time in one go, which is longer than taking them apart. */
const mostAtOnce = 4 * 1024 * 1024;
const pieceLength = 256 * 1024;

/** A findings file as read. */
export interface ParsedFindings {
  readonly findings: readonly Finding[];
  readonly cut: Cut | undefined;
}

/** There are more findings than are read, `total`: the worst ones, `shown`, were, in the order of the file. */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

/** How to read a findings file. */
export interface ParseOptions {
  /** Makes the ids of findings without one differ between runs. */
  readonly runId: string;
  /** Default: `MAX_FINDINGS`. */
  readonly maxFindings?: number;
}

/**
 * Reads a findings file of any plausible shape; every item of its list becomes a finding. Throws `malformedFindings` when the text
 * is not JSON or holds no list.
 * @internal Tests read with it, at once, what the extension reads in slices.
 */
export function parseFindings(text: string, options: ParseOptions): ParsedFindings {
  return atOnce(readAll(parseJson(text), options));
}

/** `parseFindings` that lets other work go on every few milliseconds, and stops with the signal's reason. */
export async function parseFindingsInSlices(
  text: string,
  options: ParseOptions,
  signal?: AbortSignal,
): Promise<ParsedFindings> {
  signal?.throwIfAborted();
  const root = text.length > mostAtOnce ? await parseLargeJson(text, signal) : parseJson(text);
  // `JSON.parse` may have taken a slice of its own.
  await setImmediate();
  return inSlices(readAll(root, options), signal);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(withoutMark(text));
  } catch (cause) {
    throw toMalformed(cause);
  }
}

async function parseLargeJson(text: string, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await inSlices(parseJsonInSteps(withoutMark(text), pieceLength), signal);
  } catch (cause) {
    signal?.throwIfAborted();
    throw toMalformed(cause);
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function toMalformed(cause: unknown): AssessmentError {
  const detail = cause instanceof Error ? cause.message : 'JSON';
  return new AssessmentError('malformedFindings', { detail }, { cause });
}

/** The one implementation of both readers: yields after every item. */
function* readAll(root: unknown, options: ParseOptions): Generator<undefined, ParsedFindings> {
  const look = createLook(createShapes(normalKey));
  const items = findList(look, root, (object, hasList) => isLoneFinding(look, object, hasList));
  if (items === undefined) throw new AssessmentError('malformedFindings');
  const maxFindings = options.maxFindings ?? MAX_FINDINGS;
  const chosen = items.length > maxFindings ? yield* worst(items, maxFindings, look) : items.keys();

  const findings: Finding[] = [];
  const idOf = createIds(options.runId);
  for (const index of chosen) {
    const item = items[index];
    if (item === undefined) continue;
    findings.push(readFinding(look, item, index, idOf));
    yield;
  }
  const isCut = items.length > maxFindings;
  return { findings, cut: isCut ? { shown: maxFindings, total: items.length } : undefined };
}

/** The positions of the worst items, in the order of the file: a critical finding must not be lost for standing late in it. */
function* worst(items: readonly Item[], count: number, look: Look): Generator<undefined, readonly number[]> {
  const ranks: number[] = [];
  for (const item of items) {
    const fields = fieldsOf(item);
    ranks.push(severityRank(fields === undefined ? 'unrated' : readRating(look, fields).severity));
    yield;
  }
  const byRank = [...ranks.keys()].sort(
    (one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0) || one - other,
  );
  return byRank.slice(0, count).sort((one, other) => one - other);
}

/** Ids for findings without one: a hash of run, title, path and start line, and of the ordinal among findings that are equal in these. */
function createIds(runId: string): (title: string, place: Place | undefined) => string {
  const ordinals = new Map<string, number>();
  return (title, place) => {
    const identity = JSON.stringify([runId, title, place?.path, place?.startLine]);
    const ordinal = ordinals.get(identity) ?? 0;
    ordinals.set(identity, ordinal + 1);
    return hash('sha256', `${identity}${String(ordinal)}`, 'hex').slice(0, 12);
  };
}
