import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes the manifest of the sent files of target `index` into the run's folder. */
export async function storeManifest(
  runFolder: string,
  index: number,
  sent: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  const entries = Object.entries(sent).map(([name, content]) => ({
    path: name,
    bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const file = path.join(runFolder, `manifest-${String(index)}.json`);
  await writeFile(file, JSON.stringify({ entries, omitted: [] }));
}
