import { AssessmentError } from '../errors.ts';
import type { Disposable, Event, Logger } from '../ports.ts';
import { type Failure, isFinal, type Run } from '../run/state/run.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { Baselines } from './baselines.ts';
import { compareFindings, type Comparison } from './compare.ts';
import { decideRuns, type FolderChoice, hasFindings } from './folderRuns.ts';
import { FollowedRuns } from './followedRuns.ts';
import { type LoadDeps, LoadedRun } from './loadedRun.ts';
import type { Decode } from './place/decodeText.ts';
import { allowReading } from './parse/readFindings.ts';
import { addMapping, forgetMappings, type MappingMemory, mappingsOf } from './place/pathMappings.ts';
import { Readings } from './readings.ts';
import type { FindingsChange, ShownFinding, ShownRun } from './shownFinding.ts';
import { showSameRuns, toChange, toShownRun, visibleIn } from './shownRun.ts';
import { decisionFolders } from './triage/findingFolder.ts';
import type { TriageState } from './triage/triage.ts';
import type { DecisionsByFolder, TakeBack, TriageStore } from './triage/triageStore.ts';

/** The findings that the editor shows: of each open folder's latest successful run that has some, unless a person chose another run or none since it ended. */
export class FindingStore implements Disposable {
  /** What runs are compared with. */
  readonly baselines: Baselines;
  readonly #runs: RunStore;
  readonly #isOpenHere: (folder: string) => boolean;
  readonly #triage: TriageStore;
  readonly #mappings: MappingMemory;
  readonly #load: LoadDeps;
  readonly #listeners = new Set<(change: FindingsChange) => void>();
  readonly #subscriptions: readonly Disposable[];
  /** What a person chose, by folder. */
  readonly #choices = new Map<string, FolderChoice>();
  readonly #followed = new FollowedRuns();
  /** Which run each folder shows. */
  #byFolder: ReadonlyMap<string, Run | undefined> = new Map();
  /** The runs that are shown, whole. */
  #loaded: readonly LoadedRun[] = [];
  #shown: readonly ShownRun[] = [];
  /** What `showComparison` shows: of two runs, the later is shown, and the earlier is whole here. */
  #compared: { readonly run: Run; readonly baseline: LoadedRun } | undefined;
  /** Made from what is shown when somebody asks. */
  #comparison: Comparison | undefined;
  /** Why the findings of a run could not be read when they were last wanted, by its ID. */
  readonly #failures = new Map<string, Failure>();
  readonly #readings = new Readings((isAnew) => this.#refresh(isAnew));

  /** `isOpenHere` tells whether this window has a folder (an absolute path) open; `mappings` remembers what `mapPaths` is told; `decode` reads files that are not UTF-8; `workerFile` is the parsing worker's entry. */
  constructor(deps: {
    runs: RunStore;
    log: Logger;
    triage: TriageStore;
    mappings: MappingMemory;
    isOpenHere: (folder: string) => boolean;
    decode: Decode;
    workerFile: string | URL;
  }) {
    this.baselines = new Baselines(deps);
    this.#runs = deps.runs;
    this.#triage = deps.triage;
    this.#mappings = deps.mappings;
    this.#isOpenHere = deps.isOpenHere;
    this.#load = {
      folderOf: (id) => deps.runs.folderOf(id),
      triage: deps.triage,
      mappingOf: (folder) => mappingsOf(deps.mappings, folder),
      textOf: (file) => this.#followed.textOf(file),
      decode: deps.decode,
      workerFile: deps.workerFile,
      baselineOf: (run) => {
        const compared = this.#compared?.run.id === run.id ? this.#compared.baseline : undefined;
        return compared?.run ?? this.baselines.of(run);
      },
      namesBefore: (run, baseline) => this.baselines.namesBefore(run, baseline),
      log: deps.log,
    };
    this.#subscriptions = [
      deps.runs.onDidChange((run) => {
        if (isFinal(run) || this.#shown.some((shown) => shown.run.id === run.id)) void this.refresh();
      }),
      deps.triage.onDidChange(() => this.#tell(toChange(this.#followed.renewTriage()))),
    ];
  }

  readonly onDidChange: Event<FindingsChange> = (listener): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  /** The runs that are shown. */
  folders(): readonly ShownRun[] {
    return this.#shown;
  }

  /** All findings that are shown, in the order of their files. */
  all(): readonly ShownFinding[] {
    return this.#shown.flatMap(({ shown }) => shown);
  }

  /** How many findings are shown. */
  count(): number {
    return this.#shown.reduce((count, { shown }) => count + shown.length, 0);
  }

