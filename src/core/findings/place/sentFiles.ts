import { hash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, open, read, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { readIfThere } from '../../files.ts';
import { isSamePath, pathInside, realPath } from '../../paths.ts';
import type { Run } from '../../run/state/run.ts';
import { misplaced } from '../../upload/sourceFile.ts';
import type { Place } from '../finding.ts';
import type { Decode, DecodedText } from './encodings.ts';
import type { Resolver } from './resolver.ts';

/** The text of a larger file is neither kept nor read. */
export const maxTextBytes = 5 * 1024 * 1024;

export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** By target, then by path; undefined where it is not known what was sent. */
export type SentOfRun = readonly (ReadonlyMap<string, SentFile> | undefined)[];

export interface RunSource {
  readonly run: Run;
  readonly runFolder: string;
  readonly sent: SentOfRun;
  readonly resolver: Resolver;
}

/** A sent file of a run. */
export interface SentSpot {
  /** A position. */
  readonly target: number;
  /** As the target names it. */
  readonly folder: string;
  readonly file: SentFile;
  /** True if no other file of the target had these bytes: then it can be recognized under another path. */
  readonly isOnlyCopy?: boolean | undefined;
}

export async function sentFileOf(
  { run: { targets }, sent, resolver }: Pick<RunSource, 'run' | 'sent' | 'resolver'>,
  place: Place,
): Promise<SentSpot | undefined> {
  const found = await resolver.sentFile(place);
  if (found.kind === 'none') return undefined;
  const file = sent[found.target]?.get(found.path);
  const folder = targets[found.target]?.folder ?? '';
  return file && { target: found.target, folder, file };
}

/** The file that was sent of a folder: undefined when it was not sent, `unknown` where that is not known. */
export function sentIn(
  { run: { targets }, sent }: Pick<RunSource, 'run' | 'sent'>,
  folder: string,
  path: string,
): SentSpot | undefined | 'unknown' {
  const target = targets.findIndex((each) => isSamePath(each.folder, folder));
  const files = sent[target];
  if (files === undefined) return 'unknown';
  const file = files.get(path);
  return file && { target, folder, file };
}

/** By path relative to the folder; undefined when it is not known what was sent, as for a run that was started elsewhere. */
export async function readSentFiles(
  runFolder: string,
  target: number,
): Promise<ReadonlyMap<string, SentFile> | undefined> {
  const text = await readIfThere(manifestOf(runFolder, target));
  if (text === undefined) return undefined;
  const entries = entriesIn(text);
  await setImmediate(); // parsing and indexing both take long
  return entries && new Map(entries.map((entry) => [entry.path, entry]));
}

const manifestSchema = z.object({
  entries: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

/** Undefined for a damaged manifest: it is not known what was sent. */
function entriesIn(text: string): readonly SentFile[] | undefined {
  try {
    return manifestSchema.safeParse(JSON.parse(text)).data?.entries;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function readSent({ targets }: Pick<Run, 'targets'>, runFolder: string): Promise<SentOfRun> {
  return Promise.all(targets.map((_, target) => readSentFiles(runFolder, target)));
}

/** For each target, whether it is known what was sent. */
export function knowsSent({ targets }: Pick<Run, 'targets'>, runFolder: string): readonly boolean[] {
  return targets.map((_, target) => existsSync(manifestOf(runFolder, target)));
}

function manifestOf(runFolder: string, target: number): string {
  return join(runFolder, `manifest-${String(target)}.json`);
}

/** Where the text of a sent file is kept. The name is a hash, so that no path leads out of the run's folder. */
export function sourceFile(runFolder: string, target: number, path: string): string {
  const name = hash('sha256', `${String(target)}\0${path}`, 'hex').slice(0, 40);
  return join(runFolder, 'source', name);
}

/**
 * A file's content exactly as it was sent: from the kept texts, from the disk, or from `committed`, also with other line ends. Undefined where none of
 * these is what was sent. `target` is the position of its folder in the run.
 */
export async function readAsSent(
  sent: SentFile,
  { runFolder, folder, target }: { runFolder: string; folder: string; target: number },
  committed: () => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  const kept = await readText(sourceFile(runFolder, target, sent.path));
  if (kept !== undefined && isSent(kept, sent)) return kept;
  const onDisk = await readTextBelow(folder, sent.path);
  if (onDisk !== undefined && isSent(onDisk, sent)) return onDisk;
  const content = await committed();
  return content && lineEndsOf(content).find((each) => isSent(each, sent));
}

/** The content, and with the line ends that git may check out. */
function lineEndsOf(content: Buffer): readonly Buffer[] {
  const text = content.toString('latin1').replaceAll('\r\n', '\n');
  return [content, Buffer.from(text, 'latin1'), Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')];
}

const [openFd, readPart] = [promisify(open), promisify(read)];

/**
 * Undefined unless it is a readable regular file of at most `maxTextBytes`. Findings point at thousands of files, and the handles of `fs/promises` would
 * take three times as long.
 */
export async function readText(file: string): Promise<Buffer | undefined> {
  return readFd(file, constants.O_RDONLY | constants.O_NONBLOCK, () => true);
}

/**
 * `readText` of a file as an upload reads it: a link, and what lies below a linked folder, is not read. `folder` is absolute, `path` has `/`. A file of
 * another size than `bytes` is not read.
 */
export async function readTextBelow(
  folder: string,
  path: string,
  bytes?: number,
): Promise<Buffer | undefined> {
  const root = await realPath(folder).catch(() => undefined);
  if (root === undefined) return undefined;
  const file = join(root, ...path.split('/'));
  if (pathInside(root, file) === undefined) return undefined;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  return readFd(
    file,
    flags,
    (fd, stat) => (bytes ?? stat.size) === stat.size && misplaced(fd, root, file, stat) === undefined,
  );
}

/** Without O_NONBLOCK a FIFO would wait for a writer. On Windows these flags are undefined, which `|` takes for 0. */
async function readFd(
  file: string,
  flags: number,
  isWanted: (fd: number, stat: Stats) => boolean,
): Promise<Buffer | undefined> {
  try {
    const fd = await openFd(file, flags);
    try {
      const found = fstatSync(fd);
      const isText = found.isFile() && found.size <= maxTextBytes && isWanted(fd, found);
      return isText ? await readWhole(fd, found.size) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // for whatever reason, the text is not known
  }
}

async function readWhole(fd: number, size: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  for (let length = 0; length < size;) {
    const { bytesRead } = await readPart(fd, content, length, size - length, length);
    if (bytesRead === 0) return content.subarray(0, length);
    length += bytesRead;
  }
  return content;
}

export function isSent(content: Buffer, sent: SentFile): boolean {
  return content.length === sent.bytes && hash('sha256', content, 'hex') === sent.sha256;
}

/** Undefined where the text is neither kept nor still on the disk. */
export async function readSentText(
  runFolder: string,
  { target, folder, file }: SentSpot,
  decode: Decode,
): Promise<DecodedText | undefined> {
  const content = await readAsSent(file, { runFolder, folder, target }, () => Promise.resolve(undefined));
  return content && decode(content, join(folder, ...file.path.split('/')));
}
