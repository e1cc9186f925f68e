import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { planMapping } from '../../../../src/core/findings/place/mappingPlan.ts';
import { scratchFolder } from '../scratchFolder.ts';

test('the leading part of paths that stands for a folder is found, and how many files it gives', async (t) => {
  const files = ['packages/shop/lib/a.js', 'packages/shop/lib/b.js', 'packages/shop/index.js'];
  const root = await scratchFolder(t, files);
  const told = ['/build/src/lib/a.js', 'build/src/lib/b.js', 'build\\src\\index.js', 'build/src/lib/gone.js'];
  const to = 'packages/shop';
  assert.deepEqual(await planMapping(told, { root, to }), { prefix: 'build/src', placed: 3 });
  assert.deepEqual(await planMapping(['lib/a.js'], { root, to }), { prefix: '', placed: 1 });
  assert.equal(await planMapping(['lib/c.js'], { root, to }), undefined);
});

test('F71 no mapping leads out of the folder', async (t) => {
  const root = await scratchFolder(t, ['inside/a.js', 'secret.js']);
  const told = ['build/../../secret.js', '../secret.js', 'x/secret.js', `${dirname(root)}/shop/secret.js`];
  assert.equal(await planMapping(told, { root: `${root}/inside`, to: '..' }), undefined);
});
