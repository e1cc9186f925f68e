import { isLiveFinding } from '../finding.ts';
import * as aliases from './aliases.ts';
import { hasText, isPass, type Item, type ReadFinding, readFinding } from './readFinding.ts';
import { looksLikePath } from './pathText.ts';
import { itemsOfSarif } from './sarif.ts';
import { fieldsOf, hitsAt, isObject, type JsonObject, normalKey } from '../../json.ts';

/** Keys from the root to a list. The elements of an array are on its level. */
const maxDepth = 4;

/** An array, or an object whose members may be findings. */
interface Part {
  readonly value: readonly unknown[] | JsonObject;
  readonly key: string;
  readonly depth: number;
  readonly isElement: boolean;
  /** What the groups and keys around it say about each of its findings. */
  readonly around: JsonObject;
}

export interface Found {
  readonly item: Item;
  readonly finding: ReadFinding;
}

/**
 * Finds the findings in a parsed file, whatever the keys above them; undefined where the file has another shape. In this order:
 * 1. SARIF's results.
 * 2. The root, if it is a finding with a line.
 * 3. Arrays and maps whose objects mostly look like findings. The walk goes down from the root, level by level, looks at nothing inside a finding, and takes
 *    all of the first level that has any. Where nothing is rated or has a line, it may be a list of files: it only counts if there is no other list.
 * 4. The root as any other finding, unless it has an empty list.
 */
export function findList(root: unknown): readonly Found[] | undefined {
  const found = itemsOfSarif(root)?.map(read) ?? findingsBelow(root);
  const isOfObject = ({ item }: Found): boolean => isObject(item.raw);
  if (found === undefined || (found.length > 0 && !areMost(found, isOfObject))) return undefined;
  return found.filter(({ item }) => !isPass(item));
}

function read(item: Item): Found {
  return { item, finding: readFinding(item) };
}

function findingsBelow(root: unknown): readonly Found[] | undefined {
  if (!isContainer(root)) return undefined;
  const lone = read({ raw: root });
  if (isFinding(lone) && hasLine(lone)) return [lone];
  const lists: (readonly unknown[])[] = [];
  let files: readonly Found[] = [];
  let level: Part[] = [{ value: root, key: '', depth: 0, isElement: false, around: {} }];
  while (level.length > 0) {
    const [sure, unsure]: [(readonly Found[])[], (readonly Found[])[]] = [[], []];
    const below: Part[] = [];
    // Grows by the elements of arrays.
    for (const part of level) {
      if (Array.isArray(part.value)) lists.push(part.value);
      const inside = findingsIn(part);
      if (inside.some(isSure)) {
        sure.push(inside);
        continue;
      }
      if (Array.isArray(part.value)) unsure.push(inside);
      for (const each of partsIn(part)) (each.isElement ? level : below).push(each);
    }
    if (sure.length > 0) return sure.flat();
    if (files.length === 0) files = unsure.flat();
    level = below;
  }
  if (files.length > 0) return files;
  // Other objects in a list may be findings of a shape that is not known.
  const hasOthers = lists.some((list) => list.some(isObject));
  if (!hasOthers && lists.some(({ length }) => length === 0)) return [];
  return isFinding(lone) && (isSure(lone) || !hasOthers) ? [lone] : undefined;
}

function partsIn({ value, depth, isElement, around }: Part): readonly Part[] {
  if (!isObject(value))
    return value
      .filter(isContainer)
      .map((each) => ({ value: each, key: '', depth, isElement: true, around }));
  if (depth === maxDepth) return [];
  const outer = isElement ? within(around, within(value, {})) : around;
  return Object.entries(value).flatMap(([key, member]) => {
    if (!isContainer(member)) return [];
    const inside = within(outer, meaningOf(key, member));
    // The only finding of a severity.
    const list = isObject(member) && severityOf(key, member) !== undefined ? [member] : member;
    return { value: list, key, depth: depth + 1, isElement: false, around: inside };
  });
}

function isContainer(value: unknown): value is Part['value'] {
  return typeof value === 'object' && value !== null;
}

