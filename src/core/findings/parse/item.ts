import * as aliases from './aliases.ts';
import { toFreeText } from './freeText.ts';
import { looksLikePath } from './pathText.ts';
import { readRating } from './rating.ts';
import { readPlaces } from './readPlaces.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject, type JsonObject } from '../../json.ts';

/** What the groups and keys around an item say about it. It counts where the item itself does not say so. */
export type Context = Readonly<Partial<Record<'severity' | 'file' | 'category' | 'cwe' | 'id', unknown>>>;

/** An element of a list of findings. */
export interface Item {
  readonly raw: unknown;
  readonly context?: Context;
  /** The rule that a SARIF result refers to. */
  readonly rule?: JsonObject;
}

const contextAliases = {
  severity: aliases.SEVERITY_NAMES,
  file: aliases.FILE,
  category: aliases.TITLE,
  cwe: aliases.CWE,
  id: aliases.ID,
};

/** Empty for an item that is not an object. */
export function fieldsOfItem({ raw, rule, context = {} }: Item): Fields {
  const fields = fieldsOf(raw);
  if (!isObject(raw)) return fields;
  for (const [key, value] of Object.entries(context))
    if (hitsAt(fields, contextAliases[key as keyof Context]).length === 0) fields.set(key, value);
  if (rule === undefined) return fields;
  fields.set('rule', rule);
  // A result that is not a failure has no level unless it says so, whatever its rule says (SARIF 2.1.0, 3.27.10).
  const isFailure = (raw['kind'] ?? 'fail') === 'fail';
  if (!isFailure && raw['level'] === undefined) fields.set('severity', 'none');
  return fields;
}

/** Adds what an outer group or key says; inner ones take precedence. */
export function withContext(context: Context, items: readonly Item[]): readonly Item[] {
  return items.map((item) => ({ ...item, context: { ...context, ...item.context } }));
}

/** What a group says about its findings. */
export function contextOfGroup(group: Fields): Context {
  const context = {
    severity: firstHit(group, aliases.SEVERITY_NAMES, (value) =>
      typeof value === 'string' || typeof value === 'number' ? value : undefined,
    ),
    file: firstHit(group, aliases.FILE, (value) =>
      typeof value === 'string' && looksLikePath(value, 'files') ? value : undefined,
    ),
    category: firstHit(group, aliases.TITLE, (value) =>
      typeof value === 'string' && value !== '' ? value : undefined,
    ),
    cwe: firstHit(group, aliases.CWE, (value) => value),
  };
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
}

/** What the key of a list says about its findings. */
export function contextOfKey(key: string): Context {
  return isSeverityName(key) ? { severity: key } : (contextOfPath(key) ?? { category: key });
}

/** Undefined for a key that does not look like a path. */
export function contextOfPath(key: string): Context | undefined {
  return looksLikePath(key, 'places') ? { file: key } : undefined;
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

export function hasSeverityField(fields: Fields): boolean {
  return hitsAt(fields, aliases.SEVERITY_NAMES).length > 0;
}
