import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { type Disposable, Emitter, type Event } from '../ports.ts';
import { type Failure, isFinal, type Run } from '../run/state/run.ts';
import { inBackground } from '../yieldingWork.ts';
import { baselineAmong, earlierRuns, FolderChoices, hasFindings } from './chooseRun.ts';
import { type Confirmation, readConfirmations } from './confirmation.ts';
import { allowReading } from './parse/readFindings.ts';
import { addMapping, forgetMappings, mappingsOf } from './place/mappings.ts';
import { withTexts } from './result/readResult.ts';
import { RunFindings, type RunFindingsDeps } from './runFindings.ts';
import { type ShownFinding, type ShownRun, toShownRun, toTriageSubjects } from './shownFinding.ts';
import type { TriageDecision, TriageState } from './triage/triage.ts';
import type { UndoDecisions } from './triage/triageStore.ts';
import { OWNERS_FILES } from './view/owners.ts';

type Deps = RunFindingsDeps & {
  /** Whether this window has a folder (an absolute path) open. */
  readonly isOpenHere: (folder: string) => boolean;
};

/** CODEOWNERS, and the names of the folders that may hold it. */
const ownersNames = new Set(OWNERS_FILES.flatMap((file) => file.split('/')));

/** A run that a person compares with an earlier run: `absent` holds only findings of that run. */
export type Comparison = ShownRun & { readonly baseline: Run };

/**
 * The findings that the editor shows: for each open folder and subject, those of one run. `load` chooses the runs, and loads the result of each with its
 * places. `rePlace` follows edits. The rest reads what is shown, or carries out what a person chose.
 */
