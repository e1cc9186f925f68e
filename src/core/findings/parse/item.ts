import { visibleLine } from '../../visibleText.ts';
import type { Finding } from '../finding.ts';
import * as aliases from './aliases.ts';
import { toFieldList, toFreeText } from './freeText.ts';
import { readCwes, readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import {
  Fields,
  fieldsOf,
  firstHit,
  hitsAt,
  isObject,
  type JsonObject,
  type KeyPath,
  normalKey,
} from '../../json.ts';

/** Longest feature name and address (docs/api.md, section 2.7). */
const maxLiveLength = 5_000;

export interface Item {
  readonly raw: unknown;
  /** `raw` with what it refers to elsewhere in the file. */
  readonly resolved?: JsonObject | undefined;
  /** The rule that a SARIF result refers to. */
  readonly rule?: JsonObject | undefined;
  /** What groups and keys around an item say: it counts where the item itself does not say so. */
  readonly around?: Fields | undefined;
  /** True if its columns count code points (SARIF 2.1.0, 3.14.17). */
  readonly inCodePoints?: boolean | undefined;
  /** Why the tool suppressed the result, or empty. */
  readonly suppression?: string | undefined;
}

const inherited = [aliases.SEVERITY_NAMES, aliases.FILE, aliases.TITLE, aliases.CWE, aliases.ID];

/** The fields of an item, which remember what is used of them. Empty for an item that is not an object. */
export function fieldsOfItem({ raw, resolved, rule, around }: Item): Fields {
  const fields = fieldsOf(resolved ?? raw);
  fields.used = [];
  if (!isObject(raw)) return fields;
  if (around !== undefined) addMissing(fields, around);
  if (rule !== undefined) fields.set('rule', rule);
  return fields;
}

/** What a group or a key says about each finding inside it, before what is said around it. */
export function inherit(group: unknown, around: Fields | undefined): Fields | undefined {
  const fields = new Fields();
  addMissing(fields, fieldsOf(group));
  if (around !== undefined) addMissing(fields, around);
  return fields.size === 0 ? undefined : fields;
}

function addMissing(fields: Fields, outer: Fields): void {
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

/** What an item has that looks like a finding. */
export interface Look {
  /** True for a rating, a CWE, and a place in a live application. */
  readonly isSure: boolean;
  readonly hasLine: boolean;
}

/** Undefined unless the item has a title or a description, and a rating, a CWE or a place, also one in a live application. */
export function lookOf(item: Item): Look | undefined {
  const fields = fieldsOfItem(item);
  if (!hasText(fields, aliases.TITLE) && !hasText(fields, aliases.DESCRIPTION)) return undefined;
  const isSure = isRatedOrLive(fields) || readCwes(fields).length > 0;
  const { places } = readPlaces(fields);
  if (places.length === 0 && !isSure) return undefined;
  return { isSure, hasLine: places.some(({ startLine }) => startLine !== undefined) };
}

/** True for an item with a title of its own, a place, or a rating: the ID of a rule is no title. */
export function isReadable(item: Item): boolean {
  const fields = fieldsOfItem(item);
  return hasText(fields, aliases.OWN_TITLE) || isRatedOrLive(fields) || readPlaces(fields).places.length > 0;
}

/** True for a check that found no problem, or did not apply (SARIF 2.1.0, 3.27.9). */
export function isPass(item: Item): boolean {
  return hitsAt(fieldsOfItem(item), aliases.OUTCOME).some(
    ({ value }) => typeof value === 'string' && aliases.PASSES.has(normalKey(value)),
  );
}

function isRatedOrLive(fields: Fields): boolean {
  return readRating(fields).severity !== 'unrated' || Object.keys(readLive(fields)).length > 0;
}

function hasText(fields: Fields, paths: readonly KeyPath[]): boolean {
  return hitsAt(fields, paths).some(({ value }) => toFreeText(value) !== '');
}

/** Where a finding of a live application was found; empty for a finding about code. */
export function readLive(fields: Fields): Pick<Finding, 'method' | 'url' | 'feature' | 'perspective'> {
  const live = {
    method: firstHit(fields, aliases.METHOD, toMethod),
    url: firstHit(fields, aliases.URL_TEXT, toUrlText),
    feature: firstHit(fields, aliases.FEATURE, toLine),
    perspective: firstHit(fields, aliases.PERSPECTIVE, toPerspective),
  };
  // A single one may be anything: `url` a reference, `feature` a part of the code. A request is one.
  const isSure = fields.has('webrequest') && live.url !== undefined;
  return isSure || Object.values(live).filter((value) => value !== undefined).length > 1 ? live : {};
}

/** Only in upper case: `get` is more often the name of a function. */
function toMethod(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{3,10}$/.test(value) ? value : undefined;
}

/** A web address, or a path that starts with `/`. */
function toUrlText(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:https?:\/)?\/\S*$/i.test(value) ? toLine(value) : undefined;
}

function toPerspective(value: unknown): string | undefined {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{N} _-]{0,63}$/u.test(value) ? value : undefined;
}

function toLine(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= maxLiveLength;
  return isText ? visibleLine(value) : undefined;
}
