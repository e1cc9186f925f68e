import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AssessmentError } from '../../errors.ts';
import { makePrivateFolder, fileStampOf, writeFileAtomic } from '../../files.ts';
import type { ManifestEntry } from '../../upload/archive/packing.ts';
import { writeArchive } from '../../upload/archive/writeArchive.ts';
import type { Omission } from '../../upload/sourceFile.ts';
import { type Lease, takeLease } from '../disk/lease.ts';
import { toCoverage } from '../../upload/choose/coverage.ts';
import { type Assessment, newRun } from '../state/newRun.ts';
import type { RunIn, Target } from '../state/run.ts';
import type { StartDeps } from '../steps/step.ts';

/** The journal names only this many omitted files, because it is rewritten often. */
const maxOmitted = 100;
const pieceLength = 64 << 10;

/** A packed run has no journal yet, because nothing has left the machine. */
export interface PackedRun {
  readonly run: RunIn<'preparing'>;
  readonly manifests: readonly Iterable<ManifestEntry>[];
  readonly lease: Lease;
  /** Removes the run's folder, unless the run has a journal. Never throws. */
  discard(): Promise<void>;
}

export function signalOf({ lost }: Lease, { stopped, cancelled }: StartDeps): AbortSignal {
  return AbortSignal.any([stopped, lost, ...(cancelled === undefined ? [] : [cancelled])]);
}

/** If this process dies meanwhile, `removeAbandonedStarts` removes the run's files. */
export async function packRun(assessment: Assessment, deps: StartDeps): Promise<PackedRun> {
  const { store, clock, log } = deps;
  const id = store.newId();
  const folder = store.folderOf(id);
  await makePrivateFolder(folder);
  const lease = await takeLease(join(folder, 'lease'), deps);
  if (lease === undefined) throw new AssessmentError('busyElsewhere');
  const discard = async (): Promise<void> => {
    if (store.get(id) !== undefined) return;
    await lease.release();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch((failure: unknown) => {
      log.warn(`Run ${id}: its remaining files could not be removed: ${String(failure)}`);
    });
  };
  try {
    const { packed, manifests } = await packTargets(assessment, folder, deps, signalOf(lease, deps));
    const run = newRun({ id, now: clock.now() }, assessment, packed);
    return { run, manifests, lease, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

async function packTargets(
  { targets, maxArchiveBytes }: Assessment,
  folder: string,
  { workerFile, onPackaging }: StartDeps,
  signal: AbortSignal,
) {
  const total = targets.reduce((sum, { files }) => sum + (files?.selection.bytes ?? 0), 0);
  const packed: Pick<Target, 'archive' | 'coverage'>[] = [];
  const manifests: Iterable<ManifestEntry>[] = [];
  let doneBytes = 0;
  for (const [index, { files }] of targets.entries()) {
    signal.throwIfAborted();
    if (files === undefined) {
      packed.push({});
      continue;
    }
    const { selection, archiveType } = files;
    const file = `archive-${String(index)}.${archiveType === 'zip' ? 'zip' : 'tar.gz'}`;
    const { manifest, omitted, bytes, sha256 } = await writeArchive({
      root: selection.root,
      files: selection.files,
      format: archiveType,
      to: join(folder, file),
      maxBytes: maxArchiveBytes,
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
      fileStamp: await fileStampOf(join(folder, file)),
      sourceBytes: manifest.bytes,
      omitted: omitted.length === 0 ? undefined : omitted.slice(0, maxOmitted).map(({ path }) => path),
    };
    packed.push({ archive, coverage: toCoverage(selection, manifest.length, omitted.length) });
    manifests.push(manifest);
  }
  return { packed, manifests };
}

/** Yields pieces, because the text of very many entries must not be in memory as a whole. */
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
