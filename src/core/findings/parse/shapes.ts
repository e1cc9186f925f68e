import type { JsonObject, KeyPath } from './readValue.ts';

/** What the objects with one list of keys have in common, in the eyes of a reader that looks for aliases. */
export interface Shape {
  /** The key that an object spells a normal key with. */
  spelling(normal: string): string | undefined;
  /** Those of the paths whose first key is there; of each list, the answer is found once. */
  present(paths: readonly KeyPath[]): readonly KeyPath[];
}

/** The path of keys that leads to a shape, one key after the other; the shape itself is made when an object ends here. */
interface Step {
  readonly next: Map<string, Step>;
  shape?: Shape;
}

const maxSteps = 4096;
const maxRememberedKeys = 100;
const maxKeysPerObject = 4096;

/** Tells the shape of any object, and remembers it: a file repeats the same few lists of keys thousands of times, and has hundreds of aliases to be looked for. */
export function createShapes(normalKey: (key: string) => string): (object: JsonObject) => Shape {
  const first: Step = { next: new Map() };
  let stepsLeft = maxSteps;

  const stepFor = (keys: readonly string[]): Step | undefined => {
    if (keys.length > maxRememberedKeys) return undefined;
    let step = first;
    for (const key of keys) {
      let next = step.next.get(key);
      if (next === undefined) {
        if (stepsLeft === 0) return undefined;
        stepsLeft -= 1;
        next = { next: new Map() };
        step.next.set(key, next);
      }
      step = next;
    }
    return step;
  };

  return (object) => {
    const keys = Object.keys(object);
    const step = stepFor(keys);
    return step === undefined ? toShape(keys, normalKey) : (step.shape ??= toShape(keys, normalKey));
  };
}

function toShape(keys: readonly string[], normalKey: (key: string) => string): Shape {
  const spellings = new Map<string, string>();
  for (const key of keys) {
    const normal = normalKey(key);
    if (!spellings.has(normal)) spellings.set(normal, key);
    if (spellings.size >= maxKeysPerObject) break;
  }
  const known = new Map<readonly KeyPath[], readonly KeyPath[]>();
  return {
    spelling: (normal) => spellings.get(normal),
    present: (paths) => {
      const answered = known.get(paths);
      if (answered !== undefined) return answered;
      const present = paths.filter(([key]) => key !== undefined && spellings.has(key));
      known.set(paths, present);
      return present;
    },
  };
}
