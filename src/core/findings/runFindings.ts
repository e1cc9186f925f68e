import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { isSameRun } from './chooseRun.ts';
import { type FindingsOfRun, type FindingsSource, readFindingsOfRun } from './compare/findingsOfRun.ts';
import { type AcrossRuns, isHistoryOf, type RunHistory, traceBack } from './compare/history.ts';
import type { TextNow } from './drift/followFile.ts';
import type { Finding } from './finding.ts';
import type { Cut } from './parse/parse.ts';
import { checkEvidence, type EvidenceOfPlaces } from './place/evidence.ts';
import { mappingsOf } from './place/mappings.ts';
import { locateFindings, placesAsReported, RunPlaces, toShownPlace } from './place/runPlaces.ts';
import type { Decode } from './place/sentFiles.ts';
import type { ShownFinding, ShownPlace, ShownRun } from './shownFinding.ts';
import { decide } from './triage/decide.ts';
import { isSettled, undecided } from './triage/triage.ts';
import type { TriageStore } from './triage/triageStore.ts';
import { findOwners, type OwnersGap } from './view/owners.ts';

/** What the findings of runs are made from. */
export interface RunFindingsDeps extends FindingsSource {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf' | 'onDidChange'>;
  readonly triage: TriageStore;
  /** The text of a file (absolute path) that is edited and not saved: it counts, and not the file on the disk. */
  readonly textOf: (file: string) => string | undefined;
  /** Reads files that are not UTF-8. */
  readonly decode: Decode;
  /** Where true, places are as they were reported until `placesNow` is asked for them. */
  readonly isPlacedWhenAsked?: boolean | undefined;
  /** Where given, no CODEOWNERS file outside this folder is read. */
  readonly ownersWithin?: string | undefined;
  readonly log: Logger;
}

/**
 * The findings of one run, in four steps: `load` reads the findings file and places the findings here, `compare` gives them their history, `checkEvidence` compares quotes
 * with what was sent, and `decide` applies all that, with the decisions, to what is shown. When a file changes, `rePlace` repeats the placing alone.
 */
export class RunFindings implements ShownRun {
  readonly #deps: RunFindingsDeps;
  #run: Run;
  /** As the findings file has them, or why it cannot be read. */
  readonly #read: FindingsOfRun | Failure;
  /** How a person mapped paths when it was loaded: places and evidence depend on it. */
  readonly #mappings: unknown;
  #places: RunPlaces | undefined;
  /** The runs that the findings were compared with, and what these say. */
  #compared: RunHistory | undefined;
  /** Of each finding by its position, as is the evidence. */
  #history: readonly AcrossRuns[];
  #evidence: readonly (EvidenceOfPlaces | undefined)[] | undefined;
  #areOwnersRead = false;
  #owners: readonly (readonly string[] | undefined)[] | undefined;
  #ownersGaps: readonly OwnersGap[] = [];
  /** What this run does not report of earlier ones. */
  #absent: readonly RunFindings[] = [];
  #shown: readonly ShownFinding[] = [];

  private constructor(
    run: Run,
    deps: RunFindingsDeps,
    read: FindingsOfRun | Failure,
    history: readonly AcrossRuns[] = [],
  ) {
    this.#run = run;
    this.#deps = deps;
    this.#read = read;
    this.#history = history;
    this.#mappings = run.targets.map(({ folder }) => mappingsOf(deps.mappings, folder));
  }

