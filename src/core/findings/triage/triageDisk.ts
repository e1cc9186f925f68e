import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, mkdir, open, opendir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { makePrivateFolder, markOf, readRegularFile, writeFileAtomic } from '../../files.ts';
import { pathInside, pathKey, realPath } from '../../paths.ts';
import { inParallel, inSlices } from '../../yieldingWork.ts';
import {
  bookOf,
  formatEntry,
  formatLine,
  parseEntry,
  parseLine,
  type SharedNote,
  type TriageBook,
  type TriageEntry,
} from './book.ts';

export interface TriagePlace {
  /** A line for each decision, the last one about a finding counts. Lines are only added, so windows need no lock. */
  readonly book: string;
  /** Where decisions are shared: this machine's are also written there, one file each, and those of others are found there. */
  readonly shared?: string | undefined;
}

/** The book is in the extension's storage, which all windows use; the shared folder is in the folder itself. */
export function triagePlaceOf(folder: string, storageFolder: string, isShared: boolean): TriagePlace {
  const name = createHash('sha256').update(pathKey(folder)).digest('hex').slice(0, 32);
  const book = join(storageFolder, `${name}.jsonl`);
  return isShared ? { book, shared: join(folder, '.vscode', 'whitebox-triage') } : { book };
}

/** A decision of somebody else that nobody here has answered. It hides nothing. */
export interface Proposal {
  readonly file: string;
  /** Its time is at most that of its first sight. */
  readonly entry: TriageEntry;
  readonly statedAt: number;
}

export interface ReadDecisions {
  readonly place: TriagePlace;
  readonly mark: string;
  readonly book: TriageBook;
  /** Whether they are new depends on the findings that they are about. */
  readonly inbox: readonly Proposal[];
  readonly newNotes: readonly SharedNote[];
  readonly failures: readonly AssessmentError[];
  /** Undefined if the book cannot be read: then nothing may be added to it. */
  readonly lines: ReadonlyMap<string, Line> | undefined;
  /** True if the book ends with a part of a line, after a crash or on a full disk. */
  readonly isTorn: boolean;
  readonly files: ReadonlyMap<string, SharedFile>;
}

type Line = TriageEntry | SharedNote | undefined;

interface SharedFile {
  readonly mark: string;
  readonly bytes: number;
  readonly entry: TriageEntry | undefined;
}

const maxBookBytes = 64 * 1024 * 1024;
/** Of a longer line, only the start is read, which is no decision. */
const maxLineBytes = 1024 * 1024;
/** Ends a line that a crash or a full disk cut off: it is no decision, and no damage. JSON does not end with it. */
const tornMark = '#';
/** Limits for shared folders, which come from a repository. */
const maxFiles = 10_000;
const maxFileBytes = 64 * 1024;
const maxFolderBytes = 16 * 1024 * 1024;
const filesAtOnce = 32;

/** Returns `known` if nothing changed. What cannot be read is in `failures`. `now` is in wall-clock milliseconds. */
export async function readDecisions(
  folder: string,
  place: TriagePlace,
  known: ReadDecisions | undefined,
  now: number,
): Promise<ReadDecisions> {
  const former = known?.place.book === place.book ? known : undefined;
  const [bookMark, { files, failure: sharedFailure }] = await Promise.all([
    markOf(place.book).catch((error: unknown) => String(error)),
    readShared(folder, place.shared, former?.files),
  ]);
  const marks = [...files].map(([name, file]) => `${name} ${file.mark}`);
  const mark = JSON.stringify([bookMark, place.shared, sharedFailure?.message, ...marks]);
  if (former?.mark === mark) return former;
  const { lines, isTorn, failure } = await readLines(place.book, former?.lines);
  const values = [...(lines?.values() ?? [])].filter((line) => line !== undefined);
  const book = await inSlices(bookOf(values.filter((line) => 'name' in line)));
  const notes = new Map(values.flatMap((line) => ('name' in line ? [] : [[line.noted, line] as const])));
  const { inbox, newNotes } = sortShared(files, book, notes, now);
  const failures = [failure, sharedFailure].filter((each) => each !== undefined);
  return { place, mark, book, inbox, newNotes, failures, lines, isTorn, files };
}

