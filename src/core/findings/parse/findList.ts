import { LIST } from './aliases.ts';
import {
  type Context,
  contextOfGroup,
  contextOfKey,
  contextOfPath,
  fieldsOfItem,
  hasSeverityField,
  isFinding,
  isSeverityName,
  type Item,
  withContext,
} from './item.ts';
import { sarifResults } from './sarifLog.ts';
import { type Fields, fieldsOf, hitsAt, isObject, type JsonObject, normalKey } from '../../json.ts';

const maxDepth = 8;
/** Items that are looked at to see whether a list under an unknown key holds findings. */
const sampleSize = 20;

const listKeys = new Set(LIST.map(([key]) => key));
/** Only findings stand under these keys. */
const findingsKeys = ['findings', 'vulnerabilities'];
/** A list under these keys may also belong to one finding. */
const ambiguousKeys = ['items', 'data'];

/** A list of findings, and the key that it stands under. */
interface KeyedList {
  readonly key: string;
  readonly items: readonly Item[];
}

/**
 * Finds the list of findings in a parsed file; undefined when there is none. In this order:
 * 1. An array at the root: each element is a finding, or a group of findings (`itemsOfArray`).
 * 2. SARIF's results, else the first list with findings under a key of `LIST` (`knownList`): the key says that they are findings.
 * 3. Lists under any other keys, where the key is a severity or some items are findings by themselves (`unknownLists`).
 * 4. The root itself, as a lone finding. It comes before lists that may belong to it, but then needs more proof than a report, which has a title and
 *    often a rating, too.
 */
export function findList(root: unknown): readonly Item[] | undefined {
  if (Array.isArray(root)) return itemsOfArray(root, 0);
  if (!isObject(root)) return undefined;
  const list = knownList(fieldsOf(root), 0);
  const items = list?.items ?? unknownLists(root, 0);
  const mayBelongToRoot =
    list === undefined || (ambiguousKeys.includes(list.key) && !list.items.some(isObjectItem));
  const isReport = list !== undefined || (items !== undefined && areSurelyFindings(items));
  const isLoneFinding =
    mayBelongToRoot && isFinding({ raw: root }, isReport ? 'ratedAndPlaced' : 'ratedOrPlaced');
  return isLoneFinding ? [{ raw: root }] : items;
}

/** Each element is a finding, a group of findings, or an array of these. */
function itemsOfArray(elements: readonly unknown[], depth: number): readonly Item[] {
  return elements.flatMap((raw: unknown) => {
    if (isObject(raw)) return itemsOfGroup(raw, depth + 1) ?? [{ raw }];
    const holdsItems = Array.isArray(raw) && raw.some(isObject) && depth < maxDepth;
    return holdsItems ? itemsOfArray(raw, depth + 1) : [{ raw }];
  });
}

/** The findings in a group, with its context; undefined for an object that is a finding itself. */
function itemsOfGroup(group: JsonObject, depth: number): readonly Item[] | undefined {
  if (depth > maxDepth) return undefined;
  const fields = fieldsOf(group);
  const list = knownList(fields, depth);
  const items =
    list === undefined ? itemsOfUnknownGroup(group, fields, depth) : itemsOfKnownGroup(group, list);
  return items && withContext(contextOfGroup(fields), items);
}

/** The list under a known key, unless it more likely belongs to a finding. */
function itemsOfKnownGroup(group: JsonObject, { key, items }: KeyedList): readonly Item[] | undefined {
  const isSure = findingsKeys.includes(key);
  if (items.some(isObjectItem)) {
    const isGroup =
      isSure ||
      !isFinding({ raw: group }, 'ratedAndPlaced') ||
      items.some((item) => isFinding(item, 'ratedOrPlaced'));
    return isGroup ? items : undefined;
  }
  // A list of texts, or an empty one, may belong to a finding.
  if (ambiguousKeys.includes(key)) return undefined;
  return isFinding({ raw: group }, isSure ? 'ratedAndPlaced' : 'ratedOrPlaced') ? undefined : items;
}

/** Lists under unknown keys. An object that looks like a finding is one, unless it names no severity and surely holds findings. */
function itemsOfUnknownGroup(group: JsonObject, fields: Fields, depth: number): readonly Item[] | undefined {
  if (!Object.values(group).some(mayHoldLists)) return undefined;
  if (!isFinding({ raw: group }, 'ratedOrPlaced')) return unknownLists(group, depth);
  if (hasSeverityField(fields)) return undefined;
  const items = unknownLists(group, depth);
  return items && areSurelyFindings(withContext(contextOfGroup(fields), items)) ? items : undefined;
}

