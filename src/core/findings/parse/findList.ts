import { LIST } from './aliases.ts';
import { isFinding, isSeverityName, type Item } from './item.ts';
import { itemsOfSarif } from './sarifLog.ts';
import { fieldsOf, hitsAt, isObject, type JsonObject } from '../../json.ts';

const maxWrappers = 3;

/** Only findings stand under these keys. */
const surePaths = LIST.filter(([key]) => key === 'findings' || key === 'vulnerabilities');
/** A list under these keys may also belong to one finding. */
const ambiguousKeys = ['items', 'data'];

/**
 * Finds the list of findings in a parsed file; undefined when there is none. In this order:
 * 1. SARIF's results.
 * 2. An array at the root.
 * 3. A list under a key of `LIST`, or a map under it, in at most three wrappers. Of several lists, the first that is not empty.
 * 4. The root itself, as a lone finding.
 */
export function findList(root: unknown): readonly Item[] | undefined {
  const results = itemsOfSarif(root);
  if (results !== undefined) return results;
  if (Array.isArray(root)) return itemsOfArray(root);
  if (!isObject(root)) return undefined;
  return knownList(root) ?? (isLoneFinding(root) ? [{ raw: root }] : ambiguousList(root));
}

/** Lists under the same key in wrappers side by side count together. After an empty list, another one has to hold a finding for sure. */
function knownList(root: JsonObject): readonly Item[] | undefined {
  const isMaybeFinding = isFinding({ raw: root }, 'ratedAndPlaced');
  let wrappers: readonly JsonObject[] = [root];
  let hasEmptyList = false;
  for (let depth = 0; depth <= maxWrappers && wrappers.length > 0; depth += 1) {
    const fields = wrappers.map(fieldsOf);
    for (const path of depth > 0 && isMaybeFinding ? surePaths : LIST) {
      const [key = ''] = path;
      const lists = fields.flatMap((each) => {
        const items = itemsUnder(key, each.get(key));
        return items === undefined ? [] : [items];
      });
      const items = lists.flat();
      if (items.length > 0 && (!hasEmptyList || items.some((item) => isFinding(item, 'ratedOrPlaced'))))
        return items;
      hasEmptyList ||= lists.length > 0;
    }
    wrappers = wrappers.flatMap((wrapper) => Object.values(wrapper).filter(isObject));
  }
  return hasEmptyList ? [] : undefined;
}

function itemsUnder(key: string, value: unknown): readonly Item[] | undefined {
  if (isObject(value)) return itemsOfMap(value);
  const isList = Array.isArray(value) && (!ambiguousKeys.includes(key) || value.some(isObject));
  return isList ? itemsOfArray(value) : undefined;
}

/** A map by severity or ID, or a lone finding; undefined for a wrapper and any other object. */
function itemsOfMap(map: JsonObject): readonly Item[] | undefined {
  const entries = Object.entries(map);
  const isWrapper = [map, ...Object.values(map)].some((value) => isObject(value) && itemsOfGroup(value));
  if (isWrapper) return undefined;
  if (isFinding({ raw: map }, 'ratedOrPlaced')) return [{ raw: map }];
  const items = entries.flatMap(([name, value]): readonly Item[] => {
    const isSeverity = isSeverityName(name);
    const around = isSeverity ? { severity: name } : { id: name };
    const values = isSeverity && Array.isArray(value) ? value : [value].filter(isObject);
    return values.map((raw: unknown) => ({ raw, around }));
  });
  const isBySeverity = entries.some(([name, value]) => isSeverityName(name) && Array.isArray(value));
  const isById = items.some(({ raw }) => isFinding({ raw }, 'ratedOrPlaced'));
  return entries.length === 0 || isBySeverity || isById ? items : undefined;
}

/** Each element is a finding, or a group of findings. */
function itemsOfArray(elements: readonly unknown[]): readonly Item[] {
  return elements.flatMap((raw: unknown) => (isObject(raw) ? itemsOfGroup(raw) : undefined) ?? [{ raw }]);
}

/** The findings in a group, such as those of one file; undefined for an object that is a finding itself. */
function itemsOfGroup(group: JsonObject): readonly Item[] | undefined {
  const lists = hitsAt(fieldsOf(group), LIST).flatMap(({ path, value }) =>
    Array.isArray(value) ? [{ isSure: surePaths.includes(path), list: value as readonly unknown[] }] : [],
  );
  const { isSure, list } = lists.find((each) => each.list.length > 0) ?? lists[0] ?? {};
  if (list === undefined) return undefined;
  const hasObjects = list.some(isObject);
  const isGroup =
    isSure === true ? hasObjects || !isFindingItself(group) : hasObjects && !isFindingItself(group);
  return isGroup ? list.map((raw) => ({ raw, around: group })) : undefined;
}

function isFindingItself(raw: JsonObject): boolean {
  return isFinding({ raw }, 'ratedAndPlaced');
}

/** An object with lists of objects needs more proof: it may be a report of a shape that is not known. */
function isLoneFinding(root: JsonObject): boolean {
  const objects = Object.values(root).flatMap((value) =>
    Array.isArray(value) ? value.filter(isObject) : [],
  );
  if (objects.some((object) => itemsOfGroup(object) !== undefined)) return false;
  return isFinding({ raw: root }, objects.length > 0 ? 'ratedAndPlaced' : 'ratedOrPlaced');
}

/** A list of texts, or an empty one. */
function ambiguousList(root: JsonObject): readonly Item[] | undefined {
  const lists = hitsAt(fieldsOf(root), LIST).map(({ value }) => value);
  return lists.filter((value) => Array.isArray(value)).map(itemsOfArray)[0];
}
