import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';

/** Packs files as zip with archiver, as its manual shows. */
export async function packWithArchiver(root: string, paths: readonly string[], to: string): Promise<void> {
  const archive = new ZipArchive({ zlib: { level: 6 } });
  for (const path of paths) archive.file(join(root, path), { name: path });
  await Promise.all([pipeline(archive, createWriteStream(to)), archive.finalize()]);
}
