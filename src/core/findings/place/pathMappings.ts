import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { pathInside } from '../../pathInside.ts';
import type { PathMapping } from './locate.ts';

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

function readAll(memory: MappingMemory): z.infer<typeof schema> {
  return schema.safeParse(memory.get(key)).data ?? {};
}
