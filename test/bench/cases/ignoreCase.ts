import ignore from 'ignore';
import { readLines } from '../../../src/core/upload/ignore/readIgnoreFile.ts';
import { IgnoreRules } from '../../../src/core/upload/ignore/ignoreRules.ts';
import { toGitBytes } from '../../../src/core/upload/ignore/pattern.ts';
import { inPairs } from '../pairs.ts';
import type { Row } from '../rows.ts';

const paths = 10_000;
const rules = 300;

/** Public templates have rules of these kinds in about these shares. */
const kinds: readonly ((at: number) => string)[] = [
  (at) => `name${at}/`,
  (at) => `.cache-${at}`,
  (at) => `*.ext${at}`,
  (at) => `*.[oa]${at}`,
  (at) => `/build${at}/`,
  (at) => `/packages/part${at}/dist`,
  (at) => `docs${at}/_build/`,
  (at) => `**/generated${at}/*.js`,
  (at) => `target${at}/**/*.class`,
  (at) => `!/packages/part${at}/keep.ext${at - 1}`,
];

/** Ours walks folder by folder; npm's `ignore` gets whole paths. */
export async function measureMatching(pairs: number): Promise<Row[]> {
  const lines = Array.from({ length: rules }, (_, at) => kinds[at % kinds.length]?.(at) ?? '');
  const files = Array.from({ length: paths }, (_, at) => {
    const folder = at % 7 === 0 ? `name${at % rules}` : at % 11 === 0 ? `generated${at % rules}` : 'src';
    return `packages/part${at % 90}/${folder}/file${at}.${at % 13 === 0 ? `ext${at % rules}` : 'js'}`;
  });
  let [own, others] = [0, 0];
  const measured = await inPairs(
    pairs,
    () => Promise.resolve(timed(() => (own = files.length - keptOf(lines, files)))),
    () =>
      timed(() => {
        const peer = ignore().add(lines);
        others = files.filter((file) => peer.ignores(file)).length;
      }),
  );
  if (own !== others || own === 0) throw new Error(`ours leaves out ${own} paths, ignore ${others}`);
  const corpus = `${paths} paths, ${rules} rules`;
  return [{ what: 'matching ignore rules', corpus, unit: 'ms', peerName: 'ignore', ...measured }];
}

function keptOf(lines: readonly string[], files: readonly string[]): number {
  const from = { source: 'gitignore', file: '.gitignore' } as const;
  const top = new IgnoreRules(false).and(readLines(Buffer.from(lines.join('\n')), from));
  const folders = new Map<string, IgnoreRules | undefined>([['', top]]);
  /** Returns undefined if the folder is excluded. */
  const rulesIn = (folder: string): IgnoreRules | undefined => {
    if (folders.has(folder)) return folders.get(folder);
    const at = folder.lastIndexOf('/');
    const parent = rulesIn(folder.slice(0, Math.max(at, 0)));
    const name = toGitBytes(`${folder.slice(at + 1)}/`);
    const found = parent?.match(name) === undefined ? parent?.enter(name) : undefined;
    folders.set(folder, found);
    return found;
  };
  return files.filter((file) => {
    const at = file.lastIndexOf('/');
    const found = rulesIn(file.slice(0, at));
    return found !== undefined && found.match(toGitBytes(file.slice(at + 1))) === undefined;
  }).length;
}

function timed(action: () => void): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}
