import type { SelectedFile } from '../select/selection.ts';

/**
 * `include` outweighs rules that exclude the path; `restore` outweighs an excluded folder above it.
 */
type Choice = 'include' | 'exclude' | 'restore';

/**
 * The keys are relative paths, with `/` at a folder's end. A choice outweighs those for folders
 * above.
 */
export type PathChoices = Readonly<Record<string, Choice>>;

export function includedBy(choices: PathChoices): string[] {
  return Object.keys(choices).filter((path) => choices[path] === 'include');
}

export function excluding(choices: PathChoices): (path: string) => boolean {
  const choiceFor = new Map(Object.entries(choices));
  if (choiceFor.size === 0) return () => false;
  return (path) => {
    let nearest = path;
    while (nearest !== '' && !choiceFor.has(nearest))
      nearest = nearest.slice(0, nearest.lastIndexOf('/', nearest.length - 2) + 1);
    return choiceFor.get(nearest) === 'exclude';
  };
}

export function choicesBelow(all: PathChoices, prefix: string): PathChoices {
  const below = Object.entries(all).filter(([path]) => isBelow(path, prefix));
  return Object.fromEntries(below.map(([path, choice]) => [path.slice(prefix.length), choice]));
}

/** Replaces the choices below a prefix with `below`, whose paths are relative to it. */
export function replaceBelow(all: PathChoices, prefix: string, below: PathChoices): PathChoices {
  return Object.fromEntries([
    ...Object.entries(all).filter(([path]) => !isBelow(path, prefix)),
    ...Object.entries(below).map(([path, choice]) => [prefix + path, choice] as const),
  ]);
}

/** `isIgnored` means that rules exclude the path. */
export function withChosen(
  choices: PathChoices,
  path: string,
  { isUploaded, isIgnored }: { isUploaded: boolean; isIgnored: boolean },
): PathChoices {
  const { [path]: choice, ...others } = choices;
  if (isUploaded && isIgnored) return { ...others, [path]: 'include' };
  if (isUploaded) return excluding(others)(path) ? { ...others, [path]: 'restore' } : others;
  return choice === 'include' ? others : withExcluded(others, [path]);
}

export function withIncluded(choices: PathChoices, paths: readonly string[]): PathChoices {
  return { ...choices, ...Object.fromEntries(paths.map((path) => [path, 'include'] as const)) };
}

/** Also removes `include` and `restore` for the paths and for paths below them. */
export function withExcluded(choices: PathChoices, paths: readonly string[]): PathChoices {
  const isExcluded = among(paths);
  return Object.fromEntries([
    ...Object.entries(choices).filter(([path, choice]) => choice === 'exclude' || !isExcluded(path)),
    ...paths.map((path) => [path, 'exclude'] as const),
  ]);
}

/**
 * Undoes an exclusion: restores the choices `before` it for these paths and below. Paths that were
 * excluded later stay excluded.
 */
export function withoutExcluded(
  current: PathChoices,
  paths: readonly string[],
  before: PathChoices,
): PathChoices {
  const isExcluded = among(paths);
  return Object.fromEntries([
    ...Object.entries(before).filter(([path]) => isExcluded(path)),
    ...Object.entries(current).filter(([path, choice]) =>
      choice === 'exclude' ? !paths.includes(path) : !isExcluded(path),
    ),
  ]);
}

function isBelow(path: string, prefix: string): boolean {
  return path !== prefix && path.startsWith(prefix);
}

/**
 * The returned function accepts the listed paths and all paths below a listed folder, whose path
 * ends in `/`.
 */
function among(paths: readonly string[]): (path: string) => boolean {
  return (path) => paths.some((each) => path === each || (each.endsWith('/') && path.startsWith(each)));
}

export interface FolderSum {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** The index of the folder's first file in the selection. Its other files follow directly. */
  readonly first: number;
}

export function levelBelow(
  all: readonly SelectedFile[],
  { path: folder = '', first = 0, files = Infinity }: Partial<FolderSum> = {},
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

/** If the path has line breaks, the line may match other paths, too. */
export function toIgnoreLine(path: string): string {
  const escaped = path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/ (?=$|\/$)/, '\\ ')
    .replace(/[\r\n]/g, '?');
  return `/${escaped}`;
}

export function withLines(text: string, lines: readonly string[]) {
  const known = new Set(text.split(/\r?\n/));
  const added = [...new Set(lines)].filter((line) => !known.has(line));
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return added.length === 0 ? { text, added } : { text: `${start}${added.join('\n')}\n`, added };
}

/** Removes the last occurrence of each line. Undefined if one is missing. */
export function withoutLines(text: string, lines: readonly string[]): string | undefined {
  const all = text.split('\n');
  for (const line of lines) {
    const at = all.findLastIndex((each) => each.replace(/\r$/, '') === line);
    if (at < 0) return undefined;
    all.splice(at, 1);
  }
  return all.join('\n');
}
