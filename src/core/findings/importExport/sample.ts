import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { isSamePath } from '../../paths.ts';
import type { LeaseDeps } from '../../run/disk/lease.ts';
import { withLock } from '../../run/disk/lock.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { dayMs, type Run, runIdOf, type Target } from '../../run/state/run.ts';
import type { FindingStore } from '../findingStore.ts';
import { type ShownRun, toTriageSubjects } from '../shownFinding.ts';
import { dayAfter, type TriageDecision } from '../triage/triage.ts';
import type { TriageStore } from '../triage/triageStore.ts';
import { importRun } from './importFile.ts';

/**
 * The sample is an invented shop with the findings of two invented runs. `examples/sample` has the
 * shop, an earlier version of one file, and the results and decisions in each language. Each
 * version of the shop is written before its run is imported, so that the run keeps that version's
 * texts.
 */

export interface SampleDeps extends LeaseDeps {
  readonly runs: RunStore;
  readonly findings: FindingStore;
  readonly triage: TriageStore;
}

interface SampleSource {
  readonly from: string;
  readonly language: 'english' | 'japanese';
}

/** `index` refers to a finding of the second run. */
type SampleDecision = Pick<TriageDecision, 'state' | 'note'> & {
  readonly index: number;
  readonly days?: number;
};

const runIdPrefix = 'invented-sample-';
const runMs = 192 * 60_000;

/** Also true for a sample run that was imported from a bundle. */
export function isSample(run: Run): boolean {
  return run.state === 'imported' && runIdOf(run)?.startsWith(runIdPrefix) === true;
}

export function makeSample(folder: string, source: SampleSource, deps: SampleDeps): Promise<void> {
  return withLock(`${folder}.lock`, deps, async (requireLock) => {
    await requireLock();
    const { runs, triage } = deps;
    await runs.reload();
    const isOld = ({ folder: other }: Target): boolean => isSamePath(folder, other);
    for (const run of runs.all()) if (isSample(run) && run.targets.some(isOld)) await runs.remove(run.id);
    await triage.forget(folder);
    // The folder itself stays: a window may have it open.
    for (const name of await readdir(folder))
      await rm(join(folder, name), { recursive: true, maxRetries: 3 });
    await fill(folder, source, deps);
  });
}

async function fill(folder: string, { from, language }: SampleSource, deps: SampleDeps): Promise<void> {
  const { findings, triage, clock } = deps;
  const read = (name: string) => readFile(join(from, language, name));
  const now = clock.now();
  const add = async (number: number, daysAgo: number, files: Files, artifacts: Files): Promise<ShownRun> => {
    const dispatchedAt = now - daysAgo * dayMs;
    const facts = {
      runId: `${runIdPrefix}${String(number)}`,
      ...{ workflow: 'whitebox-assessment' as const, language, targets: [{ name: 'shop' }] },
      ...{ dispatchedAt, exitedAt: dispatchedAt + runMs },
    };
    const imported = { files: new Map([...artifacts, ['manifest-0.json', manifestOf(files)]]), run: facts };
    const origin = { fileName: `${facts.runId}.json`, targets: [{ folder, name: 'shop' }] };
    await writeFiles(folder, files);
    return findings.read(await importRun(imported, origin, { store: deps.runs, clock }));
  };
  // Owners are looked up only in a repository. A folder with an empty `.git` counts as one here,
  // but not for Git.
  await mkdir(join(folder, '.git'));
  const shop = await readFiles(join(from, 'shop'));
  const before = new Map([...shop, ...(await readFiles(join(from, 'before')))]);
  await add(1, 14, before, new Map([['findings.json', await read('first.json')]]));
  const results = ['findings.json', await read('second.json')] as const;
  const { run, shown } = await add(2, 1, shop, new Map([results, ['report.md', await read('report.md')]]));
  const made = JSON.parse((await read('decisions.json')).toString()) as readonly SampleDecision[];
  const decisions = made.flatMap(({ index, state, note, days }) => {
    const decision = { state, note, at: now, until: days === undefined ? days : dayAfter(now, days) };
    const about = shown.filter(({ finding }) => finding.index === index).flatMap(toTriageSubjects);
    return about.map((subject) => ({ ...subject, ...decision }));
  });
  await triage.importDecisions(run, decisions);
}

/** Paths are relative to a folder, with `/`. */
type Files = ReadonlyMap<string, Buffer<ArrayBuffer>>;

async function readFiles(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.flatMap((entry) => (entry.isFile() ? join(entry.parentPath, entry.name) : []));
  const read = async (path: string) =>
    [relative(folder, path).replaceAll(sep, '/'), await readFile(path)] as const;
  return new Map(await Promise.all(paths.map(read)));
}

/** Writes contents instead of copying files: a copy of a read-only file would be read-only. */
async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

function manifestOf(files: Files): Buffer<ArrayBuffer> {
  const toEntry = ([path, content]: readonly [string, Buffer]) => {
    return { path, bytes: content.length, sha256: hash('sha256', content, 'hex') };
  };
  return Buffer.from(JSON.stringify({ entries: [...files].map(toEntry) }));
}
