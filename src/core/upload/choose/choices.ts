import type { SelectedFile } from '../select/selection.ts';

/** What a person chose for a path: to send what ignore files or settings leave out, to leave it out, or to send it although they left out a folder above it. */
type Choice = 'include' | 'leaveOut' | 'restore';

/** A person's choices for one folder, by paths relative to it; a folder's path ends in `/`. The choice for a path outweighs those for folders above it. */
export type FolderChoices = Readonly<Record<string, Choice>>;

/** Paths that are sent although ignore files or settings leave them out. */
export function includedBy(choices: FolderChoices): string[] {
  return Object.keys(choices).filter((path) => choices[path] === 'include');
}

/** A test for paths that a person left out. */
export function leavingOut(choices: FolderChoices): (path: string) => boolean {
  const choiceFor = new Map(Object.entries(choices));
  if (choiceFor.size === 0) return () => false;
  return (path) => {
    let at = path;
    while (at !== '' && !choiceFor.has(at)) at = at.slice(0, at.lastIndexOf('/', at.length - 2) + 1);
    return choiceFor.get(at) === 'leaveOut';
  };
}

/** The choices for paths below a prefix (empty, or a folder's path), relative to it. */
export function choicesBelow(all: FolderChoices, prefix: string): FolderChoices {
  const below = Object.entries(all).filter(([path]) => isBelow(path, prefix));
  return Object.fromEntries(below.map(([path, choice]) => [path.slice(prefix.length), choice]));
}

/** The choices, with those below a prefix replaced by `below`, whose paths are relative to it. */
export function replaceBelow(all: FolderChoices, prefix: string, below: FolderChoices): FolderChoices {
  return Object.fromEntries([
    ...Object.entries(all).filter(([path]) => !isBelow(path, prefix)),
    ...Object.entries(below).map(([path, choice]) => [prefix + path, choice] as const),
  ]);
}

/**
 * The choices after a person decided whether a path is sent; `isIgnored` if ignore files or settings leave it out. A file is sent alone where a
 * folder above it was left out, which stays so with files created in it later.
 */
export function withChosen(
  choices: FolderChoices,
  path: string,
  { isSent, isIgnored }: { isSent: boolean; isIgnored: boolean },
): FolderChoices {
  const { [path]: choice, ...others } = choices;
  if (isSent && isIgnored) return { ...others, [path]: 'include' };
  if (isSent) return leavingOut(others)(path) ? { ...others, [path]: 'restore' } : others;
  return choice === 'include' ? others : withExcluded(others, [path]);
}

/** The choices after a person excluded paths: earlier choices no longer send them, or anything below them. */
export function withExcluded(choices: FolderChoices, paths: readonly string[]): FolderChoices {
  const isExcluded = among(paths);
  return Object.fromEntries([
    ...Object.entries(choices).filter(([path, choice]) => choice === 'leaveOut' || !isExcluded(path)),
    ...paths.map((path) => [path, 'leaveOut'] as const),
  ]);
}

/** The choices after a person undid an exclusion, with the choices `before` it for these paths and below; what was left out since stays out. */
export function withoutExcluded(
  now: FolderChoices,
  paths: readonly string[],
  before: FolderChoices,
): FolderChoices {
  const isExcluded = among(paths);
  return Object.fromEntries([
    ...Object.entries(before).filter(([path]) => isExcluded(path)),
    ...Object.entries(now).filter(([path, choice]) =>
      choice === 'leaveOut' ? !paths.includes(path) : !isExcluded(path),
    ),
  ]);
}

function isBelow(path: string, prefix: string): boolean {
  return path !== prefix && path.startsWith(prefix);
}

/** A test for paths that are among others, or below a folder (ending in `/`) among them. */
function among(paths: readonly string[]): (path: string) => boolean {
  return (path) => paths.some((each) => path === each || (each.endsWith('/') && path.startsWith(each)));
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

/** The line for a path relative to the ignore file (a folder's ends in `/`). It matches that path alone, apart from line breaks. */
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
