import { hash } from 'node:crypto';
import { AssessmentError } from '../../errors.ts';
import { type Finding, type Place, severityRank } from '../finding.ts';
import { type Item, fieldsOf, findList } from './findList.ts';
import { readRating } from './rating.ts';
import { isFinding, readFinding } from './readFinding.ts';
import { readJson } from './readJson.ts';
import { createLook, type Look } from './readValue.ts';

/** Most findings that are read of a file when the caller names no other number. */
export const MAX_FINDINGS = 10_000;

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
 * Reads the text of a findings file of any plausible shape; every item of its list becomes a finding. Throws `malformedFindings` when there
 * is no list, and `findingsTooLarge` when there is more in it than memory is for. The extension does this in a worker: see `readFindings`.
 */
export function parseFindings(
  text: string,
  { runId, maxFindings = MAX_FINDINGS }: ParseOptions,
): ParsedFindings {
  const look = createLook();
  const items = findList(look, readJson(text), (item, whole) => isFinding(look, item, whole));
  if (items === undefined) throw new AssessmentError('malformedFindings');
  const total = items.length;
  const chosen = total > maxFindings ? worst(items, maxFindings, look) : [...items.entries()];
  const idOf = createIds(runId);
  return {
    findings: chosen.map(([index, item]) => readFinding(look, item, index, idOf)),
    cut: total > maxFindings ? { shown: maxFindings, total } : undefined,
  };
}

/** The worst items with their positions, in the order of the file: a critical finding must not be lost for standing late in it. */
function worst(items: readonly Item[], count: number, look: Look): readonly (readonly [number, Item])[] {
  const ranked = items.map((item, index) => {
    const fields = fieldsOf(look, item);
    const { severity } = fields === undefined ? ({ severity: 'unrated' } as const) : readRating(look, fields);
    return { entry: [index, item] as const, rank: severityRank(severity) };
  });
  // Sorting keeps the order of equals.
  const worstFirst = ranked.sort((one, other) => one.rank - other.rank).slice(0, count);
  return worstFirst.map(({ entry }) => entry).sort(([one], [other]) => one - other);
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
