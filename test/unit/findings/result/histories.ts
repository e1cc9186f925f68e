import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { sourceFor, writeRun } from '../findingFixture.ts';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { ResultFinding, RunResult } from '../../../../src/core/findings/result/result.ts';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { readResult, type ResultSource } from '../../../../src/core/findings/result/readResult.ts';
import { keptPath } from '../../../../src/core/findings/location/uploadedFiles.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { storeManifest } from './storedManifest.ts';
import { scratchFolder } from '../scratchFolder.ts';

/** The results of runs on disk are worked out when they are asked for. */
export interface History {
  /** The newest run is first. */
  readonly runs: readonly Run[];
  /** `uploaded` is what was uploaded of each folder, or undefined where that is not known. */
  add(
    folders: readonly string[],
    items: readonly object[],
    uploaded?: Uploaded,
    more?: Partial<Run>,
  ): Promise<Run>;
  /** Adds an ended assessment of a live application, which tested these pairs. */
  addLive(
    findings: readonly object[],
    progress?: object,
    more?: { readonly input?: object; readonly [member: string]: unknown },
  ): Promise<Run>;
  /** Returns undefined for a run whose findings cannot be read. */
  result(run: Run): Promise<RunResult | undefined>;
  /** Results come from there in another window. */
  source(): ResultSource;
  folderOf(run: Run): string;
  /** Another window gets results from this source. */
  download(run: Run, findings: readonly object[]): Promise<void>;
  /** Makes its findings file unreadable, or readable again. */
  setReadable(run: Run, isReadable: boolean): Promise<void>;
  /** Has the result worked out again. */
  touch(run: Run): Promise<void>;
  remove(run: Run): Promise<void>;
}

export type Uploaded = Readonly<Record<string, string>>;

export async function startHistory(t: TestContext): Promise<History> {
  const root = await scratchFolder(t, []);
  const folderOf = ({ id }: Pick<Run, 'id'>): string => path.join(root, 'runs', id);
  const fileOf = (run: Pick<Run, 'id'>): string => path.join(folderOf(run), 'findings.json');
  const source = (): ResultSource =>
    sourceFor({ all: () => runs, folderOf: (id) => path.join(root, 'runs', id) });
  let runs: readonly Run[] = [];
  let count = 0;
  let reports = 0;
  // The findings file differs each time, as of a service that writes the time into it.
  const write = (run: Pick<Run, 'id'>, findings: readonly object[]): Promise<void> => {
    reports += 1;
    return writeFile(fileOf(run), `${JSON.stringify(findings)}${' '.repeat(reports)}`);
  };
  const history: History = {
    folderOf,
    source,
    get runs() {
      return runs;
    },
    add: async (folders, findings, uploaded, more = {}) => {
      count += 1;
      const run = { ...(await writeRun(root, source().runs, count, folders, '')), ...more } as Run;
      await mkdir(path.join(folderOf(run), 'source'));
      await write(run, findings);
      for (const target of folders.keys()) {
        if (uploaded === undefined) continue;
        await storeManifest(folderOf(run), target, uploaded);
        for (const [name, text] of Object.entries(uploaded))
          await writeFile(path.join(folderOf(run), keptPath({ target, path: name })), text);
      }
      runs = [run, ...runs];
      return run;
    },
    addLive: async (findings, progress, { input, ...more } = {}) => {
      const file = 'progress.json';
      const scan = progress === undefined ? [] : [{ name: 'scan_progress', file }];
      const run = await history.add(['shop'], findings, undefined, {
        workflow: 'blackbox-assessment',
        input: { target_urls: ['https://shop.example/'], ...input },
        artifacts: [{ name: 'findings', file: 'findings.json' }, ...scan],
        ...more,
      });
      await writeFile(path.join(folderOf(run), file), JSON.stringify(progress ?? {}));
      return run;
    },
    result: async (run) => {
      try {
        return await readResult(run, source());
      } catch (error) {
        if (error instanceof AssessmentError) return undefined;
        throw error;
      }
    },
    download: write,
    setReadable: (run, isReadable) =>
      isReadable ? rename(`${fileOf(run)}.away`, fileOf(run)) : rename(fileOf(run), `${fileOf(run)}.away`),
    touch: (run) => utimes(fileOf(run), new Date(), new Date(Date.now() + (reports += 1) * 1_000)),
    remove: async (run) => {
      runs = runs.filter((each) => each !== run);
      await rm(folderOf(run), { recursive: true });
    },
  };
  return history;
}

/** The keys are titles. */
export function verdictsIn(result: RunResult | undefined): Record<string, string | undefined> {
  const all = [...(result?.findings ?? []), ...(result?.absent ?? [])];
  return Object.fromEntries(all.map(({ finding: { title }, verdict }) => [title, verdict]));
}

/**
 * Says what became of the first finding of a run: whether a decision about it holds, is said, or
 * neither.
 */
export function fateOf(before: ResultFinding, after: RunResult): string {
  const { findings } = after;
  if (findings.some(({ name }) => name === before.name)) return 'holds';
  return findings.some(({ possibleNames }) => possibleNames.includes(before.name)) ? 'said' : 'none';
}
