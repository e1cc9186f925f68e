import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { selectFiles } from '../../../src/core/upload/selection.ts';
import { makePlace, options, type Place, plantMany } from './trees.ts';

const workerFile = new URL('../../../src/core/upload/factsWorker.ts', import.meta.url);

describe('with more files than one thread asks about alone', () => {
  let at: Place;

  before(() => {
    at = makePlace();
    mkdirSync(at.root, { recursive: true });
    writeFileSync(join(at.root, '.gitignore'), 'é13\n');
    const folders = Array.from({ length: 180 }, (_, folder) => `folder${folder}`);
    for (let file = 0; file < 100; file++) {
      const everywhere = folders.map((folder) => `${folder}/é${file}`);
      plantMany(at.root, everywhere, 'x'.repeat(file));
    }
    chmodSync(join(at.root, 'folder0/é7'), 0o755);
    for (const [folder, name] of folders.entries()) {
      const full = join(at.root, name);
      // Among the files, so that what is known of each has to find it.
      symlinkSync('é1', join(full, 'é2-link'));
      mkdirSync(join(full, 'é3-folder'));
      writeFileSync(join(full, 'é3-folder', 'below'), 'x'.repeat(folder));
    }
  });

  after(() => at.remove());

  test('a second thread changes nothing about a selection', async () => {
    const together = await selectFiles(at.root, { ...options(at), workerFile });
    const alone = await selectFiles(at.root, options(at));
    assert.equal(together.files.length, 18_001);
    assert.equal(together.leftOut.length, 360);
    for (const { path, bytes } of together.files.slice(1)) {
      const [, folder, name] = /^folder(\d+)\/(?:é3-folder\/below|é(\d+))$/.exec(path) ?? [];
      assert.equal(bytes, Number(name ?? folder), path);
    }
    assert.equal(together.files.filter(({ mode }) => mode === 0o755).length, 180);
    assert.deepEqual(together, alone);
  });

  test('F29 a selection that is cancelled meanwhile ends with the reason', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    let found = 0;
    let foundByThen = 0;
    const onProgress = (files: number): void => {
      found = files;
      if (files <= 15_000 || stop.signal.aborted) return;
      foundByThen = files;
      stop.abort(reason);
    };
    const selecting = selectFiles(at.root, { ...options(at), workerFile, signal: stop.signal, onProgress });
    await assert.rejects(selecting, reason);
    // Where files are asked about slowly, eight folders at a time take 32 entries each.
    assert.ok(found - foundByThen <= 8 * 32, `${found - foundByThen} files were found after that`);
  });

  test('a second thread that ends too early fails the selection, which does not hang', async () => {
    const broken = new URL('data:text/javascript,');
    await assert.rejects(selectFiles(at.root, { ...options(at), workerFile: broken }), /ended/);
  });
});
