import * as aliases from './aliases.ts';
import { inherit, isPass, isReadable, type Item, type Look, lookOf } from './item.ts';
import { looksLikePath } from './pathText.ts';
import { itemsOfSarif } from './sarifLog.ts';
import { type Fields, isObject, type JsonObject, normalKey } from '../../json.ts';

/** Keys from the root to a list. The elements of an array are on its level. */
const maxDepth = 4;

/** An array, or an object whose members may be findings. */
interface Container {
  readonly value: readonly unknown[] | JsonObject;
  readonly key?: string;
  readonly isElement?: boolean;
  /** What the groups and keys around it say about each of its findings. */
  readonly around?: Fields | undefined;
}

/**
 * Finds the findings in a parsed file, whatever the keys above them; undefined where the file has another shape. In this order:
 * 1. SARIF's results.
 * 2. The root, if it is a finding with a line.
 * 3. Arrays and maps whose objects mostly look like findings. The walk goes down from the root, level by level, looks at nothing inside a finding, and takes
 *    all of the first level that has any. Where nothing is rated or has a line, it may be a list of files: it only counts if there is no other list.
 * 4. The root as any other finding, unless it has an empty list.
 */
export function findList(root: unknown): readonly Item[] | undefined {
  const found = itemsOfSarif(root) ?? itemsOfWalk(root);
  const isRefused = found !== undefined && found.length > 0 && !areMost(found, isReadable);
  return isRefused ? undefined : found?.filter((item) => !isPass(item));
}

function itemsOfWalk(root: unknown): readonly Item[] | undefined {
  if (!isContainer(root)) return undefined;
  const lone: Item = { raw: root };
  const look = lookOf(lone);
  if (look?.hasLine === true) return [lone];
  for (const holds of [holdsFindings, holdsFilesWithTitles]) {
    const found = firstLevelWith(root, holds).flatMap(itemsIn);
    if (found.length > 0) return found;
  }
  // Other objects in a list may be findings of a shape that is not known.
  const hasOthers = firstLevelWith(root, isListOfObjects).length > 0;
  if (!hasOthers && firstLevelWith(root, isEmptyList).length > 0) return [];
  return look !== undefined && (look.isSure || !hasOthers) ? [lone] : undefined;
}

/** The containers of the first level where `holds` is true of any. */
function firstLevelWith(
  root: Container['value'],
  holds: (container: Container) => boolean,
): readonly Container[] {
  let level: Container[] = [{ value: root }];
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const below: Container[] = [];
    const found: Container[] = [];
    // Grows by the elements of arrays.
    for (const container of level) {
      if (holds(container)) found.push(container);
      else if (Array.isArray(container.value)) addElements(container.value, container, level);
      else addMembers(container.value as JsonObject, container, below);
    }
    if (found.length > 0) return found;
    level = below;
  }
  return [];
}

function addElements(list: readonly unknown[], { around }: Container, level: Container[]): void {
  for (const value of list)
    if (isContainer(value))
      level.push({ value, isElement: true, around: isObject(value) ? inherit(value, around) : around });
}

function addMembers(object: JsonObject, { around }: Container, below: Container[]): void {
  for (const [key, member] of Object.entries(object)) {
    // The only finding of a severity.
    const value = isObject(member) && severityOf(key, member) !== undefined ? [member] : member;
    if (isContainer(value)) below.push({ value, key, around: inherit(meaningOf(key, value), around) });
  }
}

function isContainer(value: unknown): value is Container['value'] {
  return typeof value === 'object' && value !== null;
}

/** All elements of an array, and of a map its objects. The title of a group is not theirs: they may be parts of a finding. */
function itemsIn({ value, around }: Container): readonly Item[] {
  if (Array.isArray(value)) return value.map((raw: unknown) => ({ raw, around }));
  return Object.entries(value).flatMap(([key, raw]) => {
    if (!isObject(raw)) return [];
    const inherited = inherit({ id: key, ...meaningOf(key, raw) }, around);
    for (const [name = ''] of aliases.TITLE) inherited?.delete(name);
    return [{ raw, around: inherited }];
  });
}

function objectsIn(container: Container): readonly Item[] {
  return itemsIn(container).filter(({ raw }) => isObject(raw));
}

/** What a key says about the findings in its value. */
function meaningOf(key: string, value: Container['value']): JsonObject {
  const severity = severityOf(key, value);
  if (severity !== undefined) return { severity };
  return looksLikePath(key, 'places') ? { file: key } : {};
}

/** `error` and `info` are more than a severity, unless there is a list. */
function severityOf(key: string, value: Container['value']): string | undefined {
  const word = key.trim().toLowerCase();
  const severity = aliases.SEVERITY_WORDS.get(word);
  const isSure = Array.isArray(value) || word === severity || /[^a-z]/.test(word);
  return isSure ? severity : undefined;
}

function holdsFindings(container: Container): boolean {
  const { value, key = '' } = container;
  const mayHold = isObject(value) ? isMap(container) : !aliases.NO_FINDINGS.has(normalKey(key));
  if (!mayHold) return false;
  const looks = objectsIn(container).map((item) => (isGroup(item) ? undefined : lookOf(item)));
  return areMost(looks, isFinding) && looks.some((look) => look?.isSure === true || look?.hasLine === true);
}

function holdsFilesWithTitles(container: Container): boolean {
  return Array.isArray(container.value) && areMost(objectsIn(container).map(lookOf), isFinding);
}

function isFinding(look: Look | undefined): boolean {
  return look !== undefined;
}

/**
 * False for an object with lists, for a finding, and for an element with several objects: members of these may look like findings, such as a tool, a place
 * or a rule.
 */
function isMap({ value, isElement }: Container): boolean {
  const members = Object.values(value);
  const hasLists = members.some(
    (member) => Array.isArray(member) && (member.length === 0 || member.some(isObject)),
  );
  const hasParts = isElement === true && members.filter(isObject).length > 1;
  return !hasLists && !hasParts && lookOf({ raw: value }) === undefined;
}

/** True for an object without a line that has a list of rated findings. */
function isGroup(item: Item): boolean {
  const hasFindings = Object.values(item.raw as JsonObject).some((value) => {
    const looks = Array.isArray(value) ? objectsIn({ value }).map(lookOf) : [];
    return areMost(looks, isFinding) && looks.some((look) => look?.isSure === true);
  });
  return hasFindings && lookOf(item)?.hasLine !== true;
}

function isEmptyList({ value }: Container): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isListOfObjects({ value }: Container): boolean {
  return Array.isArray(value) && value.some(isObject);
}

/** False for none. */
function areMost<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  return items.filter(test).length * 2 > items.length;
}
