import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs, { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ArchiveFormat,
  type PackMessage,
  packTask,
} from '../../../../src/core/upload/archive/packing.ts';
import { ArchiveWriter, writeArchive } from '../../../../src/core/upload/archive/writeArchive.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { TarBuilder } from '../../../../src/core/upload/archive/tarGz.ts';
import { ZipBuilder } from '../../../../src/core/upload/archive/zip.ts';
import { type ArchiveTarget, formats, tree, read, sha256, workerFile } from './archiving.ts';
import { oracle } from './readArchive.ts';
import { asNobody, onceRead, options, plant } from '../trees.ts';
import { withLinks, withPipes, withRights } from '../../core/systemSkips.ts';

/** The content has no repetition, and is fast to pack. */
function sixMegabytes(): Buffer {
  return Buffer.concat(Array.from({ length: 6 }, () => Buffer.alloc(1 << 20, randomBytes(1000))));
}

/** Packs files in this thread; `onMessage` receives each message. */
async function packHere(
  at: ArchiveTarget,
  format: ArchiveFormat,
  paths: readonly string[],
  onMessage: (message: PackMessage) => void = () => undefined,
) {
  const files = paths.map((path) => ({ path, mode: 0o644 }));
  const output = await open(at.to, 'wx');
  const writer = new ArchiveWriter(output, { format, maxBytes: 1e9, files });
  await writer.start();
  const builder = format === 'zip' ? new ZipBuilder() : new TarBuilder();
  await packTask({ id: 0, first: 0, files }, at.root, builder, async (message) => {
    await writer.take(message);
    onMessage(message);
  });
  const { bytes } = await writer.end();
  await output.close();
  return { bytes, omitted: writer.omitted, entries: [...writer.manifest] };
}

for (const format of formats) {
  test(
    `F10 a folder replaced by a link after the selection is not read into a ${format}`,
    withLinks,
    async (t) => {
      const at = tree(t);
      plant(at.home, { 'private/sub/key': 'secret'.repeat(10) });
      plant(at.root, { 'a/sub/key': 'mine', b: 'b' });
      const { root, files } = await selectFiles(at.root, options(at));
      renameSync(join(at.root, 'a'), join(at.home, 'was-a'));
      symlinkSync(join(at.home, 'private'), join(at.root, 'a'));
      const archive = await writeArchive({ root, files, format, to: at.to, maxBytes: 1e9, workerFile });
      assert.deepEqual(archive.omitted, [{ path: 'a/sub/key', reason: 'outsideRoot' }]);
      assert.deepEqual((await read(format, at.to)).map(({ path }) => path), ['b']); // prettier-ignore
    },
  );

  test(
    `F9 a file replaced by a link, folder or FIFO after the selection is omitted from a ${format}`,
    withPipes,
    async (t) => {
      const at = tree(t);
      plant(at.home, { key: 'secret' });
      plant(at.root, { link: '', folder: '', pipe: '', stays: '' });
      const { root, files } = await selectFiles(at.root, options(at));
      for (const path of ['link', 'folder', 'pipe']) rmSync(join(at.root, path));
      symlinkSync(join(at.home, 'key'), join(at.root, 'link'));
      mkdirSync(join(at.root, 'folder'));
      oracle(t, 'mkfifo', [join(at.root, 'pipe')]);
      const archive = await writeArchive({ root, files, format, to: at.to, maxBytes: 1e9, workerFile });
      assert.deepEqual(archive.omitted, ['folder', 'link', 'pipe'].map((path) => ({ path, reason: 'changedType' }))); // prettier-ignore
      assert.deepEqual((await read(format, at.to)).map(({ path }) => path), ['stays']); // prettier-ignore
    },
  );

  test(`F21 files that grew or shrank since the selection are in a ${format} with their current content`, async (t) => {
    const at = tree(t);
    plant(at.root, { grows: 'a', explodes: 'b', shrinks: 'c'.repeat(1000), implodes: Buffer.alloc(5 << 20) });
    const { root, files } = await selectFiles(at.root, options(at));
    plant(at.root, { grows: 'aa', explodes: Buffer.alloc(5 << 20, 'b'), shrinks: 'c', implodes: '' });
    const archive = await writeArchive({ root, files, format, to: at.to, maxBytes: 1e9, workerFile });
    const entries = [...archive.manifest];
    assert.deepEqual(entries.map(({ path, bytes }) => [path, bytes]), [['explodes', 5 << 20], ['grows', 2], ['implodes', 0], ['shrinks', 1]]); // prettier-ignore
    assert.deepEqual((await read(format, at.to)).map(({ sha256 }) => sha256), entries.map(({ sha256 }) => sha256)); // prettier-ignore
  });

  test(`F21 a large file that shrinks during reading is read again for a ${format}, or listed as omitted`, async (t) => {
    const at = tree(t);
    plant(at.root, { a: 'before', once: sixMegabytes(), twice: sixMegabytes(), z: 'after' });
    // Each attempt at a large file has its number: `once` is cut in the first of two, `twice` in
    // all three.
    const cuts = new Map<number, readonly [string, number]>([[1, ['once', 4.5]], [3, ['twice', 5.75]], [4, ['twice', 5.25]], [5, ['twice', 4.25]]]); // prettier-ignore
    let attempt = 0;
    const { entries, omitted, bytes } = await packHere(
      at,
      format,
      ['a', 'once', 'twice', 'z'],
      ({ kind }) => {
        if (kind === 'checkpoint') attempt++;
        const cut = kind === 'segment' ? cuts.get(attempt) : undefined;
        if (cut !== undefined) truncateSync(join(at.root, cut[0]), cut[1] * 2 ** 20);
      },
    );
    assert.equal(bytes, statSync(at.to).size);
    assert.deepEqual(entries.map(({ path }) => path), ['a', 'once', 'z']); // prettier-ignore
    assert.deepEqual(omitted, [{ path: 'twice', reason: 'changed' }]);
    assert.equal(entries[1]?.bytes, 4.5 * 2 ** 20);
    assert.deepEqual((await read(format, at.to)).map(({ path, sha256 }) => [path, sha256]), entries.map(({ path, sha256 }) => [path, sha256])); // prettier-ignore
  });

  for (const [size, before, after] of [
    ['small', Buffer.from('before'), Buffer.from('after!')],
    ['large', sixMegabytes(), sixMegabytes()],
  ] as const)
    test(`F21 a ${size} file that changes during reading, without a size change, is read again for a ${format}`, async (t) => {
      const at = tree(t);
      plant(at.root, { file: before });
      // A change within a tick of the file system's clock would have the same time.
      utimesSync(join(at.root, 'file'), 0, 0);
      onceRead(t, () => writeFileSync(join(at.root, 'file'), after));
      const { entries, omitted } = await packHere(at, format, ['file']);
      assert.deepEqual([entries.map((entry) => entry.sha256), omitted], [[sha256(after)], []]);
      assert.deepEqual((await read(format, at.to)).map((entry) => entry.sha256), [sha256(after)]); // prettier-ignore
    });

  test(
    `F22 F23 missing and unreadable files are listed, and the ${format} contains the others`,
    withRights,
    async (t) => {
      const at = tree(t);
      plant(at.root, { a: 'a', 'gone/x': 'x', 'gone/y': Buffer.alloc(5 << 20), locked: 'secret', z: 'z' });
      const { root, files } = await selectFiles(at.root, options(at));
      rmSync(join(at.root, 'gone'), { recursive: true });
      chmodSync(join(at.root, 'locked'), 0o000);
      const open = join(at.home, 'open');
      mkdirSync(open);
      chmodSync(open, 0o777);
      const to = join(open, 'archive');
      const { manifest, omitted } = await asNobody(at, () =>
        writeArchive({ root, files, format, to, maxBytes: 1e9, workerFile }),
      );
      assert.deepEqual(omitted, [
        { path: 'gone/x', reason: 'vanished' },
        { path: 'gone/y', reason: 'vanished' },
        { path: 'locked', reason: 'unreadable', code: 'EACCES' },
      ]);
      assert.deepEqual(Array.from(manifest, ({ path }) => path), ['a', 'z']); // prettier-ignore
      assert.deepEqual((await read(format, to)).map(({ path }) => path), ['a', 'z']); // prettier-ignore
    },
  );
}

