import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError, isAbortError } from '../errors.ts';
import { fileStampOf } from '../files.ts';
import { atOrBelow, pathKey } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { type FolderCalls, lazily } from '../yieldingWork.ts';
import type { Location } from './finding.ts';
import { allNamesOf } from './identity.ts';
import type { EditorTexts, LocatedFile } from './location/currentLocations.ts';
import { type MappingMemory, type PathMapping, readMappings } from './location/mappings.ts';
import { type FoundOwners, OWNERS_FILES } from './location/owners.ts';
import { createLocator } from './location/resolver.ts';
import {
  type Follow,
  type Located,
  locatedAsUploaded,
  locateFindings,
  type LocateOptions,
  locationsOf,
} from './location/locateFindings.ts';
import {
  askForOwners,
  followInWorker,
  isCurrent,
  readResult,
  type ResultSource,
} from './result/readResult.ts';
import type { ResultFinding, ResultHead, RunResult } from './result/result.ts';
import { readHead } from './result/resultFile.ts';
import type { UploadedFile } from './location/uploadedFiles.ts';
import { mainLocationOf, type ShownLocation } from './shownFinding.ts';

/**
 * A `RunView` is an immutable value: a run's findings with locations and owners, but no decisions.
 * At first, it has the run's result, with locations as uploaded and their folders unread. Each step
 * returns a view with what it found out, or the same view if nothing changed. Whatever could not be
 * read stays unread or unknown, and the same step retries it.
 */

export interface RunView extends Located {
  readonly run: Run;
  readonly failure?: Failure | undefined;
  readonly head?: ResultHead | undefined;
  /** The run's own findings come before the absent ones. */
  readonly found: readonly ResultFinding[];
  readonly names: () => ReadonlySet<string>;
  readonly owners: FoundOwners | 'unknown';
}

export interface ViewSource extends ResultSource {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf'>;
  readonly calls: Pick<FolderCalls, 'ask'>;
  readonly mappings: MappingMemory;
  readonly texts: (isWanted: (file: string) => boolean) => EditorTexts;
  readonly log: Logger;
}

const none = new Set<string>();
const nothing = {
  ...{ found: [], names: () => none, locations: new Map(), unread: none, missing: none },
  owners: { owners: new Map(), ownersGaps: [], isPartial: false },
} as const;

/** If the findings cannot be read, the view has a `failure`. Throws the signal's reason. */
export async function readView(
  run: Run,
  former: RunView | undefined,
  source: ViewSource,
  signal?: AbortSignal,
): Promise<RunView> {
  try {
    const isRight = former?.head !== undefined && (await isCurrent(former.head, run, source));
    if (isRight) return former.run === run ? former : { ...former, run };
    const record = await readResult(run, source, signal);
    if (source.memory.unsaved.has(run.id))
      source.log.warn(
        `The findings of run ${run.id} are worked out again in each window: they cannot be saved`,
      );
    const view = toView(run, record);
    // Making and showing a view of 10,000 findings takes a long time, so other work gets a turn.
    await setImmediate();
    return view;
  } catch (error) {
    if (isAbortError(error)) throw error;
    const failed = toFailedView(run, error, source.log);
    return former !== undefined && isDeepStrictEqual(former, failed) ? former : failed;
  }
}

export function toFailedView(run: Run, error: unknown, log: Logger): RunView {
  const failure = toFailure(
    error instanceof AssessmentError
      ? error
      : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
  );
  log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
  return { run, failure, ...nothing };
}

export function toView(run: Run, { head, findings, absent }: RunResult): RunView {
  const found = [...findings, ...absent.filter(({ verdict }) => verdict !== undefined)];
  return asUploaded({ run, head, found, names: lazily(() => allNamesOf([...findings, ...absent])) });
}

export function asUploaded(view: Pick<RunView, 'run' | 'head' | 'found' | 'names'>): RunView {
  const locations = new Map<Location, ShownLocation>();
  const drift = 'unknown';
  const unread = new Set<string>();
  const files = new Map<UploadedFile, LocatedFile>();
  for (const { finding, uploaded: uploadedFiles, ofTarget } of view.found) {
    unread.add(ofTarget);
    for (const [at, reported] of finding.locations.entries()) {
      const uploaded = uploadedFiles[at];
      if (uploaded === undefined) continue;
      const file = files.get(uploaded) ?? locatedAsUploaded(uploaded);
      files.set(uploaded, file);
      unread.add(uploaded.folder);
      const { startLine, endLine, startColumn, endColumn } = reported;
      locations.set(reported, { ...file, startLine, endLine, startColumn, endColumn, reported, drift });
    }
  }
  return { ...view, failure: undefined, locations, unread, missing: new Set(), owners: 'unknown' };
}

export async function locate(
  view: RunView,
  runs: Pick<RunStore, 'get' | 'folderOf'>,
  mappings: Readonly<Record<string, readonly PathMapping[]>>,
  options: LocateOptions,
): Promise<Located> {
  const { run, head } = view;
  const mappingsOf = (folder: string): readonly PathMapping[] => mappings[pathKey(folder)] ?? [];
  const byRun = [...Map.groupBy(view.found, (each) => each.run)].map(async ([id, found]) => {
    const of = id === run.id ? run : runs.get(id);
    if (of === undefined) return [];
    const runFolder = runs.folderOf(id);
    const { knowsUploaded = [] } = (id === run.id ? head : await readHead(runFolder)) ?? {};
    const isKnown = of.targets.map((_, target) => knowsUploaded[target] === true);
    return [
      { run: of, runFolder, found, locate: createLocator(of.targets, isKnown, mappingsOf, options.calls) },
    ];
  });
  return locateFindings((await Promise.all(byRun)).flat(), view, options);
}

