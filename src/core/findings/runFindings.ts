import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { atOrBelow } from '../paths.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import type { CurrentText } from './drift/followFile.ts';
import type { Finding } from './finding.ts';
import type { Cut } from './parse/parse.ts';
import { asPlaced } from './place/evidence.ts';
import { type MappingMemory, mappingsOf } from './place/mappings.ts';
import { createResolver, type Resolver } from './place/resolver.ts';
import { locateFindings, placesAsReported, RunPlaces, toShownPlace } from './place/runPlaces.ts';
import { knowsSent } from './place/sentFiles.ts';
import { readResult, type ResultSource } from './result/readResult.ts';
import { resultKeyOf, type ResultFinding, type ResultHead } from './result/result.ts';
import { mainPlaceOf, type ShownFinding, type ShownPlace, type ShownRun } from './shownFinding.ts';
import { decide } from './triage/decide.ts';
import { isSettled } from './triage/triage.ts';
import type { TriageStore } from './triage/triageStore.ts';
import { findOwners, type OwnersGap } from './view/owners.ts';

export interface RunFindingsDeps extends ResultSource {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf' | 'onDidChange'>;
  readonly mappings: MappingMemory;
  readonly triage: TriageStore;
  /** The unsaved text of a file (absolute path), which counts instead of the file on disk. */
  readonly textOf: (file: string) => string | undefined;
  /** True for agents: places are shown as reported, and only `placesNow` reads files. */
  readonly isPlacedOnDemand?: boolean | undefined;
  /** Where given, no CODEOWNERS file outside this folder is read. */
  readonly ownersWithin?: string | undefined;
  readonly log: Logger;
}

type Places = readonly ShownPlace[];

/** What a run's result is shown with. */
export interface ShownWith {
  /** The earlier runs that its result takes into account. */
  readonly earlier: readonly Run[];
  /** The run that a person compares it with. */
  readonly compareWith: Run | undefined;
}

/** A finding of the result, where it is now. */
interface Placed {
  readonly found: ResultFinding;
  readonly places: Places;
  readonly evidence: ShownFinding['evidence'];
}

/**
 * The findings of one run. `load` reads its result, and places the findings in files here. `decide` applies the triage decisions to `shown`. `rePlace`
 * repeats the placing for files that change.
 */
export class RunFindings implements ShownRun {
  readonly #deps: RunFindingsDeps;
  #run: Run;
  readonly #with: ShownWith;
  /** Undefined if the findings cannot be read. */
  readonly #head: ResultHead | undefined;
  readonly failure: Failure | undefined;
  readonly #resolver: Resolver | undefined;
  #places: RunPlaces | undefined;
  // Placed findings, owners, and shown findings are in the order of the file.
  #placed: readonly Placed[] = [];
  #owners: readonly (readonly string[] | undefined)[] | undefined;
  #areOwnersRead = false;
  #ownersGaps: readonly OwnersGap[] = [];
  /** For each earlier run, its findings that this run does not report. */
  #absentByRun: readonly RunFindings[] = [];
  #findings: readonly ShownFinding[] = [];
  unlisted = 0;

  private constructor(
    run: Run,
    shownWith: ShownWith,
    deps: RunFindingsDeps,
    head: ResultHead | undefined,
    found: readonly ResultFinding[],
    failure?: Failure,
  ) {
    this.#run = run;
    this.#with = shownWith;
    this.#deps = deps;
    this.#head = head;
    this.failure = failure;
    if (failure === undefined) this.#resolver = toResolver(run, found, deps);
  }

