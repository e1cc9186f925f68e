import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { atOrBelow } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { hasSameResults } from './chooseRun.ts';
import { type FindingsOfRun, type FindingsSource, readFindingsOfRun } from './compare/findingsOfRun.ts';
import { type AcrossRuns, isHistoryOf, type RunHistory, traceBack } from './compare/history.ts';
import type { CurrentText } from './drift/followFile.ts';
import type { Finding } from './finding.ts';
import type { Cut } from './parse/parse.ts';
import { checkEvidence, type EvidenceOfPlaces } from './place/evidence.ts';
import { mappingsOf } from './place/mappings.ts';
import { locateFindings, placesAsReported, RunPlaces, toShownPlace } from './place/runPlaces.ts';
import type { Decode } from './place/sentFiles.ts';
import { mainPlaceOf, type ShownFinding, type ShownPlace, type ShownRun } from './shownFinding.ts';
import { decide } from './triage/decide.ts';
import { isSettled, undecided } from './triage/triage.ts';
import type { TriageStore } from './triage/triageStore.ts';
import { findOwners, type OwnersGap } from './view/owners.ts';

export interface RunFindingsDeps extends FindingsSource {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf' | 'onDidChange'>;
  readonly triage: TriageStore;
  /** The unsaved text of a file (absolute path), which counts instead of the file on disk. */
  readonly textOf: (file: string) => string | undefined;
  /** Reads files that are not UTF-8. */
  readonly decode: Decode;
  /** True for agents: places are shown as reported, and only `placesNow` reads files. */
  readonly isPlacedOnDemand?: boolean | undefined;
  /** Where given, no CODEOWNERS file outside this folder is read. */
  readonly ownersWithin?: string | undefined;
  readonly log: Logger;
}

type Places = readonly ShownPlace[];

/**
 * The findings of one run. `load` reads the findings file and places the findings in files here. `assess` compares them with earlier runs, checks their
 * quotes, and looks up owners. `decide` applies all that, and the triage decisions, to `shown`. `rePlace` repeats the placing for files that change.
 */
export class RunFindings implements ShownRun {
  readonly #deps: RunFindingsDeps;
  #run: Run;
  /** The findings as their file has them; undefined if it cannot be read. */
  readonly #found: FindingsOfRun | undefined;
  readonly failure: Failure | undefined;
  /** Places and evidence depend on the path mappings at the time of loading. */
  readonly #mappings: unknown;
  #places: RunPlaces | undefined;
  #compared: RunHistory | undefined;
  // History, evidence, and owners have one item for each finding, in the order of the file.
  #history: readonly AcrossRuns[] = [];
  #evidence: readonly (EvidenceOfPlaces | undefined)[] | undefined;
  #owners: readonly (readonly string[] | undefined)[] | undefined;
  #areOwnersRead = false;
  #ownersGaps: readonly OwnersGap[] = [];
  /** For each earlier run, its findings that this run does not report. */
  #absentByRun: readonly RunFindings[] = [];
  #findings: readonly ShownFinding[] = [];

  private constructor(run: Run, deps: RunFindingsDeps, found: FindingsOfRun | undefined, failure?: Failure) {
    this.#run = run;
    this.#deps = deps;
    this.#found = found;
    this.failure = failure;
    this.#mappings = run.targets.map(({ folder }) => mappingsOf(deps.mappings, folder));
  }

