import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, opendir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { AssessmentError, systemCode } from '../../errors.ts';
import {
  flush,
  isNoFile,
  makePrivateFolder,
  fileStampOf,
  toFileStamp,
  unlessMissing,
  writeFileAtomic,
} from '../../files.ts';
import { pathInside, pathKey, realPath } from '../../paths.ts';
import { type FolderCalls, inParallel, inSlices } from '../../yieldingWork.ts';
import {
  type Answer,
  formatEntry,
  formatLine,
  parseEntry,
  readBook,
  type TriageBook,
  type TriageEntry,
} from './book.ts';

export interface TriagePaths {
  readonly book: string;
  /** This machine's decisions are also written to files in this folder. */
  readonly shared?: string | undefined;
}

export function triagePathsOf(folder: string, storageFolder: string, isShared: boolean): TriagePaths {
  const name = createHash('sha256').update(pathKey(folder)).digest('hex').slice(0, 32);
  const book = join(storageFolder, `${name}.jsonl`);
  return isShared ? { book, shared: join(folder, '.vscode', 'whitebox-triage') } : { book };
}

/** A decision by somebody else has no effect until a user accepts it. */
export interface Proposal {
  readonly path: string;
  readonly entry: TriageEntry;
  /** It is the file's time on this disk, in wall-clock milliseconds, or 0 if unknown. */
  readonly writtenAt: number;
}

export interface ReadDecisions {
  readonly folder: string;
  readonly paths: TriagePaths;
  readonly fileStamp: string;
  /** If the book cannot be read, nothing may be added to it. */
  readonly book: TriageBook | undefined;
  readonly inbox: readonly Proposal[];
  readonly failures: readonly AssessmentError[];
  readonly shared: SharedFiles;
}

interface SharedFiles {
  readonly files: ReadonlyMap<string, SharedFile>;
  /** It is the folder's stamp before the files were read. Without it, they are looked at again. */
  readonly stamp?: string | undefined;
  readonly failure?: AssessmentError | undefined;
}

interface SharedFile extends Omit<Proposal, 'entry'> {
  readonly fileStamp: string;
  readonly entry: TriageEntry | undefined;
}

const maxBookBytes = 64 * 1024 * 1024;
/** Shared folders come from a repository, so they have limits. */
const maxFiles = 10_000;
const maxFileBytes = 64 * 1024;
const maxFolderBytes = 16 * 1024 * 1024;
const filesAtOnce = 32;
const maxReadMs = 30_000;

type Calls = Pick<FolderCalls, 'ask'>;

/**
 * If the folder does not answer in time, the known shared decisions stay. Each shared file is
 * looked at if files were added or removed, or with `looksAtEach`: a file may be edited in place.
 */
export async function readDecisions(
  folder: string,
  paths: TriagePaths,
  calls: Calls,
  known?: ReadDecisions,
  looksAtEach = true,
): Promise<ReadDecisions> {
  const [bookStamp, shared] = await Promise.all([
    fileStampOf(paths.book).catch((error: unknown) => String(error)),
    readShared(folder, paths.shared, calls, known?.shared, looksAtEach),
  ]);
  const { files, stamp, failure: sharedFailure } = shared;
  const fileStamps = [...files].map(([name, file]) => `${name} ${file.fileStamp}`);
  const fileStamp = JSON.stringify([bookStamp, paths.shared, stamp, sharedFailure?.message, ...fileStamps]);
  if (known?.fileStamp === fileStamp) return known;
  const { book, failure } = await readBookFile(paths.book);
  const failures = [failure, sharedFailure].filter((each) => each !== undefined);
  return { folder, paths, fileStamp, book, inbox: inboxOf(files, book), failures, shared };
}

function inboxOf(files: SharedFiles['files'], book: TriageBook | undefined): readonly Proposal[] {
  const own = new Map([...(book?.entries.values() ?? [])].map(({ sharedAs, at }) => [sharedAs, at]));
  return [...files].flatMap(([name, { path, entry, writtenAt }]) =>
    entry === undefined || own.get(name) === entry.at || entry.at <= (book?.answers.get(name) ?? -Infinity)
      ? []
      : [{ path, entry, writtenAt }],
  );
}

async function readBookFile(
  path: string,
): Promise<{ readonly book: TriageBook | undefined; readonly failure?: AssessmentError }> {
  try {
    const found = await unlessMissing(() => stat(path));
    if (found !== undefined && (!found.isFile() || found.size > maxBookBytes)) throw damaged(path);
    const book = await inSlices(readBook(found ? await readFile(path) : Buffer.alloc(0)));
    return book.isDamaged ? { book, failure: damaged(path) } : { book };
  } catch (error) {
    return { book: undefined, failure: toStorageError(error, path) };
  }
}

export async function addToBook(book: string, added: readonly (TriageEntry | Answer)[]): Promise<void> {
  if (added.length === 0) return;
  // The first line break ends a line that was cut off.
  const content = Buffer.from(added.map((line) => `\n${formatLine(line)}\n`).join(''));
  try {
    await makePrivateFolder(dirname(book));
    const file = await open(book, 'a', 0o600);
    try {
      // The lines are written in one piece: another window may add its lines at the same time.
      const { bytesWritten } = await file.write(content);
      await flush(file);
      if (bytesWritten < content.length) throw new AssessmentError('storage', { detail: 'ENOSPC' });
    } finally {
      await file.close();
    }
  } catch (error) {
    throw toStorageError(error, book);
  }
}

