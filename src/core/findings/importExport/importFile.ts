import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { askWorker } from '../../askWorker.ts';
import { AssessmentError } from '../../errors.ts';
import { makePrivateFolder, writeFileAtomic } from '../../files.ts';
import type { Clock } from '../../ports.ts';
import type { Identity } from '../../run/state/newRun.ts';
import { journalVersion, type Run, type RunIn, type Target } from '../../run/state/run.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { visibleLine } from '../../visibleText.ts';
import type { WorkflowId } from '../../workflows/workflow.ts';
import { maxReadMs } from '../parse/readFindings.ts';
import { toTriageSubjects, type ShownFinding } from '../shownFinding.ts';
import type { TriageEntry } from '../triage/book.ts';
import { isUndecided, optionalFieldsOf } from '../triage/triage.ts';
import type { DecisionsByFolder } from '../triage/triageStore.ts';
import { badImport, type Decision, type ImportedFile, type ImportStart } from './readContent.ts';

interface ImportOptions {
  readonly workerFile: string | URL;
  readonly signal?: AbortSignal;
  readonly maxMs?: number;
}

/** Runs `readContent` in the parsing worker. Throws `badImport`, also for a file that takes longer than `maxMs`. */
export async function readImport(
  content: Uint8Array,
  { workerFile, signal, maxMs = maxReadMs }: ImportOptions,
): Promise<ImportedFile> {
  const limit = AbortSignal.timeout(maxMs);
  try {
    const start: ImportStart = { content };
    const limited = AbortSignal.any(signal === undefined ? [limit] : [signal, limit]);
    const options = { signal: limited, outOfMemory: 'findingsTooLarge' } as const;
    return (await askWorker(start, workerFile, options)) as ImportedFile;
  } catch (error) {
    if (limit.aborted && signal?.aborted !== true) throw badImport('tooLarge', undefined, error);
    if (error instanceof AssessmentError && error.kind === 'findingsTooLarge')
      throw badImport('tooLarge', undefined, error);
    throw error;
  }
}

/** The folder that imported findings belong to; without a path, one that does not exist on this machine. */
export interface ImportTarget {
  readonly folder?: string | undefined;
  readonly name: string;
}

/** Stores imported findings as a run of these targets, in the file's order. Stores all or nothing. */
export async function importRun(
  imported: ImportedFile,
  origin: { readonly fileName: string; readonly targets: readonly ImportTarget[] },
  { store, clock }: { store: RunStore; clock: Clock },
): Promise<Run> {
  const { files, run: facts } = imported;
  const id = store.newId();
  // The same path for every import, so that decisions hold and runs can be compared.
  const missingFolder = (name: string): string =>
    join(dirname(store.folderOf(id)), `.not-here-${encodeURIComponent(name.toWellFormed())}`);
  const run = importedRun(
    { id, now: clock.now() },
    {
      ...facts,
      language: facts?.language ?? 'english',
      targets: origin.targets.map(({ name, folder = missingFolder(name) }, index) => ({
        folder,
        name,
        commit: facts?.targets[index]?.commit,
        coverage: facts?.targets[index]?.coverage,
      })),
      importedFrom: visibleLine(origin.fileName),
      artifacts: [['findings', 'findings.json'] as const, ['report', 'report.md'] as const].flatMap(
        ([name, file]) => {
          const content = files.get(file);
          return content === undefined ? [] : [{ name, file, bytes: content.byteLength }];
        },
      ),
    },
  );
  const folder = store.folderOf(id);
  try {
    await makePrivateFolder(folder);
    for (const [name, content] of files) await writeFileAtomic(join(folder, name), content);
    // The journal comes last: a folder without one is no run.
    await store.create(run);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return run;
}

/** Imported decisions about findings without a decision, as triage entries; `count` is the number of findings. */
export function undecidedBy(
  decisions: readonly Decision[],
  all: readonly ShownFinding[],
): { readonly byFolder: DecisionsByFolder; readonly count: number } {
  const byIndex = new Map(decisions.map((decision) => [decision.index, decision]));
  const byFolder = new Map<string, TriageEntry[]>();
  let count = 0;
  for (const shown of all) {
    const decision = byIndex.get(shown.finding.index);
    if (decision === undefined || !isUndecided(shown.triage)) continue;
    count += 1;
    const { state, note, at } = decision;
    for (const { folder, ...subject } of toTriageSubjects(shown)) {
      const entries = byFolder.get(folder) ?? [];
      entries.push({ ...subject, state, note, at, ...optionalFieldsOf(decision) });
      byFolder.set(folder, entries);
    }
  }
  return { byFolder, count };
}

/** Results from a file: nothing is on a service. The times of its run count only if both are known. */
export function importedRun(
  { id, now }: Identity,
  facts: Pick<RunIn<'imported'>, 'language' | 'importedFrom' | 'artifacts' | 'runId' | 'endedEarly'> & {
    readonly workflow?: WorkflowId | undefined;
    readonly targetUrls?: readonly string[] | undefined;
    readonly targets: readonly Pick<Target, 'folder' | 'name' | 'commit' | 'coverage'>[];
    readonly dispatchedAt?: number | undefined;
    readonly exitedAt?: number | undefined;
  },
): RunIn<'imported'> {
  const { language, targets, importedFrom, artifacts, runId, dispatchedAt, exitedAt } = facts;
  const { workflow = 'whitebox-assessment', targetUrls, endedEarly } = facts;
  return {
    version: journalVersion,
    id,
    workflow,
    baseUrl: '',
    organizationId: '',
    language,
    webhookEndpointIds: [],
    targets: [...targets],
    input: targetUrls === undefined ? undefined : { target_urls: [...targetUrls] },
    noticeDue: false,
    state: 'imported',
    createdAt: Math.min(now, dispatchedAt ?? now),
    endedAt: now,
    importedFrom,
    artifacts,
    runId,
    ...(dispatchedAt === undefined || exitedAt === undefined ? {} : { dispatchedAt, exitedAt }),
    endedEarly,
  };
}
