import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError, isAbortError } from '../errors.ts';
import { isSamePath, pathKey } from '../paths.ts';
import { type Disposable, Emitter, type Event } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, foldersOfRuns, isFinal, type Run } from '../run/state/run.ts';
import { type FolderCalls, inBackground, untilAborted } from '../yieldingWork.ts';
import { baselineAmong, earlierRuns, FolderChoices, hasFindings } from './chooseRun.ts';
import { type Confirmation, readConfirmations } from './confirmation.ts';
import { addMapping, forgetMappings, readMappings } from './location/mappings.ts';
import {
  forgetLate,
  headOfFindings,
  readItem,
  readResult,
  savedResult,
  withDetails,
} from './result/readResult.ts';
import type { ResultHead } from './result/result.ts';
import type { Detailable, Detailed } from './result/resultFile.ts';
import {
  addOwners,
  asUploaded,
  forgetOwners,
  locateAgain,
  locateUnread,
  readView,
  type RunView,
  type ViewSource,
} from './runView.ts';
import { decisionFolders, type ShownFinding, type ShownRun, toTriageSubjects } from './shownFinding.ts';
import { decide } from './triage/currentDecision.ts';
import type { TriageDecision, TriageState } from './triage/triage.ts';
import type { NewDecision, TriageStore, UndoDecisions } from './triage/triageStore.ts';
import {
  compareViews,
  type FindingCounts,
  findingsOf,
  show,
  type ShowSource,
  toCounts,
  toShownFinding,
  toShownRun,
} from './view/show.ts';

interface Deps extends ViewSource {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf' | 'onDidChange'>;
  readonly calls: Pick<FolderCalls, 'ask' | 'onDidAnswer'>;
  readonly triage: TriageStore;
  readonly isOpenHere: (folder: string) => boolean;
}

/** `absent` has only findings of the baseline. */
export type Comparison = ShownRun & { readonly baseline: Run };

interface Chosen {
  readonly runIds: ReadonlyMap<string, string | undefined>;
  readonly compared?: { readonly run: string; readonly baseline: string } | undefined;
}

/**
 * Holds the findings that the editor shows: for each folder and subject, those of at most one run.
 * Steps of one run are sequential; runs don't wait for each other. A load reads what has changed,
 * and retries what is unread or unknown.
 */
