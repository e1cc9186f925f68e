import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FindingStore } from '../../../src/core/findings/findingStore.ts';
import { utf8Only } from '../../../src/core/findings/location/uploadedFiles.ts';
import { createMemory, saveResult } from '../../../src/core/findings/result/readResult.ts';
import { problemsByFile } from '../../../src/core/findings/view/problems.ts';
import { TriageStore } from '../../../src/core/findings/triage/triageStore.ts';
import { pathKey } from '../../../src/core/paths.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import { FolderCalls } from '../../../src/core/yieldingWork.ts';
import { silent } from '../../silentLog.ts';

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms: number) => {
    await sleep(ms);
  },
};
/** Each placing comes after a user has stopped typing. */
const placings = 10;

/** Works out the result of a run in `storage`. */
export async function workOutStored(storage: string, id: string): Promise<void> {
  const runs = new RunStore(join(storage, 'runs'), { clock, log: silent });
  await runs.reload();
  const run = runs.get(id);
  if (run === undefined) throw new Error('no run');
  const workerFile = resolve('dist/parseWorker.cjs');
  await saveResult(run, { runs, workerFile, encodings: () => utf8Only, memory: createMemory() });
}

/**
 * Reads the run in `storage` as a window does, then types in `file`. Times in ms: first problem,
 * all placed, each time that the file is placed again.
 */
export async function openFindings(
  storage: string,
  file: string,
): Promise<{ firstMs: number; locatedMs: number; findings: number; againMs: number[] }> {
  const runs = new RunStore(join(storage, 'runs'), { clock, log: silent });
  const folder = join(storage, 'triage');
  const calls = new FolderCalls(silent);
  const triage = new TriageStore({
    pathsFor: () => ({ book: join(folder, 'book.jsonl') }),
    calls,
    clock,
    log: silent,
  });
  const mappings = { get: () => undefined, update: () => Promise.resolve() };
  const edited = new Map<string, string>();
  const store = new FindingStore({
    runs,
    triage,
    mappings,
    calls,
    log: silent,
    isOpenHere: () => true,
    texts: () => ({ edited, encodings: utf8Only }),
    workerFile: resolve('dist/parseWorker.cjs'),
    encodings: () => utf8Only,
    memory: createMemory(),
  });
  await runs.reload();
  let [firstMs, locatedMs] = [0, 0];
  store.onDidChange(() => {
    const isLocated = store.shownRuns().every(({ unread }) => unread?.length === 0);
    const ms = performance.now() - start;
    if (firstMs === 0 && problemsByFile(store.all()).size > 0) firstMs = ms;
    if (firstMs > 0 && locatedMs === 0 && isLocated) locatedMs = ms;
  });
  const start = performance.now();
  await store.load();
  if (locatedMs === 0) throw new Error('nothing to show');

  const text = await readFile(file, 'utf8');
  const type = async (count: number): Promise<number> => {
    const before = performance.now();
    edited.set(pathKey(file), `import more;\n${text}${'x'.repeat(count)}`);
    await store.locateAgain(new Set([file]));
    return performance.now() - before;
  };
  const againMs: number[] = [];
  for (let count = 1; count <= placings; count++) againMs.push(await type(count));
  return { firstMs, locatedMs, findings: store.all().length, againMs };
}
