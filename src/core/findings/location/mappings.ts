import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { pathInside, pathKey } from '../../paths.ts';
import {
  namesIn,
  openFolder,
  type OpenedFolder,
  segmentsOf,
  toSegments,
  type VisitedFile,
} from './workspacePath.ts';

/**
 * If no file is found for a path that begins with `from`, `to` replaces this start. Both are whole
 * segments.
 */
export interface PathMapping {
  readonly from: string;
  /** It is relative to the folder, with `/`, and empty for the folder itself. */
  readonly to: string;
}

export interface MappingMemory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const key = 'whitebox.pathMappings';
const schema = z.record(z.string(), z.array(z.object({ from: z.string(), to: z.string() })));

export function readMappings(memory: MappingMemory): z.infer<typeof schema> {
  return schema.safeParse(memory.get(key)).data ?? {};
}

/** Both folders are absolute. Throws `outsideFolder` if `to` isn't in `folder`. */
export async function addMapping(
  memory: MappingMemory,
  folder: string,
  prefix: string,
  to: string,
): Promise<void> {
  const inside = pathInside(folder, to);
  if (inside === undefined) throw new AssessmentError('outsideFolder', { subject: to });
  const { [pathKey(folder)]: known = [], ...others } = readMappings(memory);
  const mappings = [...known.filter(({ from }) => from !== prefix), { from: prefix, to: inside }];
  await memory.update(key, { ...others, [pathKey(folder)]: mappings });
}

export async function forgetMappings(memory: MappingMemory, folder: string): Promise<void> {
  const { [pathKey(folder)]: _forgotten, ...others } = readMappings(memory);
  await memory.update(key, others);
}

export async function visitMapped(
  text: string,
  mappings: readonly PathMapping[],
  folder: OpenedFolder,
): Promise<VisitedFile | undefined> {
  const names = namesIn(text, await folder.spellings());
  const fitting = mappings
    .map(({ from, to }) => ({ from: segmentsOf(from), to }))
    .filter(({ from }) => from.every((name, at) => name === names[at]));
  const [best] = fitting.sort((one, other) => other.from.length - one.from.length);
  const remainder = names.slice(best?.from.length);
  const below = remainder.length === 0 ? [] : toSegments(remainder.join('/'));
  const mapped = best && below && toSegments([best.to, ...below].join('/'));
  const found = mapped && (await folder.visit(mapped.join('/')));
  return typeof found === 'object' ? found : undefined;
}

export interface MappingPlan {
  readonly prefix: string;
  readonly located: number;
}

const maxPaths = 2_000;
const maxSegments = 50;

/**
 * Returns the prefix with which the most paths have a file in `to`, or the shortest of several.
 * `to` is relative to `root`.
 */
export async function planMapping(
  paths: readonly string[],
  { root, to, signal }: { readonly root: string; readonly to: string; readonly signal?: AbortSignal },
): Promise<MappingPlan | undefined> {
  const folder = openFolder(root);
  const spellings = await folder.spellings();
  const located = new Map<string, number>();
  for (const path of paths.slice(0, maxPaths)) {
    signal?.throwIfAborted();
    const folders = namesIn(path, spellings).slice(0, -1);
    for (let length = 0; length <= Math.min(folders.length, maxSegments); length += 1) {
      const from = folders.slice(0, length).join('/');
      const found = await visitMapped(path, [{ from, to }], folder);
      if (found !== undefined) located.set(from, (located.get(from) ?? 0) + 1);
    }
  }
  const [best] = [...located].sort(([a, countA], [b, countB]) => countB - countA || a.length - b.length);
  return best && { prefix: best[0], located: best[1] };
}