export class FindingStore implements Disposable {
  readonly #deps: Deps;
  readonly #changed: Emitter<void>;
  readonly #subscriptions: readonly Disposable[];
  readonly #source: ShowSource;
  readonly #choices = new FolderChoices();
  #chosen: Chosen = { runIds: new Map() };
  /**
   * The keys are the runs' local IDs. A run that cannot be read stays, even if it isn't shown or
   * compared.
   */
  #views: ReadonlyMap<string, RunView> = new Map();
  #comparison: RunView | undefined;
  #shown: readonly ShownRun[] = [];
  #byName: ReadonlyMap<string, readonly ShownFinding[]> | undefined;
  readonly #heads = new WeakMap<Run, ResultHead>();
  readonly #steps = new Map<string, Promise<void>>();
  #loading = new AbortController();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#source = { runs: deps.runs, decide: (...known) => decide(...known, deps.triage) };
    this.#changed = new Emitter(deps.log);
    this.onDidChange = this.#changed.event;
    const load = (): void => inBackground(this.load(), deps.log);
    this.#subscriptions = [
      deps.runs.onDidChange((changed) => {
        if (!changed.some((run) => isFinal(run) || this.#views.has(run.id))) return;
        this.#show(); // The label of an earlier run may have changed.
        load();
      }),
      deps.triage.onDidChange(() => this.#show()),
      deps.calls.onDidAnswer(() => {
        if ([...this.#views.values()].some(({ unread }) => unread.size > 0)) load();
      }),
    ];
  }

  readonly onDidChange: Event<void>;

  async load(): Promise<void> {
    this.#choose(this.#chosen.compared);
    const { signal } = this.#loading;
    const wanted = [...this.#wantedIds()].flatMap((id) => this.#deps.runs.get(id) ?? []);
    try {
      await Promise.all(wanted.map((run) => this.#refresh(run, signal)));
    } catch (error) {
      if (!isAbortError(error)) throw error;
    }
  }

  /** Loads again, and retries findings files that took too long to read. */
  focused(): Promise<void> {
    forgetLate(this.#deps.memory);
    return this.load();
  }

  reading(): readonly Run[] {
    const ids = new Set(this.#chosen.runIds.values());
    return [...ids].flatMap((id = '') => (this.#views.has(id) ? [] : (this.#deps.runs.get(id) ?? [])));
  }

  #wantedIds(): ReadonlySet<string> {
    const { runIds, compared } = this.#chosen;
    return new Set([...runIds.values(), compared?.baseline].filter((id) => id !== undefined));
  }

  #choose(compared?: Chosen['compared'], read: readonly RunView[] = []): void {
    const { runs, isOpenHere } = this.#deps;
    const all = runs.all();
    const chosen = this.#choices.runsToShow(all, isOpenHere);
    const runIds = new Map([...chosen].map(([key, run]) => [key, run?.id]));
    const isThere =
      [...runIds.values()].includes(compared?.run) &&
      all.some((run) => run.id === compared?.baseline && hasFindings(run));
    const next = { runIds, compared: isThere ? compared : undefined };
    if (isDeepStrictEqual(next, this.#chosen)) return;
    this.#chosen = next;
    this.#replace([...this.#views.values(), ...read]);
  }

  #replace(views: readonly RunView[]): void {
    const wanted = this.#wantedIds();
    const isKept = ({ run: { id }, failure }: RunView): boolean =>
      wanted.has(id) || (failure !== undefined && this.#deps.runs.get(id) !== undefined);
    const latest = new Map(views.map((view) => [view.run.id, view]));
    this.#views = new Map([...latest].filter(([, view]) => isKept(view)));
    const { run = '', baseline = '' } = this.#chosen.compared ?? {};
    const [later, earlier] = [this.#views.get(run), this.#views.get(baseline)];
    this.#comparison = later && earlier && compareViews(later, earlier);
    this.#show();
  }

  #show(): void {
    const { runIds, compared } = this.#chosen;
    const views = [...new Set(runIds.values())].flatMap(
      (id = '') => (id === compared?.run ? this.#comparison : undefined) ?? this.#views.get(id) ?? [],
    );
    this.#shown = show(views, runIds, this.#source);
    this.#byName = undefined;
    this.#changed.fire();
  }

  #step<T extends RunView | undefined>(
    id: string,
    work: (view: RunView | undefined) => Promise<T>,
  ): Promise<T> {
    const step = async (): Promise<T> => {
      const view = await work(this.#views.get(id));
      if (view !== undefined) await this.#put(view);
      return view;
    };
    const done = (this.#steps.get(id) ?? Promise.resolve()).then(step);
    const end = (): void => undefined; // The caller gets the error.
    this.#steps.set(id, done.then(end, end));
    return done;
  }

  async #put(view: RunView): Promise<void> {
    const { id } = view.run;
    const isKept = this.#wantedIds().has(id) || view.failure !== undefined;
    if (this.#views.get(id) === (isKept ? view : undefined)) return;
    this.#replace([...this.#views.values(), view]);
    // Showing 10,000 findings takes a long time, so other work gets a turn.
    await setImmediate();
  }

  #refresh(known: Run, signal?: AbortSignal): Promise<RunView> {
    return this.#step(known.id, async (former) => {
      signal?.throwIfAborted();
      const { runs, triage } = this.#deps;
      const run = runs.get(known.id) ?? known;
      const used = [run, ...earlierRuns(runs.all(), run)];
      await triage.load(foldersOfRuns(used));
      const view = await readView(run, former, this.#deps, signal);
      // The findings are shown before their files are found.
      if (former?.head === undefined) await this.#put(view);
      return this.#withOwners(await locateUnread(view, this.#deps));
    });
  }

  #withOwners(view: RunView): Promise<RunView> {
    return addOwners(view, this.#deps, () => this.#put(view));
  }

  /** Paths are absolute. */
  async locateAgain(
    changed: ReadonlySet<string>,
    createdOrDeleted: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const files = new Set([...changed, ...createdOrDeleted]);
    await this.#stepAll(async (view) =>
      forgetOwners(await locateAgain(view, changed, createdOrDeleted, this.#deps), files),
    );
  }

  async #stepAll(work: (view: RunView) => Promise<RunView>): Promise<void> {
    const step = async (view: RunView | undefined) => view && this.#withOwners(await work(view));
    await Promise.all(Array.from(this.#views.keys(), (id) => this.#step(id, step)));
  }

  shownRuns(): readonly ShownRun[] {
    return this.#shown;
  }

  all(): readonly ShownFinding[] {
    return this.#shown.flatMap(({ shown }) => shown);
  }

  absent(): readonly ShownFinding[] {
    return this.#shown.flatMap(({ absent = [] }) => absent);
  }

  /** After a new download, an index may mean another finding, but a name doesn't. */
  find(runId: string, name: string): ShownFinding | undefined {
    this.#byName ??= Map.groupBy([...this.all(), ...this.absent()], (each) => each.name);
    return this.#byName.get(name)?.find(({ run }) => run.id === runId);
  }

  failureOf(runId: string): Failure | undefined {
    return this.#views.get(runId)?.failure;
  }

  async countsOf(run: Run): Promise<FindingCounts | undefined> {
    if (!hasFindings(run) || this.failureOf(run.id) !== undefined) return undefined;
    const head =
      this.#views.get(run.id)?.head ?? this.#heads.get(run) ?? (await headOfFindings(run, this.#deps));
    if (head === undefined) return undefined;
    this.#heads.set(run, head);
    const shown = this.#shown.find((each) => each.run.id === run.id)?.shown ?? [];
    return toCounts(head, shown);
  }

  /**
   * The run need not be shown. If it cannot be read, the returned run has a `failure`. Throws the
   * signal's reason, but continues to read.
   */
  async read(run: Run, signal?: AbortSignal): Promise<ShownRun> {
    return toShownRun(await untilAborted(this.#refresh(run), signal), this.#source);
  }

  withDetails<const T extends readonly Detailable[]>(findings: T): Promise<Detailed<T>> {
    return withDetails(findings, this.#deps);
  }

  itemOf(found: Detailable): Promise<string | undefined> {
    return readItem(found, this.#deps);
  }

  confirmationsOf({ name }: Pick<ShownFinding, 'name'>): Promise<readonly Confirmation[]> {
    return readConfirmations(name, { ...this.#deps, read: (run) => readResult(run, this.#deps) });
  }

  /** Shows the run until another run of its subject is chosen, or a new one is shown by default. */
  async show({ id }: Run): Promise<void> {
    const { runs } = this.#deps;
    const run = runs.get(id);
    if (run === undefined || !hasFindings(run)) return;
    this.#deps.memory.failed.delete(id);
    this.#choices.choose(run, runs.all());
    this.#choose();
    await this.load();
  }

  /** Shows nothing until a run is chosen, or a new run is shown by default. */
  async clear(): Promise<void> {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.#choices.clear(this.#deps.runs.all(), this.#deps.isOpenHere);
    this.#choose();
    await this.load();
  }

  baselineOf(run: Run): Run | undefined {
    return baselineAmong(this.#deps.runs.all(), run);
  }

  /**
   * The comparison ends at the next `show` or `clear`, and when a newer run replaces this one or
   * either run is removed. Throws the signal's reason, or why a run cannot be read, with its local
   * ID as `subject`.
   */
  async showComparison(run: Run, baseline: Run, signal?: AbortSignal): Promise<void> {
    const read: RunView[] = [];
    for (const each of [run, baseline]) {
      const view = await untilAborted(this.#refresh(each), signal);
      const { failure } = view;
      if (failure !== undefined) throw new AssessmentError(failure.kind, { ...failure, subject: each.id });
      read.push(view);
    }
    this.#choices.choose(run, this.#deps.runs.all());
    this.#choose({ run: run.id, baseline: baseline.id }, read);
  }

  comparison(): Comparison | undefined {
    const { compared } = this.#chosen;
    const found = this.#shown.find((shown) => shown.run.id === compared?.run);
    if (found?.baseline === undefined || this.#comparison === undefined) return undefined;
    const { baseline } = found;
    return { ...found, baseline, absent: found.absent?.filter((shown) => shown.run.id === baseline.id) };
  }

  setTriage(
    shown: readonly ShownFinding[],
    state: TriageState,
    note: string,
    more?: Pick<TriageDecision, 'until' | 'via'>,
  ): Promise<UndoDecisions> {
    return this.#deps.triage.set(shown.flatMap(toTriageSubjects), state, note, more);
  }

  /** Returns the saved findings of the runs that are shown by default. */
  async latestFindings(): Promise<readonly ShownFinding[]> {
    const { runs, triage, isOpenHere } = this.#deps;
    const chosen = new Set(new FolderChoices().runsToShow(runs.all(), isOpenHere).values());
    const latest = [...chosen].filter((run) => run !== undefined);
    await triage.load(foldersOfRuns(latest));
    const records = await Promise.all(latest.map((run) => savedResult(run, this.#deps)));
    const found = records.flatMap((record) => [...(record?.findings ?? []), ...(record?.absent ?? [])]);
    return found.flatMap((each) => {
      const run = runs.get(each.run);
      return run === undefined ? [] : toShownFinding(each, run, { locations: [] }, this.#source.decide);
    });
  }

  sharedDecisions(
    others: readonly ShownFinding[] = [],
  ): ReadonlyMap<string, readonly NewDecision<ShownFinding>[]> {
    return this.#deps.triage.shared((folder) =>
      [...this.#views.values()]
        .flatMap((view) => findingsOf(view, this.#source))
        .concat(others)
        .filter((shown) => decisionFolders(shown).some((each) => isSamePath(each, folder))),
    );
  }

  /**
   * Paths that start with `prefix` lead to `to`, which is inside `folder`. Throws `outsideFolder`.
   */
  async mapPaths(folder: string, prefix: string, to: string): Promise<void> {
    await addMapping(this.#deps.mappings, folder, prefix, to);
    await this.#locateAll();
  }

  hasMappings(folder: string): boolean {
    return readMappings(this.#deps.mappings)[pathKey(folder)] !== undefined;
  }

  async forgetMappings(folder: string): Promise<void> {
    await forgetMappings(this.#deps.mappings, folder);
    await this.#locateAll();
  }

  #locateAll(): Promise<void> {
    return this.#stepAll((view) => locateUnread(asUploaded(view), this.#deps));
  }

  dispose(): void {
    this.#loading.abort();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
