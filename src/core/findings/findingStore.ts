import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import type { Disposable, Event } from '../ports.ts';
import { type Failure, isFinal, type Run } from '../run/state/run.ts';
import { FolderChoices, hasFindings, isSameRun } from './chooseRun.ts';
import { baselineAmong, type Changes, compareFindings, type Comparison, countChanges } from './compare.ts';
import { allowReading } from './parse/readFindings.ts';
import { addMapping, forgetMappings, mappingsOf } from './place/mappings.ts';
import { readBaseline, RunFindings, type RunFindingsDeps } from './runFindings.ts';
import { type ShownFinding, type ShownRun, toShownRun, toSubjects } from './shownFinding.ts';
import type { TriageState } from './triage/triage.ts';
import type { DecisionsByFolder, TakeBack } from './triage/triageStore.ts';

type Deps = RunFindingsDeps & {
  /** Whether this window has a folder (an absolute path) open. */
  readonly isOpenHere: (folder: string) => boolean;
};

/** The findings that the editor shows: of each open folder's latest successful run of each subject that has some, unless a person chose another run or none since it ended. */
export class FindingStore implements Disposable {
  readonly #deps: Deps;
  readonly #listeners = new Set<() => void>();
  readonly #subscriptions: readonly Disposable[];
  readonly #choices = new FolderChoices();
  /** The run that a person compares, and the one that they compare it with. */
  #compared: { readonly run: Run; readonly baseline: Run } | undefined;
  /** The ID of the run that each folder shows of each subject, by `shownAs`. */
  #byFolder: ReadonlyMap<string, string | undefined> = new Map();
  /** The runs that are shown, whole. */
  #loaded: readonly RunFindings[] = [];
  /** The run that the compared one is compared with, whole. */
  #baseline: RunFindings | undefined;
  #shown: readonly ShownRun[] = [];
  /** Made from what is shown when it is first asked for. */
  #comparison: Comparison | undefined;
  /** Why the findings of a run could not be read the last time, by its ID. */
  readonly #failures = new Map<string, Failure | undefined>();
  /** Loading and re-placing happen one after the other: each begins with what is known by then. */
  #queue: Promise<unknown> = Promise.resolve();
  #mustForce = false;
  /** Whether anything changed since listeners were called. */
  #isChanged = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#subscriptions = [
      deps.runs.onDidChange((run) => {
        if (isFinal(run) || this.#shown.some((shown) => shown.run.id === run.id)) void this.load();
      }),
      deps.triage.onDidChange(() => {
        this.#decide();
        this.#fireIfChanged();
      }),
    ];
  }

  readonly onDidChange: Event<void> = (listener): Disposable => {
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

  /** A finding that is shown, by its run's local id and its `Finding.index`. */
  find(runId: string, index: number): ShownFinding | undefined {
    return this.all().find(({ run, finding }) => run.id === runId && finding.index === index);
  }

  /** Why a run's findings could not be read the last time; undefined when they could. */
  failureOf(runId: string): Failure | undefined {
    return this.#failures.get(runId);
  }

  /** Shows a run's findings in its folders until another of its subject is chosen or ends with findings; a run without findings changes nothing. */
  async show({ id }: Run): Promise<void> {
    const { runs } = this.#deps;
    const run = runs.get(id);
    if (run === undefined || !hasFindings(run)) return;
    await allowReading(runs.folderOf(id));
    // The same runs may be shown as before, but not compared.
    const force = this.#compared !== undefined;
    this.#compared = undefined;
    this.#choices.choose(run, runs.all());
    await this.load({ force });
  }

  /** Shows no findings until a run is chosen or, for a folder that is open here, ends with findings. */
  async clear(): Promise<void> {
    this.#compared = undefined;
    this.#choices.clear(this.#deps.runs.all(), this.#deps.isOpenHere);
    await this.load();
  }

  /** Decides about findings, for everyone who shares their folders' decisions. Gives and throws what `TriageStore.set` does. */
  setTriage(shown: readonly ShownFinding[], state: TriageState, note: string): Promise<TakeBack> {
    return this.#deps.triage.set(shown.flatMap(toSubjects), state, note);
  }

  /** Takes decisions over as `TriageStore.takeOver` does. */
  takeOver(decisions: DecisionsByFolder): Promise<void> {
    return this.#deps.triage.takeOver(decisions);
  }

  /** The run with all findings before a run, of the same folders; none for or among findings of unknown origin. */
  baselineOf(run: Run): Run | undefined {
    return baselineAmong(this.#deps.runs.all(), run);
  }

  /** How a run as it was read differs from the run before it; undefined where there is nothing to compare. */
  async changesOf({ run, shown, cut, failure }: ShownRun): Promise<Changes | undefined> {
    const baseline = this.baselineOf(run);
    if (baseline === undefined || failure !== undefined) return undefined;
    const before = await readBaseline(baseline, this.#deps);
    return before && { baseline, ...countChanges(run, shown, before, cut) };
  }

  /** Shows a run's findings compared with another run's, until other findings are shown. Throws why the findings file of one cannot be read, with its ID as the `subject`. */
  async showComparison(run: Run, baseline: Run): Promise<void> {
    for (const each of [run, baseline]) {
      const { failure } = await this.read(each);
      if (failure !== undefined) throw new AssessmentError(failure.kind, { ...failure, subject: each.id });
    }
    this.#choices.choose(run, this.#deps.runs.all());
    this.#compared = { run, baseline };
    await this.load({ force: true });
  }

  /** What `showComparison` shows. */
  comparison(): Comparison | undefined {
    const { run, baseline } = this.#compared ?? {};
    const found = this.#loaded.find((each) => each.run.id === run?.id);
    const before = this.#baseline;
    if (found === undefined || before === undefined || before.run.id !== baseline?.id) return undefined;
    const cuts = { run: found.cut, baseline: before.cut };
    this.#comparison ??= compareFindings(found.run, found.shown, before.run, before.shown, cuts);
    return this.#comparison;
  }

  /** From now on, paths of a folder's findings that start with `prefix` start in `to`, a folder in it. Throws `outsideFolder`. */
  async mapPaths(folder: string, prefix: string, to: string): Promise<void> {
    await addMapping(this.#deps.mappings, folder, prefix, to);
    await this.load({ force: true });
  }

  /** Whether `mapPaths` holds for a folder. */
  hasMappings(folder: string): boolean {
    return mappingsOf(this.#deps.mappings, folder).length > 0;
  }

  /** Undoes `mapPaths` for a folder. */
  async forgetMappings(folder: string): Promise<void> {
    await forgetMappings(this.#deps.mappings, folder);
    await this.load({ force: true });
  }

  /** Loads the runs that should be shown by now; those that are shown already only when `force` is true, when they could not be read, or when their files were downloaded again. */
  load({ force = false } = {}): Promise<void> {
    this.#mustForce ||= force;
    return this.#enqueue(() => this.#loadChosen());
  }

  /** Re-places findings in files that were written or edited, and in files and folders that were created or deleted; loads again when a finding without a place may be in one of these. Absolute paths. */
  rePlace(changed: ReadonlySet<string>, createdOrDeleted: ReadonlySet<string> = new Set()): Promise<void> {
    return this.#enqueue(async () => {
      const held = this.#held();
      if (held.some((each) => each.isMissing(createdOrDeleted))) {
        this.#mustForce = true;
        return this.#loadChosen();
      }
      const rePlaced = await Promise.all(held.map((each) => each.rePlace(changed, createdOrDeleted)));
      this.#isChanged ||= rePlaced.includes(true);
    });
  }

  /** All of a run's findings, whether they are shown or not; a file that cannot be read gives a `failure`. */
  async read(run: Run): Promise<ShownRun> {
    return toShownRun(await this.#enqueue(() => this.#get(run, false)));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** The runs that follow edits, files and decisions. */
  #held(): readonly RunFindings[] {
    return this.#baseline === undefined ? this.#loaded : [...this.#loaded, this.#baseline];
  }

  async #loadChosen(): Promise<void> {
    const force = this.#mustForce;
    this.#mustForce = false;
    const chosen = this.#choices.runsToShow(this.#deps.runs.all(), this.#deps.isOpenHere);
    const runs = [...new Set(chosen.values())].filter((run) => run !== undefined);
    if (!runs.some(({ id }) => id === this.#compared?.run.id)) this.#compared = undefined;
    const compared = this.#compared;
    const baseline = compared && (await this.#get(compared.baseline, force));
    // The baseline may have been removed, and a person may compare others by now.
    if (baseline?.failure !== undefined && this.#compared === compared) this.#compared = undefined;
    const loaded = await Promise.all(runs.map((run) => this.#get(run, force)));
    const byFolder = new Map([...chosen].map(([folder, run]) => [folder, run?.id]));
    this.#isChanged ||=
      baseline !== this.#baseline ||
      loaded.some((each, at) => each !== this.#loaded[at]) ||
      !isDeepStrictEqual(byFolder, this.#byFolder);
    this.#byFolder = byFolder;
    this.#loaded = loaded;
    this.#baseline = baseline;
    // Others may have decided while the runs were read.
    this.#decide();
  }

  /** The findings of a run as they are held, up to date; loaded when they are not held, could not be read or were downloaded again. */
  async #get(run: Run, force: boolean): Promise<RunFindings> {
    const now = this.#deps.runs.get(run.id) ?? run;
    const former = this.#held().find((each) => each.run.id === run.id);
    const isCurrent = !force && former?.failure === undefined && isSameRun(former?.run, now);
    const found = isCurrent && former ? former : await RunFindings.load(now, this.#deps, former);
    const baseline = this.#compared?.run.id === run.id ? this.#compared.baseline : this.baselineOf(now);
    if (await found.update(now, baseline)) this.#isChanged ||= found === former;
    this.#isChanged ||= this.#failures.get(run.id)?.kind !== found.failure?.kind;
    this.#failures.set(run.id, found.failure);
    return found;
  }

  #decide(): void {
    for (const each of this.#held()) this.#isChanged = each.decide() || this.#isChanged;
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work).finally(() => this.#fireIfChanged());
    this.#queue = done.catch(() => undefined); // the caller gets the error
    return done;
  }

  #fireIfChanged(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#shown = this.#loaded.map((each) => toShownRun(each, this.#byFolder));
    this.#comparison = undefined;
    for (const listener of [...this.#listeners]) listener();
  }
}
