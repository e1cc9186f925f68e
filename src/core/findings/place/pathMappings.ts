import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { pathInside } from '../../files.ts';
import { type Located, none, type Visit } from './locate.ts';
import { toWorkspacePath } from './workspacePath.ts';

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
    .map(({ from, to }) => ({
      from: from
        .split(/[\\/]/)
        .filter((part) => part !== '' && part !== '.')
        .join('/'),
      to,
    }))
    .filter(({ from }) => from === '' || path === from || path.startsWith(`${from}/`));
  const [best] = fitting.sort((one, other) => other.from.length - one.from.length);
  if (best === undefined) return none('notFound');
  const meant = toWorkspacePath(`${best.to}/${path.slice(best.from.length)}`.replace(/^\/+/, ''), '');
  return meant.kind === 'path' ? visit(meant.segments.join('/')) : meant;
}

function readAll(memory: MappingMemory): z.infer<typeof schema> {
  return schema.safeParse(memory.get(key)).data ?? {};
}
