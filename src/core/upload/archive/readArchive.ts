import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { openPromise } from 'yauzl';
import { AssessmentError, isAbortError, systemCode } from '../../errors.ts';
import type { ArchiveFormat } from './packing.ts';

const block = 512;

interface ArchivedFile {
  readonly path: string;
  readonly content: Buffer;
}

/** Yields the wanted files in the archive's order. Throws `storage` for an unreadable archive. */
export async function* readArchive(
  file: string,
  format: ArchiveFormat,
  wanted: ReadonlySet<string>,
  signal?: AbortSignal,
): AsyncGenerator<ArchivedFile> {
  let missingFiles = wanted.size;
  if (missingFiles === 0) return;
  try {
    const read = format === 'zip' ? readZip : readTarGz;
    for await (const entry of read(file, wanted, signal)) {
      yield entry;
      if (--missingFiles === 0) return;
    }
  } catch (error) {
    if (isAbortError(error) || error instanceof AssessmentError) throw error;
    throw new AssessmentError('storage', { subject: file, detail: systemCode(error) }, { cause: error });
  }
}

async function* readZip(
  file: string,
  wanted: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ArchivedFile> {
  // By default, the library changes `\` in names, and refuses names that begin with a drive (`C:`).
  const zip = await openPromise(file, { autoClose: false, decodeStrings: false });
  try {
    for await (const entry of zip.eachEntry()) {
      signal?.throwIfAborted();
      const path = entry.fileNameRaw.toString('utf8');
      if (!wanted.has(path)) continue;
      yield { path, content: await buffer(await zip.openReadStreamPromise(entry)) };
    }
  } finally {
    zip.close();
  }
}

async function* readTarGz(
  file: string,
  wanted: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ArchivedFile> {
  const source = createReadStream(file, { highWaterMark: 1 << 20 });
  const decompressed = createGunzip();
  source.on('error', (error) => decompressed.destroy(error)).pipe(decompressed);
  const take = takeFrom(decompressed, signal);
  try {
    let pax = new Map<string, string>();
    for (;;) {
      const header = await take(block, true);
      if (header === undefined || header[0] === 0) return;
      const bytes = Number(pax.get('size') ?? parseInt(textAt(header, 124, 12), 8));
      if (!Number.isSafeInteger(bytes) || bytes < 0) throw new AssessmentError('storage', { subject: file });
      const padded = Math.ceil(bytes / block) * block;
      if (header.toString('latin1', 156, 157) === 'x') {
        pax = paxRecords((await take(padded, true))?.subarray(0, bytes) ?? Buffer.alloc(0));
        continue;
      }
      const path = pax.get('path') ?? nameOf(header);
      const content = (await take(padded, wanted.has(path)))?.subarray(0, bytes);
      if (content !== undefined) yield { path, content };
      pax = new Map();
    }
  } finally {
    source.destroy();
    decompressed.destroy();
  }
}

/**
 * The returned function reads or skips bytes. It returns undefined if they are skipped, or if the
 * stream has ended.
 */
function takeFrom(
  stream: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): (bytes: number, keep: boolean) => Promise<Buffer | undefined> {
  const chunks = stream[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);
  return async (bytes, keep) => {
    const kept: Buffer[] = [];
    for (let missing = bytes; ;) {
      const part = buffered.subarray(0, missing);
      buffered = buffered.subarray(part.length);
      missing -= part.length;
      if (keep) kept.push(part);
      if (missing === 0) return keep ? Buffer.concat(kept) : undefined;
      signal?.throwIfAborted();
      const next = await chunks.next();
      if (next.done) return undefined;
      buffered = next.value;
    }
  };
}

function nameOf(header: Buffer): string {
  const prefix = textAt(header, 345, 155);
  const name = textAt(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(header: Buffer, start: number, length: number): string {
  const [text = ''] = header.toString('utf8', start, start + length).split('\0', 1);
  return text;
}

function paxRecords(content: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let start = 0; start < content.length;) {
    const [, digits = '', key = ''] =
      /^(\d+) ([^=]+)=/.exec(content.toString('latin1', start, start + 64)) ?? [];
    const end = start + Number(digits);
    if (digits === '' || end <= start) break;
    records.set(key, content.toString('utf8', start + digits.length + key.length + 2, end - 1));
    start = end;
  }
  return records;
}
