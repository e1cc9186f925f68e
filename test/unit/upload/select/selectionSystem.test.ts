import assert from 'node:assert/strict';
import fs, { type Dirent, type PathLike } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, sep } from 'node:path';
import { describe, mock, test } from 'node:test';
import { findOwners } from '../../../../src/core/findings/location/owners.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { options, plant, plantRepository, testTree } from '../trees.ts';

/** Replaces a function of `node:fs` during `act`, also in modules that are loaded. */
async function whileReplaced<T>(
  name: 'openSync' | 'readdirSync',
  by: (original: never) => unknown,
  act: () => Promise<T>,
): Promise<T> {
  const replaced = mock.method(fs, name, by(fs[name] as never) as never);
  syncBuiltinESMExports();
  try {
    return await act();
  } finally {
    replaced.mock.restore();
    syncBuiltinESMExports();
  }
}

function asLink(entry: Dirent): Dirent {
  return Object.assign(Object.create(entry) as Dirent, {
    isSymbolicLink: () => true,
    isFile: () => false,
    isDirectory: () => false,
  });
}

/** Lists as Windows lists cloud files and deduplicated files. */
function whileAllAreLinks<T>(act: () => Promise<T>): Promise<T> {
  const replacement =
    (readdir: typeof fs.readdirSync) =>
    (path: PathLike): Dirent[] =>
      readdir(path, { withFileTypes: true }).map(asLink);
  return whileReplaced('readdirSync', replacement, act);
}

/** Fails as Windows does for a drive or share that does not answer. */
function whileLost<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const replacement =
    (open: typeof fs.openSync) =>
    (path: PathLike, flags: number): number => {
      if (String(path).startsWith(folder + sep))
        throw Object.assign(new Error('unknown error'), { code: 'UNKNOWN', syscall: 'open' });
      return open(path, flags);
    };
  return whileReplaced('openSync', replacement, act);
}

describe('F176 the selection on Windows', () => {
  test('takes entries that are reported as links for what they are, above all ignore files', async (t) => {
    const tree = testTree(t);
    const { root } = tree;
    plant(root, {
      '.gitignore': 'secret.txt\n',
      '.whiteboxignore': 'more.txt\n',
      'secret.txt': '',
      'more.txt': '',
      'src/a.ts': '',
    });
    const { files } = await whileAllAreLinks(() => selectFiles(root, options(tree)));
    assert.deepEqual(
      files.map(({ path }) => path),
      ['.gitignore', '.whiteboxignore', 'src/a.ts'],
    );
  });

  test('goes on while the home does not answer, and so does the search for owners', async (t) => {
    const tree = testTree(t);
    const { root, home } = tree;
    plantRepository(root);
    plant(root, { 'a.ts': '', CODEOWNERS: '* @team\n' });
    const { files } = await whileLost(home, () => selectFiles(root, options(tree)));
    assert.ok(files.some(({ path }) => path === 'a.ts'));
    const file = join(root, 'a.ts');
    const { owners } = await whileLost(home, () => findOwners(new Set([file])));
    assert.deepEqual(owners.get(file), ['@team']);
  });

  test('finds the owners of other files while a share does not answer', async (t) => {
    const [here, lost] = [testTree(t), testTree(t)];
    plantRepository(here.root);
    plant(here.root, { 'a.ts': '', CODEOWNERS: '* @team\n' });
    plant(lost.root, { 'b.ts': '' });
    const [file, lostFile] = [join(here.root, 'a.ts'), join(lost.root, 'b.ts')];
    const { owners } = await whileLost(lost.root, () => findOwners(new Set([lostFile, file])));
    assert.deepEqual(Object.fromEntries(owners), { [lostFile]: 'unknown', [file]: ['@team'] });
  });
});