/** SARIF's results; else the first list under a known key that holds findings; else the first empty one. */
function knownList(fields: Fields, depth: number): KeyedList | undefined {
  const results = sarifResults(fields);
  if (results !== undefined) return { key: 'runs', items: results };
  let firstEmpty: KeyedList | undefined;
  for (const { path, value } of hitsAt(fields, LIST)) {
    const list = listUnderKey(path[0] ?? '', value, depth + 1);
    if (list !== undefined && list.items.length > 0) return list;
    firstEmpty ??= list;
  }
  return firstEmpty;
}

function listUnderKey(key: string, value: unknown, depth: number): KeyedList | undefined {
  if (Array.isArray(value)) return { key, items: itemsOfArray(value, depth) };
  return isObject(value) ? listInObject(key, value, depth) : undefined;
}

/** An object under a known key: a wrapper with a known key again, else a lone finding, else a map by severity, file, category or ID. */
function listInObject(key: string, object: JsonObject, depth: number): KeyedList | undefined {
  if (depth > maxDepth) return undefined;
  if (Object.keys(object).length === 0) return { key, items: [] };
  const list = knownList(fieldsOf(object), depth);
  if (list !== undefined) return list;
  if (isFinding({ raw: object }, 'ratedOrPlaced')) return { key, items: [{ raw: object }] };
  const lists = unknownEntries(object).flatMap(([name, value]) => {
    const items = itemsOfMapEntry(name, value, key, depth + 1);
    return items === undefined ? [] : [items];
  });
  return lists.length === 0 ? undefined : { key, items: lists.flat() };
}

/** An entry of a map under the known key `mapKey`. */
function itemsOfMapEntry(
  name: string,
  value: unknown,
  mapKey: string,
  depth: number,
): readonly Item[] | undefined {
  if (isObject(value)) return itemsOfMapObject(name, value, mapKey, depth);
  if (!Array.isArray(value)) return undefined;
  // An empty list counts only under a severity: under any other key it may be part of a finding.
  const isList = value.length > 0 || isSeverityName(name);
  return isList ? withContext(contextOfKey(name), itemsOfArray(value, depth)) : undefined;
}

/** A group; else a finding, which needs proof under an ambiguous key; under a severity, also a map again. */
function itemsOfMapObject(
  name: string,
  object: JsonObject,
  mapKey: string,
  depth: number,
): readonly Item[] | undefined {
  const isSeverity = isSeverityName(name);
  const context: Context | undefined = isSeverity ? { severity: name } : contextOfPath(name);
  const group = itemsOfGroup(object, depth);
  if (group !== undefined) return withContext(context ?? {}, group);
  const item = { raw: object, context: context ?? { id: name } };
  const isSure = !ambiguousKeys.includes(mapKey);
  if (isSeverity && !isFinding(isSure ? item : { raw: object }, 'ratedOrPlaced')) {
    const list = listInObject(mapKey, object, depth);
    return list && withContext(item.context, list.items);
  }
  return isSure || isFinding(item, 'ratedOrPlaced') ? [item] : undefined;
}

/** Lists under unknown keys, whose key is a severity or which hold findings, also in objects. */
function unknownLists(object: JsonObject, depth: number): readonly Item[] | undefined {
  if (depth > maxDepth) return undefined;
  const lists = unknownEntries(object).flatMap(([key, value]) => {
    const items = itemsOfUnknownEntry(key, value, depth + 1);
    return items === undefined ? [] : [items];
  });
  return lists.length === 0 ? undefined : lists.flat();
}

function itemsOfUnknownEntry(key: string, value: unknown, depth: number): readonly Item[] | undefined {
  if (Array.isArray(value)) {
    const items = itemsOfArray(value, depth);
    if (isSeverityName(key)) return withContext({ severity: key }, items);
    const holdsFindings = items.slice(0, sampleSize).some((item) => isFinding(item, 'ratedOrPlaced'));
    return holdsFindings ? withContext(contextOfPath(key) ?? {}, items) : undefined;
  }
  if (!isObject(value)) return undefined;
  const items = knownList(fieldsOf(value), depth)?.items ?? unknownLists(value, depth);
  return items && withContext(contextOfPath(key) ?? {}, items);
}

function areSurelyFindings(items: readonly Item[]): boolean {
  return items
    .slice(0, sampleSize)
    .some((item) => hasSeverityField(fieldsOfItem(item)) && isFinding(item, 'ratedAndPlaced'));
}

function isObjectItem({ raw }: Item): boolean {
  return isObject(raw);
}

function mayHoldLists(value: unknown): boolean {
  return isObject(value) || (Array.isArray(value) && value.some(isObject));
}

/** The entries of an object whose keys are not those of `LIST`. */
function unknownEntries(object: JsonObject): readonly [string, unknown][] {
  return Object.entries(object).filter(([key]) => !listKeys.has(normalKey(key)));
}
