import * as aliases from './aliases.ts';
import { type Place, PLACE_ROLES, type PlaceRole } from '../finding.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject } from '../../json.ts';
import { type Lines, looksLikePath, ordered, splitPath, toCount, toLineRange } from './pathText.ts';
import { toFreeText, toSnippet } from './freeText.ts';
import { clip } from '../../visibleText.ts';

const maxDepth = 12;
const maxLabelLength = 1_000;

/** What one object says about a place. Without a path it may still complete the place of another object. */
type PlaceDraft = Omit<Place, 'path'> & { readonly path: string | undefined };

/** What the objects around a place say about every place in them. */
type Surroundings = Pick<PlaceDraft, 'path' | 'label' | 'targetIndex'>;

/**
 * Reads the places of a finding, the main one first. They are read in this order:
 * 1. Places that the finding lists: its own file, where that is a list, then `MAIN_PLACES`. These are usually the most exact.
 * 2. The finding's own fields. They complete the only listed place, or are the main place before the listed ones (`withOwnFields`).
 * 3. Places that explain the finding, such as steps of an attack (`OTHER_PLACES`). They need a path of their own.
 * A place that is reported twice is in the result twice.
 */
export function readPlaces(finding: Fields): readonly Place[] {
  const draft = readDraft(finding);
  const surroundings = { path: draft.path, targetIndex: draft.targetIndex };
  const listed = placesUnder(finding, [...fileLists(finding), ...aliases.MAIN_PLACES], surroundings);
  const explaining = placesUnder(finding, aliases.OTHER_PLACES, { path: undefined });
  return [...withOwnFields(listed, draft), ...explaining];
}

function fileLists(finding: Fields): readonly aliases.PlaceSource[] {
  const lists = hitsAt(finding, aliases.FILE).filter(({ value }) => Array.isArray(value));
  return lists.length === 0 ? [] : [{ strings: 'files', paths: lists.map(({ path }) => path) }];
}

/** Adds the finding's own fields, `draft`, to the listed places. */
function withOwnFields(listed: readonly Place[], draft: PlaceDraft): readonly Place[] {
  const { path } = draft;
  const [first] = listed;
  if (first !== undefined && listed.length === 1 && (path === undefined || path === first.path))
    return [completed(first, draft)];

  const filesWithLine = new Set(listed.filter(hasLine).map((place) => place.path));
  const isReported = draft.startLine !== undefined || draft.snippet !== undefined || first === undefined;
  const main = path !== undefined && isReported && !filesWithLine.has(path) ? { ...draft, path } : undefined;
  if (main !== undefined && hasLine(main)) filesWithLine.add(main.path);
  // A place without a line says nothing new where its file has one with a line.
  const others = listed.filter((place) => hasLine(place) || !filesWithLine.has(place.path));
  return main === undefined ? others : [main, ...others];
}

function hasLine({ startLine }: Place): boolean {
  return startLine !== undefined;
}

/** The place with lines and code from `draft`, where it lacks them and both are in one file. */
function completed(place: Place, draft: PlaceDraft): Place {
  if (draft.path !== undefined && draft.path !== place.path) return place;
  const { startLine, endLine, startColumn, endColumn } = place.startLine === undefined ? draft : place;
  const snippet = place.snippet ?? draft.snippet;
  return { ...place, startLine, endLine, startColumn, endColumn, snippet };
}

function placesUnder(
  finding: Fields,
  sources: readonly aliases.PlaceSource[],
  surroundings: Surroundings,
): readonly Place[] {
  return sources.flatMap((source) =>
    hitsAt(finding, source.paths).flatMap(({ path, value }) => {
      const places = placesIn(value, source, surroundings, 0);
      if (places.length > 0) finding.used?.push(path);
      return places;
    }),
  );
}

/** The places in a value: a path with its lines, an object, or a list of these. */
function placesIn(
  value: unknown,
  source: aliases.PlaceSource,
  surroundings: Surroundings,
  depth: number,
): readonly Place[] {
  if (depth > maxDepth) return [];
  if (typeof value === 'string') {
    if (!looksLikePath(value, source.strings)) return [];
    return [{ ...surroundings, ...splitPath(value.trim()), role: source.role }];
  }
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => placesIn(item, source, surroundings, depth + 1));
  return isObject(value) ? placesInObject(fieldsOf(value), source, surroundings, depth) : [];
}

/** The places inside an object; without any, the object itself. */
function placesInObject(
  object: Fields,
  source: aliases.PlaceSource,
  outer: Surroundings,
  depth: number,
): readonly Place[] {
  const draft = readDraft(object);
  const surroundings = {
    path: draft.path ?? outer.path,
    label: readLabel(object) ?? outer.label,
    targetIndex: draft.targetIndex ?? outer.targetIndex,
  };
  const inside = hitsAt(object, aliases.PLACE_CONTAINERS).flatMap(({ value }) =>
    placesIn(value, source, surroundings, depth + 1),
  );
  const [first] = inside;
  if (first !== undefined) return inside.length === 1 ? [completed(first, draft)] : inside;

  const { path } = surroundings;
  const isPlace = draft.path !== undefined || draft.startLine !== undefined || draft.snippet !== undefined;
  if (path === undefined || !isPlace) return [];
  return [{ ...draft, ...surroundings, path, role: readRole(object) ?? source.role }];
}

function readLabel(object: Fields): string | undefined {
  return firstHit(
    object,
    aliases.PLACE_LABEL,
    (value) => clip(toFreeText(value), maxLabelLength) || undefined,
  );
}

function readRole(object: Fields): PlaceRole | undefined {
  return firstHit(object, aliases.PLACE_ROLE, (value) => PLACE_ROLES.find((role) => role === value));
}

function readDraft(object: Fields): PlaceDraft {
  const file = readFile(object);
  const split = file === undefined ? undefined : splitPath(file.trim());
  const lines = readLines(object);
  const { startLine, endLine, startColumn, endColumn } =
    lines.startLine === undefined && split !== undefined ? split : lines;
  return {
    path: split?.path,
    startLine,
    endLine,
    startColumn,
    endColumn,
    charOffset:
      startLine === undefined ? firstHit(object, aliases.CHAR_OFFSET, (value) => toIndex(value)) : undefined,
    snippet: firstHit(object, aliases.SNIPPET, (value) => toSnippet(value, startLine)),
    targetIndex: firstHit(object, aliases.TARGET_INDEX, (value) =>
      typeof value === 'number' ? toIndex(value) : undefined,
    ),
  };
}

/** The path text of an object. Its file may be an object, or the first of a list. */
function readFile(object: Fields, depth = 0): string | undefined {
  return firstHit(object, aliases.FILE, (value) => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') return looksLikePath(first, 'files') ? first : undefined;
    return isObject(first) && depth === 0 ? readFile(fieldsOf(first), 1) : undefined;
  });
}

/** What is not a whole number from 1 to `maxLine` is unknown. An end before the start is the start. */
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

function toPosition(
  value: unknown,
): { readonly line: number; readonly column?: number | undefined } | undefined {
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
