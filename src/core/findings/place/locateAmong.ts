import type { Locate, Located } from './locate.ts';

/** One folder of a multi-root workspace. */
export interface LocatorFolder {
  /** Any name that is unique among the folders. */
  readonly folder: string;
  readonly locate: Locate;
}

/** A path's meaning in one of several folders; `folders` are those among which a person may choose. */
export type LocatedAmong =
  | { readonly kind: 'inFolder'; readonly folder: string; readonly located: Located }
  | { readonly kind: 'ask'; readonly folders: readonly string[] };

/**
 * Looks a path up in a multi-root workspace: the folder that the archive came from decides, even when it has no such file; without
 * a known origin the only folder that has the file, and when several have it, a person.
 */
export async function locateAmong(
  pathText: string,
  folders: readonly LocatorFolder[],
  origin?: string,
): Promise<LocatedAmong> {
  const asked = origin === undefined ? folders : folders.filter(({ folder }) => folder === origin);
  const answers = await Promise.all(
    asked.map(async ({ folder, locate }) => ({
      kind: 'inFolder' as const,
      folder,
      located: await locate(pathText),
    })),
  );
  const hits = answers.filter(({ located }) => located.kind === 'file');
  const [answer] = hits.length > 0 ? hits : answers;
  if (hits.length > 1 || answer === undefined)
    return { kind: 'ask', folders: hits.map(({ folder }) => folder) };
  return answer;
}
