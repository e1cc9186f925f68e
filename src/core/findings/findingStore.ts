import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../errors.ts';
import { readIfThere } from '../files.ts';
import type { Disposable, Event, Logger } from '../ports.ts';
import { type Failure, isFinal, type Run, toFailure } from '../run/run.ts';
import type { RunStore } from '../run/runStore.ts';
import { anchorPlace } from './anchor.ts';
import type { Drift } from './drift.ts';
import type { Finding, Place } from './finding.ts';
import { fingerprintsOf } from './fingerprint.ts';
import { decideRuns, type FolderChoice, hasFindings } from './folderRuns.ts';
import { createLocator } from './locate.ts';
import { locateAmong, type LocatorFolder } from './locateAmong.ts';
import { type Notice, parseFindingsInSlices } from './parse.ts';
import { type TriageDecision, type TriageState, undecided } from './triage.ts';
import type { TriageStore } from './triageStore.ts';

/** A place that is a file here; lines are 1-based, as they are now, and absent when unknown; columns only where the line is the one that was told. */
export interface ShownPlace {
  /** Absolute. */
  readonly file: string;
  /** The folder it lies in, as the run's target names it. */
  readonly folder: string;
  /** Relative to its folder, with `/`. */
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly startColumn?: number | undefined;
  readonly endColumn?: number | undefined;
  /** The place as the findings file tells it. */
  readonly told: Place;
  /** What became of the code there since it was scanned. */
  readonly drift: Drift;
}

/** A finding with its run and those of its places that are files here, the main one first. */
export interface ShownFinding {
  readonly run: Run;
  readonly finding: Finding;
  readonly places: readonly ShownPlace[];
  /** Names the finding across runs. */
  readonly fingerprint: string;
  readonly triage: TriageDecision;
  /** How it relates to the run before of the same folders; absent when there is none. */
  readonly change?: 'new' | 'unchanged' | undefined;
}

/** What changed in the findings that are shown: everything, or only those whose main place is in one of these files (absolute paths). */
export type FindingsChange =
  { readonly kind: 'all' } | { readonly kind: 'files'; readonly files: ReadonlySet<string> };

/** A run with its findings, or why they cannot be read; of a run that is shown, only those of the folders that show it. */
export interface ShownRun {
  readonly run: Run;
  readonly shown: readonly ShownFinding[];
  readonly notices: readonly Notice[];
  readonly failure?: Failure | undefined;
}

/** Past this size a file's text is not read to check a finding's lines. */
const maxTextBytes = 5 * 1024 * 1024;

/** The findings that the editor shows: of each open folder's latest run that has some, unless a person chose another run or none since it ended. */
export class FindingStore implements Disposable {
  readonly #runs: RunStore;
  readonly #log: Logger;
  readonly #isOpenHere: (folder: string) => boolean;
  readonly #triage: TriageStore;
  readonly #listeners = new Set<(change: FindingsChange) => void>();
  readonly #subscriptions: readonly Disposable[];
  /** What a person chose, by folder. */
  readonly #choices = new Map<string, FolderChoice>();
  #shown: readonly ShownRun[] = [];
  /** The findings of the runs that are shown, whole. */
  #read: ReadonlyMap<string, ShownRun> = new Map();
  /** Which folder showed which run when `#shown` was made. */
  #decided = '[]';
  #loading: Promise<void> = Promise.resolve();

