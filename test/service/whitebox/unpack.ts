import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, crc32 } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { openPromise, type Entry as ZipEntry, type ZipFile } from 'yauzl';

export type ArchiveType = 'zip' | 'tar_gz';

/** A file in an archive. `content` is missing if the file is too large to be analyzed. */
export interface ArchiveEntry {
  readonly path: string;
  readonly bytes: number;
  readonly content?: Buffer;
}

/** The archive is damaged, of another type, or holds an entry that must not be unpacked. */
export class InvalidArchive extends Error {}

const MAX_CONTENT_BYTES = 1024 * 1024;
const MAX_UNPACKED_BYTES = 32 * 1024 ** 3;
const MAX_ENTRIES = 2_000_000;
const BLOCK_BYTES = 512;
const nameDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads an archive to its end, entry by entry and with bounded memory, without writing files to
 * disk. Throws InvalidArchive for damaged content, for links and devices, for absolute or repeated
 * names and names that lead out of the archive, and beyond the limits below.
 */
export async function* readArchive(
  path: string,
  type: ArchiveType,
  signal: AbortSignal,
): AsyncGenerator<ArchiveEntry> {
  const names = new Set<string>();
  let decompressedBytes = 0;
  const entries = type === 'zip' ? readZip(path) : readTarGz(path);
  try {
    for await (const entry of entries) {
      signal.throwIfAborted();
      if (names.size >= MAX_ENTRIES) throw new InvalidArchive(`more than ${MAX_ENTRIES} entries`);
      if (names.has(entry.path)) throw new InvalidArchive(`repeated entry: ${JSON.stringify(entry.path)}`);
      names.add(entry.path);
      decompressedBytes += entry.bytes;
      if (decompressedBytes > MAX_UNPACKED_BYTES)
        throw new InvalidArchive(`more than ${MAX_UNPACKED_BYTES} bytes unpacked`);
      yield entry;
    }
  } catch (error) {
    if (error instanceof InvalidArchive || signal.aborted) throw error;
    throw new InvalidArchive(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function* readTarGz(path: string): AsyncGenerator<ArchiveEntry> {
  const parser = new Parser({ strict: true, gzip: false, brotli: false });
  const done: ArchiveEntry[] = [];
  const state: { error?: Error; ended: boolean } = { ended: false };
  const fail = (error: Error) => {
    state.error ??= error;
  };
  parser.on('error', fail);
  parser.on('eof', () => {
    state.ended = true;
  });
  parser.on('entry', (entry: ReadEntry) => {
    const problem = nameProblem(entry.path) ?? tarTypeProblem(entry.type);
    if (problem) fail(new InvalidArchive(problem));
    const chunks: Buffer[] = [];
    const keep = entry.size <= MAX_CONTENT_BYTES;
    entry.on('data', (chunk: Buffer) => {
      if (keep) chunks.push(chunk);
    });
    entry.on('end', () => {
      if (entry.type === 'Directory') return;
      done.push({ path: entry.path, bytes: entry.size, ...(keep && { content: Buffer.concat(chunks) }) });
    });
  });

  const source = createReadStream(path);
  const gunzip = createGunzip({ chunkSize: 65_536 });
  const reading = pipeline(source, gunzip).catch(fail);
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      // Only whole blocks are passed on: the parser decodes a long name piece by piece, and a cut
      // inside one would tear a multi-byte character.
      const blocks = Buffer.concat([rest, chunk]);
      const whole = blocks.length - (blocks.length % BLOCK_BYTES);
      rest = blocks.subarray(whole);
      parser.write(blocks.subarray(0, whole));
      if (state.error) throw state.error;
      yield* done.splice(0);
    }
    await reading;
    parser.end(rest);
    if (state.error) throw state.error;
    if (!state.ended) throw new InvalidArchive('the archive has no end marker');
    yield* done.splice(0);
  } finally {
    source.destroy();
    gunzip.destroy();
    await reading;
  }
}

async function* readZip(path: string): AsyncGenerator<ArchiveEntry> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, decodeStrings: false });
  try {
    for await (const entry of zip.eachEntry()) {
      // The name is read as bytes, because the library refuses backslashes and colons. Here, they
      // are ordinary characters of a name.
      const name = nameDecoder.decode(entry.fileNameRaw);
      const problem = nameProblem(name) ?? zipTypeProblem(name, entry);
      if (problem) throw new InvalidArchive(problem);
      if (!name.endsWith('/')) yield await readZipEntry(zip, name, entry);
    }
  } finally {
    zip.close();
  }
}

async function readZipEntry(zip: ZipFile, name: string, entry: ZipEntry): Promise<ArchiveEntry> {
  const chunks: Buffer[] = [];
  const keep = entry.uncompressedSize <= MAX_CONTENT_BYTES;
  let checksum = 0;
  for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
    checksum = crc32(chunk, checksum);
    if (keep) chunks.push(chunk);
  }
  if (checksum !== entry.crc32) throw new InvalidArchive(`wrong checksum: ${JSON.stringify(name)}`);
  return {
    path: name,
    bytes: entry.uncompressedSize,
    ...(keep && { content: Buffer.concat(chunks) }),
  };
}

function nameProblem(name: string): string | undefined {
  const shown = JSON.stringify(name);
  if (/^[\\/]/.test(name) || /^[A-Za-z]:(?:[\\/]|$)/.test(name)) return `absolute name: ${shown}`;
  if (name.split(/[\\/]/).includes('..')) return `name leads out of the archive: ${shown}`;
  // Other spellings would hide a repeated name; the name of a folder ends in a slash.
  const segments = name.replace(/\/$/, '').split('/');
  if (name.includes('\0') || segments.some((segment) => segment === '' || segment === '.'))
    return `unusable name: ${shown}`;
  if (name.includes('\uFFFD')) return `name is not UTF-8: ${shown}`;
  return undefined;
}

function tarTypeProblem(type: string): string | undefined {
  return ['File', 'OldFile', 'ContiguousFile', 'Directory'].includes(type)
    ? undefined
    : `entry of type ${type}`;
}

function zipTypeProblem(name: string, entry: ZipEntry): string | undefined {
  if (entry.isEncrypted()) return 'encrypted entry';
  const unixType = (entry.externalFileAttributes >>> 16) & 0o170_000;
  const plain = unixType === 0 || unixType === 0o100_000 || unixType === 0o040_000;
  return plain ? undefined : `entry that is neither file nor folder: ${JSON.stringify(name)}`;
}
