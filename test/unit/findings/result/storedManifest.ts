import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { UploadedFile } from '../../../../src/core/findings/location/uploadedFiles.ts';

/** Writes the manifest of the uploaded files of target `index` into the run's folder. */
export async function storeManifest(
  runFolder: string,
  index: number,
  uploaded: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  const entries = Object.entries(uploaded).map(([name, content]) => entryOf(name, content));
  const file = path.join(runFolder, `manifest-${String(index)}.json`);
  await writeFile(file, JSON.stringify({ entries, omitted: [] }));
}

/** Returns undefined if the folder has no uploaded file with this path. */
export function toUploaded(
  name: string,
  uploaded: Readonly<Record<string, string>>,
  folder: string,
  target = 0,
): UploadedFile | undefined {
  const content = Object.entries(uploaded).find(([each]) => each === name)?.[1];
  return content === undefined ? undefined : { target, folder, ...entryOf(name, content) };
}

function entryOf(name: string, content: string | Buffer): Pick<UploadedFile, 'path' | 'bytes' | 'sha256'> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: name, bytes: Buffer.byteLength(content), sha256 };
}
