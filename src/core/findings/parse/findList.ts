import { isObject, type JsonObject, normalKey } from '../../json.ts';
import { isLiveFinding, type Severity } from '../finding.ts';
import * as aliases from './aliases.ts';
import { hasText, type ReadFinding, readFinding } from './readFinding.ts';

const maxDepth = 4;

export interface FoundList {
  readonly raw: unknown;
  readonly finding: ReadFinding;
}

interface Part {
  readonly value: readonly unknown[] | JsonObject;
  /** An element of an array has no key. */
  readonly key: string | undefined;
  readonly severity: Severity | undefined;
}

/**
 * Finds the findings in a parsed file by what they look like. Returns the first of these that
 * applies, or undefined if none does:
 * 1. The root, if it is a finding with a line.
 * 2. The arrays and maps whose items mostly look like findings, on the first level that has any. A
 *    list in which no item passes `isSure` may list files, and the only object of a map may be the
 *    head of a report: these count only if nothing else is found.
 * 3. An empty list, if an array is empty and no array has objects.
 * 4. The root, if it passes `isSure`.
 */
export function findList(root: unknown): readonly FoundList[] | undefined {
  const lone = read(root);
  if (isSure(lone) && hasLine(lone)) return [lone];
  const arrays: (readonly unknown[])[] = [];
  let unsure: readonly FoundList[] = [];
  let level: Part[] = isContainer(root) ? [{ value: root, key: '', severity: undefined }] : [];
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    const [lists, others, below]: [(readonly FoundList[])[], (readonly FoundList[])[], Part[]] = [[], [], []];
    for (const part of level) {
      const list = findingsIn(part);
      const isArray = Array.isArray(part.value);
      if (isArray) arrays.push(part.value);
      const isAlone = !isArray && part.key !== undefined && list.length === 1;
      if (list.some(isAlone ? hasLine : isSure)) lists.push(list);
      else {
        if (isArray || list.some(isSure)) others.push(list);
        for (const each of partsIn(part)) (each.key === undefined ? level : below).push(each);
      }
    }
    if (lists.length > 0) return lists.flat();
    if (unsure.length === 0) unsure = others.flat();
    level = below;
  }
  if (unsure.length > 0) return unsure;
  // Objects in an array may be findings of an unknown shape.
  const hasObjects = arrays.some((array) => array.some(isObject));
  if (!hasObjects && arrays.some(({ length }) => length === 0)) return [];
  return isSure(lone) ? [lone] : undefined;
}

function isContainer(value: unknown): value is Part['value'] {
  return typeof value === 'object' && value !== null;
}

function partsIn({ value, severity }: Part): readonly Part[] {
  const members = isObject(value) ? Object.entries(value) : value.map((each) => [undefined, each] as const);
  return members.flatMap(([key, each]) =>
    isContainer(each) ? [{ value: each, key, severity: severityOf(key, each) ?? severity }] : [],
  );
}

/**
 * A list under any word for a severity has that severity. An object needs the severity's own name,
 * since an object under `error` or `info` may be anything.
 */
function severityOf(key = '', value: unknown): Severity | undefined {
  const word = key.trim().toLowerCase();
  const severity = aliases.SEVERITY_WORDS.get(word);
  return Array.isArray(value) || word === severity ? severity : undefined;
}

/** Returns all elements of an array, or the objects of a map, if most of them are findings. */
function findingsIn(part: Part): readonly FoundList[] {
  const { value, key = '' } = part;
  if (isObject(value) ? !isMap(part) : aliases.NO_FINDINGS.has(normalKey(key))) return [];
  const items = isObject(value)
    ? partsIn(part).filter((each) => isObject(each.value))
    : value.map((each) => ({ value: each, severity: part.severity }));
  if (!areMost(items, (each) => hasText(each.value))) return [];
  const found = items.map((each) => read(each.value, each.severity));
  return areMost(found, isFinding) ? found : [];
}

function read(raw: unknown, severity: Severity = 'unrated'): FoundList {
  const finding = readFinding({ raw });
  return { raw, finding: finding.severity === 'unrated' ? { ...finding, severity } : finding };
}

function areMost<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  return items.filter(test).length * 2 > items.length;
}

function isMap({ value, key }: Part): boolean {
  const members = Object.values(value);
  const objects = members.filter(isObject).length;
  if (objects === 0 || (key === undefined && objects > 1) || members.some(Array.isArray)) return false;
  return !isFinding(read(value));
}

/** An item whose title is its file is an entry in a list of files. */
function isFinding(found: FoundList): boolean {
  const { title, locations } = found.finding;
  return isSure(found) || (title !== '' && locations.some(({ path }) => !path.endsWith(title)));
}

/** A CWE isn't enough if the title is just the rule's ID or the description's first line. */
function isSure(found: FoundList): boolean {
  const { title, rule, description, severity, cwes } = found.finding;
  const isRated = severity !== 'unrated' || isLiveFinding(found.finding);
  const isOwnTitle = title !== rule && title !== description.split('\n', 1)[0];
  return title !== '' && (isRated || hasLine(found) || (cwes.length > 0 && isOwnTitle));
}

function hasLine({ finding }: FoundList): boolean {
  return finding.locations.some(({ startLine }) => startLine !== undefined);
}
