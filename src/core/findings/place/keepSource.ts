import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf } from '../../files.ts';
import type { Run, Target } from '../../run/state/run.ts';
import { readArchive } from '../../upload/archive/readArchive.ts';
import { readFindings, type ReadFindingsOptions } from '../parse/readFindings.ts';
import { createResolver } from './resolver.ts';
import { isSent, MAX_TEXT_BYTES, readSentFiles, readText, type SentFile, sourceFile } from './sentFiles.ts';

const maxTotalBytes = 128 * 1024 * 1024;

/**
 * Keeps the text, as it was sent, of the files that a run's findings point at, in `source/` of its folder: from the disk where it still is the
 * same, else from the run's archive. So findings can be followed through later edits.
 */
export async function keepSource(
  run: Run,
  runFolder: string,
  options: Omit<ReadFindingsOptions, 'runId'>,
): Promise<void> {
  if ((await markOf(join(runFolder, 'findings.json'))) === undefined) return;
  const { signal } = options;
  const { findings } = await readFindings(runFolder, { ...options, runId: run.id });
  const sent = await Promise.all(run.targets.map((_, index) => readSentFiles(runFolder, index)));
  const wanted = run.targets.map(() => new Map<string, SentFile>());
  const places = findings.flatMap((finding) => finding.places);
  const resolver = createResolver({ targets: run.targets, sent, places });
  for (const place of places) {
    const found = await resolver.sentFile(place);
    if (found.kind !== 'file') continue;
    const file = sent[found.target]?.get(found.path);
    if (file !== undefined && file.bytes <= MAX_TEXT_BYTES) wanted[found.target]?.set(file.path, file);
  }
  await mkdir(join(runFolder, 'source'), { recursive: true, mode: 0o700 });
  let bytesLeft = maxTotalBytes;
  for (const [index, target] of run.targets.entries()) {
    const files = wanted[index] ?? new Map<string, SentFile>();
    for await (const { path, content } of sentTexts(target, files, runFolder, signal)) {
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
  signal: AbortSignal | undefined,
): AsyncGenerator<{ path: string; content: Buffer }> {
  const changed = new Set<string>();
  for (const file of files.values()) {
    signal?.throwIfAborted();
    const content = await readText(join(target.folder, ...file.path.split('/')));
    if (content !== undefined && isSent(content, file)) yield { path: file.path, content };
    else changed.add(file.path);
  }
  if (target.archive === undefined) return;
  const { file, type } = target.archive;
  for await (const entry of readArchive(join(runFolder, file), type, changed, signal)) {
    const sent = files.get(entry.path);
    if (sent !== undefined && isSent(entry.content, sent)) yield entry;
  }
}
