import { CWE, FILE, ID, LIST, SEVERITY_NAMES, SEVERITY_WORDS, TITLE } from './aliases.ts';
import { looksLikePath } from './pathText.ts';
import { sarifResults } from './sarifLog.ts';
import {
  type Fields,
  fieldsOf,
  firstHit,
  hitsAt,
  isObject,
  type JsonObject,
  type KeyPath,
  normalKey,
} from '../../json.ts';

/** What the groups and keys around an item say of it, where it does not say so itself. */
type Around = Readonly<Partial<Record<'severity' | 'file' | 'category' | 'cwe' | 'id', unknown>>>;

/** One item of the list, and what stands around it; of a SARIF result, the rule that it refers to. */
export interface Item {
  readonly raw: unknown;
  readonly around?: Around;
  readonly rule?: JsonObject;
}

const maxDepth = 8;
/** This many items show whether a list under an unknown key holds findings. */
const samples = 20;

/** Keys under which a finding may have a list of its own. */
const ownLists = ['items', 'data'];
/** Keys under which nothing but findings stands. */
const sureLists = ['findings', 'vulnerabilities'];
const listKeys = new Set(LIST.map(([key]) => key));

const aliasesAround: Readonly<Record<keyof Around, readonly KeyPath[]>> = {
  severity: SEVERITY_NAMES,
  file: FILE,
  category: TITLE,
  cwe: CWE,
  id: ID,
};

/** The fields of an item, with what its rule and its surroundings say; none for an item that is no object. */
export function fieldsOfItem({ raw, rule, around = {} }: Item): Fields {
  const fields = fieldsOf(raw);
  if (!isObject(raw)) return fields;
  for (const [key, value] of Object.entries(around))
    if (hitsAt(fields, aliasesAround[key as keyof Around]).length === 0) fields.set(key, value);
  if (rule === undefined) return fields;
  fields.set('rule', rule);
  // What is no failure has no level unless it says so, whatever its rule's is (SARIF 2.1.0, 3.27.10).
  if ((raw['kind'] ?? 'fail') !== 'fail' && raw['level'] === undefined) fields.set('severity', 'none');
  return fields;
}

/** What shows that an item is a finding: a rating or a place; both where it could also be the head of a report. */
export type Proof = 'ratedOrPlaced' | 'ratedAndPlaced';

/** A list of findings, and the key that it stands under. */
interface Found {
  readonly key: string;
  readonly items: readonly Item[];
}

/**
 * Finds the list of findings in a parsed file; undefined when there is none. In this order:
 * 1. An array at the root: each element is a finding, or a group of findings (`inArray`).
 * 2. SARIF's results, else the first list with findings under a key of `LIST` (`underKnownKey`): the key says that they are findings.
 * 3. Lists under any other keys, where a severity names them or some items are findings by themselves (`inWrapper`).
 * 4. The root itself, as a lone finding. It comes before lists that may be its own (`ownLists`, other keys), but only when it has more proof
 *    than a report, which has a title and often a rating, too.
 */
