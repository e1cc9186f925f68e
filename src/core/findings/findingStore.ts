import { AssessmentError, isAbortError } from '../errors.ts';
import { atOrBelow, isSamePath, pathKey } from '../paths.ts';
import { type Disposable, Emitter, type Event, type Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, isFinal, type Run } from '../run/state/run.ts';
import { type FolderCalls, inBackground, inSlices, untilAborted } from '../yieldingWork.ts';
import { baselineAmong, earlierRuns, FolderChoices, hasFindings } from './chooseRun.ts';
import { type Confirmation, readConfirmations } from './confirmation.ts';
import { allowReading } from './parse/readFindings.ts';
import type { EditorTexts } from './place/currentPlaces.ts';
import { addMapping, forgetMappings, type MappingMemory, readMappings } from './place/mappings.ts';
import {
  addOwners,
  comparePlaced,
  mayHaveMissing,
  placeAgain,
  type PlacedRun,
  readPlaced,
  shownFindings,
  toShownRun,
} from './placedRun.ts';
import type { Detailable, Detailed } from './result/resultFile.ts';
import {
  isCurrent,
  readItem,
  readResult,
  type ResultSource,
  savedResult,
  withDetails,
} from './result/readResult.ts';
import {
  areSameShown,
  decisionFolders,
  type ShownFinding,
  type ShownRun,
  toTriageSubjects,
  withoutOtherFolders,
} from './shownFinding.ts';
import { showDecided, type ShowFinding } from './triage/decide.ts';
import type { TriageDecision, TriageState } from './triage/triage.ts';
import type { NewDecision, TriageStore, UndoDecisions } from './triage/triageStore.ts';

interface Deps extends ResultSource {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf' | 'onDidChange'>;
  readonly triage: TriageStore;
  readonly mappings: MappingMemory;
  readonly calls: Pick<FolderCalls, 'ask'>;
  /** What editors have of the wanted files (absolute paths). */
  readonly texts: (isWanted: (file: string) => boolean) => EditorTexts;
  readonly log: Logger;
  readonly isOpenHere: (folder: string) => boolean;
}

/** A run that a person compares with an earlier run: `absent` holds only findings of that run. */
export type Comparison = ShownRun & { readonly baseline: Run };

interface ChangedFiles {
  readonly changed: ReadonlySet<string>;
  readonly createdOrDeleted: ReadonlySet<string>;
}

interface Compared {
  readonly run: Run;
  readonly baseline: Run;
}

interface Shown {
  readonly placed: readonly PlacedRun[];
  /** The ID of the run that each folder shows of each subject, by `folderSubjectKey`. */
  readonly runIds: ReadonlyMap<string, string | undefined>;
  readonly compared: Compared | undefined;
  readonly baseline: PlacedRun | undefined;
  readonly isComplete: boolean;
}

/**
 * The findings that the editor shows: for each open folder and subject, those of one run. `load` chooses the runs, and reads the result of each with its
 * places. `rePlace` follows edits. The rest reads what is shown, or carries out what a person chose.
 */
