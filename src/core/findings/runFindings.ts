import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import { readScanProgress } from '../features/scanProgress.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, runIdOf, toFailure } from '../run/state/run.ts';
import { inSlices } from '../yieldingWork.ts';
import { isSameRun } from './chooseRun.ts';
import { type History, type NamedFindings, type Told, traceBack } from './compare/history.ts';
import { isReported } from './compare/verdict.ts';
import type { TextNow } from './drift/trackedFile.ts';
import type { Finding } from './finding.ts';
import { identitiesOf, type Identity } from './identity.ts';
import { checkEvidence, type EvidenceOfPlaces } from './place/evidence.ts';
import type { Cut } from './parse/parse.ts';
import { readFindings } from './parse/readFindings.ts';
import { type MappingMemory, mappingsOf } from './place/mappings.ts';
import { createResolver, type Resolver, type SentPath } from './place/resolver.ts';
import { locateFindings, placesAsReported, RunPlaces, toShownPlace } from './place/runPlaces.ts';
import { type Decode, readSent } from './place/sentFiles.ts';
import { decisionFolders, type ShownFinding, type ShownPlace, type ShownRun } from './shownFinding.ts';
import { isSettled, isUndecided, type TriageDecision, type TriageEntry, undecided } from './triage/triage.ts';
import type { TriageStore } from './triage/triageStore.ts';

/** What the findings of runs are made from. */
export interface RunFindingsDeps {
  readonly runs: Pick<RunStore, 'all' | 'get' | 'folderOf' | 'onDidChange'>;
  readonly triage: TriageStore;
  readonly mappings: MappingMemory;
  /** The text of a file (absolute path) that is edited and not saved: it counts, and not the file on the disk. */
  readonly textOf: (file: string) => string | undefined;
  /** Reads files that are not UTF-8. */
  readonly decode: Decode;
  /** The parsing worker's entry. */
  readonly workerFile: string | URL;
  /** Where true, nothing is written. */
  readonly isReadOnly?: boolean | undefined;
  /** Where true, places are as they were reported until `placesNow` is asked for them. */
  readonly isPlacedWhenAsked?: boolean | undefined;
  readonly log: Logger;
}

const chunk = 1_000;

/** Findings of one run that could be read, and where they are here. */
interface Read {
  readonly named: NamedFindings;
  readonly places: RunPlaces;
  readonly placed: readonly (readonly ShownPlace[])[];
}

/** The runs that a run is compared with, and what they tell. */
interface Compared {
  readonly earlier: readonly Run[];
  readonly baselineId: string | undefined;
  readonly history: History;
  /** Whether all of them could be read. */
  readonly isWhole: boolean;
}

/** The findings of one run: read once, and placed again when the text of a file changes. */
export class RunFindings implements ShownRun {
  readonly failure: Failure | undefined;
  readonly #deps: RunFindingsDeps;
  readonly #named: NamedFindings | undefined;
  readonly #places: RunPlaces | undefined;
  /** The files that findings point at. */
  readonly #files: ReadonlySet<string>;
  #run: Run;
  /** How a person mapped paths when it was loaded: the evidence goes by it. */
  #mappings: unknown;
  /** What is known of each finding by its position: of other runs, and of what was sent. */
  #told: readonly Told[];
  #evidence: readonly (EvidenceOfPlaces | undefined)[] | undefined;
  /** The runs that the findings were compared with, and what these tell. */
  #compared: Compared | undefined;
  /** What this run does not report of those. */
  #absent: readonly RunFindings[] = [];
  #shown: readonly ShownFinding[];