export function findList(
  root: unknown,
  isFinding: (item: Item, proof: Proof) => boolean,
): readonly Item[] | undefined {
  if (Array.isArray(root)) return inArray(root, 0);
  if (!isObject(root)) return undefined;
  const known = underKnownKey(fieldsOf(root), 0);
  const listed = known?.items ?? inWrapper(root, 0);
  const mayBeOwn = known === undefined || (ownLists.includes(known.key) && !known.items.some(hasFields));
  const proof = known !== undefined || areSurelyFindings(listed) ? 'ratedAndPlaced' : 'ratedOrPlaced';
  return mayBeOwn && isFinding({ raw: root }, proof) ? [{ raw: root }] : listed;

  function areSurelyFindings(items: readonly Item[] = []): boolean {
    return items
      .slice(0, samples)
      .some((item) => namesSeverity(fieldsOfItem(item)) && isFinding(item, 'ratedAndPlaced'));
  }

  /** Each element is a finding, or a group of findings; arrays in it count as part of it. */
  function inArray(list: readonly unknown[], depth: number): readonly Item[] {
    return list.flatMap((raw: unknown) => {
      if (isObject(raw)) return inGroup(raw, depth + 1) ?? [{ raw }];
      return Array.isArray(raw) && raw.some(isObject) && depth < maxDepth
        ? inArray(raw, depth + 1)
        : [{ raw }];
    });
  }

  /** The findings of a group, with what the group says about them; undefined for an object that is a finding itself. */
  function inGroup(group: JsonObject, depth: number): readonly Item[] | undefined {
    if (depth > maxDepth) return undefined;
    const fields = fieldsOf(group);
    const known = underKnownKey(fields, depth);
    const items = known === undefined ? inUnknownGroup(group, fields, depth) : inKnownGroup(group, known);
    return items && within(aroundOf(fields), items);
  }

  /** An object with a list under a known key is a group, unless the list is more likely part of a finding. */
  function inKnownGroup(group: JsonObject, { key, items }: Found): readonly Item[] | undefined {
    const isSure = sureLists.includes(key);
    const isOne = (proof: Proof): boolean => isFinding({ raw: group }, proof);
    if (items.some(hasFields)) {
      const isGroup =
        isSure || !isOne('ratedAndPlaced') || items.some((item) => isFinding(item, 'ratedOrPlaced'));
      return isGroup ? items : undefined;
    }
    // Texts, and an empty list, may be a finding's own.
    if (ownLists.includes(key)) return undefined;
    return isOne(isSure ? 'ratedAndPlaced' : 'ratedOrPlaced') ? undefined : items;
  }

  /** An object without known keys is a finding where it looks like one, unless it names no rating and what it holds are surely findings. */
  function inUnknownGroup(group: JsonObject, fields: Fields, depth: number): readonly Item[] | undefined {
    if (!Object.values(group).some(mayHoldLists)) return undefined;
    if (!isFinding({ raw: group }, 'ratedOrPlaced')) return inWrapper(group, depth);
    if (namesSeverity(fields)) return undefined;
    const inside = inWrapper(group, depth);
    return inside && areSurelyFindings(within(aroundOf(fields), inside)) ? inside : undefined;
  }

  /** SARIF's results, which only an array `runs` has; else of the known keys the first with findings, else the first without any. */
  function underKnownKey(fields: Fields, depth: number): Found | undefined {
    const sarif = sarifResults(fields);
    if (sarif !== undefined) return { key: 'runs', items: sarif };
    let empty: Found | undefined;
    for (const { path, value } of hitsAt(fields, LIST)) {
      const [key = ''] = path;
      const found = Array.isArray(value)
        ? { key, items: inArray(value, depth + 1) }
        : isObject(value)
          ? inNamed(value, key, depth + 1)
          : undefined;
      if (found !== undefined && found.items.length > 0) return found;
      empty ??= found;
    }
    return empty;
  }

  /** An object under a known key: a wrapper with a known key again, else a lone finding, else a map by severity, file, category or ID. */
  function inNamed(map: JsonObject, key: string, depth: number): Found | undefined {
    if (depth > maxDepth) return undefined;
    if (Object.keys(map).length === 0) return { key, items: [] };
    const known = underKnownKey(fieldsOf(map), depth);
    if (known !== undefined) return known;
    if (isFinding({ raw: map }, 'ratedOrPlaced')) return { key, items: [{ raw: map }] };
    const lists = unknownEntries(map).flatMap(([name, value]) => {
      const items = Array.isArray(value)
        ? listOfName(name, value, depth + 1)
        : isObject(value) && objectOfName(name, value, key, depth + 1);
      return items ? [items] : [];
    });
    return lists.length === 0 ? undefined : { key, items: lists.flat() };
  }

  /** A list in a map. An empty list counts under a severity alone: any other key may be that of a finding's part. */
  function listOfName(name: string, list: readonly unknown[], depth: number): readonly Item[] | undefined {
    return list.length > 0 || severityName(name) ? within(nameAround(name), inArray(list, depth)) : undefined;
  }

  /** An object in a map: a group; else a finding, under keys that may be a finding's own only with proof; under a severity also a map again. */
  function objectOfName(
    name: string,
    value: JsonObject,
    key: string,
    depth: number,
  ): readonly Item[] | undefined {
    const isRating = severityName(name);
    const isSure = !ownLists.includes(key);
    const around = isRating ? { severity: name } : pathAround(name);
    const group = inGroup(value, depth);
    if (group !== undefined) return within(around ?? {}, group);
    const one = { raw: value, around: around ?? { id: name } };
    if (isRating && !isFinding(isSure ? one : { raw: value }, 'ratedOrPlaced')) {
      const named = inNamed(value, key, depth)?.items;
      return named && within(one.around, named);
    }
    return isSure || isFinding(one, 'ratedOrPlaced') ? [one] : undefined;
  }

  /** An object without known keys: lists by severity, other lists of findings, and objects that hold either. */
  function inWrapper(object: JsonObject, depth: number): readonly Item[] | undefined {
    if (depth > maxDepth) return undefined;
    const entries = unknownEntries(object);
    const isBySeverity = ([key, value]: [string, unknown]): boolean =>
      severityName(key) && Array.isArray(value);
    const found = entries.flatMap((entry) => {
      const [name, value] = entry;
      if (Array.isArray(value)) {
        const items = inArray(value, depth + 1);
        if (isBySeverity(entry)) return [within(nameAround(name), items)];
        const areFindings = items.slice(0, samples).some((item) => isFinding(item, 'ratedOrPlaced'));
        return areFindings ? [within(pathAround(name) ?? {}, items)] : [];
      }
      if (!isObject(value)) return [];
      const items = underKnownKey(fieldsOf(value), depth + 1)?.items ?? inWrapper(value, depth + 1);
      return items === undefined ? [] : [within(pathAround(name) ?? {}, items)];
    });
    return found.length === 0 ? undefined : found.flat();
  }
}

