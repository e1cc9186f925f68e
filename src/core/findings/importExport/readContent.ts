import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import * as yauzl from 'yauzl';
import * as z from 'zod/mini';
import { identifierSchema, languageSchema } from '../../api/schema.ts';
import { AssessmentError } from '../../errors.ts';
import { parseJson } from '../../json.ts';
import { coverageSchema } from '../../upload/choose/coverage.ts';
import { visibleLine } from '../../visibleText.ts';
import { targetUrlsSchema } from '../../workflows/blackboxInput.ts';
import { workflowIds } from '../../workflows/workflow.ts';
import { type Cut, maxFindingsBytes, type ParsedFindings, parseFindings } from '../parse/parseFindings.ts';
import { isSarifFault, type SarifFault } from '../parse/sarif.ts';
import { TRIAGE_STATES, type TriageDecision, untilSchema, viaSchema } from '../triage/triage.ts';

export const maxImportBytes = maxFindingsBytes;

export type ImportFault =
  | 'tooLarge'
  | 'notText'
  | 'notRead'
  | 'noFindings'
  | SarifFault
  | 'notABundle'
  | 'newerVersion'
  | 'encrypted'
  | 'damaged';

export function badImport(fault: ImportFault, part?: string, cause?: unknown): AssessmentError {
  return new AssessmentError('badImport', { subject: fault, detail: part, limit: maxImportBytes }, { cause });
}

/** Limits for a bundle; the second is for all files unpacked. */
const maxFiles = 128;
const maxUnpackedBytes = 4 * maxImportBytes;

/** JSON values in all manifests together, and in each other file: enough for 200,000 files, and parsed in 200 ms. */
const maxValues = 800_000;
const maxPath = 4_096;
const maxSegments = 256;

const pathSchema = z.string().check(
  z.maxLength(maxPath),
  z.refine((path) => path.split('/', maxSegments + 1).length <= maxSegments),
);
const manifestSchema = z.object({ entries: z.array(z.looseObject({ path: pathSchema })) });

/** Triage files accept years of four digits. */
const maxTime = Date.parse('9999-12-31T00:00:00Z');

const timestamp = z.int().check(z.minimum(0), z.maximum(8.64e15));

/** A bundle has no URL of the service, no organization, and no folder of a machine. */
const runFactsSchema = z.object({
  runId: z.optional(identifierSchema),
  workflow: z.optional(z.enum(workflowIds)),
  targetUrls: z.optional(targetUrlsSchema),
  language: languageSchema,
  dispatchedAt: z.optional(timestamp),
  exitedAt: z.optional(timestamp),
  /** True if the run may lack findings, because it ended early or tested one pair. */
  endedEarly: z.optional(z.boolean()),
  targets: z
    .array(
      z.object({
        name: z.string().check(z.minLength(1), z.maxLength(256)),
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
  tool: z.object({ name: z.string(), version: z.string() }),
  run: runFactsSchema,
  files: z.array(z.object({ path: z.string(), bytes: z.int().check(z.minimum(0)), sha256: z.string() })),
});

/** Index, artifacts as downloaded, decisions, and manifests of what was sent of each folder. */
const bundlePath = /^(bundle\.json|findings\.json|report\.md|triage\.json|manifest-\d{1,2}\.json)$/;

const decisionSchema = z.object({
  index: z.int().check(z.minimum(0)),
  state: z.enum(TRIAGE_STATES),
  note: z.string().check(z.maxLength(10_000)),
  at: z.number().check(z.minimum(0), z.maximum(maxTime)),
  until: untilSchema,
  via: viaSchema,
});

/** `index` is the position of the finding in its file, since equal code in two folders makes two findings. */
export type Decision = z.infer<typeof decisionSchema> & TriageDecision;

export interface ImportStart {
  readonly kind: 'import';
  readonly content: Uint8Array;
}

export interface ImportedFile {
  /** For the run's folder, by name; always with `findings.json`. */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly findings: number;
  readonly cut: Cut | undefined;
  readonly run?: RunFacts | undefined;
  /** Folder names, in the order that `Place.targetIndex` counts; empty if unknown. */
  readonly folders: readonly string[];
  readonly decisions: readonly Decision[];
}

/** Reads a bundle, a SARIF log, or a findings file, in the parsing worker. Writes nothing. Throws `badImport`. */
export async function readContent(bytes: Uint8Array): Promise<ImportedFile> {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (content.length > maxImportBytes) throw badImport('tooLarge');
  const isZip = content.subarray(0, 2).toString('latin1') === 'PK';
  if (!isZip && !isUtf8(content)) throw badImport('notText');
  const bundle = isZip ? await readBundle(content) : undefined;
  const files = bundle?.files ?? new Map([['findings.json', content]]);
  const triage = files.get('triage.json');
  files.delete('triage.json');
  const decisions = triage === undefined ? [] : readDecisions(readJson(triage, 'triage.json'));
  const { findings, cut } = parse(files.get('findings.json') ?? content);
  const byIndex = new Map(decisions.map((decision) => [decision.index, decision]));
  return {
    // Copies, since the worker transfers their memory.
    files: new Map([...files].map(([path, file]) => [path, Uint8Array.from(file)])),
    findings: findings.length,
    cut,
    run: bundle?.run,
    folders: bundle?.run.targets.map(({ name }) => visibleLine(name)) ?? [],
    // Only decisions about findings that are shown can be imported.
    decisions: findings.flatMap(({ index }) => byIndex.get(index) ?? []),
  };
}

function parse(content: Buffer): ParsedFindings {
  try {
    return parseFindings(content.toString('utf8'));
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    const { subject, detail } = error.data;
    if (error.kind === 'findingsTooLarge') throw badImport('tooLarge', undefined, error);
    if (error.kind !== 'malformedFindings') throw error;
    if (isSarifFault(subject)) throw badImport(subject, detail, error);
    throw badImport(isTable(content) ? 'notRead' : 'noFindings', undefined, error);
  }
}

/** True for an exported CSV file, which cannot be imported. */
function isTable(content: Buffer): boolean {
  const header = content.subarray(0, 1_000).toString('utf8').split('\n', 1)[0] ?? '';
  return ['title', 'severity', 'file'].every((name) => header.includes(`"${name}"`));
}

export function readDecisions(list: unknown): readonly Decision[] {
  return (Array.isArray(list) ? (list as readonly unknown[]) : []).flatMap((entry) => {
    const read = decisionSchema.safeParse(entry);
    return read.success ? [read.data] : [];
  });
}

/** Unpacks a bundle in memory, within limits on the real sizes. `files` always has `findings.json`, and never the index. Throws `badImport`. */
export async function readBundle(
  zip: Buffer,
): Promise<{ readonly run: RunFacts; readonly files: Map<string, Buffer> }> {
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

function readJson(content: Buffer, path: string): unknown {
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
  const version = z.object({ kind: bundleSchema.shape.kind, version: z.number() }).safeParse(value);
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

export function sha256(content: Uint8Array): string {
  return hash('sha256', content, 'hex');
}