  /**
   * Reads a run's findings file and finds its places here; a file that cannot be read gives a `failure`. `former` is the run as it was loaded before: its files are
   * followed on, history and evidence stay (evidence only with equal mappings), and it is returned itself where the failure is still the same.
   * Of a run that was not loaded before, `onUnchanged` gets the findings in files that are as they were sent, before changed files are followed.
   */
  static async load(
    run: Run,
    deps: RunFindingsDeps,
    former?: RunFindings,
    onUnchanged?: (early: RunFindings) => void,
  ): Promise<RunFindings> {
    try {
      const [read] = await Promise.all([
        readFindingsOfRun(run, deps),
        deps.triage.load(run.targets.map(({ folder }) => folder)),
      ]);
      const loaded = new RunFindings(run, deps, read);
      await loaded.#place(read, former, former === undefined ? onUnchanged : undefined);
      if (former !== undefined && isSameRun(former.#run, run)) await loaded.#takeOver(former);
      return loaded;
    } catch (error) {
      const failure = toFailure(
        error instanceof AssessmentError
          ? error
          : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
      );
      deps.log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
      return former !== undefined && isDeepStrictEqual(former.failure, failure)
        ? former
        : new RunFindings(run, deps, failure);
    }
  }

  get run(): Run {
    return this.#run;
  }

  get failure(): Failure | undefined {
    return 'kind' in this.#read ? this.#read : undefined;
  }

  /** All findings, in the order of the file. */
  get shown(): readonly ShownFinding[] {
    return this.#shown;
  }

  /** What earlier runs of its folders reported and this one does not, each with its verdict; settled ones only of the baseline. */
  get absent(): readonly ShownFinding[] {
    return this.#absent
      .flatMap(({ shown }) => shown)
      .filter(({ run, triage }) => run.id === this.baseline?.id || !isSettled(triage.state));
  }

  get cut(): Cut | undefined {
    return this.#found?.cut;
  }

  /** The run that it is compared with first; undefined where that cannot be read. */
  get baseline(): Run | undefined {
    const { earlier = [], baseline } = this.#compared ?? {};
    return earlier.find(({ id }) => id === baseline?.id);
  }

  get baselineCut(): Cut | undefined {
    return this.#compared?.baseline?.cut;
  }

  get ownersGaps(): readonly OwnersGap[] {
    return this.#ownersGaps;
  }

  get changedFiles(): number {
    return this.#places?.changed.size ?? 0;
  }

  get #found(): FindingsOfRun | undefined {
    return 'kind' in this.#read ? undefined : this.#read;
  }

  /** Takes a new name of the run; true when it is one. */
  rename(run: Run): boolean {
    const isRenamed = run.label !== this.#run.label;
    this.#run = run;
    if (isRenamed) this.#shown = this.#shown.map((shown) => ({ ...shown, run }));
    return isRenamed;
  }

  /** Compares the findings with those of the runs before, the latest first; true when anything new is known. */
  async compare(earlier: readonly Run[], baselineId: string | undefined): Promise<boolean> {
    const found = this.#found;
    if (found === undefined) return false;
    const before = { baseline: this.baseline, absent: this.absent.length };
    const known = this.#compared;
    const isKnown = isHistoryOf(known, earlier, baselineId);
    if (isKnown) this.#compared = { ...known, earlier };
    else {
      const { decode } = this.#deps;
      const read = (run: Run): Promise<FindingsOfRun | undefined> => this.#readEarlier(run);
      await this.#takeHistory(await traceBack(found, earlier, baselineId, { read, decode }), []);
    }
    const renamed = this.#absent.map((each) =>
      each.rename(earlier.find(({ id }) => id === each.run.id) ?? each.run),
    );
    const isDecided = this.decide();
    return (
      isDecided ||
      renamed.includes(true) ||
      this.baseline?.id !== before.baseline?.id ||
      this.baseline?.label !== before.baseline?.label ||
      (!isKnown && this.absent.length + before.absent > 0)
    );
  }

