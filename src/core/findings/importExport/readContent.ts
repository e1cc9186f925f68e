import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import * as yauzl from 'yauzl';
import * as z from 'zod/mini';
import { identifierSchema, languageSchema } from '../../api/schema.ts';
import { AssessmentError } from '../../errors.ts';
import { parseJson } from '../../json.ts';
import { coverageSchema } from '../../upload/choose/coverage.ts';
import { targetUrlsSchema } from '../../workflows/blackboxInput.ts';
import { workflowIds } from '../../workflows/workflow.ts';
import { isLiveFinding, MAX_PATH } from '../finding.ts';
import { type Cut, maxFindingsBytes, type ParsedFindings, parseFindings } from '../parse/parseFindings.ts';
import { isSarifFault, type SarifFault } from '../parse/sarif.ts';
import { parseEntry, type TriageEntry } from '../triage/book.ts';

export const maxImportBytes = maxFindingsBytes;

export type ImportFault = 'tooLarge' | 'notText' | 'noFindings' | SarifFault | 'notABundle' | 'damaged';

export function badImport(fault: ImportFault, part?: string, cause?: unknown): AssessmentError {
  return new AssessmentError('badImport', { subject: fault, detail: part, limit: maxImportBytes }, { cause });
}

/** Limits all files of a bundle together. */
const maxDecompressedBytes = 4 * maxImportBytes;

/**
 * Limits the values in all manifests together, and in `bundle.json`. Manifests of 200,000 files
 * have about this many values, which are read in 200 ms.
 */
const maxValues = 800_000;
const pathSchema = z.string().check(z.maxLength(MAX_PATH));
const manifestSchema = z.object({ entries: z.array(z.looseObject({ path: pathSchema })) });

const timestamp = z.int().check(z.minimum(0), z.maximum(8.64e15));

const maxLine = 65_536;

/** A bundle doesn't contain the service's URL, the organization, or the folders' local paths. */
const runFactsSchema = z.object({
  runId: z.optional(identifierSchema),
  workflow: z.enum(workflowIds),
  input: z.optional(z.object({ target_urls: targetUrlsSchema })),
  language: languageSchema,
  dispatchedAt: z.optional(timestamp),
  exitedAt: z.optional(timestamp),
  /** The run ended early or tested one pair, so it may lack findings. */
  endedEarly: z.optional(z.boolean()),
  targets: z
    .array(
      z.object({
        name: z.string().check(z.minLength(1), z.maxLength(MAX_PATH)),
        commit: z.optional(z.object({ id: z.string().check(z.maxLength(128)), dirty: z.boolean() })),
        coverage: z.optional(coverageSchema),
      }),
    )
    .check(z.minLength(1), z.maxLength(100)),
});
export type RunFacts = z.infer<typeof runFactsSchema>;

export const bundleSchema = z.object({
  kind: z.literal('whitebox-assessment-bundle'),
  version: z.literal(1),
  run: runFactsSchema,
});

const bundlePath = /^(bundle\.json|findings\.json|report\.md|triage\.jsonl|manifest-\d{1,2}\.json)$/;

export interface ImportStart {
  readonly kind: 'import';
  readonly content: Uint8Array;
}

export interface ImportedFile {
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly findings: number;
  readonly cut: Cut | undefined;
  readonly run: RunFacts | undefined;
  readonly decisions: readonly TriageEntry[];
}

export async function readContent(bytes: Uint8Array): Promise<ImportedFile> {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (content.length > maxImportBytes) throw badImport('tooLarge');
  const isZip = content.subarray(0, 2).toString('latin1') === 'PK';
  if (!isZip && !isUtf8(content)) throw badImport('notText');
  const { run, files } = isZip
    ? await readBundle(content)
    : { run: undefined, files: new Map([['findings.json', content]]) };
  const decisions = readDecisions(files.get('triage.jsonl'));
  files.delete('triage.jsonl');
  const { findings, isSarif, cut } = parse(files.get('findings.json') ?? content);
  // A mostly unreadable file of another tool is refused: nearly all tools can write SARIF instead.
  const located = findings.filter(
    (each) => each.title !== '' && (each.locations.length > 0 || isLiveFinding(each)),
  );
  if (run === undefined && !isSarif && located.length * 2 < findings.length) throw badImport('noFindings');
  return {
    // The files are copied, since the worker transfers their memory.
    files: new Map([...files].map(([path, file]) => [path, Uint8Array.from(file)])),
    findings: findings.length,
    cut,
    run,
    decisions: findings.flatMap(({ index }) => decisions.get(index) ?? []),
  };
}

function parse(content: Buffer): ParsedFindings {
  try {
    return parseFindings(content.toString('utf8'));
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    const { subject, detail } = error.data;
    if (isSarifFault(subject)) throw badImport(subject, detail, error);
    throw badImport(error.kind === 'findingsTooLarge' ? 'tooLarge' : 'noFindings', undefined, error);
  }
}

/**
 * The keys are positions in the findings file, since findings of equal code in two folders may
 * differ only in their positions.
 */
function readDecisions(content: Buffer | undefined): ReadonlyMap<number, TriageEntry> {
  const lines = content?.toString('utf8').split('\n') ?? [];
  const entries = lines.flatMap((line) => (line.length > maxLine ? [] : (parseEntry(line) ?? [])));
  return new Map(entries.map((entry) => [entry.index, entry]));
}

export async function readBundle(
  zip: Buffer,
): Promise<{ readonly run: RunFacts; readonly files: Map<string, Buffer> }> {
  const files = await unpack(zip);
  const facts = files.get('bundle.json');
  files.delete('bundle.json');
  if (facts === undefined || !files.has('findings.json')) throw badImport('notABundle');
  const { data } = bundleSchema.safeParse(readJson(facts, 'bundle.json').value);
  if (data === undefined) throw badImport('notABundle', 'bundle.json');
  let valuesLeft = maxValues;
  for (const [path, content] of files) {
    if (!path.startsWith('manifest-')) continue;
    const { value, values } = readJson(content, path, valuesLeft);
    valuesLeft -= values;
    if (!manifestSchema.safeParse(value).success) throw badImport('damaged', path);
  }
  return { run: data.run, files };
}

function readJson(content: Buffer, path: string, valuesLeft = maxValues): ReturnType<typeof parseJson> {
  try {
    return parseJson(content.toString('utf8'), valuesLeft);
  } catch (cause) {
    throw badImport(cause instanceof AssessmentError ? 'tooLarge' : 'damaged', path, cause);
  }
}

async function unpack(zip: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let decompressedBytes = 0;
  try {
    const opened = await yauzl.fromBufferPromise(zip, { lazyEntries: true, strictFileNames: true });
    for await (const entry of opened.eachEntry()) {
      const { fileName, uncompressedSize } = entry;
      const isOurs = bundlePath.test(fileName) && !files.has(fileName) && !entry.isEncrypted();
      if (!isOurs) throw badImport('notABundle', fileName);
      decompressedBytes += uncompressedSize;
      if (uncompressedSize > maxImportBytes || decompressedBytes > maxDecompressedBytes)
        throw badImport('tooLarge');
      // The stream fails if the decompressed size differs from the stated one.
      const content = await buffer(await opened.openReadStreamPromise(entry));
      if (crc32(content) !== entry.crc32) throw badImport('damaged', fileName);
      files.set(fileName, content);
    }
  } catch (error) {
    if (error instanceof AssessmentError) throw error;
    throw badImport('damaged', undefined, error);
  }
  return files;
}
