import { join } from 'node:path';
import { markOf } from '../../files.ts';
import { pathInside, realPath } from '../../paths.ts';
import { once } from '../../yieldingWork.ts';
import type { Clock, Logger } from '../../ports.ts';
import { readRuns } from '../../run/disk/journal.ts';
import type { Run } from '../../run/state/run.ts';
import { earlierRuns, FolderChoices, hasFindings } from '../chooseRun.ts';
import { readConfirmations } from '../confirmation.ts';
import type { Finding } from '../finding.ts';
import {
  type CurrentPlaces,
  type EditorTexts,
  followFile,
  type PlacesOfFile,
} from '../place/currentPlaces.ts';
import { utf8Only } from '../place/encodings.ts';
import { ownersFilesFor } from '../place/owners.ts';
import { filesOf, placeFindings } from '../place/placement.ts';
import { addOwners, type PlacedRun, readPlaced, toShownRun } from '../placedRun.ts';
import { createMemory, type ResultSource, withDetails } from '../result/readResult.ts';
import { folderOf, type ShownFinding, withoutOtherFolders } from '../shownFinding.ts';
import { showDecided } from '../triage/decide.ts';
import { type TriagePlace, triagePlaceOf } from '../triage/triageDisk.ts';
import { TriageStore } from '../triage/triageStore.ts';
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
  const memory = createMemory();
  let cached: { readonly marks: string; readonly load: () => Promise<readonly PlacedRun[]> } | undefined;

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
    encodings: () => utf8Only,
    memory,
    isReadOnly: true,
  });

  /** The runs that VS Code shows of the folder by default, with the places that were reported. */
  const readShown = async (found: RunsOfFolder): Promise<readonly PlacedRun[]> => {
    const shown = new Set(chosenOf(found).values());
    const get = (id: string): Run | undefined => found.runs.find((run) => run.id === id);
    const { runs, ...others } = toSource(found);
    const source = { ...others, runs: { ...runs, get }, log: deps.log };
    const read = [...shown].flatMap((run) =>
      run === undefined
        ? []
        : [
            readPlaced(run, source, { mappings: {}, texts: undefined }).then((placed) =>
              addOwners(placed, source),
            ),
          ],
    );
    return Promise.all(read);
  };

  return {
    findings: async () => {
      const found = await readRunsOfFolder();
      const marks = await marksOf(found, runsFolder, folder);
      // Concurrent calls share one reading.
      if (cached?.marks !== marks) cached = { marks, load: once(() => readShown(found)) };
      const loaded = await cached.load();
      // It may work at the next call.
      const isPassing = (kind: string | undefined): boolean => kind === 'storage' || kind === 'workerCrashed';
      if (loaded.some(({ failure }) => isPassing(failure?.kind))) cached = undefined;
      return toToolFindings(loaded, found, stored, deps);
    },
    runs: readRunsOfFolder,
    withDetails: async (findings) => withDetails(findings, toSource(await readRunsOfFolder())),
    confirmationsOf: async ({ name }) => readConfirmations(name, toSource(await readRunsOfFolder())),
    clock: deps.clock,
  };
}

const noTexts: EditorTexts = { edited: new Map(), opened: new Map(), encodings: utf8Only };

/** Changes whenever findings or comparisons may have changed. */
async function marksOf({ runs, folders }: RunsOfFolder, runsFolder: string, folder: string): Promise<string> {
  const files = runs
    .filter(hasFindings)
    .flatMap(({ id }) => ['run.json', 'findings.json'].map((name) => join(runsFolder, id, name)));
  files.push(...ownersFilesFor(folder));
  const marks = await Promise.all(files.map(async (file) => [file, await markOf(file)]));
  return JSON.stringify([...folders, ...marks]);
}

function chosenOf({ runs, folders }: RunsOfFolder): ReadonlyMap<string, Run | undefined> {
  return new FolderChoices().runsToShow(runs, (each) => folders.has(each));
}

async function toToolFindings(
  loaded: readonly PlacedRun[],
  found: RunsOfFolder,
  { storage }: StoredFolder,
  { clock, log }: Deps,
): Promise<ToolFindings> {
  const { runs, folders } = found;
  // Not the shared folder: only decisions in the books of this machine count.
  const placeFor = (each: string): TriagePlace => triagePlaceOf(each, join(storage, 'triage'), false);
  const triage = new TriageStore({ placeFor, clock, log });
  const used = loaded.flatMap(({ run }) => [run, ...earlierRuns(runs, run)]);
  await triage.load(used.flatMap(({ targets }) => targets.map((target) => target.folder)));
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
  const runIds = new Map([...chosenOf(found)].map(([key, run]) => [key, run?.id]));
  const get = (id: string): Run | undefined => runs.find((run) => run.id === id);
  return {
    runs: loaded.map((placed) => {
      const shown = toShownRun(placed, { get }, showDecided(triage));
      const run = withoutOtherFolders(shown, runIds);
      return { ...run, shown: findingsInside(run.shown), absent: findingsInside(run.absent) };
    }),
    place: async (findings) => {
      const places = await placesNow(loaded, findings, join(storage, 'runs'));
      return findings.map((shown) =>
        withPlacesInside({ ...shown, places: places.get(shown.finding) ?? shown.places }),
      );
    },
  };
}

/** The places of findings in the present text of their files, which may have been created since the findings were read. */
async function placesNow(
  loaded: readonly PlacedRun[],
  findings: readonly Pick<ToolFinding, 'run' | 'finding'>[],
  runsFolder: string,
): Promise<ReadonlyMap<Finding, ShownFinding['places']>> {
  const runs = new Map(findings.map(({ run }) => [run.id, run]));
  const wanted = new Set(findings.map(({ finding }) => finding));
  const places = new Map<Finding, ShownFinding['places']>();
  const runFolderOf = (id: string): string => join(runsFolder, id);
  const follow = (some: readonly PlacesOfFile[], texts: EditorTexts): Promise<readonly CurrentPlaces[]> =>
    Promise.all(some.map((each) => followFile(each, texts, runFolderOf)));
  const all = loaded.flatMap(({ result }) =>
    result === undefined ? [] : [...result.findings, ...result.absent],
  );
  for (const [id, ofRun] of Map.groupBy(
    all.map(({ found }) => found),
    ({ run }) => run,
  )) {
    const run = runs.get(id);
    if (run === undefined) continue;
    const files = filesOf(run, runFolderOf(id), ofRun, {});
    const some = ofRun.filter(({ finding }) => wanted.has(finding));
    const placed = await placeFindings(files, some, { texts: noTexts, follow });
    for (const each of placed.findings) places.set(each.found.finding, each.places);
  }
  return places;
}
