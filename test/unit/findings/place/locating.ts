import { basename } from 'node:path';
import type { PathMapping } from '../../../../src/core/findings/place/mappings.ts';
import { createResolver } from '../../../../src/core/findings/place/resolver.ts';
import type { SentOfRun } from '../../../../src/core/findings/place/sentFiles.ts';

export const files = [
  'app.py',
  'src/orders.py',
  'src/views.py',
  'web/views.py',
  'web/my page.ts',
  'web/100%25.ts',
  'src/注文.py',
  'pkg/src/deep/only.py',
];

/** Finds the files of reported paths in a run of one folder: the path in it, or in parentheses why there is none. */
export function locatorIn(
  root: string,
  { files: sent, reported, mapping = [] }: Facts = {},
): (text: string) => Promise<string> {
  const facts = {
    targets: [{ folder: root, name: basename(root) }],
    sent: [sent === undefined ? undefined : asSent(sent)],
    mappingsOf: () => mapping,
  };
  const resolverOf = (texts: readonly string[]) =>
    createResolver({ ...facts, places: texts.map((path) => ({ path })) });
  const known = reported && resolverOf(reported);
  return async (path) => {
    const found = await (known ?? resolverOf([path])).locate({ path });
    return typeof found === 'string' ? `(${found})` : found.path;
  };
}

interface Facts {
  /** The sent files; undefined if unknown. */
  readonly files?: readonly string[] | undefined;
  /** All reported paths, if there are others than the one that is looked up. */
  readonly reported?: readonly string[] | undefined;
  readonly mapping?: readonly PathMapping[];
}

export function asSent(paths: readonly string[]): NonNullable<SentOfRun[number]> {
  return new Map(paths.map((path) => [path, { target: 0, folder: '', path, bytes: 1, sha256: '' }]));
}
