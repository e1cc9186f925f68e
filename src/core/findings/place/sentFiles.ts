import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, open, read } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ScanProgress } from '../../features/scanProgress.ts';
import { markOf, readIfThere } from '../../files.ts';
import type { Run, Target } from '../../run/state/run.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import type { Place } from '../finding.ts';
import { readFindings, type ReadFindingsOptions } from '../parse/readFindings.ts';
import { createResolver, type Resolver } from './resolver.ts';

/** Past this size a file's text is neither kept nor read to check a finding's lines. */
export const maxTextBytes = 5 * 1024 * 1024;

/** A file as it was sent. */
export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What was sent of each target of a run, by path; undefined where that is not known. */
export type SentOfRun = readonly (ReadonlyMap<string, SentFile> | undefined)[];

/** A run's folder, and how its paths are resolved among what was sent. */
export interface RunSource {
  readonly run: Run;
  readonly runFolder: string;
  readonly sent: SentOfRun;
  readonly resolver: Resolver;
  /** Which pairs a blackbox run tested. */
  readonly progress?: ScanProgress | undefined;
}

/** A sent file and the position of the target that it is of. */
export interface SentSpot {
  readonly target: number;
  readonly file: SentFile;
}

/** The sent file that a place is in, if it is known. */
export async function sentFileOf(
  { sent, resolver }: Pick<RunSource, 'sent' | 'resolver'>,
  place: Place,
): Promise<SentSpot | undefined> {
  const found = await resolver.sentFile(place);
  const file = found.kind === 'file' ? sent[found.target]?.get(found.path) : undefined;
  return found.kind === 'file' && file !== undefined ? { target: found.target, file } : undefined;
}

/** A file of a folder as a run was given it: undefined when it was not, `unknown` where nobody knows what was sent. */
export function sentIn(
  { run: { targets }, sent }: Pick<RunSource, 'run' | 'sent'>,
  folder: string | undefined,
  path: string,
): SentSpot | undefined | 'unknown' {
  const target = targets.findIndex((each) => each.folder === folder);
  const files = sent[target];
  if (files === undefined) return 'unknown';
  const file = files.get(path);
  return file && { target, file };
}

