import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { crc32, inflateSync } from 'node:zlib';
import { durationsOf, toMovingPicture } from '../demo/movingPicture.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): Buffer => readFileSync(path.join(root, file));

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The checksums of the chunks must be right. */
function chunksOf(png: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length;) {
    const end = at + 8 + png.readUInt32BE(at);
    assert.equal(png.readUInt32BE(end), crc32(png.subarray(at + 4, end)));
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

function pixelsOf(chunks: readonly Chunk[], type: string, skipped: number): Buffer {
  const parts = chunks.filter((chunk) => chunk.type === type).map(({ data }) => data.subarray(skipped));
  return inflateSync(Buffer.concat(parts));
}

test('pictures of one size are joined to an animated PNG with the pixels and durations of each', () => {
  const [first, second] = ['signIn', 'close'].map((name) => read(`media/screenshots/${name}-light.png`));
  assert.ok(first && second);
  const joined = toMovingPicture([
    { png: first, ms: 1_000 },
    { png: second, ms: 2_500 },
  ]);
  const chunks = chunksOf(joined);
  const types = chunks.map(({ type }) => type);
  assert.deepEqual(types, ['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'IEND']);
  assert.deepEqual(chunks[0], chunksOf(first)[0]);
  assert.ok(pixelsOf(chunks, 'IDAT', 0).equals(pixelsOf(chunksOf(first), 'IDAT', 0)));
  assert.ok(pixelsOf(chunks, 'fdAT', 4).equals(pixelsOf(chunksOf(second), 'IDAT', 0)));
  const numbered = chunks.filter(({ type }) => type === 'fcTL' || type === 'fdAT');
  assert.deepEqual(
    numbered.map(({ data }) => data.readUInt32BE(0)),
    [0, 1, 2],
  );
  assert.deepEqual(durationsOf(joined), [1_000, 2_500]);
  const icon = { png: read('media/icon.png'), ms: 1 };
  assert.throws(() => toMovingPicture([{ png: first, ms: 1 }, icon]), /differ in size/);
});

test('the moving picture of README takes 12 to 15 seconds and has at most 1.3 MB', () => {
  const [, file = ''] = /^!\[[^\]]+\]\(([^)]+)\)$/m.exec(read('README.md').toString()) ?? [];
  const picture = read(file);
  const seconds = durationsOf(picture).reduce((sum, ms) => sum + ms, 0) / 1000;
  assert.ok(seconds >= 12 && seconds <= 15, String(seconds));
  assert.ok(picture.length <= 1_300_000, String(picture.length));
});
