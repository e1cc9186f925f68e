import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from '../../files.ts';
import type { Run, Target } from '../../run/run.ts';
import { readArchive } from '../../upload/readArchive.ts';
import { locateAmong, pathNamesOf } from './locateAmong.ts';
import { parseFindingsInSlices } from '../parse/parse.ts';
import {
  isSent,
  locatorAmongSent,
  MAX_TEXT_BYTES,
  readSentFiles,
  readText,
  type SentFile,
  sourceFile,
} from './sentFiles.ts';

const maxTotalBytes = 128 * 1024 * 1024;

/**
 * Keeps the text, as it was sent, of the files that a run's findings point at, in `source/` of its folder: from the disk where it still is the
 * same, else from the run's archive. So findings can be followed through later edits.
 */
export async function keepSource(run: Run, runFolder: string, signal?: AbortSignal): Promise<void> {
  const text = await readIfThere(join(runFolder, 'findings.json'));
  if (text === undefined) return;
  const { findings } = await parseFindingsInSlices(text, { runId: run.id }, signal);
  const sent = await Promise.all(run.targets.map((_, index) => readSentFiles(runFolder, index)));
  const wanted = run.targets.map(() => new Map<string, SentFile>());
  const folders = run.targets.map((target, index) => ({
    folder: String(index),
    names: pathNamesOf(target, index),
    locate: locatorAmongSent(target, sent[index] ?? new Map<string, SentFile>()),
  }));
  for (const { path, targetIndex } of findings.flatMap(({ places }) => places)) {
    const origin = run.targets.length === 1 ? 0 : targetIndex;
    const found = await locateAmong(path, folders, origin === undefined ? undefined : String(origin));
    if (found?.located.kind !== 'file') continue;
    const index = Number(found.folder);
    const file = sent[index]?.get(found.located.path);
    if (file !== undefined && file.bytes <= MAX_TEXT_BYTES) wanted[index]?.set(file.path, file);
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