function sortShared(
  files: ReadDecisions['files'],
  book: TriageBook,
  notes: ReadonlyMap<string, SharedNote>,
  now: number,
): Pick<ReadDecisions, 'inbox' | 'newNotes'> {
  const own = new Map([...book.entries.values()].map(({ sharedAs, at }) => [sharedAs, at]));
  const inbox: Proposal[] = [];
  const newNotes: SharedNote[] = [];
  for (const [noted, { entry }] of files) {
    if (entry === undefined) continue;
    const statedAt = entry.at;
    const note = notes.get(noted);
    if ((note?.isAnswered === true && statedAt <= note.at) || own.get(noted) === statedAt) continue;
    const seenAt = note?.at === statedAt ? note.seenAt : now;
    if (statedAt > now && note?.at !== statedAt)
      newNotes.push({ noted, at: statedAt, seenAt, isAnswered: false });
    inbox.push({ file: noted, entry: { ...entry, at: Math.min(statedAt, seenAt) }, statedAt });
  }
  return { inbox, newNotes };
}

async function readLines(
  path: string,
  former: ReadDecisions['lines'],
): Promise<Pick<ReadDecisions, 'lines' | 'isTorn'> & { readonly failure?: AssessmentError }> {
  const unread = { lines: undefined, isTorn: false };
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > maxBookBytes) return { ...unread, failure: damaged(path) };
    const read = await inSlices(parseLines(await readFile(path), former));
    const isWhole = [...read.lines.values()].every((line) => line !== undefined);
    return isWhole ? read : { ...read, failure: damaged(path) };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { lines: new Map(), isTorn: false };
    return { ...unread, failure: toStorageError(error, path) };
  }
}

/** Each different line is parsed once. */
function* parseLines(
  content: Buffer,
  former: ReadDecisions['lines'],
): Generator<undefined, { readonly lines: ReadonlyMap<string, Line>; readonly isTorn: boolean }> {
  const lines = new Map<string, Line>();
  let isTorn = false;
  let end: number;
  for (let start = 0; start < content.length; start = end + 1) {
    yield;
    const lineFeed = content.indexOf('\n', start);
    end = lineFeed < 0 ? content.length : lineFeed;
    if (end === start || content[end - 1] === tornMark.charCodeAt(0)) continue;
    const line = content.toString('utf8', start, Math.min(end, start + maxLineBytes));
    const known = lines.has(line) ? lines : former;
    const value = known?.has(line) === true ? known.get(line) : parseLine(line);
    // Another window may be writing the last line.
    isTorn = value === undefined && lineFeed < 0;
    if (isTorn) continue;
    // One that comes again, such as a decision that was undone, counts from then on.
    lines.delete(line);
    lines.set(line, value);
  }
  return { lines, isTorn };
}

/** Throws `triageDamaged` if the book cannot be read; `storage`. All lines are on disk when it resolves. */
export async function addToBook(
  { place: { book }, lines, isTorn, failures }: ReadDecisions,
  added: readonly (TriageEntry | SharedNote)[],
): Promise<void> {
  if (lines === undefined) throw failures[0] ?? damaged(book);
  if (added.length === 0) return;
  // The line before may also be torn since it was read.
  const content = Buffer.from(`${isTorn ? tornMark : ''}\n${added.map(formatLine).join('\n')}\n`);
  try {
    await makePrivateFolder(dirname(book));
    const file = await open(book, 'a', 0o600);
    try {
      // In one piece: another window may add its lines at the same time.
      const { bytesWritten } = await file.write(content);
      await file.sync();
      if (bytesWritten < content.length) throw new AssessmentError('storage', { detail: 'ENOSPC' });
    } finally {
      await file.close();
    }
  } catch (error) {
    throw toStorageError(error, book);
  }
}

