import * as aliases from './aliases.ts';
import { type Place, PLACE_ROLES, type PlaceRole } from '../finding.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject } from '../../json.ts';
import { type Lines, looksLikePath, ordered, splitPath, toCount, toLineRange } from './pathText.ts';
import { toFreeText, toSnippet } from './freeText.ts';
import { clip } from '../../visibleText.ts';

const maxDepth = 12;
const maxLabelLength = 1_000;

/** What an object says about a place, and those around it. */
type Draft = Omit<Place, 'path'> & { readonly path?: string | undefined };

/**
 * Reads the places of a finding, the main one first. A place that is reported twice is there twice.
 * 1. Places that the finding lists are usually the most exact.
 * 2. The finding's own fields complete the only listed place, or are the main place.
 * 3. Places that explain the finding, such as steps of an attack, need a path of their own.
 */
export function readPlaces(finding: Fields): readonly Place[] {
  const draft = readDraft(finding);
  const { path, targetIndex } = draft;
  const sources = Array.isArray(finding.get('file'))
    ? [aliases.FILE_LIST, ...aliases.MAIN_PLACES]
    : aliases.MAIN_PLACES;
  const listed = placesUnder(finding, sources, { path, targetIndex }, 0);
  return [...withOwnFields(listed, draft), ...placesUnder(finding, aliases.OTHER_PLACES, {}, 0)];
}

function withOwnFields(listed: readonly Place[], draft: Draft, pathAround?: string): readonly Place[] {
  const [first] = listed;
  if (first !== undefined && listed.length === 1 && (draft.path === undefined || draft.path === first.path))
    return [completed(first, draft)];

  const path = draft.path ?? pathAround;
  const file = first === undefined ? draft.path : undefined;
  const isReported = (draft.startLine ?? draft.snippet ?? file) !== undefined;
  const isListed = listed.some((place) => place.path === path && hasLine(place));
  const all = path !== undefined && isReported && !isListed ? [{ ...draft, path }, ...listed] : listed;
  // A place without a line says nothing new where its file has one with a line.
  const withLine = new Set(all.filter(hasLine).map((place) => place.path));
  return all.filter((place) => hasLine(place) || !withLine.has(place.path));
}

function hasLine({ startLine }: Place): boolean {
  return startLine !== undefined;
}

/** The place with lines and code from `draft`, where it lacks them. */
function completed(place: Place, draft: Draft): Place {
  const { startLine, endLine, startColumn, endColumn } = place.startLine === undefined ? draft : place;
  const snippet = place.snippet ?? draft.snippet;
  return { ...place, startLine, endLine, startColumn, endColumn, snippet };
}

function placesUnder(
  object: Fields,
  sources: readonly aliases.PlaceSource[],
  around: Draft,
  depth: number,
): readonly Place[] {
  return sources.flatMap((source) =>
    hitsAt(object, source.paths).flatMap(({ path, value }) => {
      const places = placesIn(value, source, around, depth);
      if (places.length > 0) object.used?.push(path);
      return places;
    }),
  );
}

/** The places in a value: a path with its lines, an object, or a list of these. */
function placesIn(
  value: unknown,
  source: aliases.PlaceSource,
  around: Draft,
  depth: number,
): readonly Place[] {
  if (depth > maxDepth) return [];
  if (typeof value === 'string') {
    if (!looksLikePath(value, source.strings)) return [];
    return [{ ...around, ...splitPath(value.trim()), role: source.role }];
  }
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => placesIn(item, source, around, depth + 1));
  if (!isObject(value)) return [];
  const object = fieldsOf(value);
  const draft = readDraft(object);
  const toLabel = (text: unknown): string => clip(toFreeText(text), maxLabelLength);
  const label = firstHit(object, aliases.PLACE_LABEL, (text) => toLabel(text) || undefined) ?? around.label;
  const targetIndex = draft.targetIndex ?? around.targetIndex;
  const inside = { path: draft.path ?? around.path, label, targetIndex };
  const listed = placesUnder(object, [{ ...source, paths: aliases.PLACE_CONTAINERS }], inside, depth + 1);
  const toRole = (text: unknown): PlaceRole | undefined => PLACE_ROLES.find((role) => role === text);
  const role = firstHit(object, aliases.PLACE_ROLE, toRole) ?? source.role;
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

/** The path text of an object. Its file may be an object. */
function readFile(object: Fields, depth = 0): string | undefined {
  return firstHit(object, aliases.FILE, (value) => {
    if (typeof value === 'string') return looksLikePath(value, 'files') ? value : undefined;
    return isObject(value) && depth === 0 ? readFile(fieldsOf(value), 1) : undefined;
  });
}

function readLines(place: Fields): Lines {
  const range = firstHit(place, aliases.LINE_RANGE, toLineRange);
  const start = firstHit(place, aliases.START_POSITION, toPosition);
  const end = firstHit(place, aliases.END_POSITION, toPosition);
  return ordered({
    startLine: firstHit(place, aliases.START_LINE, toCount) ?? start?.line ?? range?.startLine,
    endLine: firstHit(place, aliases.END_LINE, toCount) ?? end?.line ?? range?.endLine,
    startColumn: firstHit(place, aliases.START_COLUMN, toCount) ?? start?.column,
    endColumn: firstHit(place, aliases.END_COLUMN, toCount) ?? end?.column,
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

/** From 0. */
function toIndex(value: unknown): number | undefined {
  return value === 0 ? 0 : toCount(value);
}

function oneMore(index: number | undefined): number | undefined {
  return index === undefined ? undefined : toCount(index + 1);
}
