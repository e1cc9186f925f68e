import { createHash } from 'node:crypto';
import { mkdir, opendir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { markOf, pathInside, readRegularFile, writeFileAtomic } from '../../files.ts';
import { inParallel } from '../../yieldingWork.ts';
import { isSameFinding } from '../identity.ts';
import {
  entryName,
  formatBook,
  formatEntry,
  parseBook,
  parseEntry,
  toBook,
  type TriageBook,
  type TriageEntry,
} from './triage.ts';

/** Where the decisions about a folder's findings are: all in one file, or each in a file of its own in a folder, which a repository shares. */
export interface TriagePlace {
  readonly kind: 'file' | 'folder';
  /** Absolute. */
  readonly path: string;
}

/** Where the decisions about a folder's findings are stored: in the extension's storage (`storageFolder`), which all windows use, or shared in the folder. */
export function triagePlaceOf(
  folder: string,
  storageFolder: string,
  storage: 'workspace' | 'shared',
): TriagePlace {
  if (storage === 'shared') return { kind: 'folder', path: join(folder, '.vscode', 'whitebox-triage') };
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 32);
  return { kind: 'file', path: join(storageFolder, `${name}.json`) };
}

/** Decisions as they were read. */
export interface ReadBook {
  readonly place: TriagePlace;
  /** Differs when the content does; undefined when it must be read again. */
  readonly mark: string | undefined;
  readonly book: TriageBook;
  /** The files of a folder, by name. */
  readonly files: ReadonlyMap<string, EntryFile>;
  /** Why not all that is there can be read. */
  readonly failure?: AssessmentError | undefined;
}

interface EntryFile {
  readonly mark: string;
  readonly bytes: number;
  /** Undefined when it holds no decision. */
  readonly entry: TriageEntry | undefined;
}

const maxBookBytes = 64 * 1024 * 1024;
/** Limits on what is read of a repository. */
const maxFiles = 10_000;
const maxFileBytes = 64 * 1024;
const maxFolderBytes = 16 * 1024 * 1024;
const filesAtOnce = 32;

/** Reads the decisions about a folder's findings; returns `known` when nothing has changed. What cannot be read is a `failure`. */
export async function readDecisions(
  folder: string,
  place: TriagePlace,
  known: ReadBook | undefined,
): Promise<ReadBook> {
  const former = known?.place.path === place.path && known.place.kind === place.kind ? known : undefined;
  try {
    return await (place.kind === 'file' ? readBook : readFolder)(folder, place, former);
  } catch (error) {
    const failure = toStorageError(error, place.path);
    return { place, mark: undefined, book: toBook([]), files: new Map(), failure };
  }
}

/** Writes decisions that were read and changed. Throws why they cannot be read, when writing would overwrite them; `storage`. */
export async function writeDecisions(
  folder: string,
  { place, files, failure }: ReadBook,
  book: TriageBook,
): Promise<void> {
  if (failure !== undefined && (place.kind === 'file' || failure.kind === 'storage')) throw failure;
  try {
    await makeFolder(folder, dirname(place.path));
    if (place.kind === 'file') {
      await writeFileAtomic(place.path, formatBook(book));
      return;
    }
    await makeFolder(folder, place.path);
    const { written, removed } = changesOf(files, book);
    await inParallel(written, filesAtOnce, ([name, entry]) =>
      writeFileAtomic(join(place.path, name), formatEntry(entry)),
    );
    await inParallel(removed, filesAtOnce, (name) => rm(join(place.path, name), { force: true }));
  } catch (error) {
    throw toStorageError(error, place.path);
  }
}

/**
 * What is to be written, by file name, and removed. A first decision gets a file that nobody else makes, so that git has nothing to merge in it; another
 * one about the same finding takes its file, since git would take a new file for the old one under another name.
 */
