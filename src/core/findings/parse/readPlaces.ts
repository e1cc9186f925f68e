import {
  END_COLUMN,
  END_LINE,
  END_POSITION,
  FILE,
  LINE_RANGE,
  MAIN_PLACES,
  OTHER_PLACES,
  PLACE_CONTAINERS,
  PLACE_LABEL,
  PLACE_ROLE,
  type PlaceSource,
  POSITION_CHARACTER,
  POSITION_COLUMN,
  POSITION_LINE,
  SNIPPET,
  START_COLUMN,
  START_LINE,
  START_POSITION,
  TARGET_INDEX,
} from './aliases.ts';
import { type Place, PLACE_ROLES, type PlaceRole } from '../finding.ts';
import { type Fields, fieldsOf, firstHit, hitsAt, isObject, type KeyPath } from '../../json.ts';
import { type Lines, looksLikePath, ordered, splitPath, toCount, toLineRange } from './pathText.ts';
import { toFreeText } from './freeText.ts';
import { toSnippet } from './snippet.ts';
import { clip } from '../../visibleText.ts';

/** Most places kept of one finding; the rest stand in its raw JSON. */
const MAX_PLACES = 500;

const maxDepth = 12;
const maxValues = 5_000;
const maxLabelLength = 1_000;

/** The places of one finding; `clipped` when there were more than are kept. */
export interface Places {
  readonly places: readonly Place[];
  readonly clipped: boolean;
}

/** What the objects around a place say about every place in them. */
type Surroundings = Pick<PlaceDraft, 'path' | 'label' | 'targetIndex'>;

/**
 * Reads the places of a finding, the main one first. Looked for, in this order:
 * 1. Places that the finding lists: its own file, where that is a list, then `MAIN_PLACES`. These are usually the most exact.
 * 2. The finding's own fields. They complete the only listed place, or are the main place before the listed ones (`withOwnFields`).
 * 3. Places that explain the finding, such as steps of an attack (`OTHER_PLACES`). They do not take its file: without a path they are none.
 * Each report of a place is a place of its own.
 */
export function readPlaces(finding: Fields): Places {
  const own = readDraft(finding);
  const around = { path: own.path, targetIndex: own.targetIndex };
  const budget = { valuesLeft: maxValues };
  const listed = placesUnder(finding, [...fileLists(finding), ...MAIN_PLACES], around, budget);
  const others = placesUnder(finding, OTHER_PLACES, { path: undefined }, budget);
  const places = [...withOwnFields(listed, own), ...others];
  return {
    places: places.slice(0, MAX_PLACES),
    clipped: places.length > MAX_PLACES || budget.valuesLeft <= 0,
  };
}

/** The finding's own file, where that is a list. */
function fileLists(finding: Fields): readonly PlaceSource[] {
  const lists = hitsAt(finding, FILE).filter(({ value }) => Array.isArray(value));
  return lists.length === 0 ? [] : [{ strings: 'files', paths: lists.map(({ path }) => path) }];
}

/**
 * Joins the listed places with the finding's own fields, which complete the only listed place. Else they are the main place, unless their file is
 * listed with a line. Places without a line are dropped where the same file has one with a line.
 */
function withOwnFields(listed: readonly Place[], own: PlaceDraft): readonly Place[] {
  const { path } = own;
  const [only, ...others] = listed;
  if (only !== undefined && others.length === 0 && (path === undefined || path === only.path))
    return [completed(only, own)];
  const isReported = own.startLine !== undefined || own.snippet !== undefined;
  const filesWithLine = new Set(listed.filter(hasLine).map((place) => place.path));
  const isMain = path !== undefined && (isReported || only === undefined) && !filesWithLine.has(path);
  const main = isMain ? [{ ...own, path }] : [];
  if (own.startLine !== undefined) for (const place of main) filesWithLine.add(place.path);
  return [...main, ...listed.filter((place) => hasLine(place) || !filesWithLine.has(place.path))];
}

function hasLine({ startLine }: Place): boolean {
  return startLine !== undefined;
}

/** The place with the lines and the code that the fields beside it give, where it lacks them and both are in one file. */
function completed(place: Place, beside: PlaceDraft): Place {
  if (beside.path !== undefined && beside.path !== place.path) return place;
  const { startLine, endLine, startColumn, endColumn } = place.startLine === undefined ? beside : place;
  const snippet = place.snippet ?? beside.snippet;
  return { ...place, startLine, endLine, startColumn, endColumn, snippet };
}

