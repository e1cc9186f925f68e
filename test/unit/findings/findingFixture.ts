import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AssessmentError } from '../../../src/core/errors.ts';
import { pathKey } from '../../../src/core/paths.ts';
import { Emitter } from '../../../src/core/ports.ts';
import type { ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import { FindingStore } from '../../../src/core/findings/findingStore.ts';
import { createMemory, type ResultSource, saveResult } from '../../../src/core/findings/result/readResult.ts';
import type { EditorTexts } from '../../../src/core/findings/location/currentLocations.ts';
import { utf8Only } from '../../../src/core/findings/location/uploadedFiles.ts';
import { TriageStore } from '../../../src/core/findings/triage/triageStore.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { FolderCalls } from '../../../src/core/yieldingWork.ts';
import { silent } from '../../silentLog.ts';
import { runOf } from '../run/sampleRuns.ts';
import { storeManifest } from './result/storedManifest.ts';
import { parseWorker } from './parse/bundledWorker.ts';

/** This is the machine's own clock. */
export const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: () => Promise.resolve(),
};

function makeMemory(): { get(key: string): unknown; update(key: string, value: unknown): Promise<void> } {
  const values = new Map<string, unknown>();
  return {
    get: (key) => values.get(key),
    update: (key, value) => Promise.resolve(void values.set(key, value)),
  };
}

type Files = Readonly<Record<string, string | Buffer>>;

type RunParts = readonly [
  folders: readonly string[],
  findings: string,
  /** Each folder has its own files, or all folders have the same. */
  uploaded?: Files | readonly Files[],
];

/** The finding store has its own folder on disk, run store, and triage store. */
export interface FindingFixture {
  readonly root: string;
  readonly store: FindingStore;
  readonly runs: RunStore;
  readonly triage: TriageStore;
  /** Moves the clock of decisions by days and reloads them. */
  readonly passDays: (days: number) => Promise<void>;
  readonly open: Set<string>;
  /** A folder below the root does not answer, until the returned function is called. */
  readonly silence: (name: string) => () => void;
  /** The decisions of these folders are shared. */
  readonly shared: Set<string>;
  readonly edit: (file: string, text: string | undefined) => Promise<void>;
  /** Opens a second finding store, as a new window does; `workerFile` may not exist. */
  reopen(workerFile: string): FindingStore;
  /**
   * Stores an ended run of folders below the root, each newer than the last, with the `uploaded`
   * files of each.
   */
  addRun(...args: RunParts): Promise<Run>;
  /** Like `addRun`, without loading its findings. */
  storeRun(...args: RunParts): Promise<Run>;
}

/** Runs whose journals a test replaces, as no product code does. */
class RewritableRuns extends RunStore {
  override async create(run: Run): Promise<Run> {
    if (this.get(run.id) === undefined) return super.create(run);
    await writeFile(path.join(this.folderOf(run.id), 'run.json'), JSON.stringify(run));
    await this.refresh(run.id);
    return run;
  }
}