export class FindingStore implements Disposable {
  readonly #deps: Deps;
  readonly #changed: Emitter<void>;
  readonly #subscriptions: readonly Disposable[];
  readonly #choices = new FolderChoices();
  #compared: { readonly run: Run; readonly baseline: Run } | undefined;
  /** The ID of the run that each folder shows of each subject, by `folderSubjectKey`. */
  #runIds: ReadonlyMap<string, string | undefined> = new Map();
  #loaded: readonly RunFindings[] = [];
  #shownRuns: readonly ShownRun[] = [];
  /** Of the last reading, by run ID. */
  readonly #failures = new Map<string, Failure | undefined>();
  /** Loading and re-placing run one at a time, so that each starts from the results of the one before. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Set by any forced request and cleared by the next load, so that many requests during one load become one more. */
  #mustForce = false;
  #isComplete = true;
  #isChanged = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#changed = new Emitter(deps.log);
    this.onDidChange = this.#changed.event;
    this.#subscriptions = [
      deps.runs.onDidChange((changed) => {
        const isShown = ({ id }: Run): boolean => this.#shownRuns.some(({ run }) => run.id === id);
        if (changed.some((run) => isFinal(run) || isShown(run))) inBackground(this.load(), deps.log);
      }),
      deps.triage.onDidChange(() => {
        this.#decide();
        this.#fireIfChanged();
      }),
    ];
  }

  readonly onDidChange: Event<void>;

  /** Loads the runs to show. Those already shown are read again only if `force` is true, if reading failed before, or if their files were downloaded again. */
  load({ force = false } = {}): Promise<void> {
    this.#mustForce ||= force;
    return this.#enqueue(() => this.#loadChosen());
  }

  async #loadChosen(): Promise<void> {
    const force = this.#mustForce;
    this.#mustForce = false;
    const { runs, runIds } = this.#chooseRuns();
    const loadedBefore = this.#loaded;
    const showEarly = (early: RunFindings): void => {
      const others = this.#loaded.filter(
        (found) => found !== early && runs.some(({ id }) => id === found.run.id),
      );
      this.#replaceLoaded([...others, early], runIds);
      this.#showIncomplete();
      this.#isChanged = true; // more findings follow
    };
    const loaded = await Promise.all(runs.map((run) => this.#loadRun(run, force, showEarly)));
    this.#replaceLoaded(loaded, runIds);
    // Decisions may have changed while the runs were read.
    this.#decide();
    this.#isChanged ||= !this.#isComplete;
    this.#isComplete = true;
    // Owners are looked up last, since they take longer.
    if (loaded.some(({ run }) => !loadedBefore.some((before) => before.run.id === run.id))) {
      this.#fireIfChanged();
      await setImmediate(); // listeners draw all findings
    }
    for (const found of loaded) this.#isChanged = (await found.readOwners()) || this.#isChanged;
  }

  #chooseRuns(): { readonly runs: readonly Run[]; readonly runIds: ReadonlyMap<string, string | undefined> } {
    const chosen = this.#choices.runsToShow(this.#deps.runs.all(), this.#deps.isOpenHere);
    const runs = [...new Set(chosen.values())].filter((run) => run !== undefined);
    this.#dropOldComparison(runs);
    return { runs, runIds: new Map([...chosen].map(([key, run]) => [key, run?.id])) };
  }

  #dropOldComparison(runs: readonly Run[]): void {
    if (this.#compared === undefined) return;
    const { run, baseline } = this.#compared;
    const present = this.#deps.runs.get(baseline.id);
    const isValid = runs.some(({ id }) => id === run.id) && present !== undefined && hasFindings(present);
    if (!isValid) this.#compared = undefined;
  }

  #replaceLoaded(loaded: readonly RunFindings[], runIds: ReadonlyMap<string, string | undefined>): void {
    this.#isChanged ||=
      loaded.length !== this.#loaded.length ||
      loaded.some((found, at) => found !== this.#loaded[at]) ||
      !isDeepStrictEqual(runIds, this.#runIds);
    this.#loaded = loaded;
    this.#runIds = runIds;
  }

  #showIncomplete(): void {
    this.#isComplete = false;
    this.#fireIfChanged();
  }

  /** A run with its places: the one that is loaded, unless it must be read again. */
  async #loadRun(run: Run, force: boolean, showEarly?: (early: RunFindings) => void): Promise<RunFindings> {
    const { runs } = this.#deps;
    const present = runs.get(run.id) ?? run;
    const former = this.#loaded.find((found) => found.run.id === run.id);
    const chosen = this.#compared?.run.id === run.id ? this.#compared.baseline : undefined;
    const shownWith = {
      earlier: earlierRuns(runs.all(), present),
      compareWith: chosen && (runs.get(chosen.id) ?? chosen),
    };
    const isCurrent = !force && former?.isCurrent(present, shownWith) === true;
    const found =
      isCurrent && former.unreadRuns.length === 0
        ? former
        : await RunFindings.load(present, shownWith, this.#deps, former, showEarly);
    // Earlier runs that could not be read were tried again.
    if (isCurrent && found !== former && found.unreadRuns.length === former.unreadRuns.length) return former;
    if (found.updateRun(present)) this.#isChanged ||= found === former;
    this.#isChanged ||= this.#failures.get(run.id)?.kind !== found.failure?.kind;
    this.#failures.set(run.id, found.failure);
    return found;
  }

  #decide(): void {
    for (const found of this.#loaded) this.#isChanged = found.decide() || this.#isChanged;
  }

  /** Re-places findings in files that were edited, created, or deleted (absolute paths). Loads again if a finding without a place may have one. */
  rePlace(changed: ReadonlySet<string>, createdOrDeleted: ReadonlySet<string> = new Set()): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#loaded.some((found) => found.mayPlaceMore(createdOrDeleted))) {
        this.#mustForce = true;
        return this.#loadChosen();
      }
      if ([...changed, ...createdOrDeleted].some((path) => ownersNames.has(basename(path))))
        for (const found of this.#loaded) this.#isChanged = (await found.readOwners(true)) || this.#isChanged;
      const rePlaced = await Promise.all(
        this.#loaded.map((found) => found.rePlace(changed, createdOrDeleted)),
      );
      this.#isChanged ||= rePlaced.includes(true);
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work).finally(() => this.#fireIfChanged());
    this.#queue = done.catch(() => undefined); // the caller gets the error
    return done;
  }

  #fireIfChanged(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#shownRuns = this.#loaded.map((found) => toShownRun(found, this.#runIds));
    this.#changed.fire();
  }

  shownRuns(): readonly ShownRun[] {
    return this.#shownRuns;
  }

  /** False until all that is shown is placed: findings are counted only then. */
  isComplete(): boolean {
    return this.#isComplete;
  }

  /** All findings that the shown runs report, in the order of their files. */
  all(): readonly ShownFinding[] {
    return this.#shownRuns.flatMap(({ shown }) => shown);
  }

  absent(): readonly ShownFinding[] {
    return this.#shownRuns.flatMap(({ absent = [] }) => absent);
  }

  /** A shown finding, by the local ID of its run and its `Finding.index`. */
  find(runId: string, index: number): ShownFinding | undefined {
    const isWanted = ({ run, finding }: ShownFinding): boolean => run.id === runId && finding.index === index;
    // No copy of all findings: a command on many findings looks each of them up.
    for (const { shown, absent = [] } of this.#shownRuns) {
      const found = shown.find(isWanted) ?? absent.find(isWanted);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  failureOf(runId: string): Failure | undefined {
    return this.#failures.get(runId);
  }

  /** All findings of a run, assessed, whether they are shown or not. A file that cannot be read gives a `failure`. */
  read(run: Run): Promise<ShownRun> {
    return this.#enqueue(async () => {
      const found = await this.#loadRun(run, false);
      const former = this.#loaded.findIndex((each) => each.run.id === run.id);
      if (former >= 0) this.#replaceLoaded(this.#loaded.with(former, found), this.#runIds);
      if (await found.readOwners()) this.#isChanged ||= former >= 0;
      return toShownRun(found);
    });
  }

  async placeNow<T extends Pick<ShownFinding, 'finding' | 'places'>>(
    findings: readonly T[],
  ): Promise<readonly T[]> {
    const wanted = new Set(findings.map(({ finding }) => finding));
    const found = await Promise.all(this.#loaded.map((run) => run.placesNow(wanted)));
    const places = new Map(found.flatMap((placesOfRun) => [...placesOfRun]));
    return findings.map((shown) => ({ ...shown, places: places.get(shown.finding) ?? shown.places }));
  }

  /** The findings with all their texts: those of earlier runs are shown without the long ones. */
  withTexts<T extends Pick<ShownFinding, 'run' | 'finding' | 'isBrief'>>(
    findings: readonly T[],
  ): Promise<readonly T[]> {
    return withTexts(findings, this.#deps);
  }

  /** The runs that tested a finding's pair on a live application, latest first. */
  confirmationsOf({ identity }: Pick<ShownFinding, 'identity'>): Promise<readonly Confirmation[]> {
    return readConfirmations(identity.fingerprint, this.#deps);
  }

  /** Shows a run's findings in its folders until another run of its subject is chosen or ends with findings. Ignores a run without findings. */
  async show({ id }: Run): Promise<void> {
    const { runs } = this.#deps;
    const run = runs.get(id);
    if (run === undefined || !hasFindings(run)) return;
    await allowReading(runs.folderOf(id));
    // The end of a comparison changes verdicts, even where the same runs stay shown.
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

  baselineOf(run: Run): Run | undefined {
    return baselineAmong(this.#deps.runs.all(), run);
  }

  /** Shows a run compared with a chosen run, until other findings are shown. For a file that cannot be read, throws why, with the run's ID as `subject`. */
  async showComparison(run: Run, baseline: Run): Promise<void> {
    for (const each of [run, baseline]) {
      const { failure } = await this.read(each);
      if (failure !== undefined) throw new AssessmentError(failure.kind, { ...failure, subject: each.id });
    }
    this.#choices.choose(run, this.#deps.runs.all());
    this.#compared = { run, baseline };
    await this.load({ force: true });
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
    const isTakenBack = state === 'open' && note === '';
    const { triage } = this.#deps;
    const subjects = shown.flatMap(toTriageSubjects);
    // Else a decision about the same finding of an earlier run would hold again.
    const inEarlierRuns = shown
      .flatMap((finding) => (finding.sameAs ?? []).map((identity) => ({ ...finding, identity })))
      .flatMap(toTriageSubjects)
      .filter(({ folder, identity }) => triage.get(folder, identity) !== undefined);
    return triage.set(isTakenBack ? [...subjects, ...inEarlierRuns] : subjects, state, note, more);
  }

  /** Maps paths of a folder's findings that start with `prefix` to `to`, a folder in it. Throws `outsideFolder`. */
  async mapPaths(folder: string, prefix: string, to: string): Promise<void> {
    await addMapping(this.#deps.mappings, folder, prefix, to);
    await this.load({ force: true });
  }

  hasMappings(folder: string): boolean {
    return mappingsOf(this.#deps.mappings, folder).length > 0;
  }

  async forgetMappings(folder: string): Promise<void> {
    await forgetMappings(this.#deps.mappings, folder);
    await this.load({ force: true });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