/** The places at some keys of a finding; `around` is what the finding says about each of them. */
function placesUnder(
  finding: Fields,
  sources: readonly PlaceSource[],
  around: Surroundings,
  budget: { valuesLeft: number },
): readonly Place[] {
  const places: Place[] = [];

  function add(value: unknown, source: PlaceSource, outer: Surroundings, depth: number): void {
    if (depth > maxDepth || budget.valuesLeft <= 0) return;
    budget.valuesLeft -= 1;
    if (typeof value === 'string') {
      if (!looksLikePath(value, source.strings)) return;
      const { path, lines } = splitPath(value.trim());
      places.push({ ...outer, ...lines, path, role: source.role });
    } else if (Array.isArray(value)) {
      const items = (value as readonly unknown[]).slice(0, budget.valuesLeft);
      for (const item of items) add(item, source, outer, depth + 1);
    } else if (isObject(value)) addObject(fieldsOf(value), source, outer, depth);
  }

  /** Adds the places inside an object; without any, the object itself. */
  function addObject(object: Fields, source: PlaceSource, outer: Surroundings, depth: number): void {
    const draft = readDraft(object);
    const here = {
      path: draft.path ?? outer.path,
      label: readLabel(object) ?? outer.label,
      targetIndex: draft.targetIndex ?? outer.targetIndex,
    };
    const start = places.length;
    for (const { value } of hitsAt(object, PLACE_CONTAINERS)) add(value, source, here, depth + 1);
    const first = places[start];
    if (first !== undefined) {
      if (places.length === start + 1) places[start] = completed(first, draft);
      return;
    }
    const tells = draft.path !== undefined || draft.startLine !== undefined || draft.snippet !== undefined;
    if (tells && here.path !== undefined) {
      const { startLine, endLine, startColumn, endColumn, snippet } = draft;
      const role = readRole(object) ?? source.role;
      const { path, label, targetIndex } = here;
      places.push({ path, startLine, endLine, startColumn, endColumn, snippet, targetIndex, label, role });
    }
  }

  for (const source of sources)
    for (const { value } of hitsAt(finding, source.paths)) add(value, source, around, 0);
  return places;
}

function readLabel(object: Fields): string | undefined {
  return firstHit(object, PLACE_LABEL, (value) => clip(toFreeText(value), maxLabelLength) || undefined);
}

function readRole(object: Fields): PlaceRole | undefined {
  return firstHit(object, PLACE_ROLE, (value) => PLACE_ROLES.find((role) => role === value));
}

/** What one object says about a place; without a path it may still complete the place of another object. */
type PlaceDraft = Omit<Place, 'path'> & { readonly path: string | undefined };

/** Reads path, lines, code and target of a place from the fields of one object. */
function readDraft(object: Fields): PlaceDraft {
  const written = readFile(object);
  const split = written === undefined ? undefined : splitPath(written.trim());
  const lines = readLines(object);
  const { startLine, endLine, startColumn, endColumn } =
    lines.startLine === undefined && split !== undefined ? split.lines : lines;
  return {
    path: split?.path,
    startLine,
    endLine,
    startColumn,
    endColumn,
    snippet: firstHit(object, SNIPPET, (value) => toSnippet(value, startLine)),
    targetIndex: firstHit(object, TARGET_INDEX, toTargetIndex),
  };
}

/** The path text of an object; its file may be an object of its own, or the first of a list. */
function readFile(object: Fields, depth = 0): string | undefined {
  return firstHit(object, FILE, (value) => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') return looksLikePath(first, 'files') ? first : undefined;
    return isObject(first) && depth === 0 ? readFile(fieldsOf(first), 1) : undefined;
  });
}

function toTargetIndex(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

interface Position {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The lines of a place. What is not a whole number from 1 to `MAX_LINE` is unknown; an end before the start is the start. */
export function readLines(place: Fields): Lines {
  const range = firstHit(place, LINE_RANGE, toLineRange);
  const start = readPosition(place, START_POSITION);
  const end = readPosition(place, END_POSITION);
  return ordered({
    startLine: firstHit(place, START_LINE, toCount) ?? start.line ?? range?.startLine,
    endLine: firstHit(place, END_LINE, toCount) ?? end.line ?? range?.endLine,
    startColumn: firstHit(place, START_COLUMN, toCount) ?? start.column,
    endColumn: firstHit(place, END_COLUMN, toCount) ?? end.column,
  });
}

function readPosition(place: Fields, paths: readonly KeyPath[]): Position {
  const read = (value: unknown): Position | undefined => {
    const position = fieldsOf(value);
    const character = firstHit(position, POSITION_CHARACTER, toIndex);
    const lineOf = (line: unknown): number | undefined =>
      character === undefined ? toCount(line) : oneMore(toIndex(line));
    const line = firstHit(position, POSITION_LINE, lineOf);
    const column = firstHit(position, POSITION_COLUMN, toCount) ?? oneMore(character);
    return line === undefined ? undefined : { line, column };
  };
  return firstHit(place, paths, read) ?? {};
}

function toIndex(value: unknown): number | undefined {
  return value === 0 ? 0 : toCount(value);
}

function oneMore(index: number | undefined): number | undefined {
  return index === undefined ? undefined : toCount(index + 1);
}
