import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { pathInside } from '../../files.ts';
import {
  createVisit,
  decodingLast,
  type Located,
  none,
  segmentsOf,
  toWorkspacePath,
  type Visit,
} from './workspacePath.ts';

/** Paths that start with `from`, and have no file as they are, are meant to start with `to`: whole segments, as a person decided. */
export interface PathMapping {
  readonly from: string;
  /** Relative to the folder, with `/`; empty for the folder itself. */
  readonly to: string;
}

/** The editor's `Memento`. */
export interface MappingMemory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const key = 'whitebox.pathMappings';
const schema = z.record(z.string(), z.array(z.object({ from: z.string(), to: z.string() })));

/** What a person decided about the paths of a folder's findings. */
export function mappingsOf(memory: MappingMemory, folder: string): readonly PathMapping[] {
  return readAll(memory)[folder] ?? [];
}

/** From now on, paths of a folder's findings that start with `prefix` start in `to`, an absolute folder in that folder. Throws `outsideFolder`. */
export async function addMapping(
  memory: MappingMemory,
  folder: string,
  prefix: string,
  to: string,
): Promise<void> {
  const inside = pathInside(folder, to);
  if (inside === undefined) throw new AssessmentError('outsideFolder', { subject: to });
  const others = mappingsOf(memory, folder).filter(({ from }) => from !== prefix);
  const mapping = { from: prefix, to: inside };
  await memory.update(key, { ...readAll(memory), [folder]: [...others, mapping] });
}

/** Paths of a folder's findings mean what they say again. */
export async function forgetMappings(memory: MappingMemory, folder: string): Promise<void> {
  const others = Object.entries(readAll(memory)).filter(([each]) => each !== folder);
  await memory.update(key, Object.fromEntries(others));
}

/** Looks where a path text leads by the mapping with the longest `from` that fits; never out of the folder (`root`, which `visit` looks in). */
export async function visitMapped(
  text: string,
  { root, mapping, visit }: { root: string; mapping: readonly PathMapping[]; visit: Visit },
): Promise<Located> {
  const written = toWorkspacePath(text, root);
  if (written.kind === 'none') return written;
  const path = written.segments.join('/');
  const fitting = mapping
    .map(({ from, to }) => ({ from: segmentsOf(from).join('/'), to }))
    .filter(({ from }) => from === '' || path === from || path.startsWith(`${from}/`));
  const [best] = fitting.sort((one, other) => other.from.length - one.from.length);
  if (best === undefined) return none('notFound');
  const meant = toWorkspacePath(`${best.to}/${path.slice(best.from.length)}`.replace(/^\/+/, ''), '');
  return meant.kind === 'path' ? visit(meant.segments.join('/')) : meant;
}

function readAll(memory: MappingMemory): z.infer<typeof schema> {
  return schema.safeParse(memory.get(key)).data ?? {};
}

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
    const folders = segmentsOf(path).slice(0, -1);
    for (let length = 0; length <= folders.length; length += 1) {
      const prefix = folders.slice(0, length).join('/');
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([one, often], [other, seldom]) => seldom - often || one.length - other.length)
    .map(([prefix]) => prefix);
}