function locateHere(
  view: RunView,
  source: ViewSource,
  isWanted: LocateOptions['isWanted'],
  isEdited: (file: string) => boolean = () => true,
): Promise<Located> {
  const { runs, calls, mappings, log } = source;
  /** If the worker fails, the folders of the files count as unread. */
  const follow: Follow = (files, texts) =>
    followInWorker(files, texts, source).catch((error: unknown) => {
      log.warn(`Locations of findings cannot be followed: ${String(error)}`);
      return [];
    });
  const texts = (): EditorTexts => source.texts(isEdited);
  return locate(view, runs, readMappings(mappings), { calls, texts, follow, isWanted });
}

export async function locateUnread(view: RunView, source: ViewSource): Promise<RunView> {
  const { unread, missing } = view;
  if (unread.size + missing.size === 0) return view;
  const isWanted = (_: Location, folders: readonly string[]): boolean =>
    folders.some((folder) => unread.has(folder) || missing.has(folder));
  const located = await locateHere(view, source, isWanted);
  return isSameLocated(view, located) ? view : { ...view, ...located, owners: 'unknown' };
}

/** Also looks in new files for locations that were not found. Paths are absolute. */
export async function locateAgain(
  view: RunView,
  changed: ReadonlySet<string>,
  createdOrDeleted: ReadonlySet<string>,
  source: ViewSource,
): Promise<RunView> {
  const { locations, run, found } = view;
  const isIn = atOrBelow([...changed, ...createdOrDeleted]);
  const files = new Set(Array.from(locations.values(), ({ file }) => file));
  const changedFiles = new Set([...files].filter(isIn));
  const isNewRoot = run.targets.some(({ folder }) => atOrBelow(createdOrDeleted)(folder));
  const names = new Set(Array.from(createdOrDeleted, (path) => comparable(basename(path))));
  const mayBeNew = ({ path }: Location): boolean =>
    names.size > 0 &&
    (isNewRoot ||
      comparable(path)
        .split(/[\\/]/)
        .some((name) => names.has(name)));
  const isWanted = (location: Location): boolean => {
    const now = locations.get(location);
    if (now !== undefined && changedFiles.has(now.file)) return true;
    return (now === undefined || now.drift === 'gone') && mayBeNew(location);
  };
  const wanted = new Set(found.flatMap(({ finding }) => finding.locations.filter(isWanted)));
  if (wanted.size === 0) return view;
  const now = await locateHere(view, source, (location) => wanted.has(location), isIn);
  const unread = new Set([...view.unread, ...now.unread]);
  const missing = new Set([...view.missing, ...now.missing]);
  const located = { locations: now.locations, unread, missing };
  if (isSameLocated(view, located)) return view;
  const hasNewFile = [...now.locations.values()].some(({ file }) => !files.has(file));
  return { ...view, ...located, owners: hasNewFile ? 'unknown' : view.owners };
}

/** The file system may ignore letter case and how characters are composed. */
function comparable(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

function isSameLocated(former: Located, { locations, unread, missing }: Located): boolean {
  return (
    locations.size === former.locations.size &&
    [...locations].every(([location, now]) => former.locations.get(location) === now) &&
    isDeepStrictEqual([unread, missing], [former.unread, former.missing])
  );
}

const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

/** A changed path may be a CODEOWNERS file, or a folder that has one. */
export function forgetOwners(view: RunView, changed: ReadonlySet<string>): RunView {
  const mayHaveChanged = [...changed].some((path) => ownersNames.has(basename(path)));
  return mayHaveChanged ? { ...view, owners: 'unknown' } : view;
}

export async function addOwners(
  view: RunView,
  source: ViewSource,
  onWait: () => Promise<void> = () => Promise.resolve(),
): Promise<RunView> {
  const { run, found, owners, unread } = view;
  if (owners !== 'unknown' && !owners.isPartial) return view;
  try {
    if (!(await haveOwners(view, source))) return { ...view, owners: nothing.owners };
    await onWait();
    const main = found.flatMap(
      (each) => mainLocationOf({ ...each, locations: locationsOf(each, view) }) ?? [],
    );
    const files = new Set(main.flatMap(({ file, folder }) => (unread.has(folder) ? [] : file)));
    const now = await askForOwners(files, source);
    return isDeepStrictEqual(now, owners) ? view : { ...view, owners: now };
  } catch (error) {
    source.log.warn(`The owners of findings of run ${run.id} are unknown: ${String(error)}`);
    return view;
  }
}

/** The CODEOWNERS file may also be in a folder above. */
async function haveOwners({ run, unread }: RunView, { calls }: ViewSource): Promise<boolean> {
  const asked = new Set<string>();
  const isIn = async (folder: string): Promise<boolean> => {
    for (let above = folder; !asked.has(above); above = dirname(above)) {
      asked.add(above);
      for (const file of OWNERS_FILES) if ((await fileStampOf(join(above, file))) !== undefined) return true;
    }
    return false;
  };
  for (const { folder } of run.targets)
    if (!unread.has(folder) && (await calls.ask(folder, () => isIn(folder)))) return true;
  return false;
}
