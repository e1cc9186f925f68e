import { join } from 'node:path';
import { foreignHost } from '../../api/address.ts';
import type { AssessmentClient } from '../../api/client.ts';
import type { ArchiveType, Language, WorkflowId } from '../../api/schema.ts';
import { AssessmentError } from '../../errors.ts';
import { markOf, writeFileAtomic } from '../../files.ts';
import type { Clock, Logger, OnBytes } from '../../ports.ts';
import { writeArchive } from '../../upload/archive/writeArchive.ts';
import type { ManifestEntry } from '../../upload/archive/manifest.ts';
import type { UploadSelection } from '../../upload/choose/prepare.ts';
import type { Omission } from '../../upload/sourceFile.ts';
import type { RunEvent } from '../state/advance.ts';
import type { FolderClaim } from './folderClaim.ts';
import type { Run, RunIn, Target } from '../state/run.ts';
import type { RunStore } from '../disk/runStore.ts';
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
    selection: UploadSelection;
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
  /** The claim on the folders, when they were claimed before the questions; else they are claimed for the length of the start. */
  readonly claim?: FolderClaim | undefined;
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
  /** Aborts when the window closes. */
  readonly stopped: AbortSignal;
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
    const { manifest, omitted, bytes, sha256 } = archive;
    await writeFileAtomic(join(folder, `manifest-${String(index)}.json`), manifestText(manifest, omitted));
    const summary = {
      file,
      type: archiveType,
      bytes,
      sha256,
      mark: await markOf(join(folder, file)),
      files: manifest.length,
      sourceBytes: manifest.bytes,
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
        onReserved: (fileId, uploadUrl) => {
          const host = foreignHost(uploadUrl, run.baseUrl);
          return note(
            run,
            { type: 'reserved', target: index, fileId, host, at: clock.now() },
            'uploading',
            deps,
          );
        },
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
