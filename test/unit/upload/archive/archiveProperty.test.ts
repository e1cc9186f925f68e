import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { ArchiveWriter } from '../../../../src/core/upload/archive/writeArchive.ts';
import { combineCrc32, TarBuilder } from '../../../../src/core/upload/archive/tarGz.ts';
import { packTask } from '../../../../src/core/upload/archive/packing.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { ZipBuilder } from '../../../../src/core/upload/archive/zip.ts';
import { readTar, readZip } from './readArchive.ts';
import { makeLocation, options, plant } from '../trees.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { withOddNames } from '../../core/systemSkips.ts';

const runs = propertyRuns(15, 1_000);

const unit = fc.constantFrom(...Array.from('aZ0 .-:\\*"é日😀\u0001\u007f'), 'e\u0301');
const name = fc
  .oneof(
    { weight: 5, arbitrary: fc.string({ unit, minLength: 1, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.integer({ min: 90, max: 240 }).map((length) => 'n'.repeat(length)) },
  )
  .filter((text) => !/^\.{1,2}$|^\.git$|ignore$|^[a-z]:$|\\/i.test(text) || text === 'a\\Z');
const files = fc.uniqueArray(
  fc.record({
    path: fc.array(name, { minLength: 1, maxLength: 4 }),
    content: fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc
        .record({ byte: fc.nat(255), length: fc.integer({ min: 0, max: 100_000 }) })
        .map(({ byte, length }) => new Uint8Array(length).fill(byte)),
    ),
  }),
  { selector: ({ path }) => path[0], minLength: 1, maxLength: 12 },
);

for (const format of ['tar_gz', 'zip'] as const) {
  test(`unpacking a ${format} gives the selected files, for random trees`, withOddNames, async () => {
    await fc.assert(
      fc.asyncProperty(files, fc.integer({ min: 1, max: 5 }), async (files, perTask) => {
        const tree = makeLocation();
        try {
          for (const { path, content } of files) plant(tree.root, { [path.join('/')]: content });
          const selection = await selectFiles(tree.root, options(tree));
          const to = join(tree.home, 'archive');
          const output = await open(to, 'wx');
          const writer = new ArchiveWriter(output, { format, maxBytes: 1e9, files: selection.files });
          await writer.start();
          for (let id = 0; id * perTask < selection.files.length; id++) {
            const first = id * perTask;
            const task = { id, first, files: selection.files.slice(first, first + perTask) };
            await packTask(
              task,
              selection.root,
              format === 'zip' ? new ZipBuilder() : new TarBuilder(),
              (message) => writer.take(message),
            );
          }
          await writer.end();
          await output.close();
          assert.deepEqual(writer.omitted, []);
          const planted = files.map(({ path, content }) => [
            path.join('/'),
            createHash('sha256').update(content).digest('hex'),
          ]);
          const found = (await (format === 'zip' ? readZip(to) : readTar(to))).map(({ path, sha256 }) => [
            path,
            sha256,
          ]);
          assert.deepEqual(found.sort(), planted.sort());
          assert.equal(selection.excluded.length, 0);
        } finally {
          tree.remove();
        }
      }),
      { numRuns: runs },
    );
  });
}

test('the CRC-32 of a whole is computed from its pieces', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
      assert.equal(
        combineCrc32(crc32(first), crc32(second), second.length),
        crc32(Buffer.concat([first, second])),
      );
    }),
    { numRuns: 500 },
  );
});