  /** `isOpenHere` tells whether this window has a folder (an absolute path) open. */
  constructor(deps: {
    runs: RunStore;
    log: Logger;
    triage: TriageStore;
    isOpenHere: (folder: string) => boolean;
  }) {
    this.#runs = deps.runs;
    this.#triage = deps.triage;
    this.#isOpenHere = deps.isOpenHere;
    this.#log = deps.log;
    this.#subscriptions = [
      deps.runs.onDidChange((run) => {
        if (isFinal(run) || this.#shown.some((shown) => shown.run.id === run.id)) void this.refresh();
      }),
      deps.triage.onDidChange(() => this.#applyTriage()),
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
    return shown?.find(({ finding }) => finding.index === index);
  }

  /** Shows a run's findings in its folders until another is chosen or ends with findings; a run without findings changes nothing. */
  async show({ id }: Run): Promise<void> {
    const run = this.#runs.get(id);
    if (run === undefined || !hasFindings(run)) return;
    this.#choose(run, id);
    await this.refresh();
  }

  /** Decides about findings, for everyone who shares their folders' decisions. Throws what `TriageStore.set` throws. */
  async setTriage(shown: readonly ShownFinding[], state: TriageState, note: string): Promise<void> {
    const subjects = shown.flatMap((each) => {
      const { fingerprint, finding, places } = each;
      const path = places[0]?.path ?? finding.places[0]?.path;
      return triageFoldersOf(each).map((folder) => ({ folder, fingerprint, title: finding.title, path }));
    });
    await this.#triage.set(subjects, state, note);
  }

  /** Shows no findings until a run is chosen or ends with findings. */
  async clear(): Promise<void> {
    for (const run of this.#runs.all()) this.#choose(run, undefined);
    await this.refresh();
  }

  /** Reads what should be shown now; one reading at a time. */
  refresh(): Promise<void> {
    this.#loading = this.#loading.then(() => this.#refresh());
    return this.#loading;
  }

  /** Reads a run's findings from its folder, whether they are shown or not; a file that cannot be read gives a `failure`. */
  async read(run: Run): Promise<ShownRun> {
    try {
      const text = await readFile(join(this.#runs.folderOf(run.id), 'findings.json'), 'utf8');
      const { findings, notices } = await parseFindingsInSlices(text, { runId: run.id });
      const find = await placeFinder(run, this.#runs.folderOf(run.id));
      await this.#triage.load(run.targets.map((target) => target.folder));
      const shown: ShownFinding[] = [];
      for (const [index, fingerprint] of fingerprintsOf(findings).entries()) {
        const finding = findings[index];
        if (finding === undefined) continue;
        const each = { run, finding, places: await find(finding), fingerprint, triage: undecided };
        shown.push({ ...each, triage: this.#triageOf(each) });
      }
      return { run, shown, notices };
    } catch (error) {
      const known =
        error instanceof AssessmentError
          ? error
          : new AssessmentError('storage', { detail: String(error) }, { cause: error });
      this.#log.warn(`The findings of run ${run.id} cannot be read: ${known.message}`);
      return { run, shown: [], notices: [], failure: toFailure(known) };
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #choose({ targets }: Run, runId: string | undefined): void {
    const withFindings = this.#runs.all().filter(hasFindings);
    const choice = { runId, over: new Set(withFindings.map(({ id }) => id)) };
    for (const { folder } of targets) this.#choices.set(folder, choice);
  }

  async #refresh(): Promise<void> {
    const byFolder = decideRuns(this.#runs.all(), this.#choices, this.#isOpenHere);
    const decided = JSON.stringify([...byFolder].map(([folder, run]) => [folder, run?.id]));
    if (decided === this.#decided) return;
    const runs = new Set([...byFolder.values()].filter((run) => run !== undefined));
    const whole = await Promise.all([...runs].map(async (run) => this.#read.get(run.id) ?? this.read(run)));
    this.#read = new Map(whole.map((each) => [each.run.id, each]));
    this.#shown = whole.map((each) => ({
      ...each,
      shown: each.shown.filter((shown) => {
        const folder = folderOf(shown);
        return folder === undefined || !byFolder.has(folder) || byFolder.get(folder)?.id === each.run.id;
      }),
    }));
    this.#decided = decided;
    this.#tell({ kind: 'all' });
  }

  #triageOf(shown: ShownFinding): TriageDecision {
    for (const folder of triageFoldersOf(shown)) {
      const decision = this.#triage.of(folder, shown.fingerprint);
      if (decision !== undefined) return decision;
    }
    return undecided;
  }

  /** Takes over decisions that were made here or elsewhere. */
  #applyTriage(): void {
    const files = new Set<string | undefined>();
    const renewed = <T extends ShownRun>(each: T): T => ({
      ...each,
      shown: each.shown.map((shown) => {
        const triage = this.#triageOf(shown);
        if (triage === shown.triage) return shown;
        files.add(shown.places[0]?.file);
        return { ...shown, triage };
      }),
    });
    this.#read = new Map([...this.#read].map(([id, each]) => [id, renewed(each)]));
    this.#shown = this.#shown.map(renewed);
    if (files.size === 0) return;
    const known = [...files].filter((file) => file !== undefined);
    this.#tell(known.length < files.size ? { kind: 'all' } : { kind: 'files', files: new Set(known) });
  }

  #tell(change: FindingsChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

/** The folder of a finding's main place, undefined when nothing tells it. */
function folderOf({ run, finding, places }: ShownFinding): string | undefined {
  if (places[0] !== undefined) return places[0].folder;
  const index = run.targets.length === 1 ? 0 : finding.places[0]?.targetIndex;
  return index === undefined ? undefined : run.targets[index]?.folder;
}

/** Whose decisions count for a finding: those of its folder, and of every folder of its run when nothing tells which it is. */
function triageFoldersOf(shown: ShownFinding): readonly string[] {
  const folder = folderOf(shown);
  return folder === undefined ? shown.run.targets.map((target) => target.folder) : [folder];
}

/** Finds the places of one finding after another; every file is looked up and read once. */
async function placeFinder(run: Run, folder: string): Promise<(finding: Finding) => Promise<ShownPlace[]>> {
  const folders: LocatorFolder[] = [];
  for (const [index, target] of run.targets.entries()) {
    const files = await sentFiles(folder, index);
    folders.push({
      folder: target.folder,
      locate: createLocator({ root: target.folder, ...(files === undefined ? {} : { files }) }),
    });
  }
  const texts = new Map<string, Promise<readonly string[]>>();
  const linesOf = (file: string): Promise<readonly string[]> => {
    const known = texts.get(file) ?? readLines(file);
    texts.set(file, known);
    return known;
  };
  return async (finding) => {
    const places: ShownPlace[] = [];
    for (const place of finding.places) {
      const origin = run.targets.length === 1 ? 0 : place.targetIndex;
      const found = await locateAmong(
        place.path,
        folders,
        origin === undefined ? undefined : run.targets[origin]?.folder,
      );
      if (found.kind !== 'inFolder' || found.located.kind !== 'file') continue;
      const { absolute, path } = found.located;
      const at = { file: absolute, folder: found.folder, path, told: place, drift: 'unknown' as const };
      places.push({ ...at, ...anchored(place, await linesOf(absolute)) });
    }
    return places;
  };
}

function anchored(place: Place, lines: readonly string[]): Partial<ShownPlace> {
  const anchor = anchorPlace(place, lines);
  if (anchor === undefined) return {};
  const { startLine, endLine, reanchored } = anchor;
  if (reanchored) return { startLine, endLine };
  return { startLine, endLine, startColumn: place.startColumn, endColumn: place.endColumn };
}

async function readLines(file: string): Promise<readonly string[]> {
  try {
    if ((await stat(file)).size > maxTextBytes) return [];
    return (await readFile(file, 'utf8')).split(/\r\n|\r|\n/);
  } catch {
    return []; // gone or unreadable since it was located: its lines are unknown, the finding stays
  }
}

async function sentFiles(folder: string, index: number): Promise<string[] | undefined> {
  const text = await readIfThere(join(folder, `manifest-${String(index)}.json`));
  if (text === undefined) return undefined;
  const manifest = JSON.parse(text) as { entries: { path: string }[] };
  return manifest.entries.map(({ path }) => path);
}
