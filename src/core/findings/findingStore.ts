import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { type Disposable, Emitter } from '../ports.ts';
import { type Failure, isFinal, type Run, runIdOf } from '../run/state/run.ts';
import { inBackground } from '../yieldingWork.ts';
import { baselineAmong, earlierRuns, FolderChoices, hasFindings, isSameRun } from './chooseRun.ts';
import { type Confirmation, readConfirmations } from './confirmation.ts';
import { allowReading } from './parse/readFindings.ts';
import { addMapping, forgetMappings, mappingsOf } from './place/mappings.ts';
import { RunFindings, type RunFindingsDeps } from './runFindings.ts';
import { type ShownFinding, type ShownRun, toShownRun, toSubjects } from './shownFinding.ts';
import type { TriageDecision, TriageState } from './triage/triage.ts';
import type { DecisionsByFolder, TakeBack } from './triage/triageStore.ts';
import { OWNERS_FILES } from './view/owners.ts';

type Deps = RunFindingsDeps & {
  /** Whether this window has a folder (an absolute path) open. */
  readonly isOpenHere: (folder: string) => boolean;
};

/** A CODEOWNERS file, and the folders that may hold one. */
const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

/** A run that a person compares with a run before it: only what that one reported is absent. */
export type Comparison = ShownRun & { readonly baseline: Run };

