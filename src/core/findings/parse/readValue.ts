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

/** Readers look at an object, and at those in it, many times before they turn to the next item. */
const maxKnown = 1_000;

/** Makes the `Look` for a file. */
export function createLook(): Look {
  /** The keys of the objects that were looked at last, by their normal form. */
  const known = new Map<JsonObject, ReadonlyMap<string, string>>();
  const spellingsOf = (object: JsonObject): ReadonlyMap<string, string> => {
    let spellings = known.get(object);
    if (spellings === undefined) {
      if (known.size > maxKnown) known.clear();
      // Of equal keys the last one set counts: the first of the file.
      const pairs = Object.keys(object).map((key) => [normalKey(key), key] as const);
      known.set(object, (spellings = new Map(pairs.reverse())));
    }
    return spellings;
  };
  const look = (value: unknown, path: KeyPath): unknown => {
    let current = value;
    for (const key of path) {
      const spelling = isObject(current) ? spellingsOf(current).get(key) : undefined;
      if (spelling === undefined) return undefined;
      current = (current as JsonObject)[spelling];
    }
    return current;
  };
  const present = (value: unknown, paths: readonly KeyPath[]): readonly KeyPath[] => {
    if (!isObject(value)) return [];
    const spellings = spellingsOf(value);
    return paths.filter(([key = '']) => spellings.has(key));
  };
  return Object.assign(look, { present });
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
