import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pausesWhile } from '../../core/cpuTime.ts';
import { finding, setScene } from '../findingScene.ts';

test('of a file that is deleted the code is gone, also when it is not known what was scanned', async (t) => {
  const scene = await setScene(t, 'shop');
  await scene.addRun(['shop'], finding('here', { file: 'a.js', line: 2 }));
  const file = path.join(scene.root, 'shop', 'a.js');
  const place = () => scene.store.all()[0]?.places[0];
  await rm(file);
  await scene.store.rePlace(new Set([file]));
  assert.deepEqual([place()?.drift, place()?.startLine], ['gone', undefined]);
  await writeFile(file, 'one\ntwo\nthree\n');
  await scene.store.rePlace(new Set([file]));
  assert.deepEqual([place()?.drift, place()?.startLine], ['unknown', 2]);
});

test('in a file that is too large to be read, findings stay at their reported lines', async (t) => {
  const scene = await setScene(t);
  const folder = path.join(scene.root, 'shop');
  scene.open.add(folder);
  const text = 'line of a very long file\n'.repeat(250_000);
  await scene.addRun(['shop'], finding('far', { file: 'large.js', line: 77 }), { 'large.js': text });
  const [place] = scene.store.all()[0]?.places ?? [];
  assert.deepEqual([place?.drift, place?.startLine], ['unknown', 77]);
});

test('many snippets that stand nowhere in a long file are looked for without a stall', async (t) => {
  const scene = await setScene(t, 'shop');
  const text = Array.from({ length: 50_000 }, (_, at) => `const a${String(at)} = ${String(at)};`).join('\n');
  const found = Array.from({ length: 200 }, (_, at) => ({
    title: 'far',
    file: 'long.js',
    line: at + 1,
    snippet: `nothing like it ${String(at)}\nnor this`,
  }));
  await scene.addRun(['shop'], JSON.stringify(found), { 'long.js': text });
  const { pausesMs } = await pausesWhile(() => scene.store.load({ force: true }));
  assert.equal(scene.store.all()[77]?.places[0]?.startLine, 78);
  assert.ok((pausesMs.at(-1) ?? 0) < 300, `${String(pausesMs.at(-1))} ms`);
});
