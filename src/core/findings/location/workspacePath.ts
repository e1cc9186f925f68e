import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { systemCode } from '../../errors.ts';
import { isSamePath, pathInside, realPath } from '../../paths.ts';
import { type FolderCalls, once } from '../../yieldingWork.ts';
import { MAX_PATH } from '../finding.ts';

const device = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;

/**
 * Reads a path by the rules of all platforms, so that a findings file means the same everywhere.
 * `\` also separates segments. `file:` is removed, and so is the first of the absolute `roots` that
 * fits. Returns undefined for a path that is empty or too long, `..` that leaves the folder, names
 * of only dots and spaces, drive letters, UNC, NUL, `a:stream`, and device names.
 */
export function toSegments(text: string, roots: readonly string[] = []): readonly string[] | undefined {
  const plain = withoutRoot(withoutFileScheme(text.trim().replaceAll('\\', '/')), roots);
  if (plain.length > MAX_PATH || plain.startsWith('//') || plain.includes('\0')) return undefined;
  const segments: string[] = [];
  for (const segment of segmentsOf(plain)) {
    if (segment !== '..' && isRefused(segment)) return undefined;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.length === 0 ? undefined : segments;
}

export function segmentsOf(text: string): readonly string[] {
  return text.split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.');
}

/**
 * Also splits a path that `toSegments` refuses, since a user's mapping may replace the refused
 * part. The names must not be looked up on the disk.
 */
export function namesIn(text: string, roots: readonly string[]): readonly string[] {
  return toSegments(text, roots) ?? segmentsOf(withoutFileScheme(text.trim().replaceAll('\\', '/')));
}

/**
 * Windows ignores a device's extension, and dots and spaces at the end of a name: `NUL.txt` and
 * `aux .c` are devices, and `.. ` is `..`.
 */
function isRefused(segment: string): boolean {
  const stem = (segment.split('.', 1)[0] ?? '').trimEnd();
  return segment.includes(':') || /^[. ]+$/.test(segment) || device.test(stem);
}

/** Keeps a host other than `localhost` as `//host`, as in a UNC path. */
function withoutFileScheme(text: string): string {
  const [, host, path = text] = /^file:(?:\/\/([^/]*)(?=\/))?(.*)$/is.exec(text) ?? [];
  if (host !== undefined && host !== '' && host.toLowerCase() !== 'localhost') return `//${host}${path}`;
  return path.replace(/^\/(?=[a-z]:\/)/i, '');
}

function withoutRoot(text: string, roots: readonly string[]): string {
  for (const root of roots) {
    const start = `${root.replaceAll('\\', '/').replace(/\/+$/, '')}/`;
    const head = text.slice(0, start.length);
    if (start !== '/' && isSameStart(head, start)) return text.slice(start.length);
  }
  return text;
}

/**
 * Only Windows has paths with a drive or `//server`, and ignores their letter case. For other paths
 * on macOS, the disk decides.
 */
function isSameStart(head: string, start: string): boolean {
  if (head === start || head.toLowerCase() !== start.toLowerCase()) return head === start;
  return /^([a-z]:|\/\/)/i.test(start) || (process.platform === 'darwin' && isSamePath(head, start));
}

/** Removes `file:` and the drive, since the drive may be another machine's. */
export function withoutDrive(text: string): string {
  return withoutFileScheme(text.trim()).replace(/^[a-z]:(?=[\\/])/i, '');
}

/** `path` is relative to the folder, with `/`; `file` is absolute. */
export interface VisitedFile {
  readonly path: string;
  readonly file: string;
}

export interface OpenedFolder {
  /** Returns the folder's path as given and with its links resolved. */
  spellings(): Promise<readonly string[]>;
  /**
   * Finds a regular file that is inside the folder after all links are followed. `refused` means
   * that the path leads outside, that its links are circular, or that access is denied.
   */
  visit(path: string): Promise<VisitedFile | 'refused' | undefined>;
}

const missing = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'];

export function openFolder(folder: string, calls?: Pick<FolderCalls, 'ask'>): OpenedFolder {
  const ask = <T>(call: () => Promise<T>): Promise<T> => calls?.ask(folder, call) ?? call();
  const realFolder = once(() =>
    realPath(folder).catch((error: unknown) => {
      if (missing.includes(systemCode(error) ?? '')) return folder;
      throw error;
    }),
  );
  const visit = async (path: string): ReturnType<OpenedFolder['visit']> => {
    const file = join(folder, path);
    try {
      const real = pathInside(await realFolder(), await realPath(file));
      if (real === undefined) return 'refused';
      if (!(isMainThread ? await stat(file) : statSync(file)).isFile()) return undefined;
      // The disk's letter case is used, unless a part of the path is a link.
      const onDisk = join(folder, real);
      return isSamePath(onDisk, file) ? { path: real, file: onDisk } : { path, file };
    } catch (error) {
      const code = systemCode(error) ?? '';
      if (missing.includes(code)) return undefined;
      if (['ELOOP', 'EACCES', 'EPERM'].includes(code)) return 'refused';
      throw error;
    }
  };
  return {
    spellings: async () => [folder, await ask(realFolder)],
    visit: (path) => ask(() => visit(path)),
  };
}
