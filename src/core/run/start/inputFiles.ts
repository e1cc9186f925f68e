import { join } from 'node:path';
import { foreignHost } from '../../api/address.ts';
import type { AssessmentClient } from '../../api/client.ts';
import { isTransient, withRetry } from '../../api/retry.ts';
import type { UploadUrl } from '../../api/schema.ts';
import { AssessmentError, isAbortError } from '../../errors.ts';
import { markOf, writeFileAtomic } from '../../files.ts';
import type { Clock, OnBytes } from '../../ports.ts';
import { writeArchive } from '../../upload/archive/writeArchive.ts';
import type { ManifestEntry } from '../../upload/archive/packing.ts';
import type { Omission } from '../../upload/sourceFile.ts';
import { untilSaved } from '../disk/runStore.ts';
import { removeFile } from '../finish/removeUploads.ts';
import type { RunDeps } from '../runDeps.ts';
import type { RunEvent } from '../state/advance.ts';
import { toCoverage } from '../state/coverage.ts';
import type { Assessment } from '../state/newRun.ts';
import type { Run, RunIn, Target } from '../state/run.ts';

/** The journal, which is rewritten at every step, names at most so many files that could not be packed. */
const maxOmitted = 100;
/** Characters of the manifest that are written at a time. */
const pieceLength = 64 << 10;
/** An upload address with less time left, or with less than half of a shorter validity, is replaced before use. */
const minValidityMs = 30_000;
const maxAddresses = 3;

export interface InputOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPackaging?: OnBytes | undefined;
  readonly onUploading?: OnBytes | undefined;
}

/** `stopped` aborts when the window closes. */
type UploadDeps = RunDeps & { readonly client: AssessmentClient; readonly stopped: AbortSignal };

/** Makes archive and manifest of every target in the run's folder. Returns the manifests. */
export async function packageTargets(
  run: Run,
  assessment: Assessment,
  { store, clock, workerFile }: RunDeps,
  { signal, onPackaging }: InputOptions,
): Promise<Iterable<ManifestEntry>[]> {
  const folder = store.folderOf(run.id);
  const total = sum(assessment.targets.map(({ files }) => files?.selection.bytes ?? 0));
  const manifests: Iterable<ManifestEntry>[] = [];
  let doneBytes = 0;
  for (const [index, { files }] of assessment.targets.entries()) {
    if (files === undefined) continue;
    const { selection, archiveType } = files;
    const file = `archive-${String(index)}.${archiveType === 'zip' ? 'zip' : 'tar.gz'}`;
    const { manifest, omitted, bytes, sha256 } = await writeArchive({
      root: selection.root,
      files: selection.files,
      format: archiveType,
      to: join(folder, file),
      maxBytes: assessment.maxArchiveBytes,
      workerFile,
      signal,
      onBytes: (done) => onPackaging?.(doneBytes + done, total),
    });
    doneBytes += selection.bytes;
    await writeFileAtomic(join(folder, `manifest-${String(index)}.json`), manifestText(manifest, omitted));
    const archive = {
      file,
      type: archiveType,
      bytes,
      sha256,
      mark: await markOf(join(folder, file)),
      sourceBytes: manifest.bytes,
      omitted: omitted.length === 0 ? undefined : omitted.slice(0, maxOmitted).map(({ path }) => path),
    };
    const coverage = toCoverage(selection, manifest.length, omitted.length);
    await store.apply(run.id, { type: 'archived', target: index, archive, coverage, at: clock.now() });
    manifests.push(manifest);
  }
  return manifests;
}

/** In pieces: the text of very many entries is never in memory as a whole. */
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

/** Uploads and confirms every archive of a packaged run (docs/api.md, section 1, step 1). */
export async function uploadTargets(
  run: Run,
  deps: UploadDeps,
  { signal, onUploading }: InputOptions,
): Promise<void> {
  const { client, clock } = deps;
  const { targets } = await applyTo(run, { type: 'packaged', at: clock.now() }, 'uploading', deps);
  const total = sum(targets.map((target) => target.archive?.bytes ?? 0));
  let doneBytes = 0;
  for (const [index, { archive }] of targets.entries()) {
    if (archive === undefined) continue;
    const onBytes = (done: number): void => onUploading?.(doneBytes + done, total);
    await sendArchive(run, index, archive, deps, { signal, onBytes });
    doneBytes += archive.bytes;
  }
  const uploaded = await applyTo(run, { type: 'uploaded', at: clock.now() }, 'confirming', deps);
  for (const [index, { upload }] of uploaded.targets.entries()) {
    if (upload === undefined) continue;
    await confirm(client, upload.fileId, signal);
    await applyTo(run, { type: 'confirmed', target: index, at: clock.now() }, 'confirming', deps);
  }
}

