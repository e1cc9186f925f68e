import { basename, dirname } from 'node:path';
import type { Logger } from '../ports.ts';
import type { Failure, Run } from '../run/state/run.ts';
import { changesSince, type FindingName } from './compare.ts';
import type { Decode } from './place/decodeText.ts';
import { decisionFolders } from './triage/findingFolder.ts';
import type { ShownFinding } from './shownFinding.ts';
import { isSameRun } from './shownRun.ts';
import type { PathMapping } from './place/pathMappings.ts';
import type { Cut } from './parse/parse.ts';
import { readFailure, type ReadRun, readRun } from './readRun.ts';
import { toShownPlace } from './place/runPlaces.ts';
import { inSlices } from '../yieldingWork.ts';
import type { TextNow } from './drift/trackedFile.ts';
import { type TriageDecision, undecided } from './triage/triage.ts';
import type { TriageStore } from './triage/triageStore.ts';

/** What reading a run works with. */
export interface LoadDeps {
  readonly folderOf: (runId: string) => string;
  readonly triage: TriageStore;
  readonly mappingOf: (folder: string) => readonly PathMapping[];
  /** The text of a file that is being edited. */
  readonly textOf: (file: string) => string | undefined;
  readonly decode: Decode;
  /** The parsing worker's entry. */
  readonly workerFile: string | URL;
  /** The run to compare a run with, if any. */
  readonly baselineOf: (run: Run) => Run | undefined;
  /** What that run found; undefined when it cannot be read. */
  readonly namesBefore: (run: Run, baseline: Run) => Promise<readonly FindingName[] | undefined>;
  readonly log: Logger;
}

/** The main file of each finding that was renewed, undefined for one without a place. */
export type RenewedFiles = ReadonlySet<string | undefined>;

/** The findings of a run, kept up to date with decisions about them and with the text of their files. */
export class LoadedRun {
  readonly cut: Cut | undefined;
  readonly failure: Failure | undefined;
  readonly #triage: TriageStore;
  readonly #places: ReadRun['places'] | undefined;
  readonly #byFile: ReadonlyMap<string, readonly number[]>;
  #run: Run;
  /** What the findings are compared with; it could be read. */
  #baseline: Run | undefined;
  #shown: readonly ShownFinding[];
  /** Of the decisions that they have. */
  #triageVersion: number;

  private constructor(
    run: Run,
    triage: TriageStore,
    found: ReadRun | Failure,
    { shown, byFile }: Shown,
    triageVersion: number,
  ) {
    this.#run = run;
    this.#triage = triage;
    this.#triageVersion = triageVersion;
    this.failure = 'kind' in found ? found : undefined;
    this.cut = 'kind' in found ? undefined : found.cut;
    this.#places = 'kind' in found ? undefined : found.places;
    this.#shown = shown;
    this.#byFile = byFile;
  }

  /** Reads a run; a findings file that cannot be read gives a `failure`. `former` is the same run as it was read before. */
  static async load(run: Run, deps: LoadDeps, former?: LoadedRun): Promise<LoadedRun> {
    try {
      const found = await readRun(run, deps.folderOf(run.id), deps, former && former.#places);
      await deps.triage.load(run.targets.map((target) => target.folder));
      const { version } = deps.triage;
      const shown = await inSlices(toShown(run, found.findings, deps.triage));
      const loaded = new LoadedRun(run, deps.triage, found, shown, version);
      await loaded.renewRun(run, deps);
      return loaded;
    } catch (error) {
      const failure = readFailure(error);
      deps.log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
      return new LoadedRun(run, deps.triage, failure, { shown: [], byFile: new Map() }, deps.triage.version);
    }
  }

  /** As it was last taken over. */
  get run(): Run {
    return this.#run;
  }

  /** All findings, in the order of the file. */
  get shown(): readonly ShownFinding[] {
    return this.#shown;
  }

  /** How many files with findings are not as they were scanned. */
  get changedFiles(): number {
    return this.#places?.changed.size ?? 0;
  }

  /** True for a file that a finding points at. */
  has(file: string): boolean {
    return this.#byFile.has(file);
  }

  /** The files in these folders, at any depth, that a finding points at. */
  filesBelow(folders: ReadonlySet<string>): readonly string[] {
    return [...this.#byFile.keys()].filter((file) => {
      let folder = dirname(file);
      while (!folders.has(folder) && folder !== dirname(folder)) folder = dirname(folder);
      return folders.has(folder);
    });
  }