/** What a key says about the findings in its value. */
function meaningOf(key: string, value: Part['value']): JsonObject {
  const severity = severityOf(key, value);
  if (severity !== undefined) return { severity };
  return looksLikePath(key, 'places') ? { file: key } : {};
}

/** `error` and `info` are more than a severity, unless there is a list. */
function severityOf(key: string, value: Part['value']): string | undefined {
  const word = key.trim().toLowerCase();
  const severity = aliases.SEVERITY_WORDS.get(word);
  return Array.isArray(value) || word === severity ? severity : undefined;
}

const inherited = [aliases.SEVERITY_NAMES, aliases.FILE, aliases.CWE, aliases.ID];

/** An object with what the groups around it say, where it does not say so itself. */
function within(around: JsonObject, object: JsonObject, title = aliases.TITLE): JsonObject {
  const [own, outer] = [fieldsOf(object), fieldsOf(around)];
  const missing = [...inherited, title].flatMap((paths) => {
    const [first] = hitsAt(own, paths).length > 0 ? [] : hitsAt(outer, paths);
    return first?.path.length === 1 ? [[first.path.join(), first.value] as const] : [];
  });
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/**
 * All elements of an array, or the objects of a map, if most of them are findings or groups of findings; else none. Only a finding with a line stands beside
 * groups: what is only rated is more likely another group.
 */
function findingsIn(part: Part): readonly Found[] {
  const { value, key, around } = part;
  if (isObject(value) ? !isMap(part) : aliases.NO_FINDINGS.has(normalKey(key))) return [];
  const items = isObject(value)
    ? Object.entries(value).flatMap(([id, raw]) => {
        // The title of a group is not theirs: they may be parts of a finding.
        return isObject(raw)
          ? { raw, resolved: within({ ...around, id, ...meaningOf(id, raw) }, raw, []) }
          : [];
      })
    : value.map((raw): Item => ({ raw, resolved: isObject(raw) ? within(around, raw) : undefined }));
  // Saves reading lists of other things.
  if (!areMost(items, hasText)) return [];
  const found = items.map(read);
  const groups = new Set(found.filter(isGroup));
  if (!areMost(found, (each) => isFinding(each) || groups.has(each))) return [];
  return groups.size > 0 && !found.some(hasLine) ? [] : found;
}

/** True for an object without a line that has a list of rated findings. */
function isGroup(found: Found): boolean {
  const { raw } = found.item;
  if (!isObject(raw) || hasLine(found)) return false;
  return Object.values(raw).some((list) => {
    const inside = Array.isArray(list) ? list.filter(isObject).map((each) => read({ raw: each })) : [];
    return areMost(inside, isFinding) && inside.some(isRated);
  });
}

function areMost<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  return items.filter(test).length * 2 > items.length;
}

/**
 * False for an object with lists, for a finding, and for an element with several objects: members of these may look like findings, such as a tool, a place
 * or a rule.
 */
function isMap({ value, isElement }: Part): boolean {
  const members = Object.values(value);
  const objects = members.filter(isObject).length;
  if (objects === 0 || (isElement && objects > 1) || members.some(Array.isArray)) return false;
  return !isFinding(read({ raw: value }));
}

/** True for an item with a title or a description, and a place or a rating. A CWE is one only beside a title of its own. */
function isFinding({ finding }: Found): boolean {
  const { title, rule, description, severity, places, cwes } = finding;
  if (title === '') return false;
  if (places.length > 0 || severity !== 'unrated' || isLiveFinding(finding)) return true;
  return cwes.length > 0 && title !== rule && title !== description.split('\n', 1)[0];
}

/** Not only a file with a title. */
function isSure(found: Found): boolean {
  return isFinding(found) && (isRated(found) || hasLine(found));
}

/** Also by a CWE, and by a place in a live application. */
function isRated({ finding }: Found): boolean {
  return finding.severity !== 'unrated' || finding.cwes.length > 0 || isLiveFinding(finding);
}

function hasLine({ finding }: Found): boolean {
  return finding.places.some(({ startLine }) => startLine !== undefined);
}
