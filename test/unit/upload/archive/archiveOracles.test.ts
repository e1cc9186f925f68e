import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import type { ArchiveFormat } from '../../../../src/core/upload/archive/packing.ts';
import { type Archive, ArchiveWriter } from '../../../../src/core/upload/archive/writeArchive.ts';
import { toRecords } from '../../../../src/core/upload/archive/packing.ts';
import {
  centralRecord,
  localHeader,
  putOffsets,
  zipEnd,
  ZipBuilder,
} from '../../../../src/core/upload/archive/zip.ts';
import { formats, pack, tree, plantDifficult, sha256 } from './archiving.ts';
import { oracle, readZip } from './readArchive.ts';
import { makeLocation, plant } from '../trees.ts';

/** Tests that take minutes, or gigabytes, run under `npm run fuzz`. */
const long = process.env['FUZZ_RUNS'] !== undefined;

const packed = makeLocation();
const archives = new Map<ArchiveFormat, Archive & { readonly path: string }>();

before(async () => {
  plantDifficult(packed.root);
  for (const format of formats) {
    const path = join(packed.home, `archive.${format}`);
    archives.set(format, { ...(await pack({ ...packed, to: path }, format)), path });
  }
});

after(() => packed.remove());

function archiveOf(format: ArchiveFormat): Archive & { readonly path: string } {
  const archive = archives.get(format);
  assert.ok(archive);
  return archive;
}

test('7z accepts a zip and a tar.gz', (t) => {
  oracle(t, '7z', ['t', '-tzip', archiveOf('zip').path]);
  oracle(t, '7z', ['t', '-tgzip', archiveOf('tar_gz').path]);
});

test('tar lists and unpacks the archive', (t) => {
  const { manifest, path: file } = archiveOf('tar_gz');
  const listed = oracle(t, 'tar', ['-tzf', file, '--quoting-style=literal', '--show-transformed-names']);
  if (listed === undefined) return;
  assert.equal(listed, Array.from(manifest, ({ path }) => `${path}\n`).join(''));
  const out = join(packed.home, 'out');
  mkdirSync(out);
  oracle(t, 'tar', ['-xzf', file, '-C', out]);
  for (const { path, sha256: sum } of manifest) assert.equal(sha256(readFileSync(join(out, path))), sum);
  assert.equal(statSync(join(out, 'bin/run')).mode & 0o777, 0o755);
  assert.equal(statSync(join(out, 'empty')).mode & 0o777, 0o644);
});

test('Python reads zip and tar.gz with all names', (t) => {
  const { manifest, path: file } = archiveOf('zip');
  const names = Array.from(manifest, ({ path }) => path);
  const script = `
import json, sys, tarfile, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
t = tarfile.open(sys.argv[2])
print(json.dumps([z.namelist(), t.getnames(), [len(t.extractfile(m).read()) for m in t] == [i.file_size for i in z.infolist()]]))`;
  const printed = oracle(t, 'python3', ['-', file, archiveOf('tar_gz').path], script);
  if (printed !== undefined) assert.deepEqual(JSON.parse(printed), [names, names, true]);
});

test('F28 a zip of more than 65,535 entries is read completely', async (t) => {
  const at = tree(t);
  const output = await open(at.to, 'wx');
  // A few repeated entries: only the directory matters.
  const names = Array.from({ length: 400 }, (_, index) => `f${index}`);
  const files = names.map((path) => ({ path }));
  const writer = new ArchiveWriter(output, { format: 'zip', maxBytes: 1e9, files });
  await writer.start();
  const builder = new ZipBuilder();
  for (const path of names) builder.add({ path, mode: 0o644 }, Buffer.from(path));
  const segment = builder.take();
  assert.ok(segment !== undefined);
  const packed = toRecords(
    names.map((path, index) => ({ index, bytes: path.length, sha256: Buffer.alloc(32) })),
  );
  for (let task = 0; task < 164; task++) {
    const central = new Uint8Array(segment.central);
    await writer.take({ kind: 'segment', task, packed, ...segment, central });
  }
  await writer.end();
  await output.close();
  const read = await readZip(at.to, (path) => path === 'f399');
  assert.equal(read.length, 65_600);
  assert.deepEqual(read.at(-1), { path: 'f399', mode: 0o644, bytes: 4, sha256: sha256('f399') });
  const printed = oracle(t, 'unzip', ['-Z1', at.to]);
  if (printed !== undefined) assert.equal(printed.trim().split('\n').length, 65_600);
});

test('F28 entries beyond 4 GiB are found', async (t) => {
  const at = tree(t);
  const start = 5 * 2 ** 30;
  const content = Buffer.from('far away');
  const head = {
    mode: 0o644,
    crc: 0,
    bytes: content.length,
    compressedBytes: content.length,
    deflated: false,
    streamed: false,
    zip64: false,
  };
  const crc = crc32(content);
  const entries = ['a', 'b'].map((path) => ({ ...head, path, crc }));
  const local = entries.map((entry) => Buffer.concat([localHeader(entry), content]));
  const central = entries.map(centralRecord);
  const offsets = Float64Array.of(0, local[0]!.length);
  const directory = putOffsets(Buffer.concat(central), offsets, start);
  const directoryStart = start + local[0]!.length + local[1]!.length;
  const file = await open(at.to, 'wx');
  await file.write(
    Buffer.concat([...local, directory, zipEnd(2, directoryStart, directory.length)]),
    0,
    null,
    start,
  );
  await file.close();
  assert.deepEqual((await readZip(at.to)).map(({ path, sha256: sum }) => [path, sum]), entries.map(({ path }) => [path, sha256(content)])); // prettier-ignore
  oracle(t, 'unzip', ['-tqq', at.to]);
  oracle(t, 'python3', [
    '-c',
    'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None',
    at.to,
  ]);
});

for (const format of formats) {
  test(
    `F28 a file of more than 4 GiB can be in a ${format}`,
    { skip: long ? false : 'takes a minute: npm run fuzz runs it' },
    async (t) => {
      const at = tree(t);
      plant(at.root, { a: 'a', b: '', z: 'z' });
      truncateSync(join(at.root, 'b'), 4.25 * 2 ** 30);
      const { manifest: entries } = await pack(at, format);
      assert.deepEqual(Array.from(entries, ({ path, bytes }) => [path, bytes]), [['a', 1], ['b', 4.25 * 2 ** 30], ['z', 1]]); // prettier-ignore
      if (format === 'zip') oracle(t, 'unzip', ['-tqq', at.to]);
      else oracle(t, 'tar', ['-tzf', at.to]);
    },
  );
}
