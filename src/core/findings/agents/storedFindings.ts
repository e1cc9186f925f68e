import { join } from 'node:path';
import { markOf } from '../../files.ts';
import { pathInside, realPath } from '../../paths.ts';
import { once } from '../../yieldingWork.ts';
import type { Clock, Logger } from '../../ports.ts';
import { readRuns } from '../../run/disk/journal.ts';
import type { Run } from '../../run/state/run.ts';
import { hasFindings } from '../chooseRun.ts';
import { readConfirmations } from '../confirmation.ts';
import { FindingStore } from '../findingStore.ts';
import type { Decode } from '../place/sentFiles.ts';
import { type ResultSource, withTexts } from '../result/readResult.ts';
import { folderOf, type ShownFinding } from '../shownFinding.ts';
import { type TriagePlace, triagePlaceOf } from '../triage/triageDisk.ts';
import { TriageStore } from '../triage/triageStore.ts';
import { OWNERS_FILES } from '../view/owners.ts';
import type { ToolFinding, ToolFindings, ToolSource } from './toolAnswers.ts';

export interface StoredFolder {
  /** A real path. */
  readonly folder: string;
  /** The extension's folder in VS Code's global storage. */
  readonly storage: string;
}

interface Deps {
  /** The parsing worker's entry. */
  readonly workerFile: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The runs of a folder and its subfolders, and the names that the runs use for these. */
interface RunsOfFolder {
  readonly runs: readonly Run[];
  readonly unread: number;
  readonly folders: ReadonlySet<string>;
}

/** Answers agents from disk, without VS Code: the findings it shows of a folder by default. Reads only the folder's runs, and writes nothing. */
export function readStored(stored: StoredFolder, deps: Deps): ToolSource {
  const { folder, storage } = stored;
  const runsFolder = join(storage, 'runs');
  let cached: { readonly marks: string; readonly load: () => ReturnType<typeof loadFindings> } | undefined;

  const readRunsOfFolder = async (): Promise<RunsOfFolder> => {
    if ((await markOf(runsFolder)) === undefined)
      throw new Error(
        `The folder of the stored runs does not exist: ${runsFolder}. Copy the configuration again in VS Code.`,
      );
    const { runs, unread } = await readRuns(runsFolder);
    const folders = new Set<string>();
    for (const named of new Set(runs.flatMap(({ targets }) => targets.map((target) => target.folder)))) {
      const real = await realPath(named).catch(() => undefined); // the folder may be gone
      if (real !== undefined && pathInside(folder, real) !== undefined) folders.add(named);
    }
    const runsOfFolder = runs.filter(({ targets }) => targets.some((target) => folders.has(target.folder)));
    return { runs: runsOfFolder, unread, folders };
  };

  const toSource = ({ runs }: RunsOfFolder): ResultSource => ({
    runs: { all: () => runs, folderOf: (id) => join(runsFolder, id) },
    workerFile: deps.workerFile,
    decode: decodeUtf8,
    isReadOnly: true,
  });

  return {
    findings: async () => {
      const found = await readRunsOfFolder();
      const marks = await marksOf(found, runsFolder, folder);
      // Concurrent calls share one reading.
      if (cached?.marks !== marks) cached = { marks, load: once(() => loadFindings(found, stored, deps)) };
      const loaded = await cached.load();
      // The disk may work again at the next call.
      if (loaded.store.shownRuns().some(({ failure }) => failure?.kind === 'storage')) cached = undefined;
      return toToolFindings(loaded, found.folders);
    },
    runs: readRunsOfFolder,
    withTexts: async (findings) => withTexts(findings, toSource(await readRunsOfFolder())),
    confirmationsOf: async ({ identity }) =>
      readConfirmations(identity.fingerprint, toSource(await readRunsOfFolder())),
    clock: deps.clock,
  };
}

const decodeUtf8: Decode = (content) => Promise.resolve(new TextDecoder().decode(content));

/** Changes whenever findings or comparisons may have changed. */
async function marksOf({ runs, folders }: RunsOfFolder, runsFolder: string, folder: string): Promise<string> {
  const files = runs
    .filter(hasFindings)
    .flatMap(({ id }) => ['run.json', 'findings.json'].map((name) => join(runsFolder, id, name)));
  files.push(...OWNERS_FILES.map((name) => join(folder, name)));
  const marks = await Promise.all(files.map(async (file) => [file, await markOf(file)]));
  return JSON.stringify([...folders, ...marks]);
}

interface Loaded {
  readonly store: FindingStore;
  readonly triage: TriageStore;
}

async function loadFindings(
  { runs, folders }: RunsOfFolder,
  { folder, storage }: StoredFolder,
  { workerFile, clock, log }: Deps,
): Promise<Loaded> {
  // Not the shared folder: only decisions in the books of this machine count.
  const placeFor = (each: string): TriagePlace => triagePlaceOf(each, join(storage, 'triage'), false);
  const triage = new TriageStore({ placeFor, clock, log });
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
    decode: decodeUtf8,
    workerFile,
    isReadOnly: true,
    isPlacedOnDemand: true,
    ownersWithin: folder,
    log,
  });
  await store.load();
  return { store, triage };
}

async function toToolFindings(
  { store, triage }: Loaded,
  folders: ReadonlySet<string>,
): Promise<ToolFindings> {
  await triage.reload();
  const isKnown = triage.failures().length === 0;
  const toToolFinding = (shown: ShownFinding): ToolFinding =>
    isKnown ? shown : { ...shown, triage: undefined };
  // A run may also have other folders, whose findings and places must not be shown.
  const isInside = ({ run }: Pick<ShownFinding, 'run'>): boolean =>
    run.targets.every((target) => folders.has(target.folder));
  const withPlacesInside = (shown: ToolFinding): ToolFinding =>
    isInside(shown) ? shown : { ...shown, places: shown.places.filter((place) => folders.has(place.folder)) };
  const findingsInside = (all: readonly ShownFinding[] = []): readonly ToolFinding[] =>
    all
      .filter((shown) => isInside(shown) || folders.has(folderOf(shown) ?? ''))
      .map((shown) => withPlacesInside(toToolFinding(shown)));
  return {
    runs: store.shownRuns().map((run) => ({
      ...run,
      shown: findingsInside(run.shown),
      absent: findingsInside(run.absent),
    })),
    place: async (findings) => (await store.placeNow(findings)).map(withPlacesInside),
  };
}
