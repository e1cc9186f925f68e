import { setImmediate } from 'node:timers/promises';
import { placeCentral, zipEnd, zipSegments } from '../../upload/archive/zip.ts';
import type { BundleFile } from './bundle.ts';

const sliceBytes = 1024 * 1024;
const mode = 0o644;

/** Packs a bundle's files as a zip; equal files give equal bytes. Lets other work go on between slices. */
export async function zipBundle(files: readonly BundleFile[]): Promise<Buffer> {
  const zip = zipSegments();
  for (const { path, content } of files) {
    if (content.length <= sliceBytes) {
      zip.add({ path, mode }, content);
      continue;
    }
    zip.begin({ path, mode }, content.length);
    for (let from = 0; from < content.length; from += sliceBytes) {
      const last = from + sliceBytes >= content.length;
      zip.slice(content.subarray(from, from + sliceBytes), last);
      await setImmediate();
    }
  }
  const segment = zip.take();
  if (segment === undefined) throw new Error('A bundle has files');
  const central = placeCentral(segment.central, segment.offsets, 0);
  return Buffer.concat([segment.data, central, zipEnd(files.length, segment.data.length, central.length)]);
}
