import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { AssessmentError, type ErrorKind } from '../../../src/core/errors.ts';
import {
  type Archive,
  type ArchiveFormat,
  type ArchiveOptions,
  writeArchive,
} from '../../../src/core/upload/archive.ts';
import { toRecords } from '../../../src/core/upload/archiveEntries.ts';
import { archiveWriter } from '../../../src/core/upload/archiveWriter.ts';
import { packTask } from '../../../src/core/upload/packing.ts';
import { type SelectedFile, selectFiles } from '../../../src/core/upload/selection.ts';
import { tarSegments } from '../../../src/core/upload/tarSegment.ts';
import { centralRecord, localHeader, placeCentral, zipEnd } from '../../../src/core/upload/zipRecords.ts';
import { zipSegments } from '../../../src/core/upload/zipSegment.ts';
import { oracle, type ReadEntry, readTar, readZip } from './readArchive.ts';
import { asNobody, options, type Place, plant, testPlace } from './trees.ts';

const workerFile = new URL('../../../src/core/upload/archiveWorker.ts', import.meta.url);
const formats: readonly ArchiveFormat[] = ['tar_gz', 'zip'];
/** Tests of what takes minutes, or gigabytes, run under `npm run fuzz`. */
const long = process.env['FUZZ_RUNS'] !== undefined;

function place(t: TestContext): Place & { readonly to: string } {
  const made = testPlace(t);
  return { ...made, to: join(made.home, 'archive') };
}

async function pack(
  at: Place & { readonly to: string },
  format: ArchiveFormat,
  more: Partial<ArchiveOptions> = {},
): Promise<Archive> {
  const { root, files } = await selectFiles(at.root, options(at));
  return writeArchive({ root, files, format, to: at.to, maxBytes: 1e12, workerFile, ...more });
}

async function read(format: ArchiveFormat, file: string): Promise<ReadEntry[]> {
  return format === 'zip' ? readZip(file) : readTar(file);
}