/** Writes this machine's decisions to their files in the shared folder, and removes others of its files. Throws `storage`. */
export async function writeShared(
  folder: string,
  { shared }: TriagePlace,
  written: readonly TriageEntry[],
  removed: readonly string[] = [],
): Promise<void> {
  if (shared === undefined || written.length + removed.length === 0) return;
  try {
    for (const each of [dirname(shared), shared]) {
      await mkdir(each, { recursive: true });
      await refuseOutside(folder, each);
    }
    await inParallel(written, filesAtOnce, async (entry) => {
      if (entry.sharedAs !== undefined)
        await writeFileAtomic(join(shared, entry.sharedAs), formatEntry(entry));
    });
    await inParallel(removed, filesAtOnce, (name) => rm(join(shared, name), { force: true }));
  } catch (error) {
    throw toStorageError(error, shared);
  }
}

/** Sorted by name: files are read in any order. */
async function readShared(
  folder: string,
  path: string | undefined,
  former: ReadDecisions['files'] | undefined,
): Promise<Pick<ReadDecisions, 'files'> & { readonly failure?: AssessmentError }> {
  const files = new Map<string, SharedFile>();
  if (path === undefined) return { files };
  try {
    const names = await namesIn(folder, path);
    let bytesLeft = maxFolderBytes;
    await inParallel(names.slice(0, maxFiles), filesAtOnce, async (name) => {
      const file = join(path, name);
      const mark = await markOf(file);
      if (mark === undefined) return; // removed meanwhile
      const known = former?.get(name);
      const sharedFile = known?.mark === mark ? known : { mark, ...readEntry(file, bytesLeft) };
      bytesLeft -= sharedFile.bytes;
      files.set(name, sharedFile);
    });
    const sorted = new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (names.length > maxFiles)
      return {
        files: sorted,
        failure: new AssessmentError('triageDamaged', { subject: path, limit: maxFiles }),
      };
    const [unread] = [...sorted].find(([, { entry }]) => entry === undefined) ?? [];
    return unread === undefined ? { files: sorted } : { files: sorted, failure: damaged(join(path, unread)) };
  } catch (error) {
    return { files, failure: toStorageError(error, path) };
  }
}

async function namesIn(folder: string, path: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    await refuseOutside(folder, path);
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      if (entry.name.endsWith('.json') && (await isRegular(entry, path))) names.push(entry.name);
      if (names.length > maxFiles) break;
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  return names;
}

/** Windows lists every entry of another kind, such as a cloud file, as a link: a look at the entry itself decides. */
async function isRegular(entry: Dirent, folder: string): Promise<boolean> {
  return entry.isSymbolicLink() ? (await lstat(join(folder, entry.name))).isFile() : entry.isFile();
}

function readEntry(file: string, bytesLeft: number): Omit<SharedFile, 'mark'> {
  try {
    const maxBytes = Math.min(maxFileBytes, bytesLeft);
    const content = maxBytes > 0 ? readRegularFile(file, { maxBytes, followLink: false }) : undefined;
    return { bytes: content?.length ?? 0, entry: parseEntry(content?.toString('utf8') ?? '') };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { bytes: 0, entry: undefined }; // too large, or not readable
  }
}

/** Throws `storage` if a link in the folder, which a repository may contain, leads out of it. */
async function refuseOutside(folder: string, path: string): Promise<void> {
  if (pathInside(await realPath(folder), await realPath(path)) === undefined)
    throw new AssessmentError('storage', { detail: 'ELOOP' });
}

function damaged(path: string): AssessmentError {
  return new AssessmentError('triageDamaged', { subject: path });
}

function toStorageError(error: unknown, path: string): AssessmentError {
  if (error instanceof AssessmentError && error.data.subject !== undefined) return error;
  const detail = error instanceof AssessmentError ? error.data.detail : (systemCode(error) ?? String(error));
  return new AssessmentError('storage', { subject: path, detail }, { cause: error });
}
