import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SentFile } from '../../../../src/core/findings/location/sentFiles.ts';

/** Writes the manifest of the sent files of target `index` into the run's folder. */
export async function storeManifest(
  runFolder: string,
  index: number,
  sent: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  const entries = Object.entries(sent).map(([name, content]) => entryOf(name, content));
  const file = path.join(runFolder, `manifest-${String(index)}.json`);
  await writeFile(file, JSON.stringify({ entries, omitted: [] }));
}

/** The sent file of a folder with this path; undefined if there is none. */
export function toSent(
  name: string,
  sent: Readonly<Record<string, string>>,
  folder: string,
  target = 0,
): SentFile | undefined {
  const content = Object.entries(sent).find(([each]) => each === name)?.[1];
  return content === undefined ? undefined : { target, folder, ...entryOf(name, content) };
}

function entryOf(name: string, content: string | Buffer): Pick<SentFile, 'path' | 'bytes' | 'sha256'> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: name, bytes: Buffer.byteLength(content), sha256 };
}
