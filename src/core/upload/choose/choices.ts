import type { SelectedFile } from '../select/selection.ts';

/** Tests whether a path is among chosen ones, or below a chosen folder (ending in `/`). */
export function among(chosen: readonly string[]): (path: string) => boolean {
  const files = new Set(chosen.filter((path) => !path.endsWith('/')));
  const folders = chosen.filter((path) => path.endsWith('/'));
  return (path) => files.has(path) || folders.some((folder) => path.startsWith(folder));
}

/** A folder of a selection, with what all of it comes to. */
export interface FolderSum {
  /** Ends in `/`. */
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** Where its files begin in the selection's: they stand together there. */
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

/** The line of an ignore file, beside which it stands, that leaves out this path, and of others at most such as differ in a line break alone, for which a line has no sign; a folder's path ends in `/`. */
export function toIgnoreLine(path: string): string {
  const escaped = path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/ (?=$|\/$)/, '\\ ')
    .replace(/[\r\n]/g, '?');
  return `/${escaped}`;
}

/** The text of an ignore file with these lines at its end, and those of them that did not stand in it before. */
export function withLines(
  text: string,
  lines: readonly string[],
): { text: string; added: readonly string[] } {
  const there = new Set(text.split(/\r?\n/));
  const added = [...new Set(lines)].filter((line) => !there.has(line));
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return added.length === 0 ? { text, added } : { text: `${start}${added.join('\n')}\n`, added };
}

/** The text of an ignore file without these lines, of each the last; undefined when one of them does not stand in it. */
export function withoutLines(text: string, lines: readonly string[]): string | undefined {
  const all = text.split('\n');
  for (const line of lines) {
    const at = all.findLastIndex((each) => each.replace(/\r$/, '') === line);
    if (at < 0) return undefined;
    all.splice(at, 1);
  }
  return all.join('\n');
}
