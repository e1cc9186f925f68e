import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testBlocks, type Work } from '../../core/blockedLoop.ts';
import { git, named } from '../tracking.ts';
import { makeLocation, plant, type TestTree } from '../trees.ts';

/** The repository tracks many files, most of which are not on disk. */
function tracking(
  after: Parameters<Work['prepare']>[0],
  paths: readonly string[],
  version: string,
): TestTree {
  const at = makeLocation();
  after(() => at.remove());
  git(at, ['init', '-q']);
  plant(at.root, { '.gitignore': 'src/\n', 'src/folder-7/file-7.ts': '' });
  const blob = git(at, ['hash-object', '-w', '--stdin']).trim();
  const entries = paths.map((path) => `100644 ${blob}\t${path}\n`);
  git(at, ['update-index', '--index-version', version]);
  git(at, ['update-index', '--add', '--index-info'], at.root, entries.join(''));
  return at;
}

/** The index of version 2 has these names in byte order. */
function indexOf(names: readonly string[]): Buffer {
  const header = Buffer.from('DIRC\0\0\0\x02\0\0\0\0');
  header.writeUInt32BE(names.length, 8);
  const entries = names.map((name) => {
    const entry = Buffer.alloc((62 + name.length + 8) & ~7);
    entry.writeUInt32BE(0o100644, 24);
    entry.writeUInt16BE(Math.min(name.length, 0xfff), 60);
    entry.write(name, 62);
    return entry;
  });
  return Buffer.concat([header, ...entries, Buffer.alloc(20)]);
}

const number = (at: number): string => String(at).padStart(6, '0');
const manyFolders: Readonly<Record<string, readonly string[]>> = {
  '1,000 files in 2,040 folders each': Array.from(
    { length: 1000 },
    (_, at) => `${number(at)}/${'a/'.repeat(2039)}b`,
  ),
  '20,000 files in 100 folders each': Array.from(
    { length: 20_000 },
    (_, at) => `${number(at)}/${'a/'.repeat(99)}b`,
  ),
  // The index has 127 MB.
  '31,000 names of the greatest length': Array.from(
    { length: 31_000 },
    (_, at) => `${number(at)}/${'a/'.repeat(2000)}${'b'.repeat(80)}`,
  ),
};
const hostile = Object.entries(manyFolders).map(([what, names]): [string, Work] => [
  `F187 an index with ${what} is read within its bounds, which is said`,
  {
    prepare: (after) => {
      const at = makeLocation();
      after(() => at.remove());
      git(at, ['init', '-q']);
      plant(at.root, { '.gitignore': '*.log\n', 'a.ts': '', 'a.log': '' });
      writeFileSync(join(at.root, '.git/index'), indexOf(names));
      return async () => {
        const cpuBefore = process.cpuUsage();
        assert.deepEqual(await named(at), { tracked: [], problems: ['.git/index: tooLarge'] });
        const { user, system } = process.cpuUsage(cpuBefore);
        assert.ok(user + system < 3e6, `${String(user + system)} µs`);
      };
    },
  },
]);

const works = ['2', '4'].map((version): [string, Work] => [
  `F167 an index of version ${version} with 100,000 files is read`,
  {
    prepare: (after) => {
      const paths = Array.from({ length: 100_000 }, (_, at) => `src/folder-${at % 500}/file-${at}.ts`);
      const at = tracking(after, paths, version);
      return async () => {
        assert.deepEqual(await named(at), { tracked: ['src/folder-7/file-7.ts'], problems: [] });
      };
    },
  },
]);

await testBlocks(import.meta.filename, Object.fromEntries([...works, ...hostile]));