  private constructor(run: Run, deps: RunFindingsDeps, read: Read | Failure, told: readonly Told[] = []) {
    const isRead = 'named' in read;
    this.#run = run;
    this.#deps = deps;
    this.#told = told;
    this.failure = isRead ? undefined : read;
    this.#named = isRead ? read.named : undefined;
    this.#places = isRead ? read.places : undefined;
    this.#shown = isRead
      ? read.named.names.map(({ finding, folder, identity }, at) =>
          this.#judged(
            { run, finding, folder, identity, places: read.placed[at] ?? [], triage: undecided },
            at,
          ),
        )
      : [];
    this.#files = new Set(this.#shown.flatMap(({ places }) => places.map(({ file }) => file)));
  }

  /**
   * Reads a run's findings file and finds its places here; a file that cannot be read gives a `failure`. `former` is the run as it was loaded before: lines that it follows
   * are followed on, what is known of the findings stays, but for evidence by other mappings, and it is what comes back when the failure is still the same.
   */
  static async load(run: Run, deps: RunFindingsDeps, former?: RunFindings): Promise<RunFindings> {
    try {
      const mappings = run.targets.map(({ folder }) => mappingsOf(deps.mappings, folder));
      const named = await readNamed(run, deps);
      const loaded = new RunFindings(run, deps, await placeFindings(named, deps, former && former.#places));
      loaded.#mappings = mappings;
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

  /** All findings, in the order of the file. */
  get shown(): readonly ShownFinding[] {
    return this.#shown;
  }

  /** What earlier runs of its folders reported and this one does not, each with its verdict; what a person has settled only where it is of the baseline. */
  get absent(): readonly ShownFinding[] {
    return this.#absent
      .flatMap(({ shown }) => shown)
      .filter(({ run, triage }) => run.id === this.baseline?.id || !isSettled(triage.state));
  }

  get cut(): Cut | undefined {
    return this.#named?.cut;
  }

  /** The run that it is compared with first; undefined where that cannot be read. */
  get baseline(): Run | undefined {
    const { earlier = [], history } = this.#compared ?? {};
    return earlier.find(({ id }) => id === history?.baseline?.id);
  }

  get baselineCut(): Cut | undefined {
    return this.#compared?.history.baseline?.cut;
  }

  get changedFiles(): number {
    return this.#places?.changed.size ?? 0;
  }

  /** True when a finding that has no place so far may be in one of these files and folders, which were created or deleted. */
  isMissing(createdOrDeleted: ReadonlySet<string>): boolean {
    const missing = this.#places?.missing;
    return [...createdOrDeleted].some((path) => !this.#files.has(path) && missing?.has(basename(path)));
  }

  /** Places the findings again that are in one of these files, or in one below these folders, by the text that the files have now. True when there are any. */
  async rePlace(changed: ReadonlySet<string>, createdOrDeleted: ReadonlySet<string>): Promise<boolean> {
    const others = await Promise.all(this.#absent.map((each) => each.rePlace(changed, createdOrDeleted)));
    const files = [...changed, ...createdOrDeleted].filter((file) => this.#files.has(file));
    if (createdOrDeleted.size > 0)
      files.push(...[...this.#files].filter((file) => isBelow(file, createdOrDeleted)));
    const texts = new Map<string, TextNow>();
    const look = async (file: string): Promise<void> => {
      const now = await this.#places?.textNow(file, this.#deps.textOf);
      if (now !== undefined) texts.set(file, now);
    };
    await Promise.all([...new Set(files)].map(look));
    if (texts.size === 0) return others.includes(true);
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
    const others = await Promise.all(this.#absent.map((each) => each.placesNow(wanted)));
    const places = new Map(others.flatMap((each) => [...each]));
    const findings = this.#shown.map(({ finding }) => finding).filter((finding) => wanted.has(finding));
    if (this.#named === undefined || findings.length === 0) return places;
    const { source } = this.#named;
    source.resolver.forget();
    const located = await locateFindings(source.run, findings, source);
    const { decode, textOf } = this.#deps;
    const placed = await new RunPlaces(source.runFolder, located, decode, undefined).placesOf(
      findings,
      textOf,
    );
    for (const [at, finding] of findings.entries()) places.set(finding, placed[at] ?? []);
    return places;
  }

  /** Gives the findings the decisions that hold now; true when any of them changes. */
  decide(): boolean {
    const others = this.#absent.map((each) => each.decide());
    const decided = this.#shown.map((shown, at) => this.#judged(shown, at));
    const isChanged = decided.some((shown, at) => shown !== this.#shown[at]);
    this.#shown = decided;
    return isChanged || others.includes(true);
  }

  /** Takes a new name of the run; true when it is one. */
  rename(run: Run): boolean {
    const isRenamed = run.label !== this.#run.label;
    this.#run = run;
    if (isRenamed) this.#shown = this.#shown.map((shown) => ({ ...shown, run }));
    return isRenamed;
  }

  /** Compares the findings with those of the runs before, the latest first, and checks them against what was sent; true when anything new is known. */
  async assess(earlier: readonly Run[], baselineId: string | undefined): Promise<boolean> {
    const named = this.#named;
    if (named === undefined) return false;
    const known = this.#compared;
    const isKnown =
      known?.isWhole === true &&
      known.baselineId === baselineId &&
      known.earlier.length === earlier.length &&
      earlier.every((run, at) => isSameRun(run, known.earlier[at]));
    const before = { baseline: this.baseline, absent: this.absent.length };
    if (isKnown) this.#compared = { ...known, earlier };
    else await this.#compareWith(named, earlier, baselineId);
    const findings = named.names.map(({ finding }) => finding);
    this.#evidence ??= await checkEvidence(findings, named.source, this.#deps.decode);
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

  async #compareWith(
    named: NamedFindings,
    earlier: readonly Run[],
    baselineId: string | undefined,
  ): Promise<void> {
    const unread: Run[] = [];
    const read = readEach(earlier, this.#deps, unread);
    const history = await traceBack(named, read, baselineId, this.#deps.decode);
    await this.#compare({ earlier, baselineId, history, isWhole: unread.length === 0 }, undefined);
  }

  async #takeOver(former: RunFindings): Promise<void> {
    if (isDeepStrictEqual(former.#mappings, this.#mappings)) this.#evidence = former.#evidence;
    if (former.#compared !== undefined) await this.#compare(former.#compared, former.#absent);
    this.decide();
  }

  /** Takes what other runs tell, and places what they alone report. */
  async #compare(compared: Compared, former: readonly RunFindings[] | undefined): Promise<void> {
    this.#absent = await Promise.all(
      compared.history.absent.map(async (named, at) => {
        const other = former?.[at];
        const read = await placeFindings(named, this.#deps, other && other.#places);
        return new RunFindings(named.source.run, this.#deps, read, named.told);
      }),
    );
    this.#compared = compared;
    this.#told = compared.history.told;
  }

  /** The finding with what is decided about it and known of it; the same object when that is what it has. */
  #judged(shown: ShownFinding, at: number): ShownFinding {
    const { verdict: told, former = [] } = this.#told[at] ?? {};
    const since = startOf(shown.run);
    const own = decisionAbout(shown, [shown.identity], this.#deps.triage);
    // What was fixed before a later run reports it again is not.
    const isReportedAnew = told !== 'carriedOver' && 'dispatchedAt' in shown.run;
    const isOver =
      isReportedAnew && own?.state === 'fixed' && own.identity.run !== shown.identity.run && own.at < since;
    const triage = isOver ? undecided : (own ?? undecided);
    const before = isUndecided(triage)
      ? isOver
        ? own
        : decisionAbout(shown, former, this.#deps.triage)
      : undefined;
    const isBack = isReportedAnew && before?.state === 'fixed' && before.at < since && isReported(told);
    const verdict = isBack ? 'backAgain' : told;
    const evidence = this.#evidence?.[at];
    return triage === shown.triage &&
      before === shown.decidedBefore &&
      verdict === shown.verdict &&
      evidence === shown.evidence
      ? shown
      : { ...shown, triage, decidedBefore: before, verdict, evidence };
  }
}

/** When a run's source was packed, at the latest. */
function startOf(run: Run): number {
  return ('dispatchedAt' in run ? run.dispatchedAt : undefined) ?? run.createdAt;
}

function isBelow(file: string, folders: ReadonlySet<string>): boolean {
  let folder = dirname(file);
  while (!folders.has(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folders.has(folder);
}

async function placeFindings(
  named: NamedFindings,
  { triage, decode, textOf, isPlacedWhenAsked }: RunFindingsDeps,
  former: RunPlaces | undefined,
): Promise<Read> {
  const { run, runFolder } = named.source;
  const findings = named.names.map(({ finding }) => finding);
  const located = await locateFindings(run, findings, named.source);
  const places = new RunPlaces(runFolder, located, decode, former);
  const placed =
    isPlacedWhenAsked === true
      ? placesAsReported(findings, located)
      : await places.placesOf(findings, textOf);
  await triage.load(run.targets.map(({ folder }) => folder));
  return { named, places, placed };
}

/** The findings of several runs, one run after the other; those that cannot be read are put in `unread`. */
async function* readEach(
  runs: readonly Run[],
  deps: RunFindingsDeps,
  unread: Run[],
): AsyncGenerator<NamedFindings> {
  for (const run of runs) {
    try {
      yield await readNamed(run, deps);
    } catch (error) {
      unread.push(run);
      deps.log.warn(`No run can be compared with run ${run.id}: ${String(error)}`);
    }
  }
}

/** Reads a run's findings file, and gives every finding its identity. Throws what `readFindings` throws. */
export async function readNamed(
  run: Run,
  {
    runs,
    mappings,
    workerFile,
    isReadOnly,
  }: Pick<RunFindingsDeps, 'mappings' | 'workerFile' | 'isReadOnly'> & {
    readonly runs: Pick<RunStore, 'folderOf'>;
  },
): Promise<NamedFindings> {
  const runFolder = runs.folderOf(run.id);
  const { findings, cut } = await readFindings(runFolder, { workerFile, isReadOnly, runId: run.id });
  const sent = await readSent(run, runFolder);
  const places = findings.flatMap((finding) => finding.places);
  const mappingOf = (folder: string): ReturnType<typeof mappingsOf> => mappingsOf(mappings, folder);
  const resolver = createResolver({ targets: run.targets, sent, places, mappingOf });
  const isBlackbox = run.workflow === 'blackbox-assessment';
  const progress = isBlackbox ? await readScanProgress(run, runFolder, workerFile) : undefined;
  const source = { run, runFolder, sent, resolver, progress };
  const sentPaths = await sentPathsOf(findings, resolver);
  const identities = await inSlices(identitiesOf(findings, sentPaths, runIdOf(run) ?? run.id));
  const names = findings.flatMap((finding, at) => {
    const identity = identities[at];
    return identity === undefined ? [] : [{ finding, folder: sentPaths[at]?.folder, identity, source }];
  });
  return { source, cut, names };
}

/** What findings are about, one for each; yields between chunks. */
async function sentPathsOf(findings: readonly Finding[], resolver: Resolver): Promise<readonly SentPath[]> {
  const sentPaths: SentPath[] = [];
  for (let start = 0; start < findings.length; start += chunk) {
    const some = findings.slice(start, start + chunk);
    sentPaths.push(
      ...(await Promise.all(some.map(({ places: [place] }) => resolver.sentPath(place ?? { path: '' })))),
    );
    await setImmediate();
  }
  return sentPaths;
}

/** The latest decision about the first of these names that has one, in a folder whose decisions count for the finding. */
function decisionAbout(
  shown: ShownFinding,
  names: readonly Identity[],
  store: TriageStore,
): TriageEntry | undefined {
  for (const identity of names)
    for (const folder of decisionFolders(shown)) {
      const decision = store.of(folder, identity);
      if (decision !== undefined) return decision;
    }
  return undefined;
}

/** What is decided about a finding, going by the decisions that the store has loaded. */
export function decisionOf(shown: ShownFinding, store: TriageStore): TriageDecision {
  return decisionAbout(shown, [shown.identity], store) ?? undecided;
}
