import assert from 'node:assert/strict';
import { testBlocks, type Work } from '../../core/blockedLoop.ts';
import { git, named } from '../tracking.ts';
import { makePlace, plant, type Place } from '../trees.ts';

/** A repository that tracks many files, most of which are not on disk. */
function tracking(after: Parameters<Work['prepare']>[0], paths: readonly string[], version: string): Place {
  const at = makePlace();
  after(() => at.remove());
  git(at, ['init', '-q']);
  plant(at.root, { '.gitignore': 'src/\n', 'src/folder-7/file-7.ts': '' });
  const blob = git(at, ['hash-object', '-w', '--stdin']).trim();
  const entries = paths.map((path) => `100644 ${blob}\t${path}\n`);
  git(at, ['update-index', '--index-version', version]);
  git(at, ['update-index', '--add', '--index-info'], at.root, entries.join(''));
  return at;
}

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

await testBlocks(import.meta.filename, Object.fromEntries(works));
