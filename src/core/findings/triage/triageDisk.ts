import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, mkdir, opendir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssessmentError, systemCode } from '../../errors.ts';
import { makePrivateFolder, markOf, readIfThere, readRegularFile, writeFileAtomic } from '../../files.ts';
import { pathInside, pathKey, realPath } from '../../paths.ts';
import { inParallel } from '../../yieldingWork.ts';
import {
  type Acceptance,
  type DecisionFile,
  digestOf,
  formatAcceptance,
  noAcceptance,
  parseAcceptance,
  type Proposal,
  sortDecisions,
  withAnswers,
} from './acceptance.ts';
import {
  entryName,
  entryOf,
  formatBook,
  formatEntry,
  parseBook,
  parseEntry,
  toBook,
  type TriageBook,
  type TriageEntry,
} from './triage.ts';

/** Absolute paths: one file for all decisions of a folder, or a shared folder with one file each, and the file with this machine's answers to them. */
export type TriagePlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string; readonly acceptance: string };

/** `workspace` is the extension's storage (`storageFolder`), which all windows use; `shared` is in the folder itself. */
export function triagePlaceOf(
  folder: string,
  storageFolder: string,
  storage: 'workspace' | 'shared',
): TriagePlace {
  const name = createHash('sha256').update(pathKey(folder)).digest('hex').slice(0, 32);
  const path = join(storageFolder, `${name}.json`);
  if (storage === 'workspace') return { kind: 'file', path };
  const acceptance = join(storageFolder, `${name}.accepted.json`);
  return { kind: 'folder', path: join(folder, '.vscode', 'whitebox-triage'), acceptance };
}

export interface ReadBook {
  readonly place: TriagePlace;
  /** Changes with the content; undefined if it must be read again. */
  readonly mark: string | undefined;
  readonly book: TriageBook;
  /** Of a shared folder, by file name. */
  readonly files: ReadonlyMap<string, EntryFile>;
  readonly counting: ReadonlyMap<string, TriageEntry>;
  readonly proposals: readonly Proposal[];
  readonly acceptance: Acceptance;
  readonly failure?: AssessmentError | undefined;
}

interface EntryFile extends DecisionFile {
  readonly mark: string;
  readonly bytes: number;
}

const noFiles = { files: new Map(), counting: new Map(), proposals: [], acceptance: noAcceptance } as const;

const maxBookBytes = 64 * 1024 * 1024;
/** Limits for shared folders, which come from a repository. */
const maxFiles = 10_000;
const maxFileBytes = 64 * 1024;
const maxFolderBytes = 16 * 1024 * 1024;
const filesAtOnce = 32;

/** Returns `known` if nothing changed. What cannot be read gives a `failure`. */
export async function readDecisions(
  folder: string,
  place: TriagePlace,
  known: ReadBook | undefined,
): Promise<ReadBook> {
  const former = known?.place.path === place.path && known.place.kind === place.kind ? known : undefined;
  try {
    return await (place.kind === 'file'
      ? readBook(folder, place, former)
      : readFolder(folder, place, former));
  } catch (error) {
    const failure = toStorageError(error, place.path);
    return { ...noFiles, place, mark: undefined, book: toBook([]), failure };
  }
}

/** Throws the failure of reading, if writing would overwrite what could not be read; `storage`. */
export async function writeDecisions(
  folder: string,
  known: ReadBook,
  book: TriageBook,
  now: number,
): Promise<void> {
  const { place, failure } = known;
  if (failure !== undefined && place.kind === 'file') throw failure;
  try {
    if (place.kind === 'file') {
      await makeFolder(folder, dirname(place.path));
      await writeFileAtomic(place.path, formatBook(book));
      return;
    }
    const { written, removed, answers } = changesOf(known, book, now);
    // The answers come first: without them, the written decisions would be proposals.
    await writeAcceptance(known, answers);
    await makeFolder(folder, dirname(place.path));
    await makeFolder(folder, place.path);
    await inParallel(written, filesAtOnce, ([name, entry]) =>
      writeFileAtomic(join(place.path, name), formatEntry(entry)),
    );
    await inParallel(removed, filesAtOnce, (name) => rm(join(place.path, name), { force: true }));
  } catch (error) {
    throw toStorageError(error, place.path);
  }
}

/** Throws the failure of reading; `storage`. */
export async function writeAcceptance(
  { place, mark, failure }: ReadBook,
  acceptance: Acceptance,
): Promise<void> {
  if (mark === undefined && failure !== undefined) throw failure;
  if (place.kind === 'file') return;
  try {
    await makePrivateFolder(dirname(place.acceptance));
    await writeFileAtomic(place.acceptance, formatAcceptance(acceptance));
  } catch (error) {
    throw toStorageError(error, place.acceptance);
  }
}

/**
 * The files to write, by name, and to remove. A first decision gets a new file, so that Git has nothing to merge in it. A later decision of this machine about
 * the same finding reuses the file, since Git would take a new one for a rename. Files of others are not changed, only refused or accepted.
 */
