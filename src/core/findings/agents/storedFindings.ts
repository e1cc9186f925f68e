import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf, pathInside } from '../../files.ts';
import { once } from '../../yieldingWork.ts';
import type { Clock, Logger } from '../../ports.ts';
import { readRuns } from '../../run/disk/readRuns.ts';
import type { Run } from '../../run/state/run.ts';
import { hasFindings } from '../chooseRun.ts';
import { readConfirmations } from '../confirmation.ts';
import { FindingStore } from '../findingStore.ts';
import { folderOf, type ShownFinding } from '../shownFinding.ts';
import { decisionOf } from '../triage/decide.ts';
import { triagePlaceOf } from '../triage/triageDisk.ts';
import { TriageStore } from '../triage/triageStore.ts';
import { OWNERS_FILES } from '../view/owners.ts';
import type { ToolFinding, ToolFindings, ToolSource } from './toolAnswers.ts';

/** What VS Code stored of a folder. */
export interface StoredFolder {
  /** Absolute, and no link on the way. */
  readonly folder: string;
  /** The extension's folder in VS Code's global storage. */
  readonly storage: string;
  /** Where the folder's triage decisions were stored when the configuration was copied. */
  readonly triage: 'workspace' | 'shared';
}

interface Deps {
  /** The parsing worker's entry. */
  readonly workerFile: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The runs of a folder and of those in it, and how the runs name these folders. */
interface OwnRuns {
  readonly runs: readonly Run[];
  readonly unread: number;
  readonly folders: ReadonlySet<string>;
}

/** What tools answer from while no VS Code runs: the findings that it shows of a folder unless a person chooses others. All that is read is of the folder's own runs; nothing is written. */
export function readStored(stored: StoredFolder, deps: Deps): ToolSource {
  const { folder, storage } = stored;
  const runsFolder = join(storage, 'runs');
  let kept: { readonly marks: string; readonly load: () => ReturnType<typeof loadFindings> } | undefined;

  const readOwnRuns = async (): Promise<OwnRuns> => {
    if ((await markOf(runsFolder)) === undefined)
      throw new Error(
        `The folder of the stored runs does not exist: ${runsFolder}. Copy the configuration again in VS Code.`,
      );
    const { runs, unread } = await readRuns(runsFolder);
    const folders = new Set<string>();
    for (const named of new Set(runs.flatMap(({ targets }) => targets.map((target) => target.folder)))) {
      const real = await realpath(named).catch(() => undefined); // a folder that is gone is not this one
      if (real !== undefined && pathInside(folder, real) !== undefined) folders.add(named);
    }
    const own = runs.filter(({ targets }) => targets.some((target) => folders.has(target.folder)));
    return { runs: own, unread, folders };
  };

  return {
    findings: async () => {
      const own = await readOwnRuns();
      const marks = await marksOf(own, runsFolder, folder);
      // Several calls at once wait for one reading.
      if (kept?.marks !== marks) kept = { marks, load: once(() => loadFindings(own, stored, deps)) };
      const loaded = await kept.load();
      // A disk that failed may answer at the next call.
      if (loaded.store.shownRuns().some(({ failure }) => failure?.kind === 'storage')) kept = undefined;
      return toToolFindings(loaded, own.folders);
    },
    runs: readOwnRuns,
    confirmationsOf: async ({ identity }) => {
      const { runs } = await readOwnRuns();
      return readConfirmations(identity.fingerprint, {
        runs: { all: () => runs, folderOf: (id) => join(runsFolder, id) },
        workerFile: deps.workerFile,
        isReadOnly: true,
      });
    },
    clock: deps.clock,
  };
}

/** Other marks when other findings, or other comparisons, may be read. */
async function marksOf({ runs, folders }: OwnRuns, runsFolder: string, folder: string): Promise<string> {
  const files = runs
    .filter(hasFindings)
    .flatMap(({ id }) => ['run.json', 'findings.json'].map((name) => join(runsFolder, id, name)));
  files.push(...OWNERS_FILES.map((name) => join(folder, name)));
  const marks = await Promise.all(files.map(async (file) => [file, await markOf(file)]));
  return JSON.stringify([...folders, ...marks]);
}

/** Findings that were read, and the decisions about them in both places where they may be stored. */
interface Loaded {
  readonly store: FindingStore;
  readonly triage: TriageStore;
  readonly elsewhere: TriageStore;
}

async function loadFindings(
  { runs, folders }: OwnRuns,
  { folder, storage, triage: place }: StoredFolder,
  { workerFile, clock, log }: Deps,
): Promise<Loaded> {
  const lockFolder = join(storage, 'triage');
  const triageIn = (where: StoredFolder['triage']): TriageStore =>
    new TriageStore({ placeFor: (each) => triagePlaceOf(each, lockFolder, where), lockFolder, clock, log });
  const triage = triageIn(place);
  // The setting may have been changed since.
  const elsewhere = triageIn(place === 'shared' ? 'workspace' : 'shared');
  const store = new FindingStore({
    runs: {
      all: () => runs,
      get: (id) => runs.find((run) => run.id === id),
      folderOf: (id) => join(storage, 'runs', id),
      onDidChange: () => ({ dispose: () => undefined }),
    },
    triage,
    mappings: { get: () => undefined, update: () => Promise.resolve() },
    isOpenHere: (each) => folders.has(each),
    textOf: () => undefined,
    decode: (content) => Promise.resolve(new TextDecoder().decode(content)),
    workerFile,
    isReadOnly: true,
    isPlacedOnDemand: true,
    ownersWithin: folder,
    log,
  });
  await Promise.all([store.load(), elsewhere.load(folders)]);
  return { store, triage, elsewhere };
}

async function toToolFindings(
  { store, triage, elsewhere }: Loaded,
  folders: ReadonlySet<string>,
): Promise<ToolFindings> {
  await Promise.all([triage.reload(), elsewhere.reload()]);
  const isKnown = triage.failures().length === 0 && elsewhere.failures().length === 0;
  const toToolFinding = (shown: ShownFinding): ToolFinding => {
    const other = decisionOf(shown, elsewhere);
    const isLatest = other.at <= shown.triage.at || other.state === shown.triage.state;
    return { ...shown, triage: isKnown && isLatest ? shown.triage : undefined };
  };
  // A run may be one of several folders: of it, the findings and places in the own ones.
  const isOwn = ({ run }: ToolFinding): boolean => run.targets.every((target) => folders.has(target.folder));
  const withOwnPlaces = (each: ToolFinding): ToolFinding =>
    isOwn(each) ? each : { ...each, places: each.places.filter((place) => folders.has(place.folder)) };
  const ownFindings = (some: readonly ShownFinding[] = []): readonly ToolFinding[] =>
    some
      .filter((each) => isOwn(each) || folders.has(folderOf(each) ?? ''))
      .map((each) => withOwnPlaces(toToolFinding(each)));
  return {
    runs: store.shownRuns().map((run) => ({
      ...run,
      shown: ownFindings(run.shown),
      absent: ownFindings(run.absent),
    })),
    place: async (some) => (await store.placeNow(some)).map(withOwnPlaces),
  };
}
