import { join } from 'node:path';
import type { AssessmentClient } from '../api/client.ts';
import { wasNeverSent } from '../api/failure.ts';
import type { ArchiveType, Language, WorkflowId } from '../api/schema.ts';
import { AssessmentError, isAbortError } from '../errors.ts';
import { markOf, writeFileAtomic } from '../files.ts';
import type { Clock, Logger, OnBytes } from '../ports.ts';
import { writeArchive } from '../upload/archive.ts';
import type { ManifestEntry } from '../upload/archiveEntries.ts';
import type { Selection } from '../upload/selection.ts';
import type { Omission } from '../upload/sourceFile.ts';
import type { RunEvent } from './advance.ts';
import { type Run, type RunIn, type Target, toFailure } from './run.ts';
import type { RunStore } from './runStore.ts';
import { sendArchive } from './sendArchive.ts';

/** So many files that could not be packed are kept in the journal, which is rewritten at every step. */
const mostOmitted = 100;
/** Of the manifest's text, made and written at a time. */
const pieceLength = 64 << 10;

/** What a person decided to have assessed, and where. */
export interface Assessment {
  readonly workflow: WorkflowId;
  /** A normalized base URL. */
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly language: Language;
  readonly webhookEndpointIds: readonly string[];
  readonly maxArchiveBytes: number;
  /** The failed run that this is another try of. */
  readonly retryOf?: string | undefined;
  readonly targets: readonly {
    folder: string;
    name: string;
    selection: Selection;
    archiveType: ArchiveType;
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
  /** True when a person knows that nothing of the run will be kept, and wants it all the same. */
  readonly mayBeForgotten?: boolean | undefined;
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
  /** Asked last before each send of a dispatch: whether this window still drives the run. */
  readonly stillMine: () => Promise<boolean>;
  /** True when a person knows that nothing of the run will be kept, and wants it all the same. */
  readonly mayBeForgotten: boolean;
}

/** A run at its beginning, for what a person decided. */
export function newRun(
  assessment: Pick<
    Assessment,
    'workflow' | 'baseUrl' | 'organizationId' | 'language' | 'webhookEndpointIds' | 'retryOf'
  > & { readonly targets: readonly Pick<Assessment['targets'][number], 'folder' | 'name' | 'commit'>[] },
  { store, clock }: { store: RunStore; clock: Clock },
): RunIn<'packaging'> {
  return {
    version: 1,
    state: 'packaging',
    id: store.newId(),
    workflow: assessment.workflow,
    baseUrl: assessment.baseUrl,
    organizationId: assessment.organizationId,
    language: assessment.language,
    webhookEndpointIds: [...assessment.webhookEndpointIds],
    targets: assessment.targets.map(({ folder, name, commit }) => ({
      folder,
      name,
      ...(commit === undefined ? {} : { commit }),
    })),
    createdAt: clock.now(),
    noticeDue: false,
    ...(assessment.retryOf === undefined ? {} : { retryOf: assessment.retryOf }),
  };
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
  for (const [index, { selection, archiveType }] of assessment.targets.entries()) {
    const file = archiveName(index, archiveType);
    const archive = await writeArchive({
      root: selection.root,
      files: selection.files,
      format: archiveType,
      to: join(folder, file),
      maxBytes: assessment.maxArchiveBytes,
      workerFile: deps.workerFile,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      onBytes: (done) => options.onPackaging?.(before + done, total),
    });
    before += selection.bytes;
    const { entries, omitted, bytes, sha256 } = archive;
    await writeFileAtomic(join(folder, `manifest-${String(index)}.json`), manifestText(entries, omitted));
    const summary = {
      file,
      type: archiveType,
      bytes,
      sha256,
      mark: await markOf(join(folder, file)),
      files: entries.length,
      sourceBytes: entries.bytes,
      ...(omitted.length === 0 ? {} : { omitted: omitted.slice(0, mostOmitted).map(({ path }) => path) }),
    };
    await store.apply(run.id, { type: 'archived', target: index, archive: summary, at: clock.now() });
  }
}

/** The manifest in pieces: the text of very many entries need not stand in memory whole. */
function* manifestText(entries: Iterable<ManifestEntry>, omitted: readonly Omission[]): Iterable<string> {
  let piece = '{"entries":[';
  let between = '';
  for (const entry of entries) {
    piece += between + JSON.stringify(entry);
    between = ',';
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}],"omitted":${JSON.stringify(omitted)}}`;
}

/** Uploads and confirms every archive of a packaged run (API reference, section 1, step 1). */
export async function uploadTargets(run: Run, deps: LaunchDeps, options: LaunchOptions): Promise<void> {
  const { client, clock } = deps;
  const { targets } = await note(run, { type: 'packaged', at: clock.now() }, 'uploading', deps);
  const total = sum(targets.map((target) => target.archive?.bytes ?? 0));
  let before = 0;
  for (const [index, { archive }] of targets.entries()) {
    if (archive === undefined) continue;
    await sendArchive(
      { ...archive, path: join(deps.store.folderOf(run.id), archive.file) },
      {
        ...deps,
        signal: options.signal,
        onBytes: (done) => options.onUploading?.(before + done, total),
        onReserved: (fileId) =>
          note(run, { type: 'reserved', target: index, fileId, at: clock.now() }, 'uploading', deps),
      },
    );
    before += archive.bytes;
  }
  const uploaded = await note(run, { type: 'uploaded', at: clock.now() }, 'confirming', deps);
  for (const [index, { upload }] of uploaded.targets.entries()) {
    if (upload === undefined) continue;
    await confirm(client, upload.fileId, options.signal);
    await note(run, { type: 'confirmed', target: index, at: clock.now() }, 'confirming', deps);
  }
}

/** Puts the intent to dispatch on disk, for a run whose files are confirmed or knowingly again for an `unknown` one; throws `busyElsewhere` when another window drives the run or has moved it on. */
export async function intendDispatch(run: Run, deps: LaunchDeps): Promise<RunIn<'dispatching'>> {
  requireStorage(deps.store, deps.mayBeForgotten);
  await requireMine(deps);
  const intended = await deps.store.applyIfDue(run.id, { type: 'dispatchIntended', at: deps.clock.now() });
  if (intended?.state !== 'dispatching') throw new AssessmentError('busyElsewhere');
  return intended;
}

/**
 * Sends the dispatch that a run intends; what the service may have accepted without our knowing makes the run `unknown` (DESIGN, "Dispatch is
 * sent at most once per intent"). A cancellation counts while nothing is under way: a request that was sent is never torn off. Throws
 * `busyElsewhere` when nothing was sent because another window drives the run or has moved it on, or the system's error when the outcome could
 * not be put on disk: the journal then still says `dispatching`, which the next start makes `unknown`.
 */
export async function sendDispatch(
  intended: RunIn<'dispatching'>,
  deps: LaunchDeps,
  signal: AbortSignal | undefined,
): Promise<Run> {
  const { store, client, clock } = deps;
  const { id, webhookEndpointIds } = intended;
  const request = {
    input: { targets: intended.targets.flatMap(toInput), language: intended.language },
    ...(webhookEndpointIds.length === 0
      ? {}
      : { notification: { webhook_endpoint_ids: [...webhookEndpointIds] } }),
  };
  let runId: string;
  try {
    const beforeSend = (): Promise<void> => requireIntent(intended, deps);
    runId = await client.dispatch(intended.workflow, request, { signal, beforeSend });
  } catch (cause) {
    if (isAbortError(cause)) return store.apply(id, { type: 'dispatchStopped', at: clock.now() });
    const error =
      cause instanceof AssessmentError ? cause : new AssessmentError('connectionLost', {}, { cause });
    if (error.kind === 'busyElsewhere') throw error;
    const failure = toFailure(error);
    if (wasRefused(error)) return store.apply(id, { type: 'failed', failure, at: clock.now() });
    return store.apply(id, { type: 'dispatchLost', reason: failure, at: clock.now() });
  }
  // Named in the log before the journal: a disk that fails now must not take the only trace of a paid run with it.
  deps.log.info(`Run ${id} was accepted as ${runId}`);
  return store.apply(id, { type: 'dispatched', runId, at: clock.now() });
}

/** Throws `storage` while runs are kept for this window only: what costs is not started unknowingly where it would be forgotten. */
export function requireStorage(store: RunStore, mayBeForgotten: boolean): void {
  if (store.isTemporary && !mayBeForgotten) throw new AssessmentError('storage', { detail: store.problem });
}

async function requireMine({ stillMine }: LaunchDeps): Promise<void> {
  if (!(await stillMine())) throw new AssessmentError('busyElsewhere');
}

/** What waited to be sent may have been overtaken meanwhile, by another window or by a late answer. */
async function requireIntent({ id, intendedAt }: RunIn<'dispatching'>, deps: LaunchDeps): Promise<void> {
  await requireMine(deps);
  const run = await deps.store.refresh(id);
  if (run?.state !== 'dispatching' || run.intendedAt !== intendedAt)
    throw new AssessmentError('busyElsewhere');
}

/** True when the service cannot have done what it was asked to: it never got the request, or it answered 4xx. */
export function wasRefused(error: AssessmentError): boolean {
  const status = error.data.status ?? 0;
  return wasNeverSent(error) || (status >= 400 && status < 500);
}

function toInput(target: Target): { file_upload: { file_id: string; archive_type: ArchiveType } }[] {
  const { archive, upload } = target;
  return archive === undefined || upload === undefined
    ? []
    : [{ file_upload: { file_id: upload.fileId, archive_type: archive.type } }];
}

/** Applies an event to a run that is then in `state`; throws `busyElsewhere` when another window has taken the run over. */
async function note<S extends Run['state']>(
  run: Run,
  event: RunEvent,
  state: S,
  { store }: LaunchDeps,
): Promise<RunIn<S>> {
  const next = await store.apply(run.id, event);
  if (next.state !== state) throw new AssessmentError('busyElsewhere');
  return next as RunIn<S>;
}

/** Confirms an upload; a conflict or an unknown file may say that an earlier try, whose reply was lost, did it, and if not, the dispatch will. */
async function confirm(
  client: AssessmentClient,
  fileId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await client.confirmUpload(fileId, { signal });
  } catch (error) {
    if (!(error instanceof AssessmentError) || !['conflict', 'notFound'].includes(error.kind)) throw error;
  }
}

function archiveName(index: number, type: ArchiveType): string {
  return `archive-${String(index)}.${type === 'zip' ? 'zip' : 'tar.gz'}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
