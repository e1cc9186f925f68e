import * as aliases from './aliases.ts';
import { toFieldList, toFreeText } from './freeText.ts';
import { readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import {
  type Fields,
  fieldsOf,
  hitsAt,
  isObject,
  type JsonObject,
  type KeyPath,
  normalKey,
} from '../../json.ts';

/** An element of a list of findings. */
export interface Item {
  readonly raw: unknown;
  /** `raw` with what it refers to elsewhere in the file. */
  readonly resolved?: JsonObject | undefined;
  /** The rule that a SARIF result refers to. */
  readonly rule?: JsonObject | undefined;
  /** What the group or the key around an item says: it counts where the item itself does not say so. */
  readonly around?: JsonObject | undefined;
  /** Why the tool suppressed the result, or empty. */
  readonly suppression?: string | undefined;
}

const inherited = [aliases.SEVERITY_NAMES, aliases.FILE, aliases.TITLE, aliases.CWE, aliases.ID];

/** The fields of an item, which remember what is used of them. Empty for an item that is not an object. */
export function fieldsOfItem({ raw, resolved, rule, around }: Item): Fields {
  const fields = fieldsOf(resolved ?? raw);
  fields.used = [];
  if (!isObject(raw)) return fields;
  if (around !== undefined) inherit(fields, fieldsOf(around));
  if (rule !== undefined) fields.set('rule', rule);
  return fields;
}

function inherit(fields: Fields, outer: Fields): void {
  for (const paths of inherited)
    if (hitsAt(fields, paths).length === 0)
      for (const { path, value } of hitsAt(outer, paths))
        if (path.length === 1) fields.set(joined(path), value);
}

/** What `read` uses for a result that `isUsed` rejects does not count as used. */
export function attempt<T>(fields: Fields, read: () => T, isUsed: (result: T) => boolean): T {
  const before = fields.used?.length ?? 0;
  const result = read();
  if (!isUsed(result)) fields.used?.splice(before);
  return result;
}

/** What nothing used of an item, in the order of the file, as a Markdown list. */
export function othersOf({ raw, resolved }: Item, { used = [] }: Fields): string {
  return toFieldList(unused(resolved ?? raw, new Set(used.map(joined))));
}

/** The members of an object that were not used; of one that was used in part, its members. */
function unused(
  object: unknown,
  used: ReadonlySet<string>,
  at = '',
  shown = '',
): (readonly [name: string, value: unknown])[] {
  if (!isObject(object)) return [];
  return Object.keys(object).flatMap((key) => {
    const path = at + normalKey(key);
    if (used.has(path)) return [];
    const value = object[key];
    const isPart = isObject(value) && [...used].some((each) => each.startsWith(`${path}.`));
    return isPart ? unused(value, used, `${path}.`, `${shown}${key}.`) : [[shown + key, value] as const];
  });
}

function joined(path: KeyPath): string {
  return path.length === 1 ? (path[0] ?? '') : path.join('.');
}

export function isSeverityName(key: string): boolean {
  return aliases.SEVERITY_WORDS.has(key.trim().toLowerCase());
}

/** `ratedAndPlaced` is asked where an object could also be the head of a report: that often has a rating, too. */
export type Proof = 'ratedOrPlaced' | 'ratedAndPlaced';

/** True for an item with the proof, and with a name or prose. */
export function isFinding(item: Item, proof: Proof): boolean {
  const fields = fieldsOfItem(item);
  const isRated = readRating(fields).severity !== 'unrated';
  if (proof === 'ratedAndPlaced' && !isRated) return false;
  const needsPlace = proof === 'ratedAndPlaced' || !isRated;
  if (needsPlace && readPlaces(fields).places.length === 0) return false;
  return hitsAt(fields, [...aliases.TITLE, ...aliases.DESCRIPTION]).some(
    ({ value }) => toFreeText(value) !== '',
  );
}
