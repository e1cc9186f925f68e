import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import * as tar from 'tar';
import * as yauzl from 'yauzl';

export interface ReadEntry {
  readonly path: string;
  readonly mode: number;
  readonly bytes: number;
  readonly sha256: string;
}

function toEntry(path: string, mode: number, content: Buffer): ReadEntry {
  return {
    path,
    mode: mode & 0o777,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}

export async function readTar(file: string): Promise<ReadEntry[]> {
  const entries: Promise<ReadEntry>[] = [];
  await tar.list({
    file,
    strict: true,
    onReadEntry: (entry) => {
      entries.push(entry.concat().then((content) => toEntry(entry.path, entry.mode ?? 0, content)));
    },
  });
  return Promise.all(entries);
}

/**
 * Reads a zip with yauzl, which checks sizes and the CRC of `wanted` entries; names are raw bytes.
 */
export async function readZip(
  file: string,
  wanted: (path: string) => boolean = () => true,
): Promise<ReadEntry[]> {
  const zip = await new Promise<yauzl.ZipFile>((resolve, reject) => {
    const settings = { autoClose: false, lazyEntries: true, decodeStrings: false };
    const opened = (error: Error | null, zip: yauzl.ZipFile): void => {
      if (error === null) resolve(zip);
      else reject(error);
    };
    // A system call per entry would be slow.
    if (statSync(file).size < 1 << 28) yauzl.fromBuffer(readFileSync(file), settings, opened);
    else yauzl.open(file, settings, opened);
  });
  const open = (entry: yauzl.Entry): Promise<Readable> =>
    new Promise((resolve, reject) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error === null) resolve(stream);
        else reject(error);
      });
    });
  const entries: ReadEntry[] = [];
  await new Promise<void>((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', resolve);
    zip.on('entry', (entry: yauzl.Entry) => {
      const name = (entry.fileName as unknown as Buffer).toString('utf8');
      (wanted(name) ? open(entry).then(buffer) : Promise.resolve(Buffer.alloc(0))).then((content) => {
        entries.push(toEntry(name, entry.externalFileAttributes >>> 16, content));
        zip.readEntry();
      }, reject);
    });
    zip.readEntry();
  });
  zip.close();
  return entries;
}

/**
 * Runs a system tool on an archive and returns its output. Without the tool the test is skipped, or
 * fails under REQUIRE_ORACLES.
 */
export function oracle(
  t: TestContext,
  tool: string,
  args: readonly string[],
  input?: string,
): string | undefined {
  const { status, error, stdout, stderr } = spawnSync(tool, args, {
    encoding: 'utf8',
    input,
    maxBuffer: 1 << 28,
  });
  if (error !== undefined && process.env['REQUIRE_ORACLES'] !== '1') {
    t.skip(`${tool} is not installed here`);
    return undefined;
  }
  if (error !== undefined || status !== 0) {
    throw new Error(`${tool} ${args.join(' ')}: ${error?.message ?? stderr + stdout}`);
  }
  return stdout;
}
