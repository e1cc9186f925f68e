import { MAX_PATH } from '../parse/pathText.ts';

/** Why a path text cannot be a file of the folder, going by its letters alone. */
export type PathRefusal = 'empty' | 'outside' | 'refused';

/** A path text as clean segments, or the reason why it is none. */
export type WorkspacePath =
  | { readonly kind: 'path'; readonly segments: readonly string[]; readonly absolute: boolean }
  | { readonly kind: 'none'; readonly reason: PathRefusal };

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
  return segments.length === 0 ? none('empty') : { kind: 'path', segments, absolute: plain.startsWith('/') };
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

function none(reason: PathRefusal): WorkspacePath {
  return { kind: 'none', reason };
}
