import { join } from 'node:path';
import { foreignHost } from '../../api/address.ts';
import type { AssessmentClient } from '../../api/client.ts';
import { isTransient, withRetry } from '../../api/retry.ts';
import type { UploadUrl } from '../../api/schema.ts';
import { AssessmentError } from '../../errors.ts';
import { markOf, writeFileAtomic } from '../../files.ts';
import type { Clock, OnBytes } from '../../ports.ts';
import type { ManifestEntry } from '../../upload/archive/packing.ts';
import { writeArchive } from '../../upload/archive/writeArchive.ts';
import type { Omission } from '../../upload/sourceFile.ts';
import { toCoverage } from '../state/coverage.ts';
import type { EventOf, RunEvent } from '../state/event.ts';
import type { Run, RunIn, Target } from '../state/run.ts';
import { removeFile } from './removeUploads.ts';
import type { StepDeps } from './step.ts';

/** The journal, which is rewritten at every step, names at most so many files that could not be packed. */
const maxOmitted = 100;
/** Characters of the manifest that are written at a time. */
const pieceLength = 64 << 10;
/** An upload address with less time left, or with less than half of a shorter validity, is replaced before use. */
const minValidityMs = 30_000;
const maxAddresses = 3;

/** Makes archive and manifest of every target in the run's folder. */
export async function packageFiles(run: Run, deps: StepDeps): Promise<EventOf<'packaged'>> {
  const { store, clock, workerFile, start, signal, save } = deps;
  const folder = store.folderOf(run.id);
  const targets = start.assessment?.targets ?? [];
  const total = sum(targets.map(({ files }) => files?.selection.bytes ?? 0));
  const manifests: Iterable<ManifestEntry>[] = [];
  let doneBytes = 0;
  for (const [index, { files }] of targets.entries()) {
    if (files === undefined) continue;
    const { selection, archiveType } = files;
    const file = `archive-${String(index)}.${archiveType === 'zip' ? 'zip' : 'tar.gz'}`;
    const { manifest, omitted, bytes, sha256 } = await writeArchive({
      root: selection.root,
      files: selection.files,
      format: archiveType,
      to: join(folder, file),
      maxBytes: start.assessment?.maxArchiveBytes ?? 0,
      workerFile,
      signal,
      onBytes: (done) => start.onPackaging?.(doneBytes + done, total),
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
    await save({ type: 'archived', target: index, archive, coverage, at: clock.now() });
    manifests.push(manifest);
  }
  start.manifests = manifests;
  return { type: 'packaged', at: clock.now() };
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

/** Uploads every archive of a run that its starter agreed to (docs/api.md, section 1, step 1). */
export async function uploadFiles(run: RunIn<'preparing'>, deps: StepDeps): Promise<EventOf<'uploaded'>> {
  const total = sum(run.targets.map(({ archive }) => archive?.bytes ?? 0));
  let doneBytes = 0;
  for (const [index, { archive }] of run.targets.entries()) {
    if (archive === undefined) continue;
    await sendArchive(run, index, archive, deps, (done) => deps.start.onUploading?.(doneBytes + done, total));
    doneBytes += archive.bytes;
  }
  return { type: 'uploaded', at: deps.clock.now() };
}

/** Confirms every upload, and puts the intent to send the start request on disk. */
export async function confirmFiles(run: RunIn<'preparing'>, deps: StepDeps): Promise<undefined> {
  const { clientFor, clock, signal } = deps;
  const client = clientFor(run);
  for (const [index, { upload }] of run.targets.entries()) {
    if (upload === undefined) continue;
    await confirm(client, upload.fileId, signal);
    await saveAt(run, { type: 'confirmed', target: index, at: clock.now() }, deps);
  }
  signal.throwIfAborted();
  if (!(await deps.renewLease())) throw new AssessmentError('busyElsewhere');
  const intended = await deps.save({ type: 'dispatchIntended', at: clock.now() });
  if (intended.state !== 'dispatching') throw new AssessmentError('busyElsewhere');
}

/** Throws `busyElsewhere` if the run is no longer at this step: then another window has taken it over. */
async function saveAt({ step }: RunIn<'preparing'>, event: RunEvent, { save }: StepDeps): Promise<void> {
  const next = await save(event);
  if (next.state !== 'preparing' || next.step !== step) throw new AssessmentError('busyElsewhere');
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
  run: RunIn<'preparing'>,
  index: number,
  archive: NonNullable<Target['archive']>,
  deps: StepDeps,
  onBytes: OnBytes,
): Promise<void> {
  const { clock, signal } = deps;
  const client = deps.clientFor(run);
  for (let addresses = 1; ; addresses += 1) {
    const address = await client.getUploadUrl(archive.bytes, { signal });
    const leftMs = validity(address.expires_in_seconds * 1000, clock);
    await saveReservation(run, index, address, deps);
    try {
      const file = { ...archive, path: join(deps.store.folderOf(run.id), archive.file) };
      const minMs = Math.min(minValidityMs, address.expires_in_seconds * 500);
      const put = (): Promise<void> => {
        if (leftMs() < minMs) throw tooSlow();
        return client.putArchive(address, file, { signal, onBytes });
      };
      await withRetry({ attempts: 4, mayRetry: isTransient }, put, deps);
      return;
    } catch (error) {
      if (!isExpired(error)) throw error;
      if (addresses >= maxAddresses) throw leftMs() > 0 ? error : tooSlow(error);
      // Two reservations would count twice against the organization's storage.
      await removeFile(address.file_id, 'reserved', client, signal);
    }
  }
}

/** A reservation that cannot be saved is cancelled. If that fails too, it counts, and is saved once the disk takes it. */
async function saveReservation(
  run: RunIn<'preparing'>,
  index: number,
  { file_id: fileId, upload_url: uploadUrl }: UploadUrl,
  deps: StepDeps,
): Promise<void> {
  const host = foreignHost(uploadUrl, run.baseUrl);
  const event = { type: 'reserved', target: index, fileId, host, at: deps.clock.now() } as const;
  try {
    await saveAt(run, event, deps);
  } catch (error) {
    await removeFile(fileId, 'reserved', deps.clientFor(run)).catch(async (failure: unknown) => {
      deps.log.warn(`Run ${run.id}: a reservation could not be cancelled: ${String(failure)}`);
      await deps.record(event);
    });
    throw error;
  }
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
