import { createVisit } from './locate.ts';
import { visitMapped } from './pathMappings.ts';
import { decodingLast } from './search.ts';

/** A mapping of paths that start with `prefix` to a folder, and how many of the paths that were asked for it would give a file. */
export interface MappingPlan {
  /** Leading part of the paths; empty for paths as they came. */
  readonly prefix: string;
  readonly placed: number;
}

/** More paths say nothing new about where they start. */
const maxPaths = 2_000;
const maxPrefixes = 50;

/**
 * Finds which leading part of paths stands for a folder: the one with which most paths become files, the shortest among equals. `to` is relative to the
 * folder, with `/`. Undefined when no path would become one.
 */
export async function planMapping(
  paths: readonly string[],
  { root, to, signal }: { readonly root: string; readonly to: string; readonly signal?: AbortSignal },
): Promise<MappingPlan | undefined> {
  const asked = paths.slice(0, maxPaths);
  const visit = createVisit(root);
  let best: MappingPlan | undefined;
  for (const prefix of prefixesOf(asked).slice(0, maxPrefixes)) {
    signal?.throwIfAborted();
    const mapping = [{ from: prefix, to }];
    const found = await Promise.all(
      asked.map((path) => decodingLast(path, (text) => visitMapped(text, { root, mapping, visit }))),
    );
    const placed = found.filter(({ kind }) => kind === 'file').length;
    if (placed > (best?.placed ?? 0)) best = { prefix, placed };
  }
  return best;
}

/** Every leading part of the paths, those that most paths share first, the shortest among equals. */
function prefixesOf(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folders = path
      .split(/[\\/]/)
      .filter((part) => part !== '' && part !== '.')
      .slice(0, -1);
    for (let length = 0; length <= folders.length; length += 1) {
      const prefix = folders.slice(0, length).join('/');
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([one, often], [other, seldom]) => seldom - often || one.length - other.length)
    .map(([prefix]) => prefix);
}
