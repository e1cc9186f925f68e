import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes the list of what was sent of a run's folder number `index`, by path and content, into the run's own folder. */
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
