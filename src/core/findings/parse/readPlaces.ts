import {
  FILE,
  MAIN_PLACES,
  OTHER_PLACES,
  PLACE_CONTAINERS,
  PLACE_LABEL,
  PLACE_ROLE,
  type PlaceSource,
} from './aliases.ts';
import { type Place, PLACE_ROLES, type PlaceRole } from '../finding.ts';
import { looksLikePath, splitPath } from './pathText.ts';
import { clip, toProse } from './prose.ts';
import { type PlaceDraft, readDraft } from './readDraft.ts';
import { type JsonObject, type Look, firstHit, isObject } from './readValue.ts';

/** Most places kept of one finding; the rest stand in its raw JSON. */
const MAX_PLACES = 500;

const maxDepth = 12;
const maxValues = 5_000;
const maxLabelLength = 1_000;
const otherPaths = OTHER_PLACES.flatMap(({ paths }) => paths);

/** The places of one finding; `clipped` when there were more than are kept. */
export interface Places {
  readonly places: readonly Place[];
  readonly clipped: boolean;
}

/** What the objects around a place say about every place in them. */
type Surroundings = Pick<PlaceDraft, 'path' | 'label' | 'targetIndex'>;

/** Reads the places of a finding, the main one first; two tellings of the same path and line become one place. */
export function readPlaces(look: Look, finding: JsonObject): Places {
  const own = readDraft(look, finding);
  const around = { path: own.path, targetIndex: own.targetIndex };
  const budget = { valuesLeft: maxValues };
  const main = withOwnFields(
    distinct(placesUnder(look, finding, [...fileLists(look, finding), ...MAIN_PLACES], around, budget)),
    own,
  );
  const others =
    look.present(finding, otherPaths).length === 0
      ? []
      : placesUnder(look, finding, OTHER_PLACES, { path: undefined }, budget);
  const places = others.length === 0 ? main : distinct([...main, ...others]);
  return {
    places: places.slice(0, MAX_PLACES),
    clipped: places.length > MAX_PLACES || budget.valuesLeft <= 0,
  };
}

/** The finding's own file, where that is a list. */
function fileLists(look: Look, finding: JsonObject): readonly PlaceSource[] {
  const paths = look.present(finding, FILE).filter((path) => Array.isArray(look(finding, path)));
  return paths.length === 0 ? [] : [{ strings: 'files', paths }];
}

/**
 * The finding's own fields are its place when it has no other, and complete one that they tell as well. With code of a file that is listed
 * at most by its name, they are the main one.
 */
function withOwnFields(places: readonly Place[], own: PlaceDraft): readonly Place[] {
  const { path } = own;
  const tells = own.startLine !== undefined || own.snippet !== undefined;
  if (path === undefined || (places.length === 1 && places[0]?.path === path))
    return places.length === 1 ? places.map((place) => completed(place, own)) : places;
  if (places.length > 0 && !tells) return places;
  const listed = places.filter((place) => place.path === path);
  const same = listed.find(({ startLine }) => startLine === undefined || startLine === own.startLine);
  if (same === undefined) return listed.length > 0 ? places : [{ ...own, path }, ...places];
  const whole = completed(same, own);
  if (same.startLine !== undefined) return places.map((place) => (place === same ? whole : place));
  return distinct([whole, ...places.filter((place) => place !== same)]);
}

function placesUnder(
  look: Look,
  finding: JsonObject,
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
    } else if (isObject(value)) addObject(value, source, outer, depth);
  }

  /** Adds the places inside an object; without any, the object itself. */
  function addObject(object: JsonObject, source: PlaceSource, outer: Surroundings, depth: number): void {
    const draft = readDraft(look, object);
    const here = {
      path: draft.path ?? outer.path,
      label: readLabel(look, object) ?? outer.label,
      targetIndex: draft.targetIndex ?? outer.targetIndex,
    };
    const start = places.length;
    for (const path of look.present(object, PLACE_CONTAINERS)) {
      add(look(object, path), source, here, depth + 1);
    }
    const first = places[start];
    if (first !== undefined) {
      if (places.length === start + 1) places[start] = completed(first, draft);
      return;
    }
    const tells = draft.path !== undefined || draft.startLine !== undefined || draft.snippet !== undefined;
    if (tells && here.path !== undefined) {
      const { startLine, endLine, startColumn, endColumn, snippet } = draft;
      const role = readRole(look, object) ?? source.role;
      const { path, label, targetIndex } = here;
      places.push({ path, startLine, endLine, startColumn, endColumn, snippet, targetIndex, label, role });
    }
  }

  for (const source of sources) {
    for (const path of look.present(finding, source.paths)) {
      const value = look(finding, path);
      if (value !== undefined) add(value, source, around, 0);
    }
  }
  return places;
}

function readLabel(look: Look, object: JsonObject): string | undefined {
  return firstHit(look, object, PLACE_LABEL, (value) => clip(toProse(value), maxLabelLength) || undefined);
}

function readRole(look: Look, object: JsonObject): PlaceRole | undefined {
  return firstHit(look, object, PLACE_ROLE, (value) => PLACE_ROLES.find((role) => role === value));
}

/** Each path and line of an archive once; of a telling that names no archive, it is the first one. */
function distinct(places: readonly Place[]): readonly Place[] {
  if (places.length < 2) return places;
  const found: Place[] = [];
  const positions = new Map<string, number>();
  for (const place of places) {
    const position = `${place.path}\0${String(place.startLine)}`;
    const key = place.targetIndex === undefined ? position : `${position}\0${String(place.targetIndex)}`;
    const first = positions.get(position) ?? found.length;
    const at = positions.get(key) ?? (found[first]?.targetIndex === undefined ? first : found.length);
    const told = found[at];
    found[at] = told === undefined ? place : completed(told, place);
    positions.set(position, first).set(key, at);
  }
  return found;
}

/** A place with what it lacks taken from another telling of it. */
function completed(place: Place, other: PlaceDraft): Place {
  if (other.path !== undefined && other.path !== place.path) return place;
  const { startLine, endLine, startColumn, endColumn } = place.startLine === undefined ? other : place;
  return {
    ...place,
    startLine,
    endLine,
    startColumn,
    endColumn,
    snippet: place.snippet ?? other.snippet,
    label: place.label ?? other.label,
    targetIndex: place.targetIndex ?? other.targetIndex,
  };
}
