import type { SelectedFile } from '../select/selection.ts';

/** A person's choices for one folder, as paths relative to it; a folder's path ends in `/`. */
export interface FolderChoices {
  /** Paths that are sent although ignore files or settings leave them out. */
  readonly include: readonly string[];
  readonly leaveOut: readonly string[];
  /** Files that are sent although a folder above them is left out. */
  readonly restored: readonly string[];
}

/** The choices of a folder in which nobody has chosen anything. */
export const noChoices: FolderChoices = { include: [], leaveOut: [], restored: [] };

/** A test for paths that a person left out. */
export function leavingOut({ leaveOut, restored }: FolderChoices): (path: string) => boolean {
  const isLeftOut = among(leaveOut);
  const isRestored = new Set(restored);
  return (path) => isLeftOut(path) && !isRestored.has(path);
}

/** The choices for paths below a prefix (empty, or a folder's path), relative to it. */
export function choicesBelow(all: FolderChoices, prefix: string): FolderChoices {
  return mapLists(all, (paths) =>
    paths.flatMap((path) => (isBelow(path, prefix) ? [path.slice(prefix.length)] : [])),
  );
}

/** The choices, with those below a prefix replaced by `below`, whose paths are relative to it. */
export function replaceBelow(all: FolderChoices, prefix: string, below: FolderChoices): FolderChoices {
  return mapLists(all, (paths, list) => [
    ...paths.filter((path) => !isBelow(path, prefix)),
    ...below[list].map((path) => prefix + path),
  ]);
}

/** The choices after a person decided whether a path is sent; `isIgnored` if ignore files or settings leave it out. */
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

/** The choices after a person restored a file that they left out; a folder above it stays left out, with files created in it later. */
export function withRestored({ include, leaveOut, restored }: FolderChoices, path: string): FolderChoices {
  const kept = without(leaveOut, path);
  return {
    include,
    leaveOut: kept,
    restored: among(kept)(path) ? [...without(restored, path), path] : restored,
  };
}

/** The choices after a person excluded paths for good: earlier choices no longer send them, or anything below them. */
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

/** The choices after a person undid an exclusion: `withExcluded(before, paths)` is undone, choices made since stay. */
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

/** A test for paths that are among chosen ones, or below a chosen folder (ending in `/`). */
export function among(chosen: readonly string[]): (path: string) => boolean {
  const files = new Set(chosen.filter((path) => !path.endsWith('/')));
  const folders = chosen.filter((path) => path.endsWith('/'));
  return (path) => files.has(path) || folders.some((folder) => path.startsWith(folder));
}

/** A folder of a selection, with the sums over all that it holds. */
export interface FolderSum {
  /** Ends in `/`. */
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** The place of its first file among the selection's; the others follow. */
  readonly first: number;
}

const whole: Pick<FolderSum, 'path' | 'first' | 'files'> = { path: '', first: 0, files: Infinity };

/** The files and folders directly below a folder, or below the selection's root, in the order of the selection. */
export function levelBelow(
  all: readonly SelectedFile[],
  { path: folder, first, files }: Pick<FolderSum, 'path' | 'first' | 'files'> = whole,
): { folders: FolderSum[]; files: SelectedFile[] } {
  const folders = new Map<string, { path: string; files: number; bytes: number; first: number }>();
  const direct: SelectedFile[] = [];
  const last = Math.min(first + files, all.length);
  for (let at = first; at < last; at++) {
    const file = all[at];
    if (file === undefined) continue;
    const end = file.path.indexOf('/', folder.length);
    if (end < 0) {
      direct.push(file);
      continue;
    }
    const path = file.path.slice(0, end + 1);
    const sum = folders.get(path) ?? { path, files: 0, bytes: 0, first: at };
    sum.files += 1;
    sum.bytes += file.bytes;
    folders.set(path, sum);
  }
  return { folders: [...folders.values()], files: direct };
}

/** The line for this path (relative to the ignore file; a folder's ends in `/`). It matches no other path, except one that differs in a line break only, which a line cannot express. */
export function toIgnoreLine(path: string): string {
  const escaped = path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/ (?=$|\/$)/, '\\ ')
    .replace(/[\r\n]/g, '?');
  return `/${escaped}`;
}

/** The text of an ignore file with these lines appended, and those that were not in it before. */
export function withLines(
  text: string,
  lines: readonly string[],
): { text: string; added: readonly string[] } {
  const there = new Set(text.split(/\r?\n/));
  const added = [...new Set(lines)].filter((line) => !there.has(line));
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return added.length === 0 ? { text, added } : { text: `${start}${added.join('\n')}\n`, added };
}

/** The text of an ignore file without the last occurrence of each line; undefined if one of them is missing. */
export function withoutLines(text: string, lines: readonly string[]): string | undefined {
  const all = text.split('\n');
  for (const line of lines) {
    const at = all.findLastIndex((each) => each.replace(/\r$/, '') === line);
    if (at < 0) return undefined;
    all.splice(at, 1);
  }
  return all.join('\n');
}