export class FindingStore implements Disposable {
  readonly #deps: Deps;
  readonly #changed: Emitter<void>;
  readonly #subscriptions: readonly Disposable[];
  readonly #choices = new FolderChoices();
  #compared: Compared | undefined;
  #shown: Shown = {
    placed: [],
    runIds: new Map(),
    compared: undefined,
    baseline: undefined,
    isComplete: true,
  };
  #shownRuns: readonly ShownRun[] = [];
  #byName: ReadonlyMap<string, readonly ShownFinding[]> | undefined;
  readonly #showFinding: ShowFinding;
  readonly #failures = new Map<string, Failure>();
  /** Reading and placing run one at a time, so that each starts from the value of the one before. */
  #queue: Promise<unknown> = Promise.resolve();
  #waiting: (ChangedFiles & { readonly done: Promise<void> }) | undefined;
  /** Set by any forced request and cleared by the next load, so that many requests during one load become one more. */
  #mustForce = false;
  #chosen: readonly Run[] = [];
  /** Aborted when a person no longer wants the findings that are being read. */
  #wanted = new AbortController();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#showFinding = showDecided(deps.triage);
    this.#changed = new Emitter(deps.log);
    this.onDidChange = this.#changed.event;
    this.#subscriptions = [
      deps.runs.onDidChange((changed) => {
        const isShown = ({ id }: Run): boolean => this.#shownRuns.some(({ run }) => run.id === id);
        if (changed.some((run) => isFinal(run) || isShown(run))) inBackground(this.load(), deps.log);
      }),
      deps.triage.onDidChange(() => this.#show(this.#shown)),
    ];
  }

  readonly onDidChange: Event<void>;

  /** Loads the runs to show. One that is shown is read again if `force` is true, if reading failed before, or if its result or an earlier one has changed. */
  async load({ force = false } = {}): Promise<void> {
    this.#mustForce ||= force;
    try {
      await this.#enqueue(() => this.#loadChosen());
    } catch (error) {
      if (!isAbortError(error)) throw error;
    }
  }

  /** The runs to show that are not read yet. */
  reading(): readonly Run[] {
    return this.#chosen.filter(({ id }) => !this.#shown.placed.some(({ run }) => run.id === id));
  }

  async #loadChosen(): Promise<void> {
    const force = this.#mustForce;
    this.#mustForce = false;
    const { runs, runIds } = this.#chooseRuns();
    const wasReading = this.reading().length;
    this.#chosen = runs;
    if (this.reading().length !== wasReading) this.#changed.fire();
    const showEarly = (early: PlacedRun): void => {
      const others = this.#shown.placed.filter(
        ({ run }) => run.id !== early.run.id && runs.some(({ id }) => id === run.id),
      );
      this.#show({ ...this.#shown, placed: [...others, early], runIds, isComplete: false });
    };
    const placed = await Promise.all(runs.map((run) => this.#read(run, { force, showEarly })));
    const compared = this.#compared;
    const baseline = compared && (await this.#read(compared.baseline, { force }));
    this.#show({ placed, runIds, compared, baseline, isComplete: true });
    // After findings are shown: that takes a worker, and most folders have none.
    await this.#showEach((each) => addOwners(each, this.#deps));
  }

  async #showEach(make: (placed: PlacedRun) => Promise<PlacedRun>): Promise<void> {
    const { placed, baseline } = this.#shown;
    const present = await Promise.all(placed.map(make));
    this.#show({ ...this.#shown, placed: present, baseline: baseline && (await make(baseline)) });
  }

  #chooseRuns(): { readonly runs: readonly Run[]; readonly runIds: ReadonlyMap<string, string | undefined> } {
    const all = this.#deps.runs.all();
    const chosen = this.#choices.runsToShow(all, this.#deps.isOpenHere);
    const runs = [...new Set(chosen.values())].filter((run) => run !== undefined);
    const isThere = (run: Run | undefined, among: readonly Run[]): boolean =>
      among.some((each) => each.id === run?.id && hasFindings(each));
    const { run, baseline } = this.#compared ?? {};
    if (!isThere(run, runs) || !isThere(baseline, all)) this.#compared = undefined;
    return { runs, runIds: new Map([...chosen].map(([key, each]) => [key, each?.id])) };
  }

  /** A run with its places: the one that is shown, unless it must be read again. `showEarly` gets a run that is not shown yet, before all is known. */
  async #read(
    run: Run,
    { force = false, showEarly }: { force?: boolean; showEarly?: (early: PlacedRun) => void } = {},
  ): Promise<PlacedRun> {
    const { runs, triage, mappings, texts } = this.#deps;
    const present = runs.get(run.id) ?? run;
    const former = this.#placed().find((placed) => placed.run.id === run.id);
    const used = [present, ...earlierRuns(runs.all(), present)];
    await triage.load(used.flatMap(({ targets }) => targets.map(({ folder }) => folder)));
    const isUpToDate =
      !force &&
      former?.result !== undefined &&
      (await isCurrent(former.result.head, present, this.#deps).catch(() => false)); // reading says why
    if (isUpToDate) return former;
    const onFirst = former === undefined ? showEarly : undefined;
    const placing = { mappings: readMappings(mappings), texts: () => texts(() => true), onFirst };
    const placed = await readPlaced(present, this.#deps, placing, this.#wanted.signal);
    if (placed.failure === undefined) this.#failures.delete(run.id);
    else this.#failures.set(run.id, placed.failure);
    // Deciding about all at once would block the thread.
    await inSlices(shownFindings(placed, runs, this.#showFinding));
    return placed;
  }

  #placed(): readonly PlacedRun[] {
    const { placed, baseline } = this.#shown;
    return baseline === undefined ? placed : [...placed, baseline];
  }

  /** Places findings again in files that were edited, created, or deleted (absolute paths). Loads again if a finding without a place may have one. */
  rePlace(changed: ReadonlySet<string>, createdOrDeleted: ReadonlySet<string> = new Set()): Promise<void> {
    const waiting = this.#waiting;
    const files = {
      changed: new Set([...changed, ...(waiting?.changed ?? [])]),
      createdOrDeleted: new Set([...createdOrDeleted, ...(waiting?.createdOrDeleted ?? [])]),
    };
    const done = waiting?.done ?? this.#enqueue(() => this.#placeWaiting());
    this.#waiting = { ...files, done };
    return done;
  }

  /** Changes come in bursts: those that come while others wait for their turn are placed with these. */
  async #placeWaiting(): Promise<void> {
    const { changed = new Set<string>(), createdOrDeleted = new Set<string>() } = this.#waiting ?? {};
    this.#waiting = undefined;
    for (const each of this.#placed())
      if (await mayHaveMissing(each, createdOrDeleted)) {
        this.#mustForce = true;
        return this.#loadChosen();
      }
    const files = new Set([...changed, ...createdOrDeleted]);
    const isIn = atOrBelow(files);
    const { mappings, texts } = this.#deps;
    const placing = { mappings: readMappings(mappings), texts: () => texts(isIn) };
    await this.#showEach(async (each) =>
      addOwners(await placeAgain(each, isIn, this.#deps, placing), this.#deps, files),
    );
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined); // the caller gets the error
    return done;
  }

  /** Shows runs with the present decisions. Fires if people would see a difference. */
  #show(shown: Shown): void {
    const all = shown.placed.map((placed) => {
      const isCompared = placed.run.id === shown.compared?.run.id;
      const present = isCompared && shown.baseline ? comparePlaced(placed, shown.baseline) : placed;
      return toShownRun(present, this.#deps.runs, this.#showFinding);
    });
    const shownRuns = all.map((each) => withoutOtherFolders(each, shown.runIds, all));
    const { isComplete, compared } = this.#shown;
    const isSame =
      areSameShown(this.#shownRuns, shownRuns) &&
      isComplete === shown.isComplete &&
      compared === shown.compared;
    this.#shown = shown;
    this.#shownRuns = shownRuns;
    this.#byName = undefined;
    if (!isSame) this.#changed.fire();
  }

  shownRuns(): readonly ShownRun[] {
    return this.#shownRuns;
  }

  /** False until all that is shown is placed: findings are counted only then. */
  isComplete(): boolean {
    return this.#shown.isComplete;
  }

  all(): readonly ShownFinding[] {
    return this.#shownRuns.flatMap(({ shown }) => shown);
  }

  absent(): readonly ShownFinding[] {
    return this.#shownRuns.flatMap(({ absent = [] }) => absent);
  }

  /** A shown finding, by the local ID of its run and its name, which it keeps if the run is downloaded again. */
  find(runId: string, name: string): ShownFinding | undefined {
    this.#byName ??= Map.groupBy([...this.all(), ...this.absent()], (each) => each.name);
    return this.#byName.get(name)?.find(({ run }) => run.id === runId);
  }

  failureOf(runId: string): Failure | undefined {
    return this.#failures.get(runId);
  }

  /**
   * All findings of a run, assessed, whether they are shown or not. A file that cannot be read gives a `failure`. Throws the signal's reason; the run is
   * read all the same.
   */
  read(run: Run, signal?: AbortSignal): Promise<ShownRun> {
    const read = this.#enqueue(async () => {
      const failed = this.#failures.get(run.id);
      const placed = await addOwners(await this.#read(run), this.#deps);
      const isShown = this.#shown.placed.some((each) => each.run.id === run.id);
      if (isShown) {
        const present = this.#shown.placed.map((each) => (each.run.id === run.id ? placed : each));
        this.#show({ ...this.#shown, placed: present });
      } else if (failed?.kind !== placed.failure?.kind) this.#changed.fire();
      return toShownRun(placed, this.#deps.runs, this.#showFinding);
    });
    return untilAborted(read, signal);
  }

  withDetails<const T extends readonly Detailable[]>(findings: T): Promise<Detailed<T>> {
    return withDetails(findings, this.#deps);
  }

  /** A finding as its file has it, as JSON; undefined if it is too long, nested too deeply, or of a file that was replaced. */
  itemOf(found: Detailable): Promise<string | undefined> {
    return readItem(found, this.#deps);
  }

  /** The runs that tested a finding's pair on a live application, latest first. */
  confirmationsOf({ name }: Pick<ShownFinding, 'name'>): Promise<readonly Confirmation[]> {
    return readConfirmations(name, { ...this.#deps, read: (run) => readResult(run, this.#deps) });
  }

  /** Shows a run's findings in its folders until another run of its subject is chosen or ends with findings. Ignores a run without findings. */
  async show({ id }: Run): Promise<void> {
    const { runs } = this.#deps;
    const run = runs.get(id);
    if (run === undefined || !hasFindings(run)) return;
    await allowReading(runs.folderOf(id));
    this.#compared = undefined;
    this.#choices.choose(run, runs.all());
    await this.load();
  }

  /** Shows no findings until a run is chosen or, for a folder that is open here, ends with findings. What is being read is given up. */
  async clear(): Promise<void> {
    this.#wanted.abort();
    this.#wanted = new AbortController();
    this.#compared = undefined;
    this.#choices.clear(this.#deps.runs.all(), this.#deps.isOpenHere);
    await this.load();
  }

  baselineOf(run: Run): Run | undefined {
    return baselineAmong(this.#deps.runs.all(), run);
  }

  /**
   * Shows a run compared with a chosen run, until other findings are shown. For a file that cannot be read, throws why, with the run's ID as `subject`.
   * Throws the signal's reason.
   */
  async showComparison(run: Run, baseline: Run, signal?: AbortSignal): Promise<void> {
    for (const each of [run, baseline]) {
      const { failure } = await this.read(each, signal);
      if (failure !== undefined) throw new AssessmentError(failure.kind, { ...failure, subject: each.id });
    }
    this.#choices.choose(run, this.#deps.runs.all());
    this.#compared = { run, baseline };
    await this.load();
  }

  comparison(): Comparison | undefined {
    const { run, baseline } = this.#compared ?? {};
    const found = this.#shownRuns.find((shown) => shown.run.id === run?.id);
    if (found?.baseline === undefined || found.baseline.id !== baseline?.id) return undefined;
    const absent = found.absent?.filter((shown) => shown.run.id === baseline.id);
    return { ...found, baseline: found.baseline, absent };
  }

  /** Decides about findings, for everyone who shares their folders' decisions. Returns and throws what `TriageStore.set` does. */
  setTriage(
    shown: readonly ShownFinding[],
    state: TriageState,
    note: string,
    more?: Pick<TriageDecision, 'until' | 'via'>,
  ): Promise<UndoDecisions> {
    return this.#deps.triage.set(shown.flatMap(toTriageSubjects), state, note, more);
  }

  /** The findings in the last record of the latest run of each folder that is open here, shown or not. */
  async latestFindings(): Promise<readonly ShownFinding[]> {
    const { runs, triage, isOpenHere } = this.#deps;
    const chosen = new Set(new FolderChoices().runsToShow(runs.all(), isOpenHere).values());
    const latest = [...chosen].filter((run) => run !== undefined);
    await triage.load(latest.flatMap(({ targets }) => targets.map(({ folder }) => folder)));
    const records = await Promise.all(latest.map((run) => savedResult(run, this.#deps)));
    const found = records.flatMap((record) => [...(record?.findings ?? []), ...(record?.absent ?? [])]);
    return found.flatMap((each) => {
      const run = runs.get(each.run);
      return run === undefined ? [] : this.#showFinding(each, run, { places: [] });
    });
  }

  /** New decisions of others, by folder, each with the finding that it is about, among those that are shown and `others`. */
  sharedDecisions(
    others: readonly ShownFinding[] = [],
  ): ReadonlyMap<string, readonly NewDecision<ShownFinding>[]> {
    const { runs, triage } = this.#deps;
    return triage.shared((folder) =>
      this.#placed()
        .flatMap((placed) => [...shownFindings(placed, runs, this.#showFinding)])
        .concat(others)
        .filter((shown) => decisionFolders(shown).some((each) => isSamePath(each, folder))),
    );
  }

  /** Maps paths of a folder's findings that start with `prefix` to `to`, a folder in it. Throws `outsideFolder`. */
  async mapPaths(folder: string, prefix: string, to: string): Promise<void> {
    await addMapping(this.#deps.mappings, folder, prefix, to);
    await this.load({ force: true });
  }

  hasMappings(folder: string): boolean {
    return readMappings(this.#deps.mappings)[pathKey(folder)] !== undefined;
  }

  async forgetMappings(folder: string): Promise<void> {
    await forgetMappings(this.#deps.mappings, folder);
    await this.load({ force: true });
  }

  dispose(): void {
    this.#wanted.abort();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