test(
  'F123 a folder that is a link only while a file in it is opened adds nothing from outside',
  { skip: process.platform !== 'linux' && 'only Linux tells the path of an open file' },
  async (t) => {
    const at = tree(t);
    plant(at.home, { 'private/key': 'secret' });
    plant(at.root, { 'a/key': 'mine', b: 'b' });
    const [folder, away] = [join(at.root, 'a'), join(at.home, 'was-a')];
    let isLink = false;
    const swap = (toLink: boolean): void => {
      if (toLink === isLink) return;
      isLink = toLink;
      if (isLink) renameSync(folder, away);
      else rmSync(folder);
      if (isLink) symlinkSync(join(at.home, 'private'), folder);
      else renameSync(away, folder);
    };
    // The folder is outside while a file is opened or inspected by name, and inside while the
    // folder is.
    const { openSync, lstatSync: look } = fs;
    const { native } = fs.realpathSync;
    const isKey = (path: unknown): boolean => path === join(folder, 'key');
    t.mock.method(fs, 'openSync', (...args: Parameters<typeof openSync>) => {
      swap(isKey(args[0]));
      const fd = openSync(...args);
      swap(false);
      return fd;
    });
    t.mock.method(fs, 'lstatSync', (...args: Parameters<typeof look>) => {
      swap(isKey(args[0]));
      const stat = look(...args);
      swap(false);
      return stat;
    });
    t.mock.method(fs.realpathSync, 'native', (path: string) => {
      swap(false);
      return native(path);
    });
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const { omitted } = await packHere(at, 'tar_gz', ['a/key', 'b']);
    assert.deepEqual(omitted, [{ path: 'a/key', reason: 'outsideRoot' }]);
    assert.deepEqual((await read('tar_gz', at.to)).map(({ path }) => path), ['b']); // prettier-ignore
  },
);
