import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const firstFiles = 32;

interface Finding {
  readonly locations: readonly { readonly file: string }[];
}

/**
 * Reads and parses a saved record, then reads and hashes the files that findings point at. Times in
 * ms: the first files, all files.
 */
export async function readByHand({
  runFolder,
  folder,
  worker,
}: {
  readonly runFolder: string;
  readonly folder: string;
  readonly worker: boolean;
}): Promise<number[]> {
  const start = performance.now();
  const record = await readFile(join(runFolder, 'result.json'), 'utf8');
  const parsed = record.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line)]));
  // The table has what findings share, and uploaded files, which have a path.
  const table = parsed[1] as readonly { readonly path?: string }[];
  const paths = table.flatMap(({ path }) => path ?? []);
  const read = async (some: readonly string[]): Promise<void> => {
    for (const path of some)
      createHash('sha256')
        .update(await readFile(join(folder, path)))
        .digest();
  };
  await read(paths.slice(0, firstFiles));
  const firstMs = performance.now() - start;
  await read(paths.slice(firstFiles));
  if (worker) {
    const empty = new Worker('', { eval: true });
    await new Promise((resolve) => empty.on('exit', resolve));
  }
  return [firstMs, performance.now() - start];
}

/**
 * Parses a findings file; reads, hashes and copies the files that it points at; writes what it
 * parsed.
 */
export async function workOutByHand({
  runFolder,
  folder,
  to,
}: {
  readonly runFolder: string;
  readonly folder: string;
  readonly to: string;
}): Promise<void> {
  const text = await readFile(join(runFolder, 'findings.json'), 'utf8');
  const { findings } = JSON.parse(text) as { findings: readonly Finding[] };
  const files = new Set(findings.flatMap(({ locations }) => locations.map(({ file }) => file)));
  await mkdir(to, { recursive: true });
  for (const [at, file] of [...files].entries()) {
    const content = await readFile(join(folder, file));
    createHash('sha256').update(content).digest();
    await writeFile(join(to, String(at)), content);
  }
  await writeFile(join(to, 'record.json'), JSON.stringify(findings));
}
