/** What a search for a path among known files found. */
export type Match =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'ambiguous'; readonly paths: readonly string[] };

/** The files that were sent, found by whole path or by the end of a path. */
export interface FileIndex {
  /** The file with exactly this path. */
  exact(path: string): string | undefined;
  /** The files whose path ends with these segments. */
  endingWith(path: string): readonly string[];
}

/** Indexes workspace-relative paths once, so that each look-up costs as much as there are files of that name. */
export function createFileIndex(files: Iterable<string>): FileIndex {
  const byPath = new Map<string, string>();
  const byName = new Map<string, { readonly file: string; readonly path: string }[]>();
  for (const file of files) {
    const path = comparable(file);
    byPath.set(path, file);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const namesakes = byName.get(name);
    if (namesakes === undefined) byName.set(name, [{ file, path: `/${path}` }]);
    else namesakes.push({ file, path: `/${path}` });
  }
  return {
    exact: (path) => byPath.get(comparable(path)),
    endingWith: (path) => {
      const end = `/${comparable(path)}`;
      const namesakes = byName.get(end.slice(end.lastIndexOf('/') + 1)) ?? [];
      return namesakes.filter((each) => each.path.endsWith(end)).map(({ file }) => file);
    },
  };
}

/**
 * Finds the file that a path means, longest evidence first: the whole path, then with one leading segment less at a time; at each
 * length an exact path, else the only file whose path ends so. A bare name left over from a longer path must match exactly.
 */
export function findFile(index: FileIndex, segments: readonly string[]): Match | undefined {
  for (let skipped = 0; skipped < segments.length; skipped += 1) {
    const tail = segments.slice(skipped).join('/');
    const exact = index.exact(tail);
    if (exact !== undefined) return { kind: 'file', path: exact };
    if (skipped > 0 && skipped === segments.length - 1) return undefined;
    const [first, ...others] = index.endingWith(tail);
    if (first === undefined) continue;
    return others.length === 0
      ? { kind: 'file', path: first }
      : { kind: 'ambiguous', paths: [first, ...others] };
  }
  return undefined;
}

/** macOS and Japanese input disagree on how `が` is composed; the service may send either. */
function comparable(path: string): string {
  return path.normalize('NFC');
}