async function fails(promise: Promise<unknown>, kind: ErrorKind): Promise<AssessmentError> {
  let met: unknown;
  await assert.rejects(promise, (error) => {
    met = error;
    return error instanceof AssessmentError && error.kind === kind;
  });
  return met as AssessmentError;
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Everything that makes names, sizes and content difficult. */
function plantDifficult(root: string): void {
  const long = 'n'.repeat(200);
  plant(root, {
    'a:b': 'colon',
    'a\\b': 'backslash',
    'caf\u00e9': 'composed',
    'cafe\u0301': 'decomposed',
    'two\nlines': 'newline',
    ' space ': '',
    '-rf': 'dash',
    '日本/語😀.txt': 'こんにちは',
    [`${long}/${long}/x`]: 'long path',
    [`${'d'.repeat(90)}/${'e'.repeat(60)}/${'f'.repeat(99)}`]: 'prefix and name',
    [long.slice(0, 100)]: 'exactly 100',
    'bin/run': '#!/bin/sh\n',
    empty: '',
    random: randomBytes(300_000),
    text: 'the same line again\n'.repeat(60_000),
    'large.bin': Buffer.concat([
      Buffer.alloc(3 << 20, 'abc'),
      randomBytes(2 << 20),
      Buffer.alloc(123_457, 'z'),
    ]),
  });
  chmodSync(join(root, 'bin/run'), 0o755);
}

for (const format of formats) {
  test(`a ${format} holds every selected file, byte for byte, as other libraries read it`, async (t) => {
    const at = place(t);
    plantDifficult(at.root);
    const { files } = await selectFiles(at.root, options(at));
    const archive = await pack(at, format);
    const expected = files.map(({ path, bytes, mode }) => ({
      path,
      bytes,
      mode,
      sha256: sha256(readFileSync(join(at.root, path))),
    }));
    assert.equal(files.length, 16);
    assert.deepEqual(
      (await read(format, at.to)).map(({ path, bytes, mode, sha256 }) => ({ path, bytes, mode, sha256 })),
      expected,
    );
    assert.deepEqual(
      [...archive.entries],
      expected.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
    );
    assert.deepEqual(archive.omitted, []);
    assert.equal(archive.bytes, statSync(at.to).size);
    assert.equal(archive.sha256, sha256(readFileSync(at.to)));
  });

  test(`the same content gives the same ${format}, whatever the number of workers and the files' times`, async (t) => {
    const at = place(t);
    plantDifficult(at.root);
    for (let index = 0; index < 700; index++) {
      plant(at.root, { [`many/f${index}`]: `content ${index}\n`.repeat(index) });
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

  test(`F10 a folder that became a link after the selection is not read into a ${format}`, async (t) => {
    const at = place(t);
    plant(at.home, { 'private/sub/key': 'secret'.repeat(10) });
    plant(at.root, { 'a/sub/key': 'mine', b: 'b' });
    const { root, files } = await selectFiles(at.root, options(at));
    renameSync(join(at.root, 'a'), join(at.home, 'was-a'));
    symlinkSync(join(at.home, 'private'), join(at.root, 'a'));
    const archive = await writeArchive({ root, files, format, to: at.to, maxBytes: 1e9, workerFile });
    assert.deepEqual(archive.omitted, [{ path: 'a/sub/key', reason: 'outsideRoot' }]);
    assert.deepEqual((await read(format, at.to)).map(({ path }) => path), ['b']); // prettier-ignore
  });

  test(
    `F9 a file that became a link, a folder or a FIFO after the selection is left out of a ${format}`,
    { skip: process.platform === 'win32' },
    async (t) => {
      const at = place(t);
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

  test(`F21 files that grew or shrank since the selection stand in a ${format} as they are`, async (t) => {
    const at = place(t);
    plant(at.root, { grows: 'a', explodes: 'b', shrinks: 'c'.repeat(1000), implodes: Buffer.alloc(5 << 20) });
    const { root, files } = await selectFiles(at.root, options(at));
    plant(at.root, { grows: 'aa', explodes: Buffer.alloc(5 << 20, 'b'), shrinks: 'c', implodes: '' });
    const archive = await writeArchive({ root, files, format, to: at.to, maxBytes: 1e9, workerFile });
    const entries = [...archive.entries];
    assert.deepEqual(entries.map(({ path, bytes }) => [path, bytes]), [['explodes', 5 << 20], ['grows', 2], ['implodes', 0], ['shrinks', 1]]); // prettier-ignore
    assert.deepEqual((await read(format, at.to)).map(({ sha256 }) => sha256), entries.map(({ sha256 }) => sha256)); // prettier-ignore
  });

  test(`F21 a large file that shrinks while it is read is read again for a ${format}, or listed`, async (t) => {
    const at = place(t);
    plant(at.root, { a: 'before', once: randomBytes(6 << 20), twice: randomBytes(6 << 20), z: 'after' });
    // By the number of the attempt at a large file: `once` is cut in the first of its two, `twice` in all three.
    const cuts = new Map<number, readonly [string, number]>([[1, ['once', 4.5]], [3, ['twice', 5.75]], [4, ['twice', 5.25]], [5, ['twice', 4.25]]]); // prettier-ignore
    let attempt = 0;
    const files = ['a', 'once', 'twice', 'z'].map((path) => ({ path, mode: 0o644 }));
    const output = await open(at.to, 'wx');
    const writer = archiveWriter(output, { format, maxBytes: 1e9, files });
    await writer.start();
    await packTask(
      { id: 0, first: 0, files },
      at.root,
      format === 'zip' ? zipSegments() : tarSegments(),
      async (message) => {
        await writer.take(message);
        if (message.kind === 'mark') attempt++;
        const cut = message.kind === 'segment' ? cuts.get(attempt) : undefined;
        if (cut !== undefined) truncateSync(join(at.root, cut[0]), cut[1] * 2 ** 20);
      },
    );
    const { entries: packed, omitted, bytes } = await writer.end();
    await output.close();
    const entries = [...packed];
    assert.equal(bytes, statSync(at.to).size);
    assert.deepEqual(entries.map(({ path }) => path), ['a', 'once', 'z']); // prettier-ignore
    assert.deepEqual(omitted, [{ path: 'twice', reason: 'changed' }]);
    assert.equal(entries[1]?.bytes, 4.5 * 2 ** 20);
    assert.deepEqual((await read(format, at.to)).map(({ path, sha256 }) => [path, sha256]), entries.map(({ path, sha256 }) => [path, sha256])); // prettier-ignore
  });

  test(`F22 files that vanished are listed, and the ${format} holds the others`, async (t) => {
    const at = place(t);
    plant(at.root, { a: 'a', 'gone/x': 'x', 'gone/y': Buffer.alloc(5 << 20), z: 'z' });
    const { root, files } = await selectFiles(at.root, options(at));
    rmSync(join(at.root, 'gone'), { recursive: true });
    const { entries, omitted } = await writeArchive({
      root,
      files,
      format,
      to: at.to,
      maxBytes: 1e9,
      workerFile,
    });
    assert.deepEqual(omitted, ['gone/x', 'gone/y'].map((path) => ({ path, reason: 'vanished' }))); // prettier-ignore
    assert.deepEqual((await read(format, at.to)).map(({ path }) => path), Array.from(entries, ({ path }) => path)); // prettier-ignore
  });

  test(
    `F23 files that may not be read are listed, and the ${format} holds the others`,
    { skip: process.platform === 'win32' },
    async (t) => {
      const at = place(t);
      plant(at.root, { a: 'a', locked: 'secret' });
      chmodSync(join(at.root, 'locked'), 0o000);
      const open = join(at.home, 'open');
      mkdirSync(open);
      chmodSync(open, 0o777);
      const { omitted } = await asNobody(at, async () => pack(at, format, { to: join(open, 'archive') }));
      assert.deepEqual(omitted, [{ path: 'locked', reason: 'unreadable', code: 'EACCES' }]);
    },
  );

  test(
    `F24 a full disk ends the ${format} and leaves no file`,
    { skip: process.platform !== 'linux' },
    async (t) => {
      const at = place(t);
      plant(at.root, { a: randomBytes(100_000) });
      const createFile = async (path: string) => {
        writeFileSync(path, '');
        return open('/dev/full', 'w');
      };
      const error = await fails(pack(at, format, { createFile }), 'diskFull');
      assert.equal(error.data.subject, at.to);
      assert.ok(!existsSync(at.to));
    },
  );

  test(
    `F26 a ${format} is for this user alone, and never replaces a file`,
    { skip: process.platform === 'win32' },
    async (t) => {
      const at = place(t);
      plant(at.root, { a: 'a' });
      await pack(at, format);
      assert.equal(statSync(at.to).mode & 0o777, 0o600);
      const before = readFileSync(at.to);
      await fails(pack(at, format), 'storage');
      assert.deepEqual(readFileSync(at.to), before);
    },
  );

  test(`F27 names that would leave the folder are never written into a ${format}`, async (t) => {
    const at = place(t);
    plant(at.home, { secret: 'secret' });
    plant(at.root, { a: 'a' });
    const bad = [
      '../home/secret',
      '/etc/hostname',
      'a/../../home/secret',
      './a',
      'x//a',
      'C:/a',
      'C:\\a',
      '\\a',
      '..\\a',
      'a\0b',
      '\ud800',
    ];
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

  test(`F29 cancelling a ${format} stops it within 500 ms and leaves no file`, async (t) => {
    const at = place(t);
    plant(at.root, { f: randomBytes(3 << 20), large: Buffer.alloc(8 << 20, randomBytes(3 << 20)) });
    for (let index = 0; index < 60; index++) {
      for (const name of ['f', 'large']) linkSync(join(at.root, name), join(at.root, `${name}${index}`));
    }
    const controller = new AbortController();
    let cancelled = 0;
    const onBytes = (): void => {
      if (controller.signal.aborted) return;
      cancelled = performance.now();
      controller.abort();
    };
    await assert.rejects(pack(at, format, { signal: controller.signal, onBytes, workers: 2 }), {
      name: 'AbortError',
    });
    assert.ok(performance.now() - cancelled < 500);
    assert.deepEqual(readdirSync(at.home), []);
    await assert.rejects(pack(at, format, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  });

  test(`a ${format} that would be too large ends early and leaves no file`, async (t) => {
    const at = place(t);
    plant(at.root, { a: randomBytes(100_000), b: randomBytes(100_000) });
    const error = await fails(pack(at, format, { maxBytes: 150_000 }), 'archiveTooLarge');
    assert.equal(error.data.limit, 150_000);
    assert.ok((error.data.actual ?? 0) > 150_000);
    assert.ok(!existsSync(at.to));
    const exact = (await pack(at, format)).bytes;
    rmSync(at.to);
    assert.equal((await pack(at, format, { maxBytes: exact })).bytes, exact);
    rmSync(at.to);
    await fails(pack(at, format, { maxBytes: exact - 1 }), 'archiveTooLarge');
  });

  test(`F31 without a file to send there is no ${format}`, async (t) => {
    const at = place(t);
    await fails(pack(at, format), 'nothingToSend');
    const files: SelectedFile[] = [{ path: 'gone', bytes: 1, mode: 0o644 }];
    await fails(
      writeArchive({ root: at.root, files, format, to: at.to, maxBytes: 1e9, workerFile }),
      'nothingToSend',
    );
    assert.ok(!existsSync(at.to));
  });

  test(`progress of a ${format} counts to the whole`, async (t) => {
    const at = place(t);
    for (let index = 0; index < 300; index++) plant(at.root, { [`f${index}`]: 'x'.repeat(index) });
    const seen: [number, number][] = [];
    await pack(at, format, { onBytes: (done, total) => seen.push([done, total]) });
    const total = (300 * 299) / 2;
    assert.deepEqual(seen.at(-1), [total, total]);
    assert.ok(seen.length > 2 && seen.every(([done], index) => done >= (seen[index - 1]?.[0] ?? 0)));
  });
}

test('a packing worker that cannot start ends in an error and leaves no file', async (t) => {
  const at = place(t);
  plant(at.root, { a: 'a' });
  await assert.rejects(pack(at, 'zip', { workerFile: join(at.home, 'no-worker.js') }));
  assert.ok(!existsSync(at.to));
});

test('tar lists and unpacks the archive', async (t) => {
  const at = place(t);
  plantDifficult(at.root);
  const { entries } = await pack(at, 'tar_gz');
  const listed = oracle(t, 'tar', ['-tzf', at.to, '--quoting-style=literal', '--show-transformed-names']);
  if (listed === undefined) return;
  assert.equal(listed, Array.from(entries, ({ path }) => `${path}\n`).join(''));
  const out = join(at.home, 'out');
  mkdirSync(out);
  oracle(t, 'tar', ['-xzf', at.to, '-C', out]);
  for (const { path, sha256: expected } of entries) {
    assert.equal(sha256(readFileSync(join(out, path))), expected);
  }
  assert.equal(statSync(join(out, 'bin/run')).mode & 0o777, 0o755);
  assert.equal(statSync(join(out, 'empty')).mode & 0o777, 0o644);
});

test('gzip finds the tar.gz whole', async (t) => {
  const at = place(t);
  plantDifficult(at.root);
  await pack(at, 'tar_gz');
  oracle(t, 'gzip', ['-t', '--suffix', 'archive', at.to]);
});

test('unzip finds the zip whole', async (t) => {
  const at = place(t);
  plantDifficult(at.root);
  await pack(at, 'zip');
  oracle(t, 'unzip', ['-tqq', at.to]);
});

for (const format of formats) {
  test(`7z finds the ${format} whole`, async (t) => {
    const at = place(t);
    plantDifficult(at.root);
    await pack(at, format);
    oracle(t, '7z', ['t', ...(format === 'zip' ? ['-tzip'] : ['-tgzip']), at.to]);
  });
}

test('Python reads zip and tar.gz, names and all', async (t) => {
  const at = place(t);
  plantDifficult(at.root);
  const names = Array.from((await pack(at, 'zip')).entries, ({ path }) => path);
  await pack(at, 'tar_gz', { to: `${at.to}.tgz` });
  const script = `
import json, sys, tarfile, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
t = tarfile.open(sys.argv[2])
print(json.dumps([z.namelist(), t.getnames(), [len(t.extractfile(m).read()) for m in t] == [i.file_size for i in z.infolist()]]))`;
  const printed = oracle(t, 'python3', ['-', at.to, `${at.to}.tgz`], script);
  if (printed !== undefined) assert.deepEqual(JSON.parse(printed), [names, names, true]);
});

test('F28 a zip of more than 65,535 entries is read whole', async (t) => {
  const at = place(t);
  const output = await open(at.to, 'wx');
  // The same few entries again and again: what counts is the directory.
  const names = Array.from({ length: 400 }, (_, index) => `f${index}`);
  const files = names.map((path) => ({ path }));
  const writer = archiveWriter(output, { format: 'zip', maxBytes: 1e9, files });
  await writer.start();
  const builder = zipSegments();
  for (const path of names) builder.add({ path, mode: 0o644 }, Buffer.from(path));
  const segment = builder.take();
  assert.ok(segment !== undefined);
  const entries = toRecords(
    names.map((path, index) => ({ index, bytes: path.length, sha256: Buffer.alloc(32) })),
  );
  for (let task = 0; task < 164; task++) {
    const central = new Uint8Array(segment.central);
    await writer.take({ kind: 'segment', task, entries, ...segment, central });
  }
  await writer.end();
  await output.close();
  const read = await readZip(at.to, (path) => path === 'f399');
  assert.equal(read.length, 65_600);
  assert.deepEqual(read.at(-1), { path: 'f399', mode: 0o644, bytes: 4, sha256: sha256('f399') });
  const printed = oracle(t, 'unzip', ['-Z1', at.to]);
  if (printed !== undefined) assert.equal(printed.trim().split('\n').length, 65_600);
});

test('F28 entries past 4 GiB are found', async (t) => {
  const at = place(t);
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
  const directory = placeCentral(Buffer.concat(central), offsets, start);
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
    `F28 a file of more than 4 GiB goes into a ${format}`,
    { skip: long ? false : 'takes a minute: npm run fuzz runs it' },
    async (t) => {
      const at = place(t);
      plant(at.root, { a: 'a', b: '', z: 'z' });
      truncateSync(join(at.root, 'b'), 4.25 * 2 ** 30);
      const { entries } = await pack(at, format);
      assert.deepEqual(Array.from(entries, ({ path, bytes }) => [path, bytes]), [['a', 1], ['b', 4.25 * 2 ** 30], ['z', 1]]); // prettier-ignore
      if (format === 'zip') oracle(t, 'unzip', ['-tqq', at.to]);
      else oracle(t, 'tar', ['-tzf', at.to]);
    },
  );
}
