import { buffer } from 'node:stream/consumers';
import * as yauzl from 'yauzl';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { parseJson } from '../parse/readJson.ts';
import { bundlePath, bundleSchema, type RunFacts, sha256 } from './bundle.ts';
import { badImport, maxImportBytes } from './importFault.ts';

/** Most files of a bundle, and most bytes of all of them unpacked. */
const maxFiles = 128;
const maxUnpackedBytes = 4 * maxImportBytes;

/** Most values of a JSON file beside the findings, of all manifests together, and longest path: these are read on this thread, the manifests at every start. */
const maxValues = 1_000_000;
const maxPath = 4_096;
const maxSegments = 256;

const pathSchema = z.string().check(
  z.maxLength(maxPath),
  z.refine((path) => path.split('/', maxSegments + 1).length <= maxSegments),
);
const manifestSchema = z.object({ entries: z.array(z.looseObject({ path: pathSchema })) });

/** A bundle that is what its index says. */
export interface Bundle {
  readonly run: RunFacts;
  /** By path: `findings.json` always, never the index. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Unpacks a bundle in memory, every byte counted before it is believed; nothing is written anywhere. Throws `badImport`. */
export async function readBundle(zip: Buffer): Promise<Bundle> {
  const files = await unpack(zip);
  const index = readIndex(files.get('bundle.json'));
  files.delete('bundle.json');
  for (const { path, bytes, sha256: expected } of index.files) {
    const content = files.get(path);
    if (content?.length !== bytes || sha256(content) !== expected) throw badImport('damaged', path);
  }
  const listed = new Set(index.files.map(({ path }) => path));
  let valuesLeft = maxValues;
  for (const [path, content] of files) {
    if (!listed.has(path)) throw badImport('damaged', path);
    if (!path.startsWith('manifest-')) continue;
    const { value, values } = readCounted(content, path, valuesLeft);
    valuesLeft -= values;
    if (!manifestSchema.safeParse(value).success) throw badImport('damaged', path);
  }
  if (!files.has('findings.json')) throw badImport('notABundle');
  return { run: index.run, files };
}

/** The JSON of an entry; throws `badImport` where it is none. */
export function readJson(content: Buffer, path: string): unknown {
  return readCounted(content, path, maxValues).value;
}

function readCounted(content: Buffer, path: string, valuesLeft: number): ReturnType<typeof parseJson> {
  try {
    return parseJson(content.toString('utf8'), valuesLeft);
  } catch (cause) {
    if (cause instanceof AssessmentError) throw badImport('tooLarge', path, cause);
    throw badImport('damaged', path, cause);
  }
}

function readIndex(content: Buffer | undefined): z.infer<typeof bundleSchema> {
  if (content === undefined) throw badImport('notABundle');
  const value = readJson(content, 'bundle.json');
  const version = z
    .object({ kind: z.literal('whitebox-assessment-bundle'), version: z.number() })
    .safeParse(value);
  if (!version.success) throw badImport('notABundle');
  if (version.data.version !== 1) throw badImport('newerVersion');
  const index = bundleSchema.safeParse(value);
  if (!index.success) throw badImport('damaged', 'bundle.json');
  return index.data;
}

async function unpack(zip: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let unpackedBytes = 0;
  try {
    const opened = await yauzl.fromBufferPromise(zip, { lazyEntries: true, strictFileNames: true });
    if (opened.entryCount > maxFiles) throw badImport('notABundle');
    for await (const entry of opened.eachEntry()) {
      const { fileName, uncompressedSize } = entry;
      if (!bundlePath.test(fileName) || files.has(fileName)) throw badImport('notABundle', fileName);
      if (entry.isEncrypted()) throw badImport('encrypted');
      unpackedBytes += uncompressedSize;
      if (uncompressedSize > maxImportBytes || unpackedBytes > maxUnpackedBytes) throw badImport('tooLarge');
      // The stream fails when an entry unpacks to more, or to less, than it says.
      files.set(fileName, await buffer(await opened.openReadStreamPromise(entry)));
    }
  } catch (error) {
    if (error instanceof AssessmentError) throw error;
    throw badImport('damaged', undefined, error);
  }
  return files;
}
