import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scratchFolder } from '../scratchFolder.ts';
import { answer, files, locatorIn } from './locating.ts';

test('a mapping moves paths into the folder that a person chose, the longest one first, and never out of the root', async (t) => {
  const root = await scratchFolder(t, [...files, 'apps/shop/main.py', 'libs/main.py']);
  const withMapping = (mapping: readonly { from: string; to: string }[]) => locatorIn(root, { mapping });
  const mapping = [
    { from: '/build', to: 'libs' },
    { from: '/build/shop/', to: 'apps/shop' },
  ];
  assert.equal(await answer(withMapping(mapping), '/build/shop/main.py'), 'apps/shop/main.py');
  assert.equal(await answer(withMapping(mapping), '/build/main.py'), 'libs/main.py');
  assert.equal(await answer(withMapping([{ from: '/build/shop', to: '' }]), '/build/shop/app.py'), 'app.py');
  assert.equal(await answer(withMapping([{ from: 'build', to: '../..' }]), 'build/app.py'), '(notFound)');
});

test('a mapping may be of everything, of one file, and written with a dot', async (t) => {
  const root = await scratchFolder(t, ['libs/main.py']);
  const withMapping = (from: string, to: string) => locatorIn(root, { files: [], mapping: [{ from, to }] });
  assert.equal(await answer(withMapping('', 'libs'), 'main.py'), 'libs/main.py');
  assert.equal(await answer(withMapping('./build', 'libs'), 'build/main.py'), 'libs/main.py');
  assert.equal(await answer(withMapping('gen/m.py', 'libs/main.py'), 'gen/m.py'), 'libs/main.py');
  assert.equal(await answer(withMapping('gen', 'libs'), 'general/main.py'), '(notFound)');
});
