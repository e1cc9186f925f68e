import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { git, gitTracksIgnored, named } from '../tracking.ts';
import { makeLocation, plant } from '../trees.ts';

const name = fc.constantFrom('a', 'b', 'a-', 'a.log', 'é', 'x y', 'a'.repeat(120));
const rule = fc
  .record({
    start: fc.constantFrom('', '', '', '', '!', '/', '!/', '**/'),
    names: fc.array(fc.oneof(name, fc.constantFrom('*', '*.log', 'a*', '?')), { minLength: 1, maxLength: 2 }),
    end: fc.constantFrom('', '', '/', '/**'),
  })
  .map(({ start, names, end }) => `${start}${names.join('/')}${end}\n`);
const rules = fc.array(rule, { minLength: 1, maxLength: 3 }).map((lines) => lines.join(''));
const ignoreFile = fc.record({ at: fc.array(name, { maxLength: 1 }), text: rules });
const repository = fc.record({
  files: fc.array(
    fc.record({
      path: fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
      tracked: fc.nat(3).map((chance) => chance > 0),
      removed: fc.nat(9).map((chance) => chance === 0),
    }),
    { minLength: 3, maxLength: 25 },
  ),
  ignoreFiles: fc.array(ignoreFile, { minLength: 1, maxLength: 3 }),
  infoExclude: fc.oneof(fc.constant(''), rules),
  excludesFile: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: rules }),
  whiteboxIgnored: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: name }),
  version: fc.constantFrom('2', '3', '4'),
  objectFormat: fc.constantFrom('sha1', 'sha256'),
  folder: fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.array(name, { minLength: 1, maxLength: 2 }) },
  ),
  worktree: fc.boolean(),
});

test('F167 files named as tracked, though ignored, are those of git, for random repositories and indexes', async () => {
  const property = fc.asyncProperty(repository, async (drawn) => {
    const at = makeLocation();
    try {
      git(at, ['init', '-q', `--object-format=${drawn.objectFormat}`]);
      let top = at.root;
      if (drawn.worktree) {
        git(at, ['commit', '-q', '--allow-empty', '-m', 'invented']);
        top = join(at.home, 'linked');
        git(at, ['worktree', 'add', '-q', top]);
      }
      const taken = new Map<string, boolean>();
      const put = (path: string, text: string): boolean => {
        const above = path.split('/').map((_, index, names) => names.slice(0, index).join('/'));
        if (above.some((folder) => taken.get(folder) === true) || taken.has(path)) return false;
        for (const folder of above) taken.set(folder, false);
        taken.set(path, true);
        plant(top, { [path]: text });
        return true;
      };
      put([...drawn.folder, 'inside'].join('/'), '');
      for (const { at: folder, text } of drawn.ignoreFiles) put([...folder, '.gitignore'].join('/'), text);
      const files = drawn.files.filter(({ path }) => put(path, path));
      plant(at.root, { '.git/info/exclude': drawn.infoExclude });
      plant(at.home, { '.config/git/ignore': drawn.excludesFile });
      const tracked = files.filter(({ tracked }) => tracked).map(({ path }) => path);
      git(at, ['update-index', '--index-version', drawn.version], top);
      if (tracked.length > 0) git(at, ['add', '-f', '--', ...tracked], top);
      for (const { path, removed } of files) if (removed) rmSync(join(top, path));
      const folder = join(top, ...drawn.folder);
      const excluded = drawn.whiteboxIgnored;
      const expected = gitTracksIgnored(at, folder).filter(
        (path) => excluded === undefined || !path.split('/').includes(excluded),
      );
      const found = await named(at, folder, excluded === undefined ? {} : { exclude: [[excluded]] });
      assert.deepEqual(found, { tracked: expected, problems: [] });
    } finally {
      at.remove();
    }
  });
  await fc.assert(property, { numRuns: propertyRuns(8, 1_000) });
});
