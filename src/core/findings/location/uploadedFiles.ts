import { hash } from 'node:crypto';
import {
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  open,
  openSync,
  read,
  readSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import * as z from 'zod/mini';
import { isNoFile, isThere, makeSubfolder, readIfThere } from '../../files.ts';
import { parseIfJson } from '../../json.ts';
import { isSamePath, misplaced, pathInside, realPath, pathKey } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { isUtf8 } from 'node:buffer';
import { writeFile } from 'node:fs/promises';
import { readArchive } from '../../upload/archive/readArchive.ts';

/** The text of a larger file is neither kept nor read. */
export const maxTextBytes = 5 * 1024 * 1024;

export interface UploadedFile {
  readonly target: number;
  readonly folder: string;
  /** The path is relative to `folder`, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** No other file of the target has these bytes. */
  readonly isOnlyCopy?: boolean | undefined;
}

/** Each target has its files by path, or undefined if the upload is unknown. */
export type UploadedFiles = readonly (ReadonlyMap<string, UploadedFile> | undefined)[];

export function uploadedIn(
  { run: { targets }, uploaded }: { readonly run: Pick<Run, 'targets'>; readonly uploaded: UploadedFiles },
  folder: string,
  path: string,
): UploadedFile | undefined | 'unknown' {
  const files = uploaded[targets.findIndex((each) => isSamePath(each.folder, folder))];
  return files === undefined ? 'unknown' : files.get(path);
}

function manifestIn(runFolder: string, target: number): string {
  return join(runFolder, `manifest-${String(target)}.json`);
}

/** A run that was started elsewhere has no manifest. An imported one may have none. */
export function isUploadKnown(runFolder: string): Promise<boolean> {
  return isThere(manifestIn(runFolder, 0));
}

export async function readUploadedFiles(
  { target, folder }: Pick<UploadedFile, 'target' | 'folder'>,
  runFolder: string,
): Promise<ReadonlyMap<string, UploadedFile> | undefined> {
  const text = await readIfThere(manifestIn(runFolder, target));
  if (text === undefined) return undefined;
  const entries = manifestSchema.safeParse(parseIfJson(text)).data?.entries;
  // Parsing and indexing both take a long time, so other work gets a turn.
  await setImmediate();
  return entries && new Map(entries.map((entry) => [entry.path, { target, folder, ...entry }]));
}

const manifestSchema = z.object({
  entries: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

export async function readUploaded(run: Pick<Run, 'targets'>, runFolder: string): Promise<UploadedFiles> {
  return Promise.all(
    run.targets.map(({ folder }, target) => readUploadedFiles({ target, folder }, runFolder)),
  );
}

/** With a hash as the name, no path leads out of the run's folder. */
export function keptPath({ target, path }: Pick<UploadedFile, 'target' | 'path'>): string {
  return `source/${hash('sha256', `${String(target)}\0${path}`, 'hex').slice(0, 40)}`;
}

export async function readAsUploaded(runFolder: string, uploaded: UploadedFile): Promise<Buffer | undefined> {
  return (await readKept(runFolder, uploaded)) ?? (await readUnchanged(uploaded));
}

/** Tries other line ends, too: they may differ between the uploaded file and the commit. */
export function asUploadedIn(committed: Buffer, uploaded: UploadedFile): Buffer | undefined {
  const text = committed.toString('latin1').replaceAll('\r\n', '\n');
  const others = [text, text.replaceAll('\n', '\r\n')].map((each) => Buffer.from(each, 'latin1'));
  return [committed, ...others].find((each) => isUploaded(each, uploaded));
}

export const textReaders = {
  // Findings may point at thousands of files, and the file handles of `fs/promises` are slower.
  host: {
    open: promisify(open),
    stat: promisify<number, Stats>(fstat),
    read: promisify(read),
    close: promisify(close),
  },
  // In a worker, these calls don't use the four threads that the process has for files.
  worker: {
    open: openSync,
    stat: (fd: number) => fstatSync(fd),
    read: (fd: number, to: Buffer, offset: number, length: number, position: number) => ({
      bytesRead: readSync(fd, to, offset, length, position),
    }),
    close: closeSync,
  },
};

export type TextReader = (typeof textReaders)[keyof typeof textReaders];

/**
 * Reads a file as an upload does, without following links below `folder`, which is absolute. `path`
 * has `/`. Returns undefined unless there is a regular file of exactly `bytes` (if given) and at
 * most `maxTextBytes`.
 */
export async function readTextBelow(
  folder: string,
  path: string,
  bytes?: number,
  reader: TextReader = isMainThread ? textReaders.host : textReaders.worker,
): Promise<Buffer | undefined> {
  try {
    const root = await realPath(folder);
    const file = join(root, path);
    if (pathInside(root, file) === undefined) return undefined;
    // Without O_NONBLOCK, opening a FIFO waits for a writer. On Windows, O_NONBLOCK and O_NOFOLLOW
    // are undefined, which counts as 0.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    const fd = await reader.open(file, flags);
    try {
      const stat = await reader.stat(fd);
      const isText = stat.isFile() && stat.size <= maxTextBytes && (bytes ?? stat.size) === stat.size;
      return isText && misplaced(fd, root, file, stat) === undefined
        ? await readWhole(fd, stat.size, reader)
        : undefined;
    } finally {
      await reader.close(fd);
    }
  } catch (error) {
    if (isNoFile(error)) return undefined;
    throw error;
  }
}

/** Reads at most `size` bytes: the file may grow. */
async function readWhole(fd: number, size: number, reader: TextReader): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  for (let length = 0; length < size;) {
    const { bytesRead } = await reader.read(fd, content, length, size - length, length);
    if (bytesRead === 0) return content.subarray(0, length);
    length += bytesRead;
  }
  return content;
}

export function readKept(runFolder: string, uploaded: UploadedFile): Promise<Buffer | undefined> {
  return readUnchanged({ ...uploaded, folder: runFolder, path: keptPath(uploaded) });
}

export async function readUnchanged(uploaded: UploadedFile): Promise<Buffer | undefined> {
  const content = await readTextBelow(uploaded.folder, uploaded.path, uploaded.bytes);
  return content && isUploaded(content, uploaded) ? content : undefined;
}

function isUploaded(content: Buffer, { bytes, sha256 }: UploadedFile): boolean {
  return content.length === bytes && hash('sha256', content, 'hex') === sha256;
}

export async function readUploadedText(
  runFolder: string,
  uploaded: UploadedFile,
  decode: Decode,
): Promise<DecodedText | undefined> {
  const content = await readAsUploaded(runFolder, uploaded);
  return content && decode(content, join(uploaded.folder, uploaded.path));
}

/** The encodings have VS Code's names. */
export interface Encodings {
  /** The keys are `pathKey`s of open documents. */
  readonly documents: ReadonlyMap<string, string>;
  /** The keys are absolute folders. The values come from the settings. */
  readonly folders: ReadonlyMap<string, string>;
}

export interface DecodedText {
  readonly text: string;
  /** False means that characters may be wrong. */
  readonly isExact: boolean;
}

export type Decode = (content: Buffer, file: string) => DecodedText;

export function createDecode({ documents, folders }: Encodings): Decode {
  return (content, file) => {
    const around = [...folders].filter(([folder]) => pathInside(folder, file) !== undefined);
    const inSettings = around.sort(([one], [other]) => other.length - one.length)[0]?.[1];
    return decodeText(content, documents.get(pathKey(file)) ?? inSettings);
  };
}

export const utf8Only: Encodings = { documents: new Map(), folders: new Map() };

/** Falls back to Latin-1 if the encoding is unknown or, except for UTF-16, doesn't fit. */
export function decodeText(content: Buffer, encoding = 'utf8'): DecodedText {
  // NUL is valid UTF-8, but UTF-16 without a byte order mark is full of it.
  if (isUtf8(content) && !content.includes(0)) return { text: content.toString('utf8'), isExact: true };
  const named = labels[encoding] ?? encoding.replace(/^windows(?=\d+$)/, 'windows-');
  const start = content.toString('hex', 0, 2);
  const label = start === 'feff' ? 'utf-16be' : start === 'fffe' ? 'utf-16le' : named;
  try {
    // Errors in UTF-16 are tolerated, since decoding it as Latin-1 would change its lines.
    const text = new TextDecoder(label, { fatal: !label.startsWith('utf-16') }).decode(content);
    return { text, isExact: !/[\uFFFD\0]/.test(text) };
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    return { text: content.toString('latin1'), isExact: false };
  }
}

/** VS Code and the Encoding Standard name these encodings differently. */
const labels: Readonly<Record<string, string>> = {
  utf16le: 'utf-16le',
  utf16be: 'utf-16be',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  iso885916: 'iso-8859-16',
  cp950: 'big5',
  big5hkscs: 'big5-hkscs',
};

const maxTotalBytes = 128 * 1024 * 1024;

/**
 * Keeps the uploaded text of files with findings, to follow the findings through later edits. Reads
 * it from unchanged files, else from the archive.
 */
export async function keepSource(
  { targets }: Run,
  runFolder: string,
  uploaded: Iterable<UploadedFile | undefined>,
): Promise<void> {
  const wanted = new Map<string, UploadedFile>();
  for (const file of uploaded)
    if (file !== undefined && file.bytes <= maxTextBytes) wanted.set(keptPath(file), file);
  // A run that was removed meanwhile must not come back.
  if (!(await makeSubfolder(join(runFolder, 'source')))) return;
  let bytesLeft = maxTotalBytes;
  const keep = async (to: string, content: Buffer, isKept = false): Promise<void> => {
    wanted.delete(to);
    bytesLeft -= content.length;
    if (!isKept && bytesLeft >= 0) await writeFile(join(runFolder, to), content, { mode: 0o600 });
  };
  const unread = new Map<string, unknown>();
  for (const [to, file] of [...wanted]) {
    const kept = await readKept(runFolder, file);
    // A file that can't be read in the folder may be in the archive.
    const content = kept ?? (await readUnchanged(file).catch((error: unknown) => void unread.set(to, error)));
    if (content !== undefined) await keep(to, content, kept !== undefined);
  }
  for (const [target, { archive }] of targets.entries()) {
    const paths = new Set([...wanted.values()].flatMap((file) => (file.target === target ? file.path : [])));
    if (archive === undefined || paths.size === 0) continue;
    for await (const { path, content } of readArchive(join(runFolder, archive.file), archive.type, paths)) {
      const to = keptPath({ target, path });
      const file = wanted.get(to);
      if (file !== undefined && isUploaded(content, file)) await keep(to, content);
    }
  }
  for (const [to, error] of unread) if (wanted.has(to)) throw error;
}