  /**
   * Reads a run's result and places its findings. Findings that cannot be read give a `failure`.
   *
   * - `former`: the run as loaded before. Its files are still followed, and it is returned itself if the failure is the same.
   * - `onSome`: without `former`, gets the first findings before all are placed, those in unchanged files first.
   */
  static async load(
    run: Run,
    shownWith: ShownWith,
    deps: RunFindingsDeps,
    former?: RunFindings,
    onSome?: (early: RunFindings) => void,
  ): Promise<RunFindings> {
    try {
      const [{ head, findings, absent }] = await Promise.all([
        readResult(run, deps, shownWith.compareWith),
        deps.triage.load(run.targets.map(({ folder }) => folder)),
      ]);
      const loaded = new RunFindings(run, shownWith, deps, head, findings);
      await loaded.#place(findings, former, former === undefined ? onSome : undefined);
      await loaded.#placeAbsent(absent, former);
      if (former !== undefined && isDeepStrictEqual(former.#mainFiles(), loaded.#mainFiles())) {
        loaded.#owners = former.#owners;
        loaded.#ownersGaps = former.#ownersGaps;
      }
      loaded.decide();
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
        : new RunFindings(run, shownWith, deps, undefined, [], failure);
    }
  }

  /** True unless the run, or what its result takes into account, has changed, or its findings cannot be read. */
  isCurrent(run: Run, { earlier, compareWith }: ShownWith): boolean {
    if (this.failure !== undefined) return false;
    const former = new Map(this.#with.earlier.map((each) => [each.id, each]));
    return (
      isSameInResult(this.#run, run) &&
      earlier.every((each) => isSameInResult(former.get(each.id), each)) &&
      isSameInResult(this.#with.compareWith, compareWith)
    );
  }

  async #place(
    found: readonly ResultFinding[],
    former: RunFindings | undefined,
    onSome?: (early: RunFindings) => void,
  ): Promise<void> {
    const { decode, textOf, isPlacedOnDemand, runs } = this.#deps;
    if (this.#resolver === undefined) return;
    const findings = found.map(({ finding }) => finding);
    const runFolder = runs.folderOf(this.#run.id);
    const located = await locateFindings(this.#run, runFolder, found, this.#resolver);
    this.#places = new RunPlaces(runFolder, located, decode, former && former.#places);
    const show = (placesOfEach: readonly (Places | undefined)[]): void => {
      this.#placed = found.flatMap((each, at) => {
        const places = placesOfEach[at];
        if (places === undefined) return [];
        const isHere = (place: number): boolean =>
          places.some(({ reported }) => reported === each.finding.places[place]);
        return [{ found: each, places, evidence: asPlaced(each.evidence, isHere) }];
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

  /** Places what only earlier runs report, as far as these runs are still here. */
  async #placeAbsent(absent: readonly ResultFinding[], former: RunFindings | undefined): Promise<void> {
    const judged = absent.filter(({ verdict }) => verdict !== undefined);
    const byRun: RunFindings[] = [];
    let removed = 0;
    for (const [id, found] of Map.groupBy(judged, ({ run }) => run)) {
      const run = this.#deps.runs.get(id);
      if (run === undefined) {
        removed += found.length;
        continue;
      }
      await this.#deps.triage.load(run.targets.map(({ folder }) => folder));
      const loaded = new RunFindings(run, this.#with, this.#deps, undefined, found);
      await loaded.#place(found, former && former.#absentByRun.find((each) => each.run.id === id));
      byRun.push(loaded);
    }
    this.#absentByRun = byRun;
    this.unlisted = removed + (this.#head?.unlisted ?? 0);
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
    return this.#placed.map(({ found: { finding }, places }) => mainPlaceOf({ finding, places })?.file);
  }

  /** Applies the present decisions to `shown`. True if anything changed. */
  decide(): boolean {
    const isAbsentChanged = this.#absentByRun.map((absent) => absent.decide()).includes(true);
    const decided = this.#placed.map((placed, at) => {
      const shown = this.#toShown(placed, this.#owners?.[at]);
      const former = this.#findings[at];
      return former !== undefined && isSameShown(former, shown) ? former : shown;
    });
    const isChanged =
      decided.length !== this.#findings.length || decided.some((shown, at) => shown !== this.#findings[at]);
    this.#findings = decided;
    return isChanged || isAbsentChanged;
  }

  #toShown({ found, places, evidence }: Placed, owners: readonly string[] | undefined): ShownFinding {
    const { finding, folder, identity, sent, isBrief, sameAs } = found;
    const decided = decide({ run: this.#run, found, places }, this.#deps.triage);
    return {
      run: this.#run,
      finding,
      places,
      folder,
      identity,
      sent,
      isBrief,
      ...decided,
      sameAs: sameAs.length === 0 ? undefined : sameAs,
      evidence,
      owners,
    };
  }

  /** Takes the run's present journal entry, and those of the runs it is compared with. True if a label changed. */
  updateRun(run: Run): boolean {
    const isRelabeled = run.label !== this.#run.label;
    this.#run = run;
    const absent = this.#absentByRun.map((each) =>
      each.updateRun(this.#deps.runs.get(each.run.id) ?? each.run),
    );
    return this.decide() || isRelabeled || absent.includes(true);
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
    this.#placed = this.#placed.map((placed) =>
      placed.places.some(({ file }) => texts.has(file))
        ? { ...placed, places: placed.places.map(toPresent) }
        : placed,
    );
    this.decide();
    return true;
  }

  /** The present places of the wanted findings, of this run and of earlier ones that it is compared with; others are left out. */
  async placesNow(wanted: ReadonlySet<Finding>): Promise<ReadonlyMap<Finding, Places>> {
    const absentPlaces = await Promise.all(this.#absentByRun.map((absent) => absent.placesNow(wanted)));
    const places = new Map(absentPlaces.flatMap((placesOfRun) => [...placesOfRun]));
    const found = this.#placed.map((placed) => placed.found).filter(({ finding }) => wanted.has(finding));
    if (this.#resolver === undefined || found.length === 0) return places;
    this.#resolver.forget();
    const { decode, textOf, runs } = this.#deps;
    const runFolder = runs.folderOf(this.#run.id);
    const located = await locateFindings(this.#run, runFolder, found, this.#resolver);
    const present = new RunPlaces(runFolder, located, decode, undefined);
    const findings = found.map(({ finding }) => finding);
    const placed = await present.placesOf(findings, textOf);
    for (const [at, finding] of findings.entries()) places.set(finding, placed[at] ?? []);
    return places;
  }

  get run(): Run {
    return this.#run;
  }

  get cut(): Cut | undefined {
    return this.#head?.cut;
  }

  /** All findings, in the order of the file. */
  get shown(): readonly ShownFinding[] {
    return this.#findings;
  }

  /** Findings that only earlier runs report. Settled ones are included only if the baseline reports them. */
  get absent(): readonly ShownFinding[] {
    const all = this.#absentByRun.flatMap(({ shown }) => shown);
    return all.filter(({ run, triage }) => run.id === this.#head?.baseline?.id || !isSettled(triage.state));
  }

  /** Undefined if the baseline cannot be read, or was removed. */
  get baseline(): Run | undefined {
    return this.#deps.runs.get(this.#head?.baseline?.id ?? '');
  }

  get baselineCut(): Cut | undefined {
    return this.#head?.baseline?.cut;
  }

  get unreadRuns(): readonly Run[] {
    const unread = this.#head?.earlier.filter(({ isUnread }) => isUnread) ?? [];
    return unread.flatMap(({ id }) => this.#deps.runs.get(id) ?? []);
  }

  get changedFiles(): number {
    return this.#places?.changed.size ?? 0;
  }

  get ownersGaps(): readonly OwnersGap[] {
    return this.#ownersGaps;
  }
}

function toResolver(run: Run, found: readonly ResultFinding[], deps: RunFindingsDeps): Resolver {
  // Sent files are in the result: none is searched for here.
  const sent = knowsSent(run, deps.runs.folderOf(run.id)).map((isKnown) =>
    isKnown ? new Map<string, unknown>() : undefined,
  );
  const places = found.flatMap(({ finding }) => finding.places);
  const mappingOf = (folder: string): ReturnType<typeof mappingsOf> => mappingsOf(deps.mappings, folder);
  return createResolver({ targets: run.targets, sent, places, mappingOf });
}

function isSameInResult(one: Run | undefined, other: Run | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || (one.id === other.id && resultKeyOf(one) === resultKeyOf(other));
}

function isSameShown(former: ShownFinding, { owners, ...shown }: ShownFinding): boolean {
  const isSame = (key: keyof typeof shown): boolean => former[key] === shown[key];
  const keys = ['finding', 'places', 'triage', 'decidedBefore', 'verdict', 'sameAs', 'evidence'] as const;
  const isSameRun = former.run.label === shown.run.label;
  return isSameRun && keys.every(isSame) && isDeepStrictEqual(former.owners, owners);
}

/** Whether a file is missing may depend on its letter case, and a name alone does not tell where. */
function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
