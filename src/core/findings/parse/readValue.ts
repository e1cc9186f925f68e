import type { Shape } from './shapes.ts';

/** A JSON object, told from arrays and null. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Keys from the outside in, each in the form `normalKey` gives. */
export type KeyPath = readonly string[];

/** Reads values of a parsed file. Own properties only, and of equal keys the first. */
export interface Look {
  /** The value at a path of keys; undefined where a step is missing. */
  (value: unknown, path: KeyPath): unknown;
  /** Those of the paths whose first key a value has: of twenty aliases that is mostly one. */
  readonly present: (value: unknown, paths: readonly KeyPath[]) => readonly KeyPath[];
}

const none: readonly KeyPath[] = [];

/** True for an object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The form in which keys are compared: lower case, without `_`, `-` and spaces. */
export function normalKey(key: string): string {
  return key.replace(/[_\-\s]/g, '').toLowerCase();
}

/** The dotted aliases of one target, ready for `Look`. */
export function keyPaths(aliases: readonly string[]): readonly KeyPath[] {
  return aliases.map((alias) => alias.split('.').map(normalKey));
}

/** Makes the `Look` for a file. */
export function createLook(shapeOf: (object: JsonObject) => Shape): Look {
  // Readers turn back and forth between an object and one in it.
  let latest: { readonly object: JsonObject; readonly shape: Shape } | undefined;
  let former = latest;

  const shapeAt = (object: JsonObject): Shape => {
    if (latest?.object === object) return latest.shape;
    const known = former?.object === object ? former : { object, shape: shapeOf(object) };
    former = latest;
    latest = known;
    return known.shape;
  };

  const look = (value: unknown, path: KeyPath): unknown => {
    let current = value;
    for (const key of path) {
      if (!isObject(current)) return undefined;
      const spelling = shapeAt(current).spelling(key);
      if (spelling === undefined) return undefined;
      current = current[spelling];
    }
    return current;
  };
  return Object.assign(look, {
    present: (value: unknown, paths: readonly KeyPath[]) =>
      isObject(value) ? shapeAt(value).present(paths) : none,
  });
}

/** The first hit that `accept` can use, in the order of the aliases; undefined from `accept` means: try the next. */
export function firstHit<T>(
  look: Look,
  value: unknown,
  paths: readonly KeyPath[],
  accept: (hit: unknown) => T | undefined,
): T | undefined {
  for (const path of look.present(value, paths)) {
    const hit = look(value, path);
    if (hit === undefined || hit === null) continue;
    const accepted = accept(hit);
    if (accepted !== undefined) return accepted;
  }
  return undefined;
}
