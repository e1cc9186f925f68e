import * as aliases from './aliases.ts';
import { inherit, isPass, isReadable, type Item, type Look, lookOf } from './item.ts';
import { looksLikePath } from './pathText.ts';
import { itemsOfSarif } from './sarif.ts';
import { type Fields, isObject, type JsonObject, normalKey } from '../../json.ts';

/** Keys from the root to a list. The elements of an array are on its level. */
const maxDepth = 4;

/** An array, or an object whose members may be findings. */
interface Container {
  readonly value: readonly unknown[] | JsonObject;
  readonly key: string;
  readonly isElement: boolean;
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
  let level: Container[] = [{ value: root, key: '', isElement: false }];
  let files: readonly Container[] = [];
  const lists: (readonly unknown[])[] = [];
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const [found, below]: [Container[], Container[]] = [[], []];
    // Grows by the elements of arrays.
    for (const container of level) {
      if (Array.isArray(container.value)) lists.push(container.value);
      if (holdsFindings(container)) found.push(container);
      else addChildren(container, Array.isArray(container.value) ? level : below);
    }
    if (found.length > 0) return found.flatMap(itemsIn).flatMap(withoutGroup);
    if (files.length === 0) files = level.filter(holdsFilesWithTitles);
    level = below;
  }
  if (files.length > 0) return files.flatMap(itemsIn);
  // Other objects in a list may be findings of a shape that is not known.
  const hasOthers = lists.some((list) => list.some(isObject));
  if (!hasOthers && lists.some(({ length }) => length === 0)) return [];
  return look !== undefined && (look.isSure || !hasOthers) ? [lone] : undefined;
}

function addChildren({ value, around }: Container, level: Container[]): void {
  const isElement = Array.isArray(value);
  for (const [key, member] of Object.entries(value)) {
    // The only finding of a severity.
    const child: unknown = isObject(member) && severityOf(key, member) !== undefined ? [member] : member;
    if (!isContainer(child)) continue;
    const group = isElement ? child : meaningOf(key, child);
    level.push({ value: child, key, isElement, around: inherit(group, around) });
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

/** A group between findings gives its own findings. */
function withoutGroup(item: Item): readonly Item[] {
  if (!isObject(item.raw) || !isGroup(item)) return [item];
  const lists: Container[] = [];
  addChildren({ value: item.raw, key: '', isElement: true, around: inherit(item.raw, item.around) }, lists);
  return lists.filter(holdsFindings).flatMap(itemsIn);
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

function looksIn(container: Container): readonly (Look | undefined)[] {
  return itemsIn(container).flatMap((item) => (isObject(item.raw) ? [lookOf(item)] : []));
}

/** True if most objects in an array or a map are findings, or groups beside these, at least one finding for sure. */
function holdsFindings(container: Container): boolean {
  const { value, key } = container;
  if (isObject(value) ? !isMap(container) : aliases.NO_FINDINGS.has(normalKey(key))) return false;
  const items = itemsIn(container).filter(({ raw }) => isObject(raw));
  const looks = items.filter((item) => !isGroup(item)).map(lookOf);
  const groups = items.length - looks.length;
  return (
    2 * (looks.filter(isFinding).length + groups) > items.length &&
    // Beside groups, what is only rated is more likely another group.
    looks.some((look) => look?.hasLine === true || (groups === 0 && look?.isSure === true))
  );
}

function holdsFilesWithTitles(container: Container): boolean {
  return Array.isArray(container.value) && areMost(looksIn(container), isFinding);
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
  const hasParts = isElement && members.filter(isObject).length > 1;
  return !hasParts && !members.some(Array.isArray) && lookOf({ raw: value }) === undefined;
}

/** True for an object without a line that has a list of rated findings. */
function isGroup({ raw }: Item): boolean {
  if (!isObject(raw) || !Object.values(raw).some(Array.isArray) || lookOf({ raw })?.hasLine === true)
    return false;
  return Object.entries(raw).some(([key, value]) => {
    const looks = Array.isArray(value) ? looksIn({ value, key, isElement: false }) : [];
    return areMost(looks, isFinding) && looks.some((look) => look?.isSure === true);
  });
}

function areMost<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  return items.filter(test).length * 2 > items.length;
}
