/** A person's choices for one folder, by paths relative to it; a folder's path ends in `/`. */
export interface FolderChoices {
  /** Sent although ignore files or settings leave it out. */
  readonly include: readonly string[];
  readonly leaveOut: readonly string[];
}

/** The choices that concern what lies below a prefix (empty, or a folder's path), relative to it. */
export function choicesBelow({ include, leaveOut }: FolderChoices, prefix: string): FolderChoices {
  const below = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => (isBelow(path, prefix) ? [path.slice(prefix.length)] : []));
  return { include: below(include), leaveOut: below(leaveOut) };
}

/** The choices with those below a prefix replaced by others, which are relative to it. */
export function replaceBelow(all: FolderChoices, prefix: string, below: FolderChoices): FolderChoices {
  const replace = (paths: readonly string[], others: readonly string[]): string[] => [
    ...paths.filter((path) => !isBelow(path, prefix)),
    ...others.map((path) => prefix + path),
  ];
  return {
    include: replace(all.include, below.include),
    leaveOut: replace(all.leaveOut, below.leaveOut),
  };
}

/** The choices after a person said whether a path is to be sent; `isIgnored` where ignore files or settings leave it out otherwise. */
export function withChosen(
  { include, leaveOut }: FolderChoices,
  path: string,
  { isSent, isIgnored }: { isSent: boolean; isIgnored: boolean },
): FolderChoices {
  const isIncluded = include.includes(path);
  return {
    include: isSent && isIgnored ? [...without(include, path), path] : without(include, path),
    leaveOut: isSent || isIncluded ? without(leaveOut, path) : [...without(leaveOut, path), path],
  };
}

/**
 * The choices after a person took back that a file is left out. Where a folder above it was left out, all that it holds besides
 * (`files`: everything there is) stays out: as whole folders where the file is not below them.
 */
export function withRestored(
  { include, leaveOut }: FolderChoices,
  path: string,
  files: readonly { readonly path: string }[],
): FolderChoices {
  const above = leaveOut.filter((each) => each.endsWith('/') && path.startsWith(each));
  const kept = leaveOut.filter((each) => each !== path && !above.includes(each));
  const top = above.toSorted((a, b) => a.length - b.length)[0];
  if (top === undefined) return { include, leaveOut: kept };
  const still = files.flatMap((file) =>
    file.path.startsWith(top) && file.path !== path ? [beside(file.path, path)] : [],
  );
  return { include, leaveOut: [...new Set([...kept, ...still])] };
}

/** The file itself, or the highest folder that holds it and not `path`. */
function beside(file: string, path: string): string {
  let at = 0;
  for (;;) {
    const end = file.indexOf('/', at);
    if (end < 0) return file;
    if (!path.startsWith(file.slice(0, end + 1))) return file.slice(0, end + 1);
    at = end + 1;
  }
}

function isBelow(path: string, prefix: string): boolean {
  return path !== prefix && path.startsWith(prefix);
}

function without(paths: readonly string[], path: string): string[] {
  return paths.filter((each) => each !== path);
}
