import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AskOptions, askWorker } from '../../askWorker.ts';
import { AssessmentError } from '../../errors.ts';
import { makePrivateFolder, writeFileAtomic } from '../../files.ts';
import type { Clock } from '../../ports.ts';
import { journalVersion, type Run, type RunIn } from '../../run/state/run.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { visibleLine } from '../../visibleText.ts';
import { maxReadMs } from '../parse/readFindings.ts';
import { toTriageSubjects, type ShownFinding } from '../shownFinding.ts';
import { isUndecided } from '../triage/triage.ts';
import type { TriageEntry } from '../triage/book.ts';
import type { MadeDecision } from '../triage/triageStore.ts';
import { badImport, type ImportedFile, type ImportStart } from './readContent.ts';

export async function readImport(
  content: Uint8Array,
  workerFile: string | URL,
  { signal, maxMs = maxReadMs }: Partial<AskOptions> = {},
): Promise<ImportedFile> {
  try {
    const job: ImportStart = { kind: 'import', content };
    const options = { signal, maxMs, limitError: 'findingsTooLarge' } as const;
    return (await askWorker(job, workerFile, options)) as ImportedFile;
  } catch (error) {
    const isTooLarge = error instanceof AssessmentError && error.kind === 'findingsTooLarge';
    throw isTooLarge ? badImport('tooLarge', undefined, error) : error;
  }
}

/** `folder` is undefined if no folder of this machine was chosen. */
export interface ImportTarget {
  readonly folder?: string | undefined;
  readonly name: string;
}

export async function importRun(
  imported: Pick<ImportedFile, 'files' | 'run'>,
  origin: { readonly fileName: string; readonly targets: readonly ImportTarget[] },
  { store, clock }: { store: RunStore; clock: Clock },
): Promise<Run> {
  const { files, run: facts } = imported;
  const [id, now] = [store.newId(), clock.now()];
  // Imports with the same folder name share a path, so decisions hold and runs can be compared.
  const missingFolder = (name: string): string =>
    join(dirname(store.folderOf(id)), `.not-here-${encodeURIComponent(name.toWellFormed())}`);
  const artifacts = (['findings.json', 'report.md'] as const).flatMap((file) => {
    const bytes = files.get(file)?.byteLength;
    return bytes === undefined ? [] : [{ name: file === 'report.md' ? 'report' : 'findings', file, bytes }];
  });
  const run: RunIn<'imported'> = {
    workflow: 'whitebox-assessment',
    language: 'english',
    ...facts,
    version: journalVersion,
    id,
    // An imported file doesn't name its service or organization.
    baseUrl: '',
    organizationId: '',
    webhookEndpointIds: [],
    targets: origin.targets.map(({ name, folder = missingFolder(name) }, index) => {
      const { commit, coverage } = facts?.targets[index] ?? {};
      return { folder, name, commit, coverage };
    }),
    noticeDue: false,
    state: 'imported',
    createdAt: Math.min(now, facts?.dispatchedAt ?? now),
    endedAt: now,
    importedFrom: visibleLine(origin.fileName),
    artifacts,
  };
  const folder = store.folderOf(id);
  try {
    await makePrivateFolder(folder);
    for (const [name, content] of files) await writeFileAtomic(join(folder, name), content);
    // The journal comes last: a folder without one isn't a run.
    await store.create(run);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return run;
}

export function undecidedBy(
  decisions: readonly TriageEntry[],
  all: readonly ShownFinding[],
): readonly (readonly MadeDecision[])[] {
  const byIndex = new Map(decisions.map((decision) => [decision.index, decision]));
  return all.flatMap((shown) => {
    const decision = isUndecided(shown.triage) ? byIndex.get(shown.finding.index) : undefined;
    return decision ? [toTriageSubjects(shown).map((subject) => ({ ...decision, ...subject }))] : [];
  });
}