  /** Compares quotes and lines with what was sent; true when anything new is known. */
  async checkEvidence(): Promise<boolean> {
    const found = this.#found;
    if (found === undefined || this.#evidence !== undefined) return false;
    const findings = found.findings.map(({ finding }) => finding);
    this.#evidence = await checkEvidence(findings, found.source, this.#deps.decode);
    return this.decide();
  }

  /** Reads who owns the files of main places, unless that was read already or `force` is true; true when anything new is known. */
  async readOwners(force = false): Promise<boolean> {
    let isChanged = false;
    for (const each of this.#absent) isChanged = (await each.readOwners(force)) || isChanged;
    if (this.#areOwnersRead && !force) return isChanged;
    this.#areOwnersRead = true;
    const files = this.#shown.map(({ finding, places }) => mainPlaceOf(finding, places)?.file);
    const { owners, gaps } = await findOwners(
      new Set(files.filter((file) => file !== undefined)),
      this.#deps.ownersWithin,
    );
    this.#owners = files.map((file) => (file === undefined ? undefined : owners.get(file)));
    const isOtherGap = !isDeepStrictEqual(gaps, this.#ownersGaps);
    this.#ownersGaps = gaps;
    return this.decide() || isOtherGap || isChanged;
  }

  /** Applies history, evidence and the decisions that hold now to what is shown; true when any of it changes. */
  decide(): boolean {
    const isAbsentChanged = this.#absent.map((each) => each.decide()).includes(true);
    const decided = this.#shown.map((shown, at) => {
      const own = decide(shown, this.#history[at], this.#evidence?.[at], this.#deps.triage);
      const owners = this.#owners?.[at];
      return isDeepStrictEqual(own.owners, owners) ? own : { ...own, owners };
    });
    const isChanged = decided.some((shown, at) => shown !== this.#shown[at]);
    this.#shown = decided;
    return isChanged || isAbsentChanged;
  }

  /** True when a finding that has no place so far may be in one of these files and folders, which were created or deleted. */
  isMissing(createdOrDeleted: ReadonlySet<string>): boolean {
    const places = this.#places;
    return [...createdOrDeleted].some(
      (path) => !places?.files.has(path) && places?.missing.has(basename(path)),
    );
  }

  /** Places the findings again that are in one of these files, or in one below these folders, by the text that the files have now. True when there are any. */
  async rePlace(changed: ReadonlySet<string>, createdOrDeleted: ReadonlySet<string>): Promise<boolean> {
    const absent = await Promise.all(this.#absent.map((each) => each.rePlace(changed, createdOrDeleted)));
    const texts = new Map<string, TextNow>();
    const look = async (file: string): Promise<void> => {
      const now = await this.#places?.textNow(file, this.#deps.textOf);
      if (now !== undefined) texts.set(file, now);
    };
    const files = [...(this.#places?.files.keys() ?? [])];
    await Promise.all(
      files
        .filter((file) => changed.has(file) || createdOrDeleted.has(file) || isBelow(file, createdOrDeleted))
        .map(look),
    );
    if (texts.size === 0) return absent.includes(true);
    this.#shown = this.#shown.map((shown) =>
      shown.places.some(({ file }) => texts.has(file))
        ? {
            ...shown,
            places: shown.places.map((place) => {
              const now = texts.get(place.file);
              return now === undefined ? place : toShownPlace(place, place.reported, now);
            }),
          }
        : shown,
    );
    return true;
  }

  /** Where those of these findings that are of this run, or absent from it, are by now. */
  async placesNow(wanted: ReadonlySet<Finding>): Promise<ReadonlyMap<Finding, readonly ShownPlace[]>> {
    const absent = await Promise.all(this.#absent.map((each) => each.placesNow(wanted)));
    const places = new Map(absent.flatMap((each) => [...each]));
    const findings = this.#shown.map(({ finding }) => finding).filter((finding) => wanted.has(finding));
    const source = this.#found?.source;
    if (source === undefined || findings.length === 0) return places;
    source.resolver.forget();
    const located = await locateFindings(source.run, findings, source);
    const { decode, textOf } = this.#deps;
    const now = new RunPlaces(source.runFolder, located, decode, undefined);
    const placed = await now.placesOf(findings, textOf);
    for (const [at, finding] of findings.entries()) places.set(finding, placed[at] ?? []);
    return places;
  }

  /** Finds the places here; files that `former` follows are followed on. Those in unchanged files are shown first, if anybody waits for them. */
  async #place(
    { source, findings }: FindingsOfRun,
    former: RunFindings | undefined,
    onUnchanged?: (early: RunFindings) => void,
  ): Promise<void> {
    const { decode, textOf, isPlacedWhenAsked } = this.#deps;
    const all = findings.map(({ finding }) => finding);
    const located = await locateFindings(source.run, all, source);
    this.#places = new RunPlaces(source.runFolder, located, decode, former && former.#places);
    const show = (placed: readonly (readonly ShownPlace[] | undefined)[]): void => {
      this.#shown = findings.flatMap(({ finding, folder, identity }, at) => {
        const places = placed[at];
        return places === undefined
          ? []
          : [{ run: this.#run, finding, folder, identity, places, triage: undecided }];
      });
      this.decide();
    };
    if (isPlacedWhenAsked === true) show(placesAsReported(all, located));
    else
      show(
        await this.#places.placesOf(all, textOf, (placed) => {
          if (onUnchanged === undefined) return;
          show(placed);
          onUnchanged(this);
        }),
      );
  }

  async #takeOver(former: RunFindings): Promise<void> {
    if (isDeepStrictEqual(former.#mappings, this.#mappings)) this.#evidence = former.#evidence;
    this.#owners = former.#owners;
    this.#ownersGaps = former.#ownersGaps;
    if (former.#compared !== undefined) await this.#takeHistory(former.#compared, former.#absent);
    this.decide();
  }

  /** Takes what earlier runs say, and places what they alone report; `former` is that as it was placed before. */
  async #takeHistory(compared: RunHistory, former: readonly RunFindings[]): Promise<void> {
    this.#absent = await Promise.all(
      compared.absent.map(async (found, at) => {
        const { run } = found.source;
        await this.#deps.triage.load(run.targets.map(({ folder }) => folder));
        const absent = new RunFindings(run, this.#deps, found, found.history);
        await absent.#place(found, former[at]);
        return absent;
      }),
    );
    this.#compared = compared;
    this.#history = compared.history;
  }

  async #readEarlier(run: Run): Promise<FindingsOfRun | undefined> {
    try {
      return await readFindingsOfRun(run, this.#deps);
    } catch (error) {
      this.#deps.log.warn(`No run can be compared with run ${run.id}: ${String(error)}`);
      return undefined;
    }
  }
}

function mainPlaceOf({ places: [main] }: Finding, here: readonly ShownPlace[]): ShownPlace | undefined {
  return here.find(({ reported }) => reported === main);
}

function isBelow(file: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  let folder = dirname(file);
  while (!folders.has(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folders.has(folder);
}
