import { type SentFile, type SentOfRun, type SentSpot } from '../place/sentFiles.ts';
import { isSamePath } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';

/**
 * The path in its folder that an earlier sent file has in a later run: its own; where that was not sent again, the only one with its bytes, else the only
 * one that differs in letter case. Its own, too, where none of these was sent.
 */
export type LaterPath = (spot: SentSpot) => string;

export function laterPathsIn({ targets }: Run, sent: SentOfRun): LaterPath {
  const indexes = targets.map((_, target) => indexOf(sent[target]));
  return ({ folder, file: { path, sha256 }, isOnlyCopy }) => {
    const index = indexes[targets.findIndex((each) => isSamePath(each.folder, folder))]?.();
    if (index === undefined || index.files.has(path)) return path;
    const moved = isOnlyCopy === true ? index.byBytes.get(sha256) : undefined;
    return moved ?? index.byCase.get(path.toLowerCase()) ?? path;
  };
}

interface SentIndex {
  readonly files: ReadonlyMap<string, SentFile>;
  /** Undefined where several files share the key. */
  readonly byBytes: ReadonlyMap<string, string | undefined>;
  readonly byCase: ReadonlyMap<string, string | undefined>;
}

function indexOf(files: SentOfRun[number]): () => SentIndex | undefined {
  let index: SentIndex | undefined;
  return () => {
    if (files !== undefined)
      index ??= {
        files,
        byBytes: uniquePaths(files, ({ sha256 }) => sha256),
        byCase: uniquePaths(files, ({ path }) => path.toLowerCase()),
      };
    return index;
  };
}

function uniquePaths(
  files: ReadonlyMap<string, SentFile>,
  keyOf: (file: SentFile) => string,
): ReadonlyMap<string, string | undefined> {
  const paths = new Map<string, string | undefined>();
  for (const file of files.values()) {
    const key = keyOf(file);
    paths.set(key, paths.has(key) ? undefined : file.path);
  }
  return paths;
}

/** Marks sent files that were the only copy of their bytes in their target. */
export function copyMarker(
  sent: SentOfRun,
): (spots: readonly (SentSpot | undefined)[]) => (SentSpot | undefined)[] {
  const byBytes = sent.map((files) => files && uniquePaths(files, ({ sha256 }) => sha256));
  return (spots) =>
    spots.map(
      (spot) => spot && { ...spot, isOnlyCopy: byBytes[spot.target]?.get(spot.file.sha256) !== undefined },
    );
}
