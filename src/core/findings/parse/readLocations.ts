import * as aliases from './aliases.ts';
import { type Location, LOCATION_ROLES, type LocationRole } from '../finding.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject } from '../../json.ts';
import { type Lines, looksLikePath, ordered, splitPath, toCount, toLineRange } from './pathText.ts';
import { toFreeText, toSnippet } from './freeText.ts';
import { clip } from '../../visibleText.ts';

const maxDepth = 12;
const maxLabelLength = 1_000;

type Draft = Omit<Location, 'path'> & { readonly path?: string | undefined };

/**
 * Reads the locations of a finding, the main location first. The finding's own fields complete the
 * only listed location, or may be the main location themselves. Locations that explain the finding,
 * such as steps of an attack, come last, need a path of their own, and may repeat others.
 */
export function readLocations(finding: Fields): readonly Location[] {
  const draft = readDraft(finding);
  const { path, targetIndex } = draft;
  const sources = Array.isArray(finding.get('file'))
    ? [aliases.FILE_LIST, ...aliases.MAIN_LOCATIONS]
    : aliases.MAIN_LOCATIONS;
  const listed = locationsUnder(finding, sources, { path, targetIndex }, 0);
  return [...withOwnFields(listed, draft), ...locationsUnder(finding, aliases.OTHER_LOCATIONS, {}, 0)];
}

function withOwnFields(listed: readonly Location[], draft: Draft, pathAround?: string): readonly Location[] {
  const [first] = listed;
  if (first !== undefined && listed.length === 1 && (draft.path === undefined || draft.path === first.path))
    return [completed(first, draft)];

  const path = draft.path ?? pathAround;
  const file = first === undefined ? draft.path : undefined;
  const isReported = (draft.startLine ?? draft.snippet ?? file) !== undefined;
  const isListed = listed.some((location) => location.path === path && hasLine(location));
  const all = path !== undefined && isReported && !isListed ? [{ ...draft, path }, ...listed] : listed;
  // A location without a line adds nothing if another location in its file has one.
  const withLine = new Set(all.filter(hasLine).map((location) => location.path));
  return all.filter((location) => hasLine(location) || !withLine.has(location.path));
}

function hasLine({ startLine }: Location): boolean {
  return startLine !== undefined;
}

function completed(location: Location, draft: Draft): Location {
  const { startLine, endLine, startColumn, endColumn } = location.startLine === undefined ? draft : location;
  const snippet = location.snippet ?? draft.snippet;
  return { ...location, startLine, endLine, startColumn, endColumn, snippet };
}

function locationsUnder(
  object: Fields,
  sources: readonly aliases.LocationSource[],
  around: Draft,
  depth: number,
): readonly Location[] {
  return sources.flatMap((source) =>
    hitsAt(object, source.paths).flatMap(({ path, value }) => {
      const locations = locationsIn(value, source, around, depth);
      if (locations.length > 0) object.used?.push(path);
      return locations;
    }),
  );
}

function locationsIn(
  value: unknown,
  source: aliases.LocationSource,
  around: Draft,
  depth: number,
): readonly Location[] {
  if (depth > maxDepth) return [];
  if (typeof value === 'string') {
    if (!looksLikePath(value, source.strings)) return [];
    return [{ ...around, ...splitPath(value.trim()), role: source.role }];
  }
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => locationsIn(item, source, around, depth + 1));
  if (!isObject(value)) return [];
  const object = fieldsOf(value);
  const draft = readDraft(object);
  const toLabel = (text: unknown): string => clip(toFreeText(text), maxLabelLength);
  const label =
    firstHit(object, aliases.LOCATION_LABEL, (text) => toLabel(text) || undefined) ?? around.label;
  const targetIndex = draft.targetIndex ?? around.targetIndex;
  const inside = { path: draft.path ?? around.path, label, targetIndex };
  const listed = locationsUnder(
    object,
    [{ ...source, paths: aliases.LOCATION_CONTAINERS }],
    inside,
    depth + 1,
  );
  const toRole = (text: unknown): LocationRole | undefined => LOCATION_ROLES.find((role) => role === text);
  const role = firstHit(object, aliases.LOCATION_ROLE, toRole) ?? source.role;
  return withOwnFields(listed, { ...draft, label, targetIndex, role }, around.path);
}

function readDraft(object: Fields): Draft {
  const file = readFile(object);
  const split = file === undefined ? undefined : splitPath(file.trim());
  const own = readLines(object);
  const lines = own.startLine === undefined && split !== undefined ? split : own;
  return {
    ...lines,
    path: split?.path,
    snippet: firstHit(object, aliases.SNIPPET, (value) => toSnippet(value, lines.startLine)),
    targetIndex: firstHit(object, aliases.TARGET_INDEX, (value) =>
      typeof value === 'number' ? toIndex(value) : undefined,
    ),
  };
}

function readFile(object: Fields, depth = 0): string | undefined {
  return firstHit(object, aliases.FILE, (value) => {
    if (typeof value === 'string') return looksLikePath(value, 'files') ? value : undefined;
    return isObject(value) && depth === 0 ? readFile(fieldsOf(value), 1) : undefined;
  });
}

function readLines(location: Fields): Lines {
  const range = firstHit(location, aliases.LINE_RANGE, toLineRange);
  const start = firstHit(location, aliases.START_POSITION, toPosition);
  const end = firstHit(location, aliases.END_POSITION, toPosition);
  return ordered({
    startLine: firstHit(location, aliases.START_LINE, toCount) ?? start?.line ?? range?.startLine,
    endLine: firstHit(location, aliases.END_LINE, toCount) ?? end?.line ?? range?.endLine,
    startColumn: firstHit(location, aliases.START_COLUMN, toCount) ?? start?.column,
    endColumn: firstHit(location, aliases.END_COLUMN, toCount) ?? end?.column,
  });
}

function toPosition(value: unknown): { line: number; column: number | undefined } | undefined {
  const position = fieldsOf(value);
  const character = firstHit(position, aliases.POSITION_CHARACTER, toIndex);
  const toLine = character === undefined ? toCount : (line: unknown) => oneMore(toIndex(line));
  const line = firstHit(position, aliases.POSITION_LINE, toLine);
  const column = firstHit(position, aliases.POSITION_COLUMN, toCount) ?? oneMore(character);
  return line === undefined ? undefined : { line, column };
}

function toIndex(value: unknown): number | undefined {
  return value === 0 ? 0 : toCount(value);
}

function oneMore(index: number | undefined): number | undefined {
  return index === undefined ? undefined : toCount(index + 1);
}
