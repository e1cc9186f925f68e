/** A JSON object, told from arrays and null. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Keys from the outside in, each in the form `normalKey` gives. */
export type KeyPath = readonly string[];

/** Reads the value at a path of keys; undefined where a step is missing. Own properties only, and of equal keys the first. */
export type Look = (value: unknown, path: KeyPath) => unknown;

const maxKnownKeys = 4096;
const maxKeysPerObject = 4096;

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

/** `normalKey` that remembers: a file spells the same few keys thousands of times. */
export function createKeyMemory(): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    const normal = normalKey(key);
    if (known.size < maxKnownKeys) known.set(key, normal);
    return normal;
  };
}

/** A `Look` that reads each object's keys once; keep one per finding, so that nothing outlives the finding it was read for. */
export function createLook(normal: (key: string) => string): Look {
  const views = new Map<JsonObject, ReadonlyMap<string, unknown>>();

  const viewOf = (object: JsonObject): ReadonlyMap<string, unknown> => {
    const seen = views.get(object);
    if (seen !== undefined) return seen;
    const view = new Map<string, unknown>();
    for (const key of Object.keys(object)) {
      const name = normal(key);
      if (!view.has(name)) view.set(name, object[key]);
      if (view.size >= maxKeysPerObject) break;
    }
    views.set(object, view);
    return view;
  };

  return (value, path) => {
    let current = value;
    for (const key of path) {
      if (!isObject(current)) return undefined;
      current = viewOf(current).get(key);
    }
    return current;
  };
}

/** The first hit that `accept` can use, in the order of the aliases; undefined from `accept` means: try the next. */
export function firstHit<T>(
  look: Look,
  value: unknown,
  paths: readonly KeyPath[],
  accept: (hit: unknown) => T | undefined,
): T | undefined {
  for (const path of paths) {
    const hit = look(value, path);
    if (hit === undefined || hit === null) continue;
    const accepted = accept(hit);
    if (accepted !== undefined) return accepted;
  }
  return undefined;
}
