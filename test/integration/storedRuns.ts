import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomic } from '../../src/core/files.ts';
import type { Failure, Run, RunIn } from '../../src/core/run/state/run.ts';
import { storeManifest } from '../unit/findings/result/storedManifest.ts';

const hourMs = 60 * 60 * 1000;

export interface StoredRun {
  readonly id: string;
  readonly folder: string;
  readonly baseUrl: string;
  readonly organizationId: string;
}

export const inventedAccount = { baseUrl: 'https://assessment.example.test/v1', organizationId: 'invented' };

/** Stores the journal of a live run, optionally with trouble. */
export async function storeLiveRun(
  storage: string,
  run: StoredRun,
  trouble?: NonNullable<RunIn<'running'>['trouble']>,
): Promise<void> {
  const at = Date.now() - hourMs;
  await storeRun(storage, {
    ...common(run, at),
    state: 'running',
    runId: `invented-${run.id}`,
    dispatchedAt: at,
    trouble,
  });
}

/** Stores a run that failed before the service had it. */
export async function storeUnsentRun(
  storage: string,
  run: StoredRun,
  uploaded?: Readonly<Record<string, string>>,
): Promise<void> {
  const at = Date.now() - hourMs;
  const unsent: Run = {
    ...common(run, at),
    state: 'failed',
    endedAt: at + 1000,
    failure: { kind: 'serverError', status: 503 },
  };
  await storeRun(storage, unsent, async (folder) => {
    if (uploaded !== undefined) await storeManifest(folder, 0, uploaded);
  });
}

/** Stores a run whose start is unconfirmed for this reason. */
export async function storeUnknownRun(storage: string, run: StoredRun, reason: Failure): Promise<void> {
  const at = Date.now() - hourMs;
  const shared = common(run, at);
  const upload = { fileId: `invented-${run.id}`, state: 'confirmed' as const, at };
  const targets = shared.targets.map((target) => ({ ...target, upload }));
  await storeRun(storage, { ...shared, targets, state: 'unknown', intendedAt: at, reason });
}

/** Stores a successful run with its artifacts. `uploaded` is its archive's content, if known. */
export async function storeEndedRun(
  storage: string,
  run: StoredRun,
  findings: unknown,
  uploaded?: Readonly<Record<string, string>>,
): Promise<void> {
  await storeRun(storage, endedRun(run), async (folder) => {
    await writeFile(path.join(folder, 'findings.json'), JSON.stringify(findings));
    await writeFile(path.join(folder, 'report.md'), '# Invented report\n');
    if (uploaded !== undefined) await storeManifest(folder, 0, uploaded);
  });
}

/** Stores a successful crawl with these artifacts by role. */
export async function storeCrawl(
  storage: string,
  run: StoredRun,
  artifacts: Readonly<Record<string, unknown>>,
  input?: Run['input'],
): Promise<void> {
  const names = Object.keys(artifacts);
  const ended: Run = {
    ...endedRun(run),
    workflow: 'blackbox-crawl',
    ...(input && { input }),
    exit: { kind: 'SUCCESS', artifacts: names },
    artifacts: names.map((name) => ({ name, file: `${name}.json` })),
  };
  await storeRun(storage, ended, async (folder) => {
    for (const [name, value] of Object.entries(artifacts))
      await writeFile(path.join(folder, `${name}.json`), JSON.stringify(value));
  });
}

/** The run succeeded an hour ago. */
export function endedRun(run: StoredRun): RunIn<'succeeded'> {
  const at = Date.now() - hourMs;
  return {
    ...common(run, at),
    state: 'succeeded',
    runId: `invented-${run.id}`,
    dispatchedAt: at,
    exit: { kind: 'success', artifacts: ['findings', 'report'] },
    exitedAt: at + 1000,
    endedAt: at + 2000,
    artifacts: [
      { name: 'findings', file: 'findings.json' },
      { name: 'report', file: 'report.md' },
    ],
  };
}

/** Stores an imported run without artifacts. */
export async function storeImportedRun(
  storage: string,
  { id, folder }: Pick<StoredRun, 'id' | 'folder'>,
): Promise<void> {
  const at = Date.now() - hourMs;
  await storeRun(storage, {
    ...common({ id, folder, baseUrl: '', organizationId: '' }, at),
    state: 'imported',
    endedAt: at,
    importedFrom: 'invented.json',
    artifacts: [],
  });
}

function common({ id, folder, baseUrl, organizationId }: StoredRun, createdAt: number) {
  return {
    version: 1 as const,
    id,
    workflow: 'whitebox-assessment' as const,
    baseUrl,
    organizationId,
    language: 'english' as const,
    webhookEndpointIds: [],
    targets: [{ folder, name: path.basename(folder) }],
    createdAt,
    noticeDue: false,
  };
}

/** Writes the journal last and atomically: a running window would set a partial one aside. */
async function storeRun(
  storage: string,
  run: Run,
  writeFiles: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const folder = path.join(storage, 'runs', run.id);
  await mkdir(folder, { recursive: true });
  await writeFiles(folder);
  await writeFileAtomic(path.join(folder, 'run.json'), JSON.stringify(run));
}
