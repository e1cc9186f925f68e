import { join } from 'node:path';
import { fileStampOf } from '../../files.ts';
import { pathInside, realPath } from '../../paths.ts';
import type { Clock, Logger } from '../../ports.ts';
import { readRuns, type RunsOnDisk } from '../../run/disk/journal.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { foldersOfRuns, type Run } from '../../run/state/run.ts';
import { FolderChoices } from '../chooseRun.ts';
import { readConfirmations } from '../confirmation.ts';
import type { Location } from '../finding.ts';
import { findingsStampOf } from '../parse/readFindings.ts';
import { type EditorTexts, followFiles } from '../location/currentLocations.ts';
import { utf8Only } from '../location/uploadedFiles.ts';
import { findOwners } from '../location/owners.ts';
import { type Follow, locationsOf } from '../location/locateFindings.ts';
import { locate, type RunView, toFailedView, toView } from '../runView.ts';
import { resultName } from '../result/resultFile.ts';
import {
  createMemory,
  forgetLate,
  readLastResult,
  type ResultSource,
  withDetails,
} from '../result/readResult.ts';
import { folderOf, mainLocationOf, type ShownFinding, type ShownRun } from '../shownFinding.ts';
import { FolderCalls } from '../../yieldingWork.ts';
import { decide } from '../triage/currentDecision.ts';
import { undecided } from '../triage/triage.ts';
import { triagePathsOf } from '../triage/triageFiles.ts';
import { TriageStore } from '../triage/triageStore.ts';
import { type Decide, show } from '../view/show.ts';
import type { ToolFinding, ToolFindings, ToolRun, ToolSource } from './toolAnswers.ts';

/**
 * Answers agents from disk, without VS Code, and writes nothing. Findings are those of the runs
 * that a folder shows by default, with this machine's decisions.
 */

export interface SavedFolder {
  readonly folder: string;
  readonly storage: string;
}

interface Deps {
  readonly workerFile: string;
  readonly clock: Clock;
  readonly log: Logger;
}

interface RunsOfFolder extends RunsOnDisk {
  readonly folders: ReadonlySet<string>;
}

type LastRun = RunView & { readonly savedAt?: number | undefined };

const noTexts: EditorTexts = { edited: new Map(), encodings: utf8Only };

export function savedFindings({ folder, storage }: SavedFolder, deps: Deps): ToolSource {
  const runsFolder = join(storage, 'runs');
  const folderOfRun = (id: string): string => join(runsFolder, id);
  const source: ResultSource = {
    runs: { all: () => [], folderOf: folderOfRun },
    encodings: () => utf8Only,
    workerFile: deps.workerFile,
    memory: createMemory(),
    isReadOnly: true,
  };
  const calls = new FolderCalls(deps.log);
  const load = createLoader(source, deps.log);
  const readHere = (): Promise<RunsOfFolder> => readRunsOfFolder(folder, runsFolder);
  return {
    findings: async () => {
      const { runs, folders } = await readHere();
      const chosen = new FolderChoices().runsToShow(runs, (each) => folders.has(each));
      const loaded = await load([...new Set(chosen.values())].filter((run) => run !== undefined));
      // Only this machine's decisions count, so the shared folder isn't read.
      const pathsFor = (each: string) => triagePathsOf(each, join(storage, 'triage'), false);
      const triage = new TriageStore({ ...deps, calls, pathsFor });
      await triage.load(foldersOfRuns(runs));
      const runIds = new Map([...chosen].map(([key, run]) => [key, run?.id]));
      const get = (id: string): Run | undefined => runs.find((run) => run.id === id);
      const shown = show(loaded, runIds, { runs: { get }, decide: decideIfKnown(loaded, triage) });
      return {
        runs: shown.map((each, at) => toToolRun(each, loaded[at], folders, triage)),
        locate: (findings) => locateShown(findings, loaded, folders, { get, folderOf: folderOfRun }, calls),
      };
    },
    runs: readHere,
    withDetails: (findings) => withDetails(findings, source),
    confirmationsOf: async ({ name }) => {
      const { runs } = await readHere();
      const read = async (run: Run) => (await readLastResult(run, source)).result;
      return readConfirmations(name, { ...source, runs: { ...source.runs, all: () => runs }, read });
    },
    clock: deps.clock,
  };
}