function hasFields({ raw }: Item): boolean {
  return isObject(raw);
}

function namesSeverity(fields: Fields): boolean {
  return hitsAt(fields, SEVERITY_NAMES).length > 0;
}

function mayHoldLists(value: unknown): boolean {
  return isObject(value) || (Array.isArray(value) && value.some(isObject));
}

/** What an object holds under other keys than those for lists. */
function unknownEntries(object: JsonObject): [string, unknown][] {
  return Object.entries(object).filter(([key]) => !listKeys.has(normalKey(key)));
}

/** Items with what stands around them; what is nearer counts. */
function within(around: Around, items: readonly Item[]): readonly Item[] {
  return items.map((item) => ({ ...item, around: { ...around, ...item.around } }));
}

/** What a group says of the findings in it. */
function aroundOf(group: Fields): Around {
  const word = (value: unknown): unknown =>
    typeof value === 'string' || typeof value === 'number' ? value : undefined;
  const text = (value: unknown): unknown => (typeof value === 'string' && value !== '' ? value : undefined);
  const path = (value: unknown): unknown =>
    typeof value === 'string' && looksLikePath(value, 'files') ? value : undefined;
  const own = {
    severity: firstHit(group, aliasesAround.severity, word),
    file: firstHit(group, aliasesAround.file, path),
    category: firstHit(group, aliasesAround.category, text),
    cwe: firstHit(group, aliasesAround.cwe, (value) => value),
  };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

function severityName(key: string): boolean {
  return SEVERITY_WORDS.has(key.trim().toLowerCase());
}

/** What the key of a list says of its findings. */
function nameAround(key: string): Around {
  return severityName(key) ? { severity: key } : (pathAround(key) ?? { category: key });
}

function pathAround(key: string): Around | undefined {
  return looksLikePath(key, 'places') ? { file: key } : undefined;
}
