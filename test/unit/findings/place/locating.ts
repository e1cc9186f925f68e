import { basename } from 'node:path';
import type { Located } from '../../../../src/core/findings/place/workspacePath.ts';
import { createResolver, type ResolverFacts } from '../../../../src/core/findings/place/resolver.ts';

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

/** A path resolver for a run of one folder; by default its reported paths are unknown. */
export function locatorIn(
  root: string,
  { files: sent, reported, mapping = [], links }: Facts = {},
): (text: string) => Promise<Located> {
  const facts = {
    targets: [{ folder: root, name: basename(root) }],
    sent: [sent === undefined ? undefined : asSent(sent)],
    mappingOf: () => mapping,
    links,
  };
  const resolverOf = (texts: readonly string[]) =>
    createResolver({ ...facts, places: texts.map((path) => ({ path })) });
  const known = reported && resolverOf(reported);
  return async (path) => {
    const found = await (known ?? resolverOf([path])).locate({ path });
    return found.kind === 'none' ? found : { kind: 'file', path: found.path, absolute: found.absolute };
  };
}

interface Facts {
  /** The sent files; undefined if unknown. */
  readonly files?: readonly string[] | undefined;
  readonly reported?: readonly string[] | undefined;
  readonly mapping?: readonly { readonly from: string; readonly to: string }[];
  readonly links?: ResolverFacts['links'];
}

export function asSent(paths: readonly string[]): NonNullable<ResolverFacts['sent'][number]> {
  return new Map(paths.map((path) => [path, { path, bytes: 1, sha256: '' }]));
}

/** The resolved path of a text, or the reason of the failure. */
export async function answer(locate: (text: string) => Promise<Located>, text: string): Promise<string> {
  const located = await locate(text);
  return located.kind === 'file' ? located.path : `(${located.reason})`;
}
