import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { selectFiles, type SelectOptions } from '../../../src/core/upload/select/selectFiles.ts';
import { options, type TestTree } from './trees.ts';

/** Runs git in a folder of a tree, without the machine's configuration. */
export function git(at: TestTree, args: readonly string[], cwd = at.root, input = ''): string {
  const identity = ['-c', 'user.name=Invented', '-c', 'user.email=invented@example.com'];
  const run = spawnSync('git', [...identity, ...args], {
    cwd,
    input,
    maxBuffer: 1 << 28,
    env: { PATH: process.env['PATH'], HOME: at.home, ...at.surroundings.env, LC_ALL: 'C' },
  });
  if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr.toString()}`);
  return run.stdout.toString('utf8');
}

/**
 * The oracle returns the regular files on disk that git tracks, and that its own ignore rules
 * match, but not the user's.
 */
export function gitTracksIgnored(at: TestTree, folder = at.root): string[] {
  const where = ['rev-parse', '--path-format=absolute', '--git-path', 'info/exclude'];
  const own = listed(at, folder, git(at, where, folder).trim(), ['--exclude-per-directory=.gitignore']);
  const personal = new Set(listed(at, folder, join(at.home, '.config/git/ignore')));
  return own.filter((path) => !personal.has(path));
}

function listed(at: TestTree, folder: string, excludeFile: string, more: readonly string[] = []): string[] {
  const rules = existsSync(excludeFile) ? [...more, `--exclude-from=${excludeFile}`] : more;
  if (rules.length === 0) return [];
  const paths = git(at, ['ls-files', '--cached', '--ignored', '-z', ...rules], folder).split('\0');
  return [...new Set(paths)].filter(
    (path) => path !== '' && lstatSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/**
 * Returns the files named as tracked although ignored, and the problems of indexes that are not
 * read.
 */
export async function named(
  at: TestTree,
  folder = at.root,
  more: Partial<SelectOptions> = {},
): Promise<{ tracked: string[]; problems: string[] }> {
  const { excluded, unreadIndexes } = await selectFiles(folder, options(at, more));
  return {
    tracked: excluded.flatMap(({ path, reason }) => (reason.kind === 'ignoredButTracked' ? [path] : [])),
    problems: unreadIndexes.map(({ file, problem }) => `${file}: ${problem}`),
  };
}