  /**
   * Reads a run's findings file and places its findings. A file that cannot be read gives a `failure`.
   *
   * - `former`: the run as loaded before. Its files are still followed, and it is returned itself if the failure is the same. Its history and evidence
   *   are kept while the run has the same results.
   * - `onSome`: without `former`, gets the first findings before all are placed, those in unchanged files first.
   */
  static async load(
    run: Run,
    deps: RunFindingsDeps,
    former?: RunFindings,
    onSome?: (early: RunFindings) => void,
  ): Promise<RunFindings> {
    try {
      const [found] = await Promise.all([
        readFindingsOfRun(run, deps),
        deps.triage.load(run.targets.map(({ folder }) => folder)),
      ]);
      const loaded = new RunFindings(run, deps, found);
      await loaded.#place(found, former, former === undefined ? onSome : undefined);
      if (former !== undefined && hasSameResults(former.#run, run)) await loaded.#reuse(former);
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
        : new RunFindings(run, deps, undefined, failure);
    }
  }

  async #place(
    { source, findings: found }: FindingsOfRun,
    former: RunFindings | undefined,
    onSome?: (early: RunFindings) => void,
  ): Promise<void> {
    const { decode, textOf, isPlacedOnDemand } = this.#deps;
    const findings = found.map(({ finding }) => finding);
    const located = await locateFindings(source.run, findings, source);
    this.#places = new RunPlaces(source.runFolder, located, decode, former && former.#places);
    const show = (placesOfEach: readonly (Places | undefined)[]): void => {
      this.#findings = found.flatMap(({ finding, folder, identity }, at) => {
        const places = placesOfEach[at];
        if (places === undefined) return [];
        return [{ run: this.#run, finding, folder, identity, places, triage: undecided }];
      });
      this.decide();
    };
    if (isPlacedOnDemand === true) {
      show(placesAsReported(findings, located));
      return;
    }
    const places = await this.#places.placesOf(findings, textOf, (some) => {
      if (onSome === undefined) return;
      show(some);
      onSome(this);
    });
    show(places);
  }

  /** Takes from the same run, as loaded before, what a new reading of its file does not change. */
  async #reuse(former: RunFindings): Promise<void> {
    if (isDeepStrictEqual(former.#mappings, this.#mappings)) this.#evidence = former.#evidence;
    this.#owners = former.#owners;
    this.#ownersGaps = former.#ownersGaps;
    if (former.#compared !== undefined) await this.#applyHistory(former.#compared, former.#absentByRun);
    this.decide();
  }

  /** Compares with earlier runs (latest first), checks quotes, and looks up owners, each unless that is done. True if anything changed. */
  async assess(earlier: readonly Run[], baselineId: string | undefined): Promise<boolean> {
    const isCompared = await this.#compare(earlier, baselineId);
    const isChecked = await this.#checkEvidence();
    const hasNewOwners = await this.readOwners();
    return isCompared || isChecked || hasNewOwners;
  }

  async #compare(earlier: readonly Run[], baselineId: string | undefined): Promise<boolean> {
    const found = this.#found;
    if (found === undefined) return false;
    const [baselineBefore, absentBefore] = [this.baseline, this.absent.length];
    const compared = this.#compared;
    const isUpToDate = isHistoryOf(compared, earlier, baselineId);
    if (isUpToDate) this.#compared = { ...compared, earlier };
    else {
      const { decode } = this.#deps;
      const read = (run: Run): Promise<FindingsOfRun | undefined> => this.#readEarlier(run);
      await this.#applyHistory(await traceBack(found, earlier, baselineId, { read, decode }), []);
    }
    const relabeled = this.#absentByRun.map((absent) =>
      absent.updateRun(earlier.find(({ id }) => id === absent.run.id) ?? absent.run),
    );
    const isDecided = this.decide();
    return (
      isDecided ||
      relabeled.includes(true) ||
      this.baseline?.id !== baselineBefore?.id ||
      this.baseline?.label !== baselineBefore?.label ||
      (!isUpToDate && this.absent.length + absentBefore > 0)
    );
  }

  async #readEarlier(run: Run): Promise<FindingsOfRun | undefined> {
    try {
      return await readFindingsOfRun(run, this.#deps);
    } catch (error) {
      this.#deps.log.warn(`No run can be compared with run ${run.id}: ${String(error)}`);
      return undefined;
    }
  }

  /** Takes a comparison's results, and places what only earlier runs report. `former` are these findings as placed before. */
  async #applyHistory(compared: RunHistory, former: readonly RunFindings[]): Promise<void> {
    this.#absentByRun = await Promise.all(
      compared.absent.map(async (found, at) => {
        const { run } = found.source;
        await this.#deps.triage.load(run.targets.map(({ folder }) => folder));
        const absent = new RunFindings(run, this.#deps, found);
        absent.#history = found.history;
        await absent.#place(found, former[at]);
        return absent;
      }),
    );
    this.#compared = compared;
    this.#history = compared.history;
  }

  /** Compares quotes and lines with what was sent. */
  async #checkEvidence(): Promise<boolean> {
    const found = this.#found;
    if (found === undefined || this.#evidence !== undefined) return false;
    const findings = found.findings.map(({ finding }) => finding);
    this.#evidence = await checkEvidence(findings, found.source, this.#deps.decode);
    return this.decide();
  }

  /** Looks up who owns the files of main places, if not done yet or if `force` is true. True if anything changed. */
  async readOwners(force = false): Promise<boolean> {
    const pending = [this, ...this.#absentByRun].filter((each) => force || !each.#areOwnersRead);
    if (pending.length === 0) return false;
    const files = pending.flatMap((each) => each.#mainFiles()).filter((file) => file !== undefined);
    const { workerFile, ownersWithin } = this.#deps;
    const { owners, gaps } = await findOwners(new Set(files), workerFile, ownersWithin);
    for (const each of pending) {
      each.#areOwnersRead = true;
      each.#owners = each.#mainFiles().map((file) => (file === undefined ? undefined : owners.get(file)));
    }
    const hasNewGaps = pending.includes(this) && !isDeepStrictEqual(gaps, this.#ownersGaps);
    if (hasNewGaps) this.#ownersGaps = gaps;
    return this.decide() || hasNewGaps;
  }

  #mainFiles(): readonly (string | undefined)[] {
    return this.#findings.map((shown) => mainPlaceOf(shown)?.file);
  }

  /** Applies history, evidence, owners, and the present decisions to `shown`. True if anything changed. */
  decide(): boolean {
    const isAbsentChanged = this.#absentByRun.map((absent) => absent.decide()).includes(true);
    const decided = this.#findings.map((shown, at) => {
      const withTriage = decide(shown, this.#history[at], this.#evidence?.[at], this.#deps.triage);
      const owners = this.#owners?.[at];
      return isDeepStrictEqual(withTriage.owners, owners) ? withTriage : { ...withTriage, owners };
    });
    const isChanged = decided.some((shown, at) => shown !== this.#findings[at]);
    this.#findings = decided;
    return isChanged || isAbsentChanged;
  }

  /** Takes the run's present journal entry. True if its label changed. */
  updateRun(run: Run): boolean {
    const isRelabeled = run.label !== this.#run.label;
    this.#run = run;
    if (isRelabeled) this.#findings = this.#findings.map((shown) => ({ ...shown, run }));
    return isRelabeled;
  }

  /** True if a finding without a place may be in one of these files and folders: then the store loads the run again. */
  mayPlaceMore(createdOrDeleted: ReadonlySet<string>): boolean {
    const places = this.#places;
    if (places === undefined || createdOrDeleted.size === 0) return false;
    const isPlaced = atOrBelow(places.files.keys());
    const missing = new Set([...places.missing].map(caseless));
    return [...createdOrDeleted].some((path) => !isPlaced(path) && missing.has(caseless(basename(path))));
  }

  /** Places findings by the present text of these files, and of all files below created or deleted folders. True if there are any. */
  async rePlace(changed: ReadonlySet<string>, createdOrDeleted: ReadonlySet<string>): Promise<boolean> {
    const absent = await Promise.all(
      this.#absentByRun.map((each) => each.rePlace(changed, createdOrDeleted)),
    );
    const files = [...(this.#places?.files.keys() ?? [])].filter(
      atOrBelow([...changed, ...createdOrDeleted]),
    );
    const texts = new Map<string, CurrentText>();
    const readText = async (file: string): Promise<void> => {
      const text = await this.#places?.currentText(file, this.#deps.textOf);
      if (text !== undefined) texts.set(file, text);
    };
    await Promise.all(files.map(readText));
    if (texts.size === 0) return absent.includes(true);
    const toPresent = (place: ShownPlace): ShownPlace => {
      const text = texts.get(place.file);
      return text === undefined ? place : toShownPlace(place, place.reported, text);
    };
    this.#findings = this.#findings.map((shown) =>
      shown.places.some(({ file }) => texts.has(file))
        ? { ...shown, places: shown.places.map(toPresent) }
        : shown,
    );
    return true;
  }

  /** The present places of the wanted findings, of this run and of earlier ones that it is compared with; others are left out. */
  async placesNow(wanted: ReadonlySet<Finding>): Promise<ReadonlyMap<Finding, Places>> {
    const absentPlaces = await Promise.all(this.#absentByRun.map((absent) => absent.placesNow(wanted)));
    const places = new Map(absentPlaces.flatMap((placesOfRun) => [...placesOfRun]));
    const findings = this.#findings.map(({ finding }) => finding).filter((finding) => wanted.has(finding));
    const source = this.#found?.source;
    if (source === undefined || findings.length === 0) return places;
    source.resolver.forget();
    const located = await locateFindings(source.run, findings, source);
    const { decode, textOf } = this.#deps;
    const present = new RunPlaces(source.runFolder, located, decode, undefined);
    const placed = await present.placesOf(findings, textOf);
    for (const [at, finding] of findings.entries()) places.set(finding, placed[at] ?? []);
    return places;
  }

  get run(): Run {
    return this.#run;
  }

  get cut(): Cut | undefined {
    return this.#found?.cut;
  }

  /** All findings, in the order of the file. */
  get shown(): readonly ShownFinding[] {
    return this.#findings;
  }

  /** Findings that only earlier runs report. Settled ones are included only if the baseline reports them. */
  get absent(): readonly ShownFinding[] {
    const all = this.#absentByRun.flatMap(({ shown }) => shown);
    return all.filter(({ run, triage }) => run.id === this.baseline?.id || !isSettled(triage.state));
  }

  /** Undefined if the baseline cannot be read. */
  get baseline(): Run | undefined {
    const { earlier = [], baseline } = this.#compared ?? {};
    return earlier.find(({ id }) => id === baseline?.id);
  }

  get baselineCut(): Cut | undefined {
    return this.#compared?.baseline?.cut;
  }

  get unreadRuns(): readonly Run[] {
    return this.#compared?.unread ?? [];
  }

  get changedFiles(): number {
    return this.#places?.changed.size ?? 0;
  }

  get ownersGaps(): readonly OwnersGap[] {
    return this.#ownersGaps;
  }
}

/** Whether a file is missing may depend on its letter case, and a name alone does not tell where. */
function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
