import { spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { GitSurroundings } from '../../../src/core/upload/ignore/repository.ts';
import type { SelectOptions } from '../../../src/core/upload/select/selectFiles.ts';

/**
 * The temporary folder has its own home, so that the machine's git configuration does not apply.
 */
export interface TestTree {
  readonly root: string;
  readonly home: string;
  readonly surroundings: GitSurroundings;
  remove(): void;
}

export function makeLocation(): TestTree {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'whitebox-upload-')));
  const root = join(base, 'folder');
  const home = join(base, 'home');
  mkdirSync(root);
  mkdirSync(home);
  return {
    root,
    home,
    surroundings: { home, env: { GIT_CONFIG_NOSYSTEM: '1' } },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

export function testTree(t: TestContext): TestTree {
  const tree = makeLocation();
  t.after(() => tree.remove());
  return tree;
}

/** Writes files by path; a string is a file's content, `{ link }` a symbolic link. */
export function plant(
  root: string,
  files: Readonly<Record<string, string | Uint8Array | { readonly link: string }>>,
): void {
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(full, content);
    else symlinkSync(content.link, full);
  }
}

/** Writes the same content under many paths, as hard links, which are faster to create. */
export function plantMany(root: string, paths: readonly string[], content: string): void {
  let named = '';
  for (const [index, path] of paths.entries()) {
    const full = join(root, path);
    if (index % 1000 === 0) plant(root, { [path]: content });
    else {
      mkdirSync(dirname(full), { recursive: true });
      linkSync(named, full);
    }
    named = full;
  }
}

export function plantRepository(root: string, config = ''): void {
  for (const folder of ['.git/objects', '.git/refs', '.git/info']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(
    join(root, '.git/config'),
    `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${config}`,
  );
}

export function options(tree: TestTree, more: Partial<SelectOptions> = {}): SelectOptions {
  return { exclude: [], includeNestedRepositories: false, surroundings: tree.surroundings, ...more };
}

/**
 * The oracle returns what git would add to an empty index, without links and nested repositories;
 * with `onlyBy` by the rules of this file only.
 */
export function gitSelects(tree: TestTree, folder = tree.root, onlyBy?: string): string[] {
  const exclude = onlyBy === undefined ? '--exclude-standard' : `--exclude-from=${onlyBy}`;
  const git = spawnSync('git', ['ls-files', '--others', exclude, '-z'], {
    cwd: folder,
    maxBuffer: 1 << 28,
    env: {
      PATH: process.env['PATH'],
      HOME: tree.home,
      ...tree.surroundings.env,
      GIT_INDEX_FILE: join(tree.home, 'no-index'),
      LC_ALL: 'C',
    },
  });
  if (git.status !== 0) throw new Error(`git: ${git.stderr.toString()}`);
  return git.stdout
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && !path.endsWith('/') && lstatSync(join(folder, path)).isFile());
}

/** Runs something without root rights, which ignore file modes. */
export async function asNobody<T>(tree: TestTree, run: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return run();
  for (const path of [dirname(tree.root), tree.root, tree.home]) chmodSync(path, 0o755);
  process.seteuid?.(65_534);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

/** A `testTree` has a repository and these files. */
export function testRepository(t: TestContext, files: Parameters<typeof plant>[1]): TestTree {
  const tree = testTree(t);
  plantRepository(tree.root);
  plant(tree.root, files);
  return tree;
}

/** Calls back after the next read. */
export function onceRead(t: TestContext, then: () => void): void {
  const ask = fs.readSync;
  const reading = t.mock.method(fs, 'readSync', (...args: Parameters<typeof ask>) => {
    const bytes = ask(...args);
    if (reading.mock.callCount() === 0) then();
    return bytes;
  });
  syncBuiltinESMExports();
  t.after(() => {
    reading.mock.restore();
    syncBuiltinESMExports();
  });
}
