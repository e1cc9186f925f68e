import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { isSamePath, pathInside, realPath, realPathSync } from '../../paths.ts';
import { MAX_PATH } from '../finding.ts';

/**
 * Why a path text gives no file: it cannot be a path in the folder (`empty`, `outside`, `refused`), several files fit (`ambiguous`), none does
 * (`notFound`), a link leads out of the folder (`link`), or the system refuses access (`unreadable`).
 */
export type NoFileReason = 'empty' | 'outside' | 'refused' | 'ambiguous' | 'notFound' | 'link' | 'unreadable';

export interface NoFile {
  readonly kind: 'none';
  readonly reason: NoFileReason;
}

export function none(reason: NoFileReason): NoFile {
  return { kind: 'none', reason };
}

/** `path` is relative to the folder, with `/`. */
export type Located = { readonly kind: 'file'; readonly path: string; readonly absolute: string } | NoFile;

export type WorkspacePath = { readonly kind: 'path'; readonly segments: readonly string[] } | NoFile;

const device = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;

/**
 * Reads a path text by the rules of all platforms, so that a findings file means the same everywhere. `\` separates segments, `.` and empty segments are
 * removed, and `..` must not leave the folder. Drive letters, UNC, NUL, `a:stream` and device names are refused. The first of `rootsOf` (absolute) that
 * an absolute path starts with is removed.
 */
export function toWorkspacePath(text: string, rootsOf?: Spellings): WorkspacePath {
  const plain = withoutRoot(withoutFileScheme(text.trim().replaceAll('\\', '/')), rootsOf);
  if (plain === '') return none('empty');
  if (plain.length > MAX_PATH || plain.startsWith('//') || plain.includes('\0')) return none('refused');
  const segments: string[] = [];
  for (const segment of plain.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      if (segments.pop() === undefined) return none('outside');
    } else if (isRefused(segment)) {
      return none('refused');
    } else {
      segments.push(segment);
    }
  }
  return segments.length === 0 ? none('empty') : { kind: 'path', segments };
}

/** Without `.` and empty segments. */
export function segmentsOf(text: string): readonly string[] {
  return text.split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.');
}

/** Windows drops trailing dots and spaces: `NUL.txt` and `aux .c` are devices, and `.. ` is `..`. */
function isRefused(segment: string): boolean {
  const stem = (segment.split('.', 1)[0] ?? '').trimEnd();
  return segment.includes(':') || /^[. ]+$/.test(segment) || device.test(stem);
}

/** The path of a `file:` URI. Another host is kept, in the UNC form that is refused. */
function withoutFileScheme(text: string): string {
  const [, host, path = text] = /^file:(?:\/\/([^/]*)(?=\/))?(.*)$/is.exec(text) ?? [];
  if (host !== undefined && host !== '' && host.toLowerCase() !== 'localhost') return `//${host}${path}`;
  return path.replace(/^\/(?=[a-z]:\/)/i, '');
}

function withoutRoot(text: string, rootsOf: Spellings = () => []): string {
  if (!/^([a-z]:|\/)/i.test(text)) return text;
  for (const root of rootsOf()) {
    const start = `${root.replaceAll('\\', '/').replace(/\/+$/, '')}/`;
    const head = text.slice(0, start.length);
    if (start !== '/' && isSameStart(head, start)) return text.slice(start.length);
  }
  return text;
}

/** Only Windows has drives and `//server`; it ignores letter case. For other paths, the disk of macOS says whether it counts. */
function isSameStart(head: string, start: string): boolean {
  if (head === start || head.toLowerCase() !== start.toLowerCase()) return head === start;
  return /^([a-z]:|\/\/)/i.test(start) || (process.platform === 'darwin' && isSamePath(head, start));
}

/** An absolute folder in all spellings that tools report. */
export type Spellings = () => readonly string[];

/** A folder as it was opened, and without links. The disk is asked once, when it is needed. */
export function spellingsOf(folder: string): Spellings {
  let known: readonly string[] | undefined;
  return () => (known ??= [folder, ...realFolderOf(folder)]);
}

function realFolderOf(folder: string): string[] {
  try {
    return [realPathSync(folder)];
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return []; // it is not there
  }
}

/** A path text of Windows without its drive, for names that are looked up among others and never on the disk. */
export function withoutDrive(text: string): string {
  return withoutFileScheme(text.trim()).replace(/^[a-z]:(?=[\\/])/i, '');
}

export interface LinkReader {
  /** The path without links. */
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<{ isFile(): boolean }>;
}

/** `path` is relative to the visited folder, with `/`. */
export type Visit = (path: string) => Promise<Located>;

/** Accepts regular files that are inside the folder (absolute) after all links are followed. `links` is replaced in tests. */
export function createVisit(root: string, links: LinkReader = { realpath: realPath, stat }): Visit {
  let realRoot: Promise<string> | undefined;
  return async (path) => {
    const absolute = join(root, ...path.split('/'));
    try {
      realRoot ??= links.realpath(root);
      const real = pathInside(await realRoot, await links.realpath(absolute));
      if (real === undefined) return none('link');
      if (!(await links.stat(absolute)).isFile()) return none('notFound');
      // In the letter case of the disk, unless there is a link on the way.
      const onDisk = join(root, ...real.split('/'));
      return isSamePath(onDisk, absolute)
        ? { kind: 'file', path: real, absolute: onDisk }
        : { kind: 'file', path, absolute };
    } catch (error) {
      return none(reasonOf(error));
    }
  };
}

function reasonOf(error: unknown): NoFileReason {
  const code = systemCode(error);
  if (code === 'ELOOP') return 'link';
  return code === 'EACCES' || code === 'EPERM' ? 'unreadable' : 'notFound';
}