/** Creates a fixture for a test; its window has these folders below the root open. */
export async function setUpFindings(
  t: { readonly after: (cleanUp: () => unknown) => void },
  ...folders: readonly string[]
): Promise<FindingFixture> {
  const root = await mkdtemp(path.join(tmpdir(), 'finding-store-'));
  const runs = new RewritableRuns(path.join(root, 'runs'), { clock, log: silent });
  const open = new Set(folders.map((name) => path.join(root, name)));
  const shared = new Set<string>();
  const texts = new Map<string, string>();
  const shiftJis = { documents: new Map(), folders: new Map([[root, 'shiftjis']]) };
  const inShiftJis = (): EditorTexts['encodings'] => shiftJis;
  let shift = 0;
  const [disk, answered] = [new FolderCalls(silent), new Emitter<string>(silent)];
  const silentFolders = new Set<string>();
  disk.onDidAnswer((folder) => answered.fire(folder));
  const calls: Pick<FolderCalls, 'ask' | 'onDidAnswer'> = {
    onDidAnswer: answered.event,
    ask: (folder, call) =>
      silentFolders.has(folder)
        ? Promise.reject(new AssessmentError('noAnswer', { subject: folder }))
        : disk.ask(folder, call),
  };
  const triage = new TriageStore({
    calls,
    pathsFor: (folder) => ({
      book: `${folder}.jsonl`,
      shared: shared.has(folder) ? path.join(folder, 'shared') : undefined,
    }),
    clock: { ...clock, now: () => clock.now() + shift },
    log: silent,
  });
  const openStore = (workerFile: string): FindingStore => {
    const store = new FindingStore({
      runs,
      triage,
      mappings: makeMemory(),
      calls,
      log: silent,
      isOpenHere: (folder) => open.has(folder),
      texts: (isWanted) => ({
        edited: new Map([...texts].filter(([file]) => isWanted(file))),
        encodings: inShiftJis(),
      }),
      workerFile,
      encodings: inShiftJis,
      memory: createMemory(),
    });
    t.after(() => store.dispose());
    return store;
  };
  const store = openStore(parseWorker);
  t.after(async () => {
    // A worker that is being stopped may still save a result.
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });
  let count = 0;
  const fixture: FindingFixture = {
    root,
    store,
    runs,
    triage,
    passDays: (days) => {
      shift += days * 86_400_000;
      return triage.reload();
    },
    open,
    silence: (name) => {
      const folder = path.join(root, name);
      silentFolders.add(folder);
      return () => {
        silentFolders.delete(folder);
        answered.fire(folder);
      };
    },
    shared,
    edit: (file, text) => {
      if (text === undefined) texts.delete(pathKey(file));
      else texts.set(pathKey(file), text);
      return store.locateAgain(new Set([file]));
    },
    reopen: openStore,
    addRun: async (...args) => {
      const run = await fixture.storeRun(...args);
      await store.load();
      return run;
    },
    storeRun: async (folders, findings, uploaded) => {
      count += 1;
      const run = await writeRun(root, runs, count, folders, findings);
      const { id, targets } = run;
      for (const { folder } of targets) {
        await mkdir(folder, { recursive: true });
        await writeFile(path.join(folder, 'a.js'), 'one\ntwo\nthree\n');
      }
      if (uploaded !== undefined)
        for (const index of targets.keys()) {
          const files = Array.isArray(uploaded) ? (uploaded as readonly Files[])[index] : (uploaded as Files);
          await storeUploaded(run, index, runs.folderOf(id), files ?? {});
        }
      await runs.create(run);
      const source = { ...sourceFor(runs), encodings: inShiftJis };
      // This is the last step of collecting. A file that cannot be read does not keep the run from
      // ending.
      if (uploaded !== undefined) await saveResult(run, source).catch(() => undefined);
      return run;
    },
  };
  return fixture;
}

/** Only the findings file of the succeeded run is on disk. */
export async function writeRun(
  root: string,
  runs: Pick<RunStore, 'folderOf'>,
  count: number,
  folders: readonly string[],
  findings: string,
): Promise<Run> {
  const id = `run-${String(count)}`;
  const targets = folders.map((name) => ({ folder: path.join(root, name), name }));
  const artifacts = [{ name: 'findings', file: 'findings.json' }];
  await mkdir(runs.folderOf(id), { recursive: true });
  await writeFile(path.join(runs.folderOf(id), 'findings.json'), findings);
  return { ...runOf.succeeded, id, runId: id, targets, artifacts, createdAt: count } as Run;
}

/** The source returns results of these runs. */
export function sourceFor(runs: ResultSource['runs'], more: Partial<ResultSource> = {}): ResultSource {
  return { runs, workerFile: parseWorker, encodings: () => utf8Only, memory: createMemory(), ...more };
}

async function storeUploaded(run: Run, index: number, runFolder: string, uploaded: Files): Promise<void> {
  await storeManifest(runFolder, index, uploaded);
  for (const [name, text] of Object.entries(uploaded)) {
    const file = path.join(run.targets[index]!.folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** The findings file has one invented finding. */
export function finding(
  title: string,
  location: Record<string, unknown> = { file: 'a.js', line: 2 },
): string {
  return JSON.stringify([{ title, severity: 'high', ...location }]);
}

export function titles({ store }: FindingFixture): string[] {
  return store.all().map((shown) => shown.finding.title);
}

/** Returns verdicts of reported and absent findings by title. */
export async function verdictsOf(
  { store }: FindingFixture,
  run: Run,
): Promise<Record<string, string | undefined>> {
  const { shown, absent = [] } = await store.read(run);
  return toVerdicts([...shown, ...absent]);
}

export function toVerdicts(shown: readonly ShownFinding[]): Record<string, string | undefined> {
  return Object.fromEntries(shown.map(({ finding: { title }, verdict }) => [title, verdict]));
}