async function readRunsOfFolder(folder: string, runsFolder: string): Promise<RunsOfFolder> {
  if ((await fileStampOf(runsFolder)) === undefined)
    throw new Error(
      `The folder of the stored runs does not exist: ${runsFolder}. Copy the configuration again in VS Code.`,
    );
  const { runs, unread } = await readRuns(runsFolder);
  const folders = new Set<string>();
  for (const named of new Set(foldersOfRuns(runs))) {
    const real = await realPath(named).catch(() => undefined); // The folder may be gone.
    if (real !== undefined && pathInside(folder, real) !== undefined) folders.add(named);
  }
  const runsOfFolder = runs.filter(({ targets }) => targets.some((target) => folders.has(target.folder)));
  return { runs: runsOfFolder, unread, folders };
}

/** Reads results again only if runs or files have changed, or after a failure that may pass. */
function createLoader(
  source: ResultSource,
  log: Logger,
): (runs: readonly Run[]) => Promise<readonly LastRun[]> {
  const { folderOf: folderOfRun } = source.runs;
  let cached: { readonly fileStamps: string; readonly loaded: Promise<readonly LastRun[]> } | undefined;
  const readLast = async (run: Run): Promise<LastRun> => {
    try {
      const { result, savedAt } = await readLastResult(run, source);
      return { ...toView(run, result), savedAt };
    } catch (error) {
      return toFailedView(run, error, log);
    }
  };
  return async (runs) => {
    const filesOf = (run: Run) => [
      fileStampOf(join(folderOfRun(run.id), resultName)),
      findingsStampOf(run, folderOfRun(run.id)),
    ];
    const fileStamps = JSON.stringify([runs.map(({ id }) => id), await Promise.all(runs.flatMap(filesOf))]);
    if (cached?.fileStamps !== fileStamps) cached = { fileStamps, loaded: Promise.all(runs.map(readLast)) };
    const loaded = await cached.loaded;
    const isPassing = (kind = ''): boolean => ['storage', 'workerCrashed', 'notInTime'].includes(kind);
    if (loaded.some(({ failure }) => isPassing(failure?.kind))) {
      cached = undefined;
      forgetLate(source.memory);
    }
    return loaded;
  };
}

/**
 * Decisions are unknown if they could not be read, or for a result that was computed here, without
 * earlier runs: it may lack names that decisions refer to.
 */
function lacksTriage({ savedAt }: Pick<LastRun, 'savedAt'>, triage: TriageStore): boolean {
  return savedAt === undefined || triage.failures().length > 0;
}

function decideIfKnown(loaded: readonly LastRun[], triage: TriageStore): Decide {
  const unknown = new Set(loaded.flatMap((last) => (lacksTriage(last, triage) ? last.found : [])));
  return (found, run, known) =>
    unknown.has(found) ? { triage: undecided, verdict: found.verdict } : decide(found, run, known, triage);
}

function toToolRun(
  { shown, absent, ...run }: ShownRun,
  last: Pick<LastRun, 'savedAt'> = {},
  folders: ReadonlySet<string>,
  triage: TriageStore,
): ToolRun {
  const has = (of: string | undefined): boolean => of !== undefined && folders.has(of);
  // A run may also have other folders, whose findings must not be shown.
  const isHere = (each: ShownFinding): boolean =>
    has(folderOf(each)) || each.run.targets.every((target) => has(target.folder));
  const toTool = (some: readonly ShownFinding[] = []): readonly ToolFinding[] => {
    const here = some.filter(isHere);
    return lacksTriage(last, triage) ? here.map((each) => ({ ...each, lacksTriage: true })) : here;
  };
  const savedAt = run.failure === undefined ? (last.savedAt ?? 'never') : undefined;
  return { ...run, shown: toTool(shown), absent: toTool(absent), savedAt };
}

async function locateShown(
  findings: readonly ToolFinding[],
  loaded: readonly LastRun[],
  folders: ReadonlySet<string>,
  runs: Pick<RunStore, 'get' | 'folderOf'>,
  calls: FolderCalls,
): ReturnType<ToolFindings['locate']> {
  const wanted = new Set(findings.flatMap(({ finding }) => finding.locations));
  const follow: Follow = (files, texts) => followFiles(files, texts, runs.folderOf);
  const isWanted = (location: Location): boolean => wanted.has(location);
  const options = { texts: () => noTexts, follow, isWanted, calls };
  const located = await Promise.all(loaded.map((each) => locate(each, runs, {}, options)));
  const there = new Map(located.flatMap(({ locations }) => [...locations]));
  const shown = findings.map((each) => ({
    ...each,
    locations: locationsOf(each, { locations: there }).filter(({ folder }) => folders.has(folder)),
  }));
  const { owners } = await findOwners(new Set(shown.flatMap((each) => mainLocationOf(each)?.file ?? [])));
  return shown.map((each) => ({ ...each, owners: owners.get(mainLocationOf(each)?.file ?? '') }));
}
