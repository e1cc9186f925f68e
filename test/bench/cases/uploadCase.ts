import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileStampOf } from '../../../src/core/files.ts';
import { inPairs } from '../pairs.ts';
import { curl } from '../peers.ts';
import type { Row } from '../rows.ts';
import type { Subjects } from '../subjects/subjects.ts';

/** Uploads a file of `megabytes` to a sink on loopback that throws it away. */
export async function measureUpload(
  megabytes: number,
  subjects: Subjects,
  scratch: string,
  pairs: number,
): Promise<Row[]> {
  const corpus = `${megabytes} MB`;
  const written = writeNoise(join(scratch, 'upload'), megabytes);
  const file = { ...written, fileStamp: await fileStampOf(written.path) };
  const sink = await subjects.openSink();
  const grown: number[] = [];
  try {
    const upload = async (): Promise<number> => {
      const outcome = await subjects.run({ kind: 'upload', url: sink.url, file });
      grown.push(outcome.peakBytes - outcome.startBytes);
      return outcome.ms[0] ?? NaN;
    };
    const hasCurl = curl(file.path, sink.url) !== undefined;
    const times = hasCurl
      ? await inPairs(pairs, upload, () => curl(file.path, sink.url) ?? NaN)
      : { ours: await upload() };
    return [
      {
        what: 'upload on loopback',
        corpus,
        unit: 'ms',
        ...times,
        peerName: hasCurl ? 'curl -T' : undefined,
        target: hasCurl && megabytes >= 256 ? { atMost: 1.3 } : undefined,
        note: hasCurl ? undefined : 'curl is not installed',
      },
      {
        what: 'memory growth of an upload',
        corpus,
        unit: 'MB',
        ours: Math.max(...grown) / 1e6,
        target: { atMost: 100 },
      },
    ];
  } finally {
    sink.close();
    rmSync(file.path);
  }
}

/** Writes a file that does not compress. */
export function writeNoise(path: string, megabytes: number): { path: string; bytes: number; sha256: string } {
  const block = Buffer.alloc(1_000_000);
  const sha256 = createHash('sha256');
  const file = openSync(path, 'w');
  for (let number = 0, word = 1; number < megabytes; number++) {
    for (let at = 0; at < block.length; at += 4) {
      word = Math.imul(word, 1_664_525) + 1_013_904_223;
      block.writeInt32LE(word | 0, at);
    }
    writeSync(file, block);
    sha256.update(block);
  }
  closeSync(file);
  return { path, bytes: megabytes * 1_000_000, sha256: sha256.digest('hex') };
}
