import { among } from './choices.ts';

/** A person's choices for one folder, by paths relative to it; a folder's path ends in `/`. */
export interface FolderChoices {
  /** Sent although ignore files or settings leave it out. */
  readonly include: readonly string[];
  readonly leaveOut: readonly string[];
  /** Files that are sent although a folder above them is left out. */
  readonly restored: readonly string[];
}

/** Nobody has chosen anything. */
export const noChoices: FolderChoices = { include: [], leaveOut: [], restored: [] };

/** Tests whether a person left out a path. */
export function leavingOut({ leaveOut, restored }: FolderChoices): (path: string) => boolean {
  const isLeftOut = among(leaveOut);
  const isRestored = new Set(restored);
  return (path) => isLeftOut(path) && !isRestored.has(path);
}

/** The choices that concern what lies below a prefix (empty, or a folder's path), relative to it. */
export function choicesBelow(all: FolderChoices, prefix: string): FolderChoices {
  return mapLists(all, (paths) =>
    paths.flatMap((path) => (isBelow(path, prefix) ? [path.slice(prefix.length)] : [])),
  );
}

/** The choices with those below a prefix replaced by others, which are relative to it. */
export function replaceBelow(all: FolderChoices, prefix: string, below: FolderChoices): FolderChoices {
  return mapLists(all, (paths, list) => [
    ...paths.filter((path) => !isBelow(path, prefix)),
    ...below[list].map((path) => prefix + path),
  ]);
}

/** The choices after a person said whether a path is to be sent; `isIgnored` where ignore files or settings leave it out otherwise. */
export function withChosen(
  { include, leaveOut, restored }: FolderChoices,
  path: string,
  { isSent, isIgnored }: { isSent: boolean; isIgnored: boolean },
): FolderChoices {
  const isIncluded = include.includes(path);
  return {
    include: isSent && isIgnored ? [...without(include, path), path] : without(include, path),
    leaveOut: isSent || isIncluded ? without(leaveOut, path) : [...without(leaveOut, path), path],
    restored: isSent ? restored : outside(restored, path),
  };
}

/** The choices after a person took back that a file is left out; a folder above it stays left out, with all that is made in it later. */
export function withRestored({ include, leaveOut, restored }: FolderChoices, path: string): FolderChoices {
  const kept = without(leaveOut, path);
  return {
    include,
    leaveOut: kept,
    restored: among(kept)(path) ? [...without(restored, path), path] : restored,
  };
}

/** The choices after a person excluded paths for good: neither they nor what lies below them is sent by an earlier choice. */
export function withExcluded(choices: FolderChoices, paths: readonly string[]): FolderChoices {
  return paths.reduce(
    ({ include, leaveOut, restored }, path) => ({
      include: outside(include, path),
      leaveOut: [...without(leaveOut, path), path],
      restored: outside(restored, path),
    }),
    choices,
  );
}

/** The choices after a person took an exclusion back: what `withExcluded` made of `before` is undone, and choices made since then stay. */
export function withoutExcluded(
  now: FolderChoices,
  paths: readonly string[],
  before: FolderChoices,
): FolderChoices {
  const excluded = withExcluded(before, paths);
  return mapLists(now, (list, name) => [
    ...list.filter((path) => before[name].includes(path) || !excluded[name].includes(path)),
    ...before[name].filter((path) => !excluded[name].includes(path) && !list.includes(path)),
  ]);
}

function mapLists(
  { include, leaveOut, restored }: FolderChoices,
  map: (paths: readonly string[], list: keyof FolderChoices) => readonly string[],
): FolderChoices {
  return {
    include: map(include, 'include'),
    leaveOut: map(leaveOut, 'leaveOut'),
    restored: map(restored, 'restored'),
  };
}

function isBelow(path: string, prefix: string): boolean {
  return path !== prefix && path.startsWith(prefix);
}

/** The paths that are neither `path` nor below it. */
function outside(paths: readonly string[], path: string): string[] {
  return paths.filter((each) => each !== path && !(path.endsWith('/') && each.startsWith(path)));
}

function without(paths: readonly string[], path: string): string[] {
  return paths.filter((each) => each !== path);
}