export async function writeShared(
  { folder, paths: { shared } }: ReadDecisions,
  entries: readonly TriageEntry[],
  removed: readonly string[],
  calls: Calls,
): Promise<void> {
  const written = entries.filter(({ sharedAs }) => sharedAs !== undefined);
  if (shared === undefined || written.length + removed.length === 0) return;
  try {
    await calls.ask(folder, async () => {
      for (const each of [dirname(shared), shared]) {
        await mkdir(each, { recursive: true });
        await refuseOutside(folder, each);
      }
    });
    await inParallel(written, filesAtOnce, (entry) =>
      calls.ask(folder, () => writeFileAtomic(join(shared, entry.sharedAs ?? ''), formatEntry(entry))),
    );
    await inParallel(removed, filesAtOnce, (name) =>
      calls.ask(folder, () => rm(join(shared, name), { force: true })),
    );
  } catch (error) {
    throw toStorageError(error, shared);
  }
}

async function readShared(
  folder: string,
  path: string | undefined,
  calls: Calls,
  known: SharedFiles = { files: new Map() },
  looksAtEach: boolean,
): Promise<SharedFiles> {
  const files = new Map<string, SharedFile>();
  let unread: AssessmentError | undefined;
  if (path === undefined) return { files };
  const end = performance.now() + maxReadMs;
  try {
    const stamp = await calls.ask(folder, async () => {
      await refuseOutside(folder, path);
      return fileStampOf(path);
    });
    if (!looksAtEach && stamp !== undefined && stamp === known.stamp) return known;
    const names = await calls.ask(folder, () => namesIn(path));
    let bytesLeft = maxFolderBytes;
    const read = async (name: string): Promise<void> => {
      const there = join(path, name);
      const found = await unlessMissing(() => lstat(there, { bigint: true }));
      if (found?.isFile() !== true) return; // It is a link or a folder, or was removed meanwhile.
      const size = Number(found.size);
      const isReadable = size > 0 && size <= Math.min(maxFileBytes, bytesLeft);
      if (isReadable) bytesLeft -= size;
      const fileStamp = toFileStamp(found);
      const former = known.files.get(name);
      const isKnown = former?.fileStamp === fileStamp;
      try {
        const entry = isKnown ? former.entry : isReadable ? await readEntry(there, size) : undefined;
        files.set(name, { path: there, fileStamp, writtenAt: Number(found.mtimeMs), entry });
      } catch (error) {
        unread = toStorageError(error, there);
      }
    };
    await inParallel(names.slice(0, maxFiles), filesAtOnce, (name) => {
      if (performance.now() > end) throw new AssessmentError('noAnswer', { subject: folder });
      return calls.ask(folder, () => read(name));
    });
    const sorted = new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (unread !== undefined) return { files: sorted, failure: unread };
    const [empty] = [...sorted].find(([, { entry }]) => entry === undefined) ?? [];
    const failure =
      names.length > maxFiles
        ? new AssessmentError('triageDamaged', { subject: path, limit: maxFiles })
        : empty === undefined
          ? undefined
          : damaged(join(path, empty));
    return { files: sorted, stamp, failure };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { files };
    const isLate = error instanceof AssessmentError && error.kind === 'noAnswer';
    return { files: isLate ? known.files : files, failure: toStorageError(error, path) };
  }
}

/** Returns at most one name more than `maxFiles`, which shows that there are too many. */
async function namesIn(path: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(path, { bufferSize: 256 })) {
    if (name.endsWith('.json')) names.push(name);
    if (names.length > maxFiles) break;
  }
  return names;
}

/**
 * Links are not followed, and opening a named pipe doesn't wait for a writer. On Windows, both
 * flags are undefined, which counts as 0.
 */
const flag = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Reads only the first `size` bytes: the file may grow. */
async function readEntry(path: string, size: number): Promise<TriageEntry | undefined> {
  try {
    const file = await open(path, flag);
    return parseEntry((await buffer(file.createReadStream({ end: size - 1 }))).toString());
  } catch (error) {
    if (isNoFile(error)) return undefined;
    throw error;
  }
}

/** A repository may have links, which must not lead out of the folder. */
async function refuseOutside(folder: string, path: string): Promise<void> {
  if (pathInside(await realPath(folder), await realPath(path)) === undefined)
    throw new AssessmentError('storage', { detail: 'ELOOP' });
}

export function damaged(path: string): AssessmentError {
  return new AssessmentError('triageDamaged', { subject: path });
}

function toStorageError(error: unknown, path: string): AssessmentError {
  if (error instanceof AssessmentError && error.data.subject !== undefined) return error;
  const detail = error instanceof AssessmentError ? error.data.detail : (systemCode(error) ?? String(error));
  return new AssessmentError('storage', { subject: path, detail }, { cause: error });
}