/** Throws `busyElsewhere` unless the event takes the run to `step`: then another window has taken the run over. */
async function applyTo(
  { id }: Run,
  event: RunEvent,
  step: RunIn<'preparing'>['step'],
  { store }: UploadDeps,
): Promise<RunIn<'preparing'>> {
  const next = await store.apply(id, event);
  if (next.state !== 'preparing' || next.step !== step) throw new AssessmentError('busyElsewhere');
  return next;
}

/** Takes a conflict or an unknown file for success: an earlier try with a lost reply may have confirmed it. If not, the dispatch is refused. */
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

/** Reserves an address and PUTs an archive. Restarts the transfer after a fault, at a new address after expiry (docs/api.md, section 4.1). */
async function sendArchive(
  run: Run,
  index: number,
  archive: NonNullable<Target['archive']>,
  deps: UploadDeps,
  options: { readonly signal: AbortSignal | undefined; readonly onBytes: OnBytes },
): Promise<void> {
  const { client, clock } = deps;
  const { signal } = options;
  for (let addresses = 1; ; addresses += 1) {
    const address = await client.getUploadUrl(archive.bytes, { signal });
    const leftMs = validity(address.expires_in_seconds * 1000, clock);
    await saveReservation(run, index, address, deps);
    try {
      const file = { ...archive, path: join(deps.store.folderOf(run.id), archive.file) };
      const minMs = Math.min(minValidityMs, address.expires_in_seconds * 500);
      const put = (): Promise<void> => {
        if (leftMs() < minMs) throw tooSlow();
        return client.putArchive(address, file, options);
      };
      await withRetry({ attempts: 4, mayRetry: isTransient }, put, { ...deps, signal });
      return;
    } catch (error) {
      if (!isExpired(error)) throw error;
      if (addresses >= maxAddresses) throw leftMs() > 0 ? error : tooSlow(error);
      // Two reservations would count twice against the organization's storage.
      await removeFile(address.file_id, 'reserved', client, signal);
    }
  }
}

/** A reservation that cannot be saved is cancelled. If that fails too, it is held until it can be saved. */
async function saveReservation(
  run: Run,
  index: number,
  { file_id: fileId, upload_url: uploadUrl }: UploadUrl,
  deps: UploadDeps,
): Promise<void> {
  const { client, clock, log } = deps;
  const host = foreignHost(uploadUrl, run.baseUrl);
  const event = { type: 'reserved', target: index, fileId, host, at: clock.now() } as const;
  try {
    await applyTo(run, event, 'uploading', deps);
  } catch (error) {
    await removeFile(fileId, 'reserved', client).catch((failure: unknown) => {
      log.warn(`Run ${run.id}: a reservation could not be cancelled: ${String(failure)}`);
      holdReservation(run, event, deps);
    });
    throw error;
  }
}

/** Retries until the journal has the reservation, which is cancelled later. A note has it in case the window closes first. */
function holdReservation(
  { id }: Run,
  event: RunEvent & { readonly type: 'reserved' },
  { store, clock, stopped, notes, log }: UploadDeps,
): void {
  notes?.keepReservation(id, event);
  // A removed run has nothing to write to.
  const write = async (): Promise<unknown> => (store.has(id) ? store.apply(id, event) : undefined);
  untilSaved(write, { clock, stopped }).catch((error: unknown) => {
    if (!isAbortError(error)) log.error(`Run ${id}: ${String(error)}`);
  });
}

/** Milliseconds left of a period, by the clock that has run further: the machine may have slept. */
function validity(ms: number, clock: Clock): () => number {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => ms - Math.max(clock.now() - wall, clock.monotonic() - monotonic);
}

function tooSlow(cause?: AssessmentError): AssessmentError {
  return new AssessmentError('forbidden', { ...cause?.data, subject: 'upload' }, { cause });
}

/** True when another address may work. */
function isExpired(error: unknown): error is AssessmentError {
  return error instanceof AssessmentError && (error.kind === 'addressRefused' || error.kind === 'forbidden');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
