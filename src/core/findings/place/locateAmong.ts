import { basename } from 'node:path';
import type { Target } from '../../run/run.ts';
import type { Locate, Located } from './locate.ts';
import { toWorkspacePath } from './workspacePath.ts';

/** One folder of a multi-root workspace. */
export interface LocatorFolder {
  /** Any name that is unique among the folders. */
  readonly folder: string;
  /** What a path may start with to say that it is in this folder: see `pathNamesOf`. */
  readonly names: readonly string[];
  readonly locate: Locate;
}

/** A path's meaning in one of several folders. */
export interface LocatedAmong {
  readonly folder: string;
  readonly located: Located;
}

/** What paths start with that name a target of a run. */
export function pathNamesOf({ name, folder }: Target, index: number): readonly string[] {
  return [name, basename(folder), String(index)];
}

/** The only one of several folders that the first segment of a path names. */
export function namedBy<T extends { readonly names: readonly string[] }>(
  pathText: string,
  folders: readonly T[],
): T | undefined {
  const written = toWorkspacePath(pathText, '');
  const first = written.kind === 'path' ? (written.segments[0] ?? '') : '';
  const [named, ...others] = folders.filter(({ names }) => names.includes(first));
  return others.length === 0 ? named : undefined;
}

/**
 * Looks a path up in a multi-root workspace: the folder that the archive came from decides, even when it has no such file; without a known
 * origin the only folder that has the file. When several have it, what a person mapped decides, else the path's first segment; undefined
 * when that says nothing.
 */
export async function locateAmong(
  pathText: string,
  folders: readonly LocatorFolder[],
  origin?: string,
): Promise<LocatedAmong | undefined> {
  const asked = origin === undefined ? folders : folders.filter(({ folder }) => folder === origin);
  const answers = await Promise.all(
    asked.map(async ({ folder, names, locate }) => ({ folder, names, located: await locate(pathText) })),
  );
  const hits = answers.filter(({ located }) => located.kind === 'file');
  const mapped = hits.filter(({ located }) => located.kind === 'file' && located.isMapped === true);
  const [only] = mapped.length === 1 ? mapped : hits;
  const decided = hits.length > 1 && mapped.length !== 1 ? namedBy(pathText, hits) : (only ?? answers[0]);
  return decided && { folder: decided.folder, located: decided.located };
}
