import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { cpuMs } from '../../core/cpuTime.ts';
import { readArchive as readOurs } from '../../../../src/core/upload/archive/readArchive.ts';
import { writeArchive } from '../../../../src/core/upload/archive/writeArchive.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import type { SelectedFile } from '../../../../src/core/upload/select/selection.ts';
import { fails, formats, pack, tree, plantDifficult, read, sha256, workerFile } from './archiving.ts';
import { options, plant, plantMany } from '../trees.ts';
import { withRights } from '../../core/systemSkips.ts';

for (const format of formats) {
  test(`a ${format} contains every selected file, byte for byte, as other libraries and our own reader read it`, async (t) => {
    const at = tree(t);
    const planted = plantDifficult(at.root);
    const { files } = await selectFiles(at.root, options(at));
    const seen: [done: number, total: number][] = [];
    const archive = await pack(at, format, { onBytes: (done, total) => seen.push([done, total]) });
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    assert.deepEqual(seen.at(-1), [total, total]);
    assert.ok(seen.every(([done], index) => done >= (seen[index - 1]?.[0] ?? 0)));
    const expected = files.map(({ path, bytes, mode }) => ({
      path,
      bytes,
      mode,
      sha256: sha256(readFileSync(join(at.root, path))),
    }));
    assert.equal(files.length, planted);
    assert.deepEqual(
      (await read(format, at.to)).map(({ path, bytes, mode, sha256 }) => ({ path, bytes, mode, sha256 })),
      expected,
    );
    assert.deepEqual(
      [...archive.manifest],
      expected.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
    );
    const ours: string[] = [];
    const wanted = new Set(files.map(({ path }) => path));
    for await (const { path, content } of readOurs(at.to, format, wanted))
      ours.push(`${path} ${sha256(content)}`);
    assert.deepEqual(ours.sort(), expected.map(({ path, sha256 }) => `${path} ${sha256}`).sort());
    for await (const { path } of readOurs(at.to, format, new Set(['random']))) assert.equal(path, 'random');
    assert.deepEqual(archive.omitted, []);
    assert.equal(archive.bytes, statSync(at.to).size);
    assert.equal(archive.sha256, sha256(readFileSync(at.to)));
  });

  test(`equal content gives an equal ${format}, for any number of workers and any file times`, async (t) => {
    const at = tree(t);
    plantDifficult(at.root);
    for (let lines = 0; lines < 100; lines++) {
      const names = Array.from({ length: 7 }, (_, hundreds) => `many/f${hundreds * 100 + lines}`);
      plantMany(at.root, names, `content ${lines}\n`.repeat(lines));
    }
    const sums = new Set<string>();
    for (const workers of [1, 2, 4]) {
      for (const path of ['empty', 'bin/run', 'many/f7']) {
        utimesSync(join(at.root, path), workers * 1e6, workers * 1e6);
      }
      chmodSync(join(at.root, 'bin/run'), [0o755, 0o700, 0o744, 0o711, 0o777][workers] ?? 0o755);
      sums.add((await pack(at, format, { workers })).sha256);
      rmSync(at.to);
    }
    assert.equal(sums.size, 1);
  });

  test(
    `F24 a full disk ends the ${format} and leaves no file`,
    { skip: process.platform !== 'linux' && '/dev/full is Linux’s' },
    async (t) => {
      const at = tree(t);
      plant(at.root, { a: randomBytes(100_000) });
      const { open } = fsPromises;
      const opening = t.mock.method(fsPromises, 'open', (path: string) => {
        writeFileSync(path, '');
        return open('/dev/full', 'w');
      });
      syncBuiltinESMExports();
      const error = await fails(pack(at, format), 'diskFull');
      opening.mock.restore();
      syncBuiltinESMExports();
      assert.equal(error.data.subject, at.to);
      assert.ok(!existsSync(at.to));
    },
  );

  test(`F26 a ${format} is readable by this user only, and never replaces a file`, withRights, async (t) => {
    const at = tree(t);
    plant(at.root, { a: 'a' });
    await pack(at, format);
    assert.equal(statSync(at.to).mode & 0o777, 0o600);
    const before = readFileSync(at.to);
    await fails(pack(at, format), 'storage');
    assert.deepEqual(readFileSync(at.to), before);
  });

  test(`F27 names that leave the folder are never written into a ${format}`, async (t) => {
    const at = tree(t);
    plant(at.home, { secret: 'secret' });
    plant(at.root, { a: 'a' });
    const bad = [
      '../home/secret', '/etc/hostname', 'a/../../home/secret', './a', 'x//a', 'C:/a', 'C:\\a', '\\a', '..\\a',
      'a\0b', '\ud800',
    ]; // prettier-ignore
    const files = [...bad, 'a'].map((path): SelectedFile => ({ path, bytes: 1, mode: 0o644 }));
    const { omitted } = await writeArchive({
      root: at.root,
      files,
      format,
      to: at.to,
      maxBytes: 1e9,
      workerFile,
    });
    assert.deepEqual(omitted, bad.map((path) => ({ path, reason: 'unusableName' }))); // prettier-ignore
    assert.deepEqual((await read(format, at.to)).map(({ path }) => path), ['a']); // prettier-ignore
  });

  test(`F29 cancelling a ${format} stops it within 500 ms of work and leaves no file`, async (t) => {
    const at = tree(t);
    plant(at.root, { f: randomBytes(3 << 20), large: Buffer.alloc(8 << 20, randomBytes(3 << 20)) });
    for (let index = 0; index < 60; index++) {
      for (const name of ['f', 'large']) linkSync(join(at.root, name), join(at.root, `${name}${index}`));
    }
    const controller = new AbortController();
    let cancelled = 0;
    const onBytes = (): void => {
      if (controller.signal.aborted) return;
      cancelled = cpuMs();
      controller.abort();
    };
    await assert.rejects(pack(at, format, { signal: controller.signal, onBytes, workers: 2 }), {
      name: 'AbortError',
    });
    assert.ok(cpuMs() - cancelled < 500);
    assert.deepEqual(readdirSync(at.home), []);
    await assert.rejects(pack(at, format, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  });

  test(`a ${format} over the limit ends early, leaves no file and terminates no thread`, async (t) => {
    const at = tree(t);
    plant(at.root, { a: randomBytes(100_000), b: randomBytes(100_000) });
    // Terminating a thread that is about to compress can abort the whole process
    // (`PoolOptions.exitsItself`).
    const terminate = t.mock.method(Worker.prototype, 'terminate');
    const error = await fails(pack(at, format, { maxBytes: 150_000 }), 'archiveTooLarge');
    assert.equal(error.data.limit, 150_000);
    assert.ok((error.data.actual ?? 0) > 150_000);
    assert.ok(!existsSync(at.to));
    assert.equal(terminate.mock.callCount(), 0);
    const exact = (await pack(at, format)).bytes;
    rmSync(at.to);
    assert.equal((await pack(at, format, { maxBytes: exact })).bytes, exact);
    rmSync(at.to);
    await fails(pack(at, format, { maxBytes: exact - 1 }), 'archiveTooLarge');
  });

  test(`F31 no ${format} is written without files to send`, async (t) => {
    const at = tree(t);
    await fails(pack(at, format), 'nothingToSend');
    const files: SelectedFile[] = [{ path: 'gone', bytes: 1, mode: 0o644 }];
    await fails(
      writeArchive({ root: at.root, files, format, to: at.to, maxBytes: 1e9, workerFile }),
      'nothingToSend',
    );
    assert.ok(!existsSync(at.to));
  });
}

test('F111 a packing worker that cannot start is named as such and leaves no file', async (t) => {
  const at = tree(t);
  plant(at.root, { a: 'a' });
  await fails(pack(at, 'zip', { workerFile: join(at.home, 'no-worker.js') }), 'workerCrashed');
  assert.ok(!existsSync(at.to));
});