/** The findings that the editor shows: of each open folder's latest successful run of each subject that has some, unless a person chose another run or none since it ended. */
export class FindingStore implements Disposable {
  readonly #deps: Deps;
  readonly #changed = new Emitter<void>();
  readonly #subscriptions: readonly Disposable[];
  readonly #choices = new FolderChoices();
  /** The run that a person compares, and the one that they compare it with. */
  #compared: { readonly run: Run; readonly baseline: Run } | undefined;
  /** The ID of the run that each folder shows of each subject, by `shownAs`. */
  #byFolder: ReadonlyMap<string, string | undefined> = new Map();
  /** The runs that are shown, whole. */
  #loaded: readonly RunFindings[] = [];
  #shown: readonly ShownRun[] = [];
  /** Why the findings of a run could not be read the last time, by its ID. */
  readonly #failures = new Map<string, Failure | undefined>();
  /** Loading and re-placing happen one after the other: each begins with what is known by then. */
  #queue: Promise<unknown> = Promise.resolve();
  #mustForce = false;
  #isComplete = true;
  /** Whether anything changed since listeners were called. */
  #isChanged = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#subscriptions = [
      deps.runs.onDidChange((run) => {
        if (isFinal(run) || this.#shown.some((shown) => shown.run.id === run.id))
          inBackground(this.load(), deps.log);
      }),
      deps.triage.onDidChange(() => {
        this.#decide();
        this.#fireIfChanged();
      }),
    ];
  }

  readonly onDidChange = this.#changed.event;

  /** The runs that are shown. */
  folders(): readonly ShownRun[] {
    return this.#shown;
  }

  /** Whether all that is shown is compared and checked: findings are counted then, since decisions of earlier runs may hide some. */
  isComplete(): boolean {
    return this.#isComplete;
  }

  /** All findings that the shown runs report, in the order of their files. */
  all(): readonly ShownFinding[] {
    return this.#shown.flatMap(({ shown }) => shown);
  }

  /** What earlier runs reported and the shown ones do not. */
  absent(): readonly ShownFinding[] {
    return this.#shown.flatMap(({ absent = [] }) => absent);
  }

  /** A finding that is shown, by its run's local id and its `Finding.index`. */
  find(runId: string, index: number): ShownFinding | undefined {
    const isIt = ({ run, finding }: ShownFinding): boolean => run.id === runId && finding.index === index;
    // Without a copy of all of them: a command on many findings looks each of them up.
    for (const { shown, absent = [] } of this.#shown) {
      const found = shown.find(isIt) ?? absent.find(isIt);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** What the runs that tried one pair for a finding about code tell of it, the latest first. */
  confirmationsOf({ identity }: Pick<ShownFinding, 'identity'>): Promise<readonly Confirmation[]> {
    return readConfirmations(identity.fingerprint, this.#deps);
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
  setTriage(
    shown: readonly ShownFinding[],
    state: TriageState,
    note: string,
    more?: Pick<TriageDecision, 'until' | 'via'>,
  ): Promise<TakeBack> {
    const isTakenBack = state === 'open' && note === '';
    // Else a decision about the finding of an earlier run would hold again.
    const inAllRuns = shown.flatMap((each) =>
      [each.identity, ...(each.sameAs ?? [])].map((identity) => ({ ...each, identity })),
    );
    const subjects = (isTakenBack ? inAllRuns : shown).flatMap(toSubjects);
    return this.#deps.triage.set(subjects, state, note, more);
  }

  /** Takes decisions over as `TriageStore.takeOver` does. */
  takeOver(decisions: DecisionsByFolder): Promise<void> {
    return this.#deps.triage.takeOver(decisions);
  }

  /** The run with all findings before a run, of the same folders; none for or among findings of unknown origin. */
  baselineOf(run: Run): Run | undefined {
    return baselineAmong(this.#deps.runs.all(), run);
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
    const found = this.#shown.find((each) => each.run.id === run?.id);
    if (found?.baseline === undefined || found.baseline.id !== baseline?.id) return undefined;
    const absent = found.absent?.filter((each) => each.run.id === baseline.id);
    return { ...found, baseline: found.baseline, absent };
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
      if (this.#loaded.some((each) => each.isMissing(createdOrDeleted))) {
        this.#mustForce = true;
        return this.#loadChosen();
      }
      if ([...changed, ...createdOrDeleted].some((path) => ownersNames.has(basename(path))))
        for (const each of this.#loaded) this.#isChanged = (await each.readOwners(true)) || this.#isChanged;
      const rePlaced = await Promise.all(this.#loaded.map((each) => each.rePlace(changed, createdOrDeleted)));
      this.#isChanged ||= rePlaced.includes(true);
    });
  }

  /** These findings, which are shown, with their places by the files as they are now. */
  async placeNow<T extends Pick<ShownFinding, 'finding' | 'places'>>(
    some: readonly T[],
  ): Promise<readonly T[]> {
    const wanted = new Set(some.map(({ finding }) => finding));
    const found = await Promise.all(this.#loaded.map((each) => each.placesNow(wanted)));
    const places = new Map(found.flatMap((each) => [...each]));
    return some.map((each) => ({ ...each, places: places.get(each.finding) ?? each.places }));
  }

  /** All of a run's findings with what is known of them, whether they are shown or not; a file that cannot be read gives a `failure`. */
  async read(run: Run): Promise<ShownRun> {
    return toShownRun(
      await this.#enqueue(async () => {
        const found = await this.#get(run, false);
        await this.#assess(found);
        return found;
      }),
    );
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #loadChosen(): Promise<void> {
    const force = this.#mustForce;
    this.#mustForce = false;
    const chosen = this.#choices.runsToShow(this.#deps.runs.all(), this.#deps.isOpenHere);
    const runs = [...new Set(chosen.values())].filter((run) => run !== undefined);
    if (!runs.some(({ id }) => id === this.#compared?.run.id)) this.#compared = undefined;
    // It may have been removed.
    const baseline = this.#compared && this.#deps.runs.get(this.#compared.baseline.id);
    if (baseline === undefined || !hasFindings(baseline)) this.#compared = undefined;
    const byFolder = new Map([...chosen].map(([folder, run]) => [folder, run?.id]));
    const [before, byFolderBefore] = [this.#loaded, this.#byFolder];
    const showEarly = (early: RunFindings): void => {
      const others = this.#loaded.filter(({ run }) => runs.some(({ id }) => id === run.id));
      this.#loaded = [...others, early];
      this.#byFolder = byFolder;
      this.#isComplete = false;
      this.#isChanged = true;
      this.#fireIfChanged();
    };
    const loaded = await Promise.all(runs.map((run) => this.#get(run, force, showEarly)));
    const isOther = loaded.some((each) => !before.some(({ run }) => run.id === each.run.id));
    this.#isChanged ||=
      loaded.length !== before.length ||
      loaded.some((each, at) => each !== before[at]) ||
      !isDeepStrictEqual(byFolder, byFolderBefore);
    this.#byFolder = byFolder;
    this.#loaded = loaded;
    // Others may have decided while the runs were read.
    this.#decide();
    // The findings first: to compare them takes as long as there are runs.
    if (isOther) {
      this.#isComplete = false;
      this.#fireIfChanged();
    }
    try {
      for (const each of loaded) await this.#assess(each);
    } finally {
      this.#isChanged ||= !this.#isComplete;
      this.#isComplete = true;
    }
  }

  /** The findings of a run as they are held; loaded when they are not held, could not be read or were downloaded again. */
  async #get(run: Run, force: boolean, showEarly?: (early: RunFindings) => void): Promise<RunFindings> {
    const now = this.#deps.runs.get(run.id) ?? run;
    const former = this.#loaded.find((each) => each.run.id === run.id);
    const isCurrent = !force && former?.failure === undefined && isSameRun(former?.run, now);
    const found = isCurrent && former ? former : await RunFindings.load(now, this.#deps, former, showEarly);
    if (found.rename(now)) this.#isChanged ||= found === former;
    this.#isChanged ||= this.#failures.get(run.id)?.kind !== found.failure?.kind;
    this.#failures.set(run.id, found.failure);
    return found;
  }

  /** Compares the findings of a run with those of earlier ones, and then checks their evidence. */
  async #assess(found: RunFindings): Promise<void> {
    const all = this.#deps.runs.all();
    const { run } = found;
    const chosen = this.#compared?.run.id === run.id ? this.#compared.baseline : undefined;
    const compared = chosen && (this.#deps.runs.get(chosen.id) ?? chosen);
    const isOther = (other: Run): boolean => runIdOf(other) === undefined || runIdOf(other) !== runIdOf(run);
    const earlier =
      compared === undefined
        ? earlierRuns(all, run)
        : [compared, ...earlierRuns(all, compared).filter(isOther)];
    const isCompared = await found.compare(earlier, compared?.id ?? this.baselineOf(run)?.id);
    const isChecked = await found.checkEvidence();
    const isOwned = await found.readOwners();
    if (isCompared || isChecked || isOwned) this.#isChanged ||= this.#loaded.includes(found);
  }

  #decide(): void {
    for (const each of this.#loaded) this.#isChanged = each.decide() || this.#isChanged;
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
    this.#changed.fire();
  }
}
