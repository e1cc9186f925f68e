import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AssessmentError } from '../errors.ts';
import type { Logger } from '../ports.ts';
import type { RunStore } from '../run/disk/runStore.ts';
import { type Failure, type Run, toFailure } from '../run/state/run.ts';
import { inSlices } from '../yieldingWork.ts';
import { isSameRun } from './chooseRun.ts';
import { changesSince, type FindingName, runIdOf } from './compare.ts';
import type { TextNow } from './drift/trackedFile.ts';
import type { Finding } from './finding.ts';
import { identitiesOf } from './identity.ts';
import type { Cut } from './parse/parse.ts';
import { readFindings } from './parse/readFindings.ts';
import { type MappingMemory, mappingsOf } from './place/mappings.ts';
import { createResolver, type Resolver, type Subject } from './place/resolver.ts';
import { locateFindings, RunPlaces, toShownPlace } from './place/runPlaces.ts';
import { type Decode, readSent, type SentOfRun } from './place/sentFiles.ts';
import { decisionFolders, type ShownFinding, type ShownRun } from './shownFinding.ts';
import { type TriageDecision, undecided } from './triage/triage.ts';
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
  readonly log: Logger;
}

const chunk = 1_000;

/** The findings of one run: read once, and placed again when the text of a file changes. */
export class RunFindings implements ShownRun {
  readonly cut: Cut | undefined;
  readonly failure: Failure | undefined;
  readonly #deps: RunFindingsDeps;
  readonly #places: RunPlaces | undefined;
  /** The files that findings point at. */
  readonly #files: ReadonlySet<string>;
  #run: Run;
  /** The run that the findings are compared with; undefined while it cannot be read. */
  #baseline: Run | undefined;
  #shown: readonly ShownFinding[];

  private constructor(
    run: Run,
    deps: RunFindingsDeps,
    read:
      | { readonly shown: readonly ShownFinding[]; readonly places: RunPlaces; readonly cut: Cut | undefined }
      | Failure,
  ) {
    this.#run = run;
    this.#deps = deps;
    this.failure = 'kind' in read ? read : undefined;
    this.cut = 'kind' in read ? undefined : read.cut;
    this.#places = 'kind' in read ? undefined : read.places;
    this.#shown = 'kind' in read ? [] : read.shown;
    this.#files = new Set(this.#shown.flatMap(({ places }) => places.map(({ file }) => file)));
  }