  /** A finding by its run's local id and its position in the findings file, `Finding.index`. */
  find(runId: string, index: number): ShownFinding | undefined {
    const shown = this.#shown.find(({ run }) => run.id === runId)?.shown;
    // Mostly all of a file's findings are shown, each at its own position.
    const there = shown?.[index];
    return there?.finding.index === index ? there : shown?.find(({ finding }) => finding.index === index);
  }

  /** True for a file that findings, which are shown, point at. */
  isPointedAt(file: string): boolean {
    return this.#followed.isPointedAt(file);
  }

  /** True for a file that findings may point at: while some are being read, any. */
  mayPointAt(file: string): boolean {
    return this.#readings.areUnderWay || this.isPointedAt(file);
  }

  /** The files in these folders, at any depth, that findings point at. */
  filesBelow(folders: ReadonlySet<string>): readonly string[] {
    return this.#followed.filesBelow(folders);
  }

  /** True for a file or a folder in which findings may be that have no place so far. */
  isAwaited(file: string): boolean {
    return this.#followed.isAwaited(file);
  }

  /** Why a run's findings could not be read when they were last wanted. */
  failureOf(runId: string): Failure | undefined {
    return this.#failures.get(runId);
  }

  /** How many of the files that a run's findings point at are not as they were scanned; 0 for a run that is not shown. */
  changedFiles(runId: string): number {
    return this.#loaded.find(({ run }) => run.id === runId)?.changedFiles ?? 0;
  }