function changesOf(
  { files, counting, acceptance }: ReadBook,
  { entries }: TriageBook,
  now: number,
): {
  readonly written: ReadonlyMap<string, TriageEntry>;
  readonly removed: readonly string[];
  readonly answers: Acceptance;
} {
  const present = new Set(entries);
  const unusedFiles = new Map<TriageEntry, string>();
  const refused: string[] = [];
  for (const [name, entry] of counting) {
    if (present.has(entry)) continue;
    const { digest = '' } = files.get(name) ?? {};
    if (acceptance.answers.get(digest)?.as === 'accepted') refused.push(digest);
    else unusedFiles.set(entry, name);
  }
  const replaceable = toBook([...unusedFiles.keys()]);
  const digests = new Map([...files.values()].map(({ entry, digest }) => [entry, digest]));
  const countedBefore = new Set(counting.values());
  const accepted: string[] = [];
  const written = new Map<string, TriageEntry>();
  for (const entry of entries) {
    if (countedBefore.has(entry)) continue;
    const digest = digests.get(entry);
    if (digest !== undefined) {
      accepted.push(digest);
      continue;
    }
    const replaced = entryOf(replaceable, entry.identity);
    const name = replaced && unusedFiles.get(replaced);
    if (replaced !== undefined) unusedFiles.delete(replaced);
    written.set(name ?? entryName(entry), entry);
  }
  const made = [...written.values()].map((entry) => digestOf(formatEntry(entry)));
  let answers = withAnswers(acceptance, refused, { as: 'refused', at: now });
  answers = withAnswers(answers, accepted, { as: 'accepted', at: now });
  answers = withAnswers(answers, made, { as: 'made', at: now });
  return { written, removed: [...unusedFiles.values()], answers };
}

async function readBook(folder: string, place: TriagePlace, former: ReadBook | undefined): Promise<ReadBook> {
  const { path } = place;
  const mark = (await markOf(path)) ?? 'none';
  if (former?.mark === mark) return former;
  if (mark === 'none') return { ...noFiles, place, mark, book: toBook([]) };
  await refuseOutside(folder, path);
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > maxBookBytes) throw damaged(path);
    return { ...noFiles, place, mark, book: parseBook(await readFile(path, 'utf8'), path) };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { ...noFiles, place, mark, book: toBook([]), failure: error };
  }
}

async function readFolder(
  folder: string,
  place: Extract<TriagePlace, { kind: 'folder' }>,
  former: ReadBook | undefined,
): Promise<ReadBook> {
  const { path } = place;
  const acceptanceMark = (await markOf(place.acceptance)) ?? 'none';
  const names = await namesIn(folder, path);
  const files = new Map<string, EntryFile>();
  let bytesLeft = maxFolderBytes;
  await inParallel(names.slice(0, maxFiles), filesAtOnce, async (name) => {
    const file = join(path, name);
    const mark = await markOf(file);
    if (mark === undefined) return; // removed meanwhile
    const known = former?.files.get(name);
    const entryFile = known?.mark === mark ? known : { mark, ...readEntry(file, bytesLeft) };
    bytesLeft -= entryFile.bytes;
    files.set(name, entryFile);
  });
  // Files are read in any order.
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const marks = sorted.map(([name, file]) => `${name} ${file.mark}`);
  const mark = [acceptanceMark, ...marks].join('\n');
  if (former?.mark === mark) return former;
  const unread = sorted.find(([, { entry }]) => entry === undefined)?.[0];
  let failure: AssessmentError | undefined;
  if (names.length > maxFiles)
    failure = new AssessmentError('triageDamaged', { subject: path, limit: maxFiles });
  else if (unread !== undefined) failure = damaged(join(path, unread));
  const text = await readIfThere(place.acceptance);
  const acceptance = text === undefined ? noAcceptance : parseAcceptance(text, place.acceptance);
  const { counting, proposals } = sortDecisions(new Map(sorted), acceptance);
  const book = toBook([...counting.values()]);
  return { place, mark, book, files: new Map(sorted), counting, proposals, acceptance, failure };
}

/** File names, at most one more than `maxFiles`. */
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

function readEntry(file: string, bytesLeft: number): Omit<EntryFile, 'mark'> {
  try {
    const maxBytes = Math.min(maxFileBytes, bytesLeft);
    const content = maxBytes > 0 ? readRegularFile(file, { maxBytes, followLink: false }) : undefined;
    const text = content?.toString('utf8') ?? '';
    return { bytes: content?.length ?? 0, digest: digestOf(text), entry: parseEntry(text) };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { bytes: 0, digest: '', entry: undefined }; // too large, or not readable
  }
}

/** Throws if a link leads out of the folder. */
async function makeFolder(folder: string, path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await refuseOutside(folder, path);
}

/** Throws `storage` if a link in the folder, which a repository may contain, leads out of it. */
async function refuseOutside(folder: string, path: string): Promise<void> {
  if (pathInside(folder, path) === undefined) return;
  if (pathInside(await realPath(folder), await realPath(path)) === undefined)
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
