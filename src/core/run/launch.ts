import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssessmentClient } from '../api/client.ts';
import { wasNeverSent } from '../api/failure.ts';
import type { ArchiveType, Language, WorkflowId } from '../api/schema.ts';
import { AssessmentError } from '../errors.ts';
import { writeFileAtomic } from '../files.ts';
import type { Clock, Logger, OnBytes } from '../ports.ts';
import { writeArchive } from '../upload/archive.ts';
import type { Selection } from '../upload/selection.ts';
import { type Run, type Target, toFailure } from './run.ts';
import type { RunStore } from './runStore.ts';
import { sendArchive } from './sendArchive.ts';

/** What a person decided to have assessed, and where. */
export interface Assessment {
  readonly workflow: WorkflowId;
  /** A normalized base URL. */
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly language: Language;
  readonly webhookEndpointIds: readonly string[];
  readonly archiveType: ArchiveType;
  readonly maxArchiveBytes: number;
  readonly targets: readonly {
    folder: string;
    name: string;
    selection: Selection;
    commit?: Target['commit'];
  }[];
}

/** Who wants to see a launch go on, and may stop it until the dispatch. */
export interface LaunchOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPackaging?: OnBytes | undefined;
  readonly onUploading?: OnBytes | undefined;
  /** Asked once the archives are made and before anything leaves the machine; false gives the run up without a trace. */
  readonly confirmUpload?: ((run: Run) => Promise<boolean>) | undefined;
}

/** What a launch works with. */
export interface LaunchDeps {
  readonly store: RunStore;
  readonly client: AssessmentClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** The packaging worker's script. */
  readonly workerFile: string;
  /** Asked last before a dispatch: whether this window still drives the run. */
  readonly stillMine: () => Promise<boolean>;
}

/** Makes the archives of a run in its folder; at the end every target has its archive and its manifest. */
export async function packageTargets(
  run: Run,
  assessment: Assessment,
  deps: LaunchDeps,
  options: LaunchOptions,
): Promise<void> {
  const { store, clock } = deps;
  const folder = store.folderOf(run.id);
  const total = sum(assessment.targets.map((target) => target.selection.bytes));
  let before = 0;
  for (const [index, { selection }] of assessment.targets.entries()) {
    const file = archiveName(index, assessment.archiveType);
    const archive = await writeArchive({
      root: selection.root,
      files: selection.files,
      format: assessment.archiveType,
      to: join(folder, file),
      maxBytes: assessment.maxArchiveBytes,
      workerFile: deps.workerFile,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      onBytes: (done) => options.onPackaging?.(before + done, total),
    });
    before += selection.bytes;
    const { entries, omitted, bytes, sha256 } = archive;
    await writeFileAtomic(
      join(folder, `manifest-${String(index)}.json`),
      JSON.stringify({ entries, omitted }),
    );
    const summary = {
      file,
      type: assessment.archiveType,
      bytes,
      sha256,
      files: entries.length,
      sourceBytes: sum(entries.map((entry) => entry.bytes)),
    };
    await store.apply(run.id, { type: 'archived', target: index, archive: summary, at: clock.now() });
  }
}

/** Uploads and confirms every archive of a packaged run (API reference, section 1, step 1). */
export async function uploadTargets(run: Run, deps: LaunchDeps, options: LaunchOptions): Promise<void> {
  const { store, client, clock } = deps;
  const { targets } = await store.apply(run.id, { type: 'packaged', at: clock.now() });
  const total = sum(targets.map((target) => target.archive?.bytes ?? 0));
  let before = 0;
  for (const [index, { archive }] of targets.entries()) {
    if (archive === undefined) continue;
    await sendArchive(
      { ...archive, path: join(store.folderOf(run.id), archive.file) },
      {
        ...deps,
        signal: options.signal,
        onBytes: (done) => options.onUploading?.(before + done, total),
        onReserved: (fileId) =>
          store.apply(run.id, { type: 'reserved', target: index, fileId, at: clock.now() }),
      },
    );
    before += archive.bytes;
  }
  const uploaded = await store.apply(run.id, { type: 'uploaded', at: clock.now() });
  for (const [index, { upload }] of uploaded.targets.entries()) {
    if (upload === undefined) continue;
    await confirm(client, upload.fileId, options.signal);
    await store.apply(run.id, { type: 'confirmed', target: index, at: clock.now() });
  }
}

/**
 * Sends the dispatch of a run whose files are confirmed, or knowingly again for an `unknown` one. The intent is on disk before the POST; what the
 * service may have accepted without our knowing makes the run `unknown` (DESIGN, "Dispatch is sent at most once per intent").
 */
export async function dispatch(run: Run, deps: LaunchDeps): Promise<Run> {
  const { store, client, clock } = deps;
  const intended = await store.apply(run.id, { type: 'dispatchIntended', at: clock.now() });
  if (intended.state !== 'dispatching' || !(await deps.stillMine()))
    throw new AssessmentError('busyElsewhere');
  const { webhookEndpointIds } = intended;
  const request = {
    input: { targets: intended.targets.flatMap(toInput), language: intended.language },
    ...(webhookEndpointIds.length === 0
      ? {}
      : { notification: { webhook_endpoint_ids: [...webhookEndpointIds] } }),
  };
  let runId: string;
  try {
    runId = await client.dispatch(intended.workflow, request);
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    const failure = toFailure(error);
    if (wasRefused(error)) return store.apply(run.id, { type: 'failed', failure, at: clock.now() });
    return store.apply(run.id, { type: 'dispatchLost', reason: failure, at: clock.now() });
  }
  // Named in the log before the journal: a disk that fails now must not take the only trace of a paid run with it.
  deps.log.info(`Run ${run.id} was accepted as ${runId}`);
  return store.apply(run.id, { type: 'dispatched', runId, at: clock.now() });
}

/** Removes the local archives of a run. */
export async function removeArchives(run: Run, store: RunStore): Promise<void> {
  for (const { archive } of run.targets) {
    if (archive !== undefined) await rm(join(store.folderOf(run.id), archive.file), { force: true });
  }
}

/** True when the service cannot have started a run: it never got the request, or it answered 4xx. */
function wasRefused(error: AssessmentError): boolean {
  const status = error.data.status ?? 0;
  return wasNeverSent(error) || (status >= 400 && status < 500);
}

function toInput(target: Target): { file_upload: { file_id: string; archive_type: ArchiveType } }[] {
  const { archive, upload } = target;
  return archive === undefined || upload === undefined
    ? []
    : [{ file_upload: { file_id: upload.fileId, archive_type: archive.type } }];
}

/** Confirms an upload; a conflict says that an earlier try, whose reply was lost, did it. */
async function confirm(
  client: AssessmentClient,
  fileId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await client.confirmUpload(fileId, { signal });
  } catch (error) {
    if (!(error instanceof AssessmentError) || error.kind !== 'conflict') throw error;
  }
}

function archiveName(index: number, type: ArchiveType): string {
  return `archive-${String(index)}.${type === 'zip' ? 'zip' : 'tar.gz'}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