  /** Shows a run's findings in its folders until another is chosen or ends with findings; a run without findings changes nothing. */
  async show({ id }: Run): Promise<void> {
    const run = this.#runs.get(id);
    if (run === undefined || !hasFindings(run)) return;
    await allowReading(this.#runs.folderOf(id));
    // The same runs may be shown as before, but not compared.
    const isCompared = this.#compared !== undefined;
    this.#choose(run, id);
    await (isCompared ? this.reload() : this.refresh());
  }

  /** Shows no findings until a run is chosen or, for a folder that is open here, ends with findings. */
  async clear(): Promise<void> {
    for (const run of this.#runs.all()) this.#choose(run, undefined);
    // What other windows have open is no concern of this one, however it came to be shown here.
    for (const folder of [...this.#choices.keys()].filter((each) => !this.#isOpenHere(each)))
      this.#choices.delete(folder);
    await this.refresh();
  }

  /** Decides about findings, for everyone who shares their folders' decisions. Gives and throws what `TriageStore.set` does. */
  setTriage(shown: readonly ShownFinding[], state: TriageState, note: string): Promise<TakeBack> {
    const subjects = shown.flatMap((each) => {
      const { identity, finding, places } = each;
      const path = places[0]?.path ?? finding.places[0]?.path;
      return decisionFolders(each).map((folder) => ({ folder, identity, path }));
    });
    return this.#triage.set(subjects, state, note);
  }

  /** Takes decisions over as `TriageStore.takeOver` does. */
  takeOver(decisions: DecisionsByFolder): Promise<void> {
    return this.#triage.takeOver(decisions);
  }

  /** Compares what two runs have found. Throws why the findings file of one cannot be read, with its ID as the `subject`. */
  async compare(run: Run, baseline: Run): Promise<Comparison> {
    const [found, before] = await Promise.all([this.#whole(run), this.#whole(baseline)]);
    const cuts = { run: found.cut, baseline: before.cut };
    return compareFindings(run, found.shown, baseline, before.shown, cuts);
  }

  /** Shows a run's findings compared with another run's, until other findings are shown. Throws what `compare` throws. */
  async showComparison(run: Run, baseline: Run): Promise<void> {
    const [, before] = await Promise.all([this.#whole(run), this.#whole(baseline)]);
    this.#choose(run, run.id);
    this.#compared = { run, baseline: before };
    await this.reload();
  }

  /** What `showComparison` shows. */
  comparison(): Comparison | undefined {
    const compared = this.#compared;
    const later = this.#loaded.find(({ run }) => run.id === compared?.run.id);
    if (compared === undefined || later === undefined) return undefined;
    const { baseline } = compared;
    const cuts = { run: later.cut, baseline: baseline.cut };
    this.#comparison ??= compareFindings(later.run, later.shown, baseline.run, baseline.shown, cuts);
    return this.#comparison;
  }

  /** From now on, paths of a folder's findings that start with `prefix` start in `to`, a folder in it. Throws `outsideFolder`. */
  async mapPaths(folder: string, prefix: string, to: string): Promise<void> {
    await addMapping(this.#mappings, folder, prefix, to);
    await this.reload();
  }

  /** Whether `mapPaths` holds for a folder. */
  hasMappings(folder: string): boolean {
    return mappingsOf(this.#mappings, folder).length > 0;
  }

  /** Undoes `mapPaths` for a folder. */
  async forgetMappings(folder: string): Promise<void> {
    await forgetMappings(this.#mappings, folder);
    await this.reload();
  }

  /** Takes over an open document's text after an edit; undefined when the file on the disk counts again. Listeners hear at once, but for the first time. */
  async textChanged(file: string, text: string | undefined): Promise<void> {
    if (text === undefined) {
      if (this.#followed.endEdit(file)) await this.fileChanged(file);
      return;
    }
    const ready = this.#followed.edit(file, text);
    if (ready !== undefined) await ready;
    this.#tell(toChange(this.#followed.renewEdited(file)));
  }

  /** Takes over what became of files on the disk. */
  async fileChanged(...files: readonly string[]): Promise<void> {
    // What is being read may have been read before the change.
    await this.#readings.over();
    this.#tell(toChange(await this.#followed.renewFromDisk(files)));
  }

  /** Reads what is shown anew: files that findings point at may have come or gone. */
  reload(): Promise<void> {
    return this.#readings.reload();
  }

  /** Reads what should be shown now; one reading at a time. */
  refresh(): Promise<void> {
    return this.#readings.refresh();
  }

  /** All of a run's findings, whether they are shown or not; a file that cannot be read gives a `failure`. */
  async read(run: Run): Promise<ShownRun> {
    // Another run to compare it with may just have come.
    await this.#readings.over();
    return toShownRun(await this.#read(run));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #choose({ targets }: Run, runId: string | undefined): void {
    const withFindings = this.#runs.all().filter(hasFindings);
    const choice = { runId, over: new Set(withFindings.map(({ id }) => id)) };
    for (const { folder } of targets) this.#choices.set(folder, choice);
    this.#compared = undefined;
  }

  async #read(run: Run): Promise<LoadedRun> {
    const known = this.#followed.of(run);
    // What it is compared with may be readable by now.
    if (await known?.renewRun(known.run, this.#load)) this.#tell({ kind: 'all' });
    if (known !== undefined) return known;
    const loaded = await LoadedRun.load(run, this.#load);
    if (this.#note(loaded)) this.#tell({ kind: 'all' });
    return loaded;
  }

  /** Notes whether a run could be read; true when that is new. */
  #note({ run, failure }: LoadedRun): boolean {
    const isNew = this.#failures.get(run.id)?.kind !== failure?.kind;
    if (failure === undefined) this.#failures.delete(run.id);
    else this.#failures.set(run.id, failure);
    return isNew;
  }

  /** A run to compare. Throws why it cannot be read, with its ID as the `subject`. */
  async #whole(run: Run): Promise<LoadedRun> {
    const loaded = await this.#read(run);
    const { failure } = loaded;
    if (failure !== undefined) throw new AssessmentError(failure.kind, { ...failure, subject: run.id });
    return loaded;
  }

  async #refresh(isAnew: boolean): Promise<void> {
    const byFolder = decideRuns(this.#runs.all(), this.#choices, this.#isOpenHere);
    const isSame = !isAnew && showSameRuns(byFolder, this.#byFolder);
    if (isSame && !(await this.#followed.readOtherwise(this.#load))) {
      if (await this.#followed.renewRuns(this.#runs.all(), this.#load)) this.#tell({ kind: 'all' });
      return;
    }
    const runs = [...new Set([...byFolder.values()].filter((run) => run !== undefined))];
    const load = async (run: Run): Promise<LoadedRun> => {
      const known = isAnew ? undefined : this.#followed.of(run);
      await known?.renewRun(run, this.#load);
      if (known !== undefined) return known;
      const loaded = await LoadedRun.load(run, this.#load, this.#followed.former(run));
      this.#note(loaded);
      return loaded;
    };
    if (!runs.some(({ id }) => id === this.#compared?.run.id)) this.#compared = undefined;
    const baseline = this.#compared && (await load(this.#compared.baseline.run));
    // It was removed meanwhile.
    if (baseline?.failure !== undefined) this.#compared = undefined;
    const loaded = await Promise.all(runs.map(load));
    await this.#followed.prepare(baseline === undefined ? loaded : [...loaded, baseline]);
    this.#byFolder = byFolder;
    this.#loaded = loaded;
    if (this.#compared !== undefined && baseline?.run.id === this.#compared.baseline.run.id)
      this.#compared = { ...this.#compared, baseline };
    this.#followed.follow(this.#compared === undefined ? loaded : [...loaded, this.#compared.baseline]);
    this.#tell({ kind: 'all' });
  }

  #tell(change: FindingsChange | undefined): void {
    if (change === undefined) return;
    this.#shown = this.#loaded.map((each) => visibleIn(this.#byFolder, each));
    this.#comparison = undefined;
    for (const listener of [...this.#listeners]) listener(change);
  }
}
