import type { EntryHead } from './segment.ts';

/** Heads of entries, as one string costs least to send. */
export interface HeadList {
  /** All paths, one after another. */
  readonly paths: string;
  /** Of each path in `paths`; for an executable file `-1 - length`. */
  readonly lengths: Int32Array<ArrayBuffer>;
}

/** The list of these heads; the paths themselves stay as they are, where sending each would make flat copies that last. */
export function toHeadList(heads: readonly EntryHead[]): HeadList {
  return {
    paths: heads.map(({ path }) => path).join(''),
    lengths: Int32Array.from(heads, ({ path, mode }) => (mode === 0o755 ? -1 - path.length : path.length)),
  };
}

/** The heads of a list. */
export function fromHeadList({ paths, lengths }: HeadList): EntryHead[] {
  let at = 0;
  return Array.from(lengths, (length) => {
    const start = at;
    at += length < 0 ? -1 - length : length;
    return { path: paths.slice(start, at), mode: length < 0 ? 0o755 : 0o644 };
  });
}