  /**
   * Reads a run's findings file and finds its places here; a file that cannot be read gives a `failure`. `former` is the run as it was loaded before: lines that it follows
   * are followed on, and it is what comes back when the failure is still the same.
   */
  static async load(run: Run, deps: RunFindingsDeps, former?: RunFindings): Promise<RunFindings> {
    const { runs, triage, mappings, workerFile, isReadOnly, decode, textOf, log } = deps;
    const runFolder = runs.folderOf(run.id);
    try {
      const mappingOf = (folder: string): ReturnType<typeof mappingsOf> => mappingsOf(mappings, folder);
      const { findings, names, cut, sent, resolver } = await readNamed(run, runFolder, {
        workerFile,
        isReadOnly,
        mappingOf,
      });
      const located = await locateFindings(run, findings, { sent, resolver });
      const places = new RunPlaces(runFolder, located, decode, former && former.#places);
      const placed = await places.placesOf(findings, textOf);
      await triage.load(run.targets.map(({ folder }) => folder));
      const shown = names.map((name, at) =>
        withDecision({ ...name, run, places: placed[at] ?? [], triage: undecided }, triage),
      );
      return new RunFindings(run, deps, { shown, places, cut });
    } catch (error) {
      const failure = toFailure(
        error instanceof AssessmentError
          ? error
          : new AssessmentError('storage', { detail: String(error) }, { cause: error }),
      );
      log.warn(`The findings of run ${run.id} cannot be read: ${failure.kind} ${failure.detail ?? ''}`);
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
    const files = [...changed, ...createdOrDeleted].filter((file) => this.#files.has(file));
    if (createdOrDeleted.size > 0)
      files.push(...[...this.#files].filter((file) => isBelow(file, createdOrDeleted)));
    const texts = new Map<string, TextNow>();
    const look = async (file: string): Promise<void> => {
      const now = await this.#places?.textNow(file, this.#deps.textOf);
      if (now !== undefined) texts.set(file, now);
    };
    await Promise.all([...new Set(files)].map(look));
    if (texts.size === 0) return false;
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

  /** Gives the findings the decisions that hold now; true when any of them changes. */
  decide(): boolean {
    const decided = this.#shown.map((shown) => withDecision(shown, this.#deps.triage));
    const isChanged = decided.some((shown, at) => shown !== this.#shown[at]);
    this.#shown = decided;
    return isChanged;
  }

  /** Takes a new name of the run, and compares the findings with those of a baseline that can be read; true when any of it is new. */
  async update(run: Run, baseline: Run | undefined): Promise<boolean> {
    const isRenamed = run.label !== this.#run.label;
    const wanted = this.failure === undefined ? baseline : undefined;
    if (!isRenamed && isSameRun(wanted, this.#baseline)) return false;
    const names = wanted && (await readBaseline(wanted, this.#deps));
    const known = names && wanted;
    if (!isRenamed && isSameRun(known, this.#baseline)) return false;
    const changeOf = names && changesSince(this.#shown, names);
    this.#run = run;
    this.#baseline = known;
    this.#shown = this.#shown.map((shown) => ({ ...shown, run, change: changeOf?.(shown) }));
    return true;
  }
}

function isBelow(file: string, folders: ReadonlySet<string>): boolean {
  let folder = dirname(file);
  while (!folders.has(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folders.has(folder);
}

/** The names of a baseline's findings, without a look at their files; undefined when not all of them can be known. */
export async function readBaseline(
  baseline: Run,
  { runs, log, ...options }: Pick<RunFindingsDeps, 'runs' | 'workerFile' | 'isReadOnly' | 'log'>,
): Promise<readonly FindingName[] | undefined> {
  try {
    const { names, cut } = await readNamed(baseline, runs.folderOf(baseline.id), options);
    return cut === undefined ? names : undefined;
  } catch (error) {
    log.warn(`No run can be compared with run ${baseline.id}: ${String(error)}`);
    return undefined;
  }
}

interface NamedFindings {
  readonly findings: readonly Finding[];
  readonly cut: Cut | undefined;
  readonly names: readonly (FindingName & { readonly finding: Finding })[];
  readonly sent: SentOfRun;
  readonly resolver: Resolver;
}

/** Reads a run's findings file, and gives every finding its identity. Throws what `readFindings` throws. */
export async function readNamed(
  run: Run,
  runFolder: string,
  {
    mappingOf,
    ...options
  }: Pick<RunFindingsDeps, 'workerFile' | 'isReadOnly'> & {
    mappingOf?: (folder: string) => ReturnType<typeof mappingsOf>;
  },
): Promise<NamedFindings> {
  const { findings, cut } = await readFindings(runFolder, { ...options, runId: run.id });
  const sent = await readSent(run, runFolder);
  const places = findings.flatMap((finding) => finding.places);
  const resolver = createResolver({ targets: run.targets, sent, places, mappingOf });
  const subjects = await subjectsOf(findings, resolver);
  const identities = await inSlices(identitiesOf(findings, subjects, runIdOf(run) ?? run.id));
  const names = findings.flatMap((finding, at) => {
    const identity = identities[at];
    return identity === undefined ? [] : [{ finding, folder: subjects[at]?.folder, identity }];
  });
  return { findings, cut, names, sent, resolver };
}

/** What findings are about, one for each; yields between chunks. */
async function subjectsOf(findings: readonly Finding[], resolver: Resolver): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (let start = 0; start < findings.length; start += chunk) {
    const some = findings.slice(start, start + chunk);
    subjects.push(
      ...(await Promise.all(some.map(({ places: [place] }) => resolver.subjectOf(place ?? { path: '' })))),
    );
    await setImmediate();
  }
  return subjects;
}

/** The finding with what is decided about it; the same object when that is what it has. */
function withDecision(shown: ShownFinding, store: TriageStore): ShownFinding {
  const triage = decisionOf(shown, store);
  return triage === shown.triage ? shown : { ...shown, triage };
}

/** What is decided about a finding, going by the decisions that the store has loaded. */
export function decisionOf(shown: ShownFinding, store: TriageStore): TriageDecision {
  for (const folder of decisionFolders(shown)) {
    const decision = store.of(folder, shown.identity);
    if (decision !== undefined) return decision;
  }
  return undecided;
}
