import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { plant, testRepository } from '../trees.ts';

const tool = join(import.meta.dirname, '../../../tools/compareSelection.ts');

test('F166 compare-selection counts as a difference what Git selects and a rule that may not apply excludes', (t) => {
  const at = testRepository(t, { 'a.key': '', 'b.js': '', 'c.md': '', '.whiteboxignore': '*.md\n' });
  const compare = (): { status: number | null; stdout: string } =>
    spawnSync(process.execPath, [tool, at.root], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: at.home, GIT_CONFIG_NOSYSTEM: '1' },
    });
  const same = compare();
  assert.match(same.stdout, /left out by policy: 1\n {2}"c\.md .*\nonly git: 0\nonly ours: LEAKED: 0\n$/);
  assert.equal(same.status, 0);
  plant(at.home, {
    '.gitconfig': '[includeIf "gitdir:/invented/"]\n\tpath = work\n',
    work: `[core]\n\texcludesFile = ${join(at.home, 'keys')}\n`,
    keys: '*.key\n',
  });
  const different = compare();
  assert.match(different.stdout, /only git: 1\n {2}"a\.key"\nonly ours: LEAKED: 0\n$/);
  assert.equal(different.status, 1);
});