/** What was sent of a folder, by path relative to it; undefined when that is not known, as of a run that was started elsewhere. */
export async function readSentFiles(
  runFolder: string,
  target: number,
): Promise<ReadonlyMap<string, SentFile> | undefined> {
  const text = await readIfThere(join(runFolder, `manifest-${String(target)}.json`));
  if (text === undefined) return undefined;
  const { entries } = JSON.parse(text) as { entries: readonly SentFile[] };
  await setImmediate(); // both take long
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** What was sent of each target of a run. */
export async function readSent({ targets }: Pick<Run, 'targets'>, runFolder: string): Promise<SentOfRun> {
  return Promise.all(targets.map((_, target) => readSentFiles(runFolder, target)));
}

/** Where the text of a sent file is kept in the run's folder: a name that no path can lead out of. */
export function sourceFile(runFolder: string, target: number, path: string): string {
  const name = hash('sha256', `${String(target)}\0${path}`, 'hex').slice(0, 40);
  return join(runFolder, 'source', name);
}

/** The files that were sent, by the places that mean them, without a look at what is here. `places` are all of the run: together they tell what its paths start with. */
export async function locateSent(
  { targets }: Pick<Run, 'targets'>,
  sent: SentOfRun,
  places: readonly Place[],
): Promise<Map<Place, SentSpot>> {
  const resolver = createResolver({ targets, sent, places });
  const located = new Map<Place, SentSpot>();
  for (const place of places) {
    const spot = await sentFileOf({ sent, resolver }, place);
    if (spot !== undefined) located.set(place, spot);
  }
  return located;
}

/**
 * A file's content exactly as it was sent: as it was kept, as it still is here, or as `committed` has it, there also with other line ends;
 * undefined where none of these is what was sent. `target` is the position of its folder in the run.
 */
export async function readAsSent(
  sent: SentFile,
  { runFolder, folder, target }: { runFolder: string; folder: string; target: number },
  committed: () => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  for (const file of [sourceFile(runFolder, target, sent.path), join(folder, ...sent.path.split('/'))]) {
    const content = await readText(file);
    if (content !== undefined && isSent(content, sent)) return content;
  }
  const content = await committed();
  return content && lineEndsOf(content).find((each) => isSent(each, sent));
}

/** A content as it is, and as git checks it out elsewhere. */
function lineEndsOf(content: Buffer): readonly Buffer[] {
  const text = content.toString('latin1').replaceAll('\r\n', '\n');
  return [content, Buffer.from(text, 'latin1'), Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')];
}

const [openFd, readFd] = [promisify(open), promisify(read)];

/**
 * A file's content when it is a regular file of text size; undefined when it is gone, something else, too large or unreadable. Findings point at
 * thousands of files, and the handles of `fs/promises` would cost three times as much; what is asked of an open file is at hand.
 */
export async function readText(file: string): Promise<Buffer | undefined> {
  try {
    // Without O_NONBLOCK a FIFO would wait for a writer. On Windows it is undefined, which `|` takes for 0.
    const fd = await openFd(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(fd);
      return found.isFile() && found.size <= maxTextBytes ? await readWhole(fd, found.size) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // whatever the reason is, its text is not known
  }
}

async function readWhole(fd: number, size: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  for (let length = 0; length < size;) {
    const { bytesRead } = await readFd(fd, content, length, size - length, length);
    if (bytesRead === 0) return content.subarray(0, length);
    length += bytesRead;
  }
  return content;
}

/** True when a content is what was sent. */
export function isSent(content: Buffer, sent: SentFile): boolean {
  return content.length === sent.bytes && hash('sha256', content, 'hex') === sent.sha256;
}

/** Turns the content of a file (absolute path), which is not UTF-8, into text as the editor reads it. */
export type Decode = (content: Uint8Array, file: string) => Promise<string>;

/** A file's text, so that it is the one which an editor shows: in another encoding, lines would seem to be others than they are. */
export async function toText(content: Buffer, file: string, decode: Decode): Promise<string> {
  // A NUL is UTF-8, and yet what UTF-16 without a mark looks like.
  if (isUtf8(content) && !content.includes(0)) return content.toString('utf8');
  try {
    return await decode(content, file);
  } catch {
    return content.toString('utf8'); // the editor shows no text of a binary file
  }
}

/** The text of a sent file, as it was kept or as it still is here; undefined where it is neither. */
export async function readSentText(
  { run, runFolder }: Pick<RunSource, 'run' | 'runFolder'>,
  { target, file }: SentSpot,
  decode: Decode,
): Promise<string | undefined> {
  const folder = run.targets[target]?.folder ?? '';
  const content = await readAsSent(file, { runFolder, folder, target }, () => Promise.resolve(undefined));
  return content && toText(content, join(folder, ...file.path.split('/')), decode);
}

const maxTotalBytes = 128 * 1024 * 1024;

/**
 * Keeps the text, as it was sent, of the files that a run's findings point at, in `source/` of its folder: from the disk where it still is the
 * same, else from the run's archive. So findings can be followed through later edits.
 */
export async function keepSource(
  run: Run,
  runFolder: string,
  options: Omit<ReadFindingsOptions, 'runId'>,
): Promise<void> {
  if ((await markOf(join(runFolder, 'findings.json'))) === undefined) return;
  const { signal } = options;
  const { findings } = await readFindings(runFolder, { ...options, runId: run.id });
  const wanted = run.targets.map(() => new Map<string, SentFile>());
  const places = findings.flatMap((finding) => finding.places);
  const located = await locateSent(run, await readSent(run, runFolder), places);
  for (const { target, file } of located.values())
    if (file.bytes <= maxTextBytes) wanted[target]?.set(file.path, file);
  await mkdir(join(runFolder, 'source'), { recursive: true, mode: 0o700 });
  let bytesLeft = maxTotalBytes;
  for (const [index, target] of run.targets.entries()) {
    const files = wanted[index] ?? new Map<string, SentFile>();
    for await (const { path, content } of sentTexts(target, files, runFolder, signal)) {
      bytesLeft -= content.length;
      if (bytesLeft < 0) return;
      await writeFile(sourceFile(runFolder, index, path), content, { mode: 0o600 });
    }
  }
}

async function* sentTexts(
  target: Target,
  files: ReadonlyMap<string, SentFile>,
  runFolder: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ path: string; content: Buffer }> {
  const changed = new Set<string>();
  for (const file of files.values()) {
    signal?.throwIfAborted();
    const content = await readText(join(target.folder, ...file.path.split('/')));
    if (content !== undefined && isSent(content, file)) yield { path: file.path, content };
    else changed.add(file.path);
  }
  if (target.archive === undefined) return;
  const { file, type } = target.archive;
  for await (const entry of readArchive(join(runFolder, file), type, changed, signal)) {
    const sent = files.get(entry.path);
    if (sent !== undefined && isSent(entry.content, sent)) yield entry;
  }
}
