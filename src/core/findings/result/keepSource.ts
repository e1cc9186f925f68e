import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run, Target } from '../../run/state/run.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import {
  isSent,
  maxTextBytes,
  readText,
  readTextBelow,
  type SentFile,
  type SentSpot,
  sourceFile,
} from '../place/sentFiles.ts';

const maxTotalBytes = 128 * 1024 * 1024;

/**
 * Keeps the sent text of the files that a run's findings point at, in `source/` of its folder, so that findings can be followed through later edits. The
 * text is read from the disk where it is unchanged, else from the run's archive. Throws `storage` for a damaged archive.
 */
export async function keepSource(
  { targets }: Run,
  runFolder: string,
  spots: Iterable<SentSpot | undefined>,
): Promise<void> {
  const wanted = targets.map(() => new Map<string, SentFile>());
  for (const spot of spots)
    if (spot !== undefined && spot.file.bytes <= maxTextBytes)
      wanted[spot.target]?.set(spot.file.path, spot.file);
  await mkdir(join(runFolder, 'source'), { recursive: true, mode: 0o700 });
  let bytesLeft = maxTotalBytes;
  for (const [index, target] of targets.entries()) {
    const files = wanted[index] ?? new Map<string, SentFile>();
    for (const file of [...files.values()]) {
      const kept = await readText(sourceFile(runFolder, index, file.path));
      if (kept === undefined || !isSent(kept, file)) continue;
      bytesLeft -= kept.length;
      files.delete(file.path);
    }
    for await (const { path, content } of sentTexts(target, files, runFolder)) {
      bytesLeft -= content.length;
      if (bytesLeft < 0) return;
      await writeFile(sourceFile(runFolder, index, path), content, { mode: 0o600 });
    }
  }
}

async function* sentTexts(
  target: Target,
  files: ReadonlyMap<string, SentFile>,
  runFolder: string,
): AsyncGenerator<{ path: string; content: Buffer }> {
  const changed = new Set<string>();
  for (const file of files.values()) {
    const content = await readTextBelow(target.folder, file.path, file.bytes);
    if (content !== undefined && isSent(content, file)) yield { path: file.path, content };
    else changed.add(file.path);
  }
  if (target.archive === undefined || changed.size === 0) return;
  const { file, type } = target.archive;
  for await (const entry of readArchive(join(runFolder, file), type, changed)) {
    const sent = files.get(entry.path);
    if (sent !== undefined && isSent(entry.content, sent)) yield entry;
  }
}
