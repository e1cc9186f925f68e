import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { pathInside } from '../../files.ts';
import { MAX_PATH } from '../finding.ts';

/**
 * Why a path text gives no file: its letters cannot be a path in the folder (`empty`, `outside`, `refused`), several files fit
 * (`ambiguous`), none does (`notFound`), a link leads out of the folder (`link`), or the system does not let us look (`unreadable`).
 */
export type NoFileReason = 'empty' | 'outside' | 'refused' | 'ambiguous' | 'notFound' | 'link' | 'unreadable';

/** The answer that gives no file. */
export interface NoFile {
  readonly kind: 'none';
  readonly reason: NoFileReason;
}

/** The answer that gives no file, for a reason. */
export function none(reason: NoFileReason): NoFile {
  return { kind: 'none', reason };
}

/** What a path text of a finding means in one folder: an existing file, with its path relative to the folder, with `/`. */
export type Located = { readonly kind: 'file'; readonly path: string; readonly absolute: string } | NoFile;

/** A path text as clean segments, or the reason why it is none. */
export type WorkspacePath = { readonly kind: 'path'; readonly segments: readonly string[] } | NoFile;

const device = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;

/**
 * Reads a path text under the rules of every platform at once, so that a findings file means the same everywhere: `\` separates,
 * `.` and empty segments vanish, `..` may not leave; drive letters, UNC, NUL, `a:stream` and device names are refused. `root`
 * (absolute, as the platform writes it) is cut off the front when it is there.
 */
export function toWorkspacePath(text: string, root: string): WorkspacePath {
  const plain = withoutRoot(withoutFileScheme(text.trim().replaceAll('\\', '/')), root.replaceAll('\\', '/'));
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

/** The segments of a path text as it came, without those that mean nothing. */
export function segmentsOf(text: string): readonly string[] {
  return text.split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.');
}

/** The text with its percent escapes read once; undefined when it has none, or broken ones. */
export function percentDecoded(text: string): string | undefined {
  if (!/%[0-9a-f]{2}/i.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Windows drops trailing dots and spaces, so that `NUL.txt` and `aux .c` are devices and `.. ` climbs. */
function isRefused(segment: string): boolean {
  const stem = (segment.split('.', 1)[0] ?? '').trimEnd();
  return segment.includes(':') || /^[. ]+$/.test(segment) || device.test(stem);
}

/** The path of a `file:` URI; one on another host keeps that host, in the UNC form that is refused. */
function withoutFileScheme(text: string): string {
  const [, host, path = text] = /^file:(?:\/\/([^/]*)(?=\/))?(.*)$/is.exec(text) ?? [];
  if (host !== undefined && host !== '' && host.toLowerCase() !== 'localhost') return `//${host}${path}`;
  return path.replace(/^\/(?=[a-z]:\/)/i, '');
}

function withoutRoot(text: string, root: string): string {
  const start = `${root.replace(/\/+$/, '')}/`;
  if (start === '/') return text;
  const head = text.slice(0, start.length);
  // Windows alone writes drives and `//server`, and its letter case tells nothing apart.
  const same = /^([a-z]:|\/\/)/i.test(start) ? head.toLowerCase() === start.toLowerCase() : head === start;
  return same ? text.slice(start.length) : text;
}

/** Asks about a text, and once more with its percent escapes read when it means nothing as it stands. */
export async function decodingLast<T extends { readonly kind: string; readonly reason?: NoFileReason }>(
  text: string,
  ask: (text: string) => Promise<T>,
): Promise<T> {
  const found = await ask(text);
  const decoded = percentDecoded(text);
  return found.kind === 'file' || found.reason !== 'notFound' || decoded === undefined ? found : ask(decoded);
}

/** What is asked of the file system; nothing of it opens a file. */
export interface LinkReader {
  /** The path without links. */
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<{ isFile(): boolean }>;
}

/** Looks at a path in a folder, relative to it, with `/`. */
export type Visit = (path: string) => Promise<Located>;

/** Makes the step that decides: a regular file that, with all links followed, is inside the folder (absolute). `links` are the real file system's, but for tests. */
export function createVisit(root: string, links: LinkReader = { realpath, stat }): Visit {
  let realRoot: Promise<string> | undefined;
  return async (path) => {
    const absolute = join(root, ...path.split('/'));
    try {
      realRoot ??= links.realpath(root);
      if (pathInside(await realRoot, await links.realpath(absolute)) === undefined) return none('link');
      return (await links.stat(absolute)).isFile() ? { kind: 'file', path, absolute } : none('notFound');
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