  /** True for a file or a folder in which a finding may be that has no place so far. */
  isAwaited(file: string): boolean {
    return this.#places?.missing.has(basename(file)) ?? false;
  }

  /** Takes over a person's name for the run, and the run that it is compared with once that can be read; true when either is another one. */
  async renewRun(run: Run, { baselineOf, namesBefore }: LoadDeps): Promise<boolean> {
    const baseline = baselineOf(run);
    const isRenamed = run.label !== this.#run.label;
    if (!isRenamed && isSameRun(baseline, this.#baseline)) return false;
    const names = baseline && (await namesBefore(run, baseline));
    const known = names && baseline;
    if (!isRenamed && isSameRun(known, this.#baseline)) return false;
    const changeOf = names && changesSince(this.#shown, names);
    this.#run = run;
    this.#baseline = known;
    this.#shown = this.#shown.map((shown) => ({ ...shown, run, change: changeOf?.(shown) }));
    return true;
  }

  /** Takes over decisions. */
  renewTriage(): RenewedFiles {
    if (this.#triage.version === this.#triageVersion) return new Set();
    this.#triageVersion = this.#triage.version;
    return this.#renew(this.#shown.keys(), (shown) => {
      const triage = decisionAbout(shown, this.#triage);
      return triage === shown.triage ? shown : { ...shown, triage };
    });
  }

  /** True when a file can be followed at once. */
  isReady(file: string): boolean {
    return this.#places === undefined || !this.has(file) || this.#places.isReady(file);
  }

  /** Reads what following a file takes. */
  async prepare(file: string): Promise<void> {
    await this.#places?.prepare(file);
  }

  /** Takes over the text of a file that is ready. */
  renewText(file: string, text: string): RenewedFiles {
    return this.#renewPlaces(file, this.#places?.look(file, text));
  }

  /** Takes over the text of a file as it is on the disk, unless it is being edited by then. */
  async renewFromDisk(file: string, isEdited: () => boolean): Promise<RenewedFiles> {
    if (!this.has(file)) return new Set();
    const now = await this.#places?.lookAtDisk(file);
    return isEdited() ? new Set() : this.#renewPlaces(file, now);
  }

  #renewPlaces(file: string, now: TextNow | undefined): RenewedFiles {
    if (now === undefined) return new Set();
    return this.#renew(this.#byFile.get(file) ?? [], (shown) => {
      const places = shown.places.map((place) =>
        place.file === file ? toShownPlace(place, place.told, now) : place,
      );
      return { ...shown, places };
    });
  }

  #renew(positions: Iterable<number>, change: (shown: ShownFinding) => ShownFinding): RenewedFiles {
    const files = new Set<string | undefined>();
    const renewed = [...this.#shown];
    for (const at of positions) {
      const shown = renewed[at];
      if (shown === undefined) continue;
      const next = change(shown);
      if (next !== shown) files.add(next.places[0]?.file);
      renewed[at] = next;
    }
    this.#shown = renewed;
    return files;
  }
}

/** Findings as they are shown, and the positions of those with a place in a file. */
interface Shown {
  readonly shown: readonly ShownFinding[];
  readonly byFile: ReadonlyMap<string, readonly number[]>;
}

function* toShown(run: Run, findings: ReadRun['findings'], triage: TriageStore): Generator<undefined, Shown> {
  const shown: ShownFinding[] = [];
  const byFile = new Map<string, number[]>();
  for (const each of findings) {
    const one = { run, ...each, triage: undecided };
    one.triage = decisionAbout(one, triage);
    const at = shown.push(one) - 1;
    for (const { file } of one.places) {
      const positions = byFile.get(file);
      if (positions === undefined) byFile.set(file, [at]);
      else if (positions.at(-1) !== at) positions.push(at);
    }
    yield;
  }
  return { shown, byFile };
}

/** What was decided about a finding. */
function decisionAbout(shown: ShownFinding, triage: TriageStore): TriageDecision {
  for (const folder of decisionFolders(shown)) {
    const decision = triage.of(folder, shown.identity);
    if (decision !== undefined) return decision;
  }
  return undecided;
}