function changesOf(
  files: ReadBook['files'],
  { entries }: TriageBook,
): { written: ReadonlyMap<string, TriageEntry>; removed: readonly string[] } {
  const former = new Set([...files.values()].map(({ entry }) => entry));
  const left = new Set(entries);
  const free = new Map<string, { readonly name: string; readonly entry: TriageEntry }[]>();
  for (const [name, { entry }] of files) {
    if (entry === undefined || left.has(entry)) continue;
    const { spot } = entry.identity;
    free.set(spot, [...(free.get(spot) ?? []), { name, entry }]);
  }
  const written = new Map<string, TriageEntry>();
  for (const entry of entries.filter((each) => !former.has(each))) {
    const candidates = free.get(entry.identity.spot) ?? [];
    const at = candidates.findIndex((each) => isSameFinding(each.entry.identity, entry.identity));
    const [taken] = at < 0 ? [] : candidates.splice(at, 1);
    written.set(taken?.name ?? entryName(entry), entry);
  }
  return { written, removed: [...free.values()].flat().map(({ name }) => name) };
}

async function readBook(folder: string, place: TriagePlace, former: ReadBook | undefined): Promise<ReadBook> {
  const { path } = place;
  const files = new Map<string, never>();
  const mark = (await markOf(path)) ?? 'none';
  if (former?.mark === mark) return former;
  if (mark === 'none') return { place, mark, book: toBook([]), files };
  await refuseOutside(folder, path, path);
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > maxBookBytes) throw damaged(path);
    return { place, mark, book: parseBook(await readFile(path, 'utf8'), path), files };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { place, mark, book: toBook([]), files, failure: error };
  }
}

async function readFolder(
  folder: string,
  place: TriagePlace,
  former: ReadBook | undefined,
): Promise<ReadBook> {
  const { path } = place;
  const names = await namesIn(folder, path);
  const files = new Map<string, EntryFile>();
  let bytesLeft = maxFolderBytes;
  await inParallel(names.slice(0, maxFiles), filesAtOnce, async (name) => {
    const file = join(path, name);
    const mark = await markOf(file);
    if (mark === undefined) return; // removed meanwhile
    const known = former?.files.get(name);
    const read = known?.mark === mark ? known : { mark, ...readEntry(file, bytesLeft) };
    bytesLeft -= read.bytes;
    files.set(name, read);
  });
  // In the order of their names, whatever was read first.
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const mark = sorted.map(([name, { mark: each }]) => `${name} ${each}`).join('\n');
  if (former?.mark === mark) return former;
  const unread = sorted.find(([, { entry }]) => entry === undefined)?.[0];
  const failure =
    names.length > maxFiles
      ? new AssessmentError('triageDamaged', { subject: path, limit: maxFiles })
      : unread === undefined
        ? undefined
        : damaged(join(path, unread));
  const entries = sorted.flatMap(([, { entry }]) => entry ?? []);
  return { place, mark, book: toBook(entries), files: new Map(sorted), failure };
}

/** The names of the files of decisions in a folder, one more than are read at most. */
async function namesIn(folder: string, path: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    await refuseOutside(folder, path, path);
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      if (entry.isFile() && entry.name.endsWith('.json')) names.push(entry.name);
      if (names.length > maxFiles) break;
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  return names;
}

function readEntry(file: string, bytesLeft: number): Omit<EntryFile, 'mark'> {
  try {
    const maxBytes = Math.min(maxFileBytes, bytesLeft);
    const content = maxBytes > 0 ? readRegularFile(file, { maxBytes, followLink: false }) : undefined;
    return { bytes: content?.length ?? 0, entry: content && parseEntry(content.toString('utf8')) };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { bytes: 0, entry: undefined }; // too large, or the system does not give it
  }
}

/** Makes a folder; throws when a link leads out of the folder that it is in. */
async function makeFolder(folder: string, path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await refuseOutside(folder, path, path);
}

/** A repository can hold links that lead out of it: throws `storage` when what is there of a file in a folder lies elsewhere. */
async function refuseOutside(folder: string, path: string, there: string): Promise<void> {
  if (pathInside(folder, path) === undefined) return;
  if (pathInside(await realpath(folder), await realpath(there)) === undefined)
    throw new AssessmentError('storage', { subject: path, detail: 'ELOOP' });
}

function damaged(path: string): AssessmentError {
  return new AssessmentError('triageDamaged', { subject: path });
}

function toStorageError(error: unknown, path: string): AssessmentError {
  if (error instanceof AssessmentError) return error;
  const detail = systemCode(error) ?? String(error);
  return new AssessmentError('storage', { subject: path, detail }, { cause: error });
}
