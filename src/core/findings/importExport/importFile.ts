import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateFolder, writeFileAtomic } from '../../files.ts';
import type { Clock } from '../../ports.ts';
import { importedRun } from '../../run/state/newRun.ts';
import type { Run } from '../../run/state/run.ts';
import type { RunStore } from '../../run/disk/runStore.ts';
import { toSubjects, type ShownFinding } from '../shownFinding.ts';
import { isUndecided, TRIAGE_STATES, type TriageDecision, type TriageEntry } from '../triage/triage.ts';
import type { DecisionsByFolder } from '../triage/triageStore.ts';
import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import * as yauzl from 'yauzl';
import * as z from 'zod/mini';
import { AssessmentError } from '../../errors.ts';
import { visibleLine } from '../../visibleText.ts';
import { type Cut, type ParsedFindings, toolFailed } from '../parse/parse.ts';
import { MAX_FINDINGS_BYTES, parseInWorker, type ReadFindingsOptions } from '../parse/readFindings.ts';
import { parseJson } from '../../json.ts';
import { bundlePath, bundleSchema, type RunFacts, sha256 } from './bundle.ts';

/** The largest file that is imported, and the largest file inside a bundle. */
export const maxImportBytes = MAX_FINDINGS_BYTES;

/** Why a file cannot be imported. */
export type ImportFault =
  | 'tooLarge'
  | 'notText'
  | 'notRead'
  | 'noFindings'
  | 'toolFailed'
  | 'notABundle'
  | 'newerVersion'
  | 'encrypted'
  | 'damaged';

/** The error of a file that cannot be imported; `part` is what inside it the fault is about. */
export function badImport(fault: ImportFault, part?: string, cause?: unknown): AssessmentError {
  return new AssessmentError('badImport', { subject: fault, detail: part, limit: maxImportBytes }, { cause });
}

/** The most files of a bundle, and the most bytes of all of them unpacked. */
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

/** A later time has a year of five digits, which files of decisions do not accept. */
const maxTime = Date.parse('9999-12-31T00:00:00Z');

const decisionSchema = z.object({
  index: z.int().check(z.minimum(0)),
  state: z.enum(TRIAGE_STATES),
  note: z.string().check(z.maxLength(10_000)),
  at: z.number().check(z.minimum(0), z.maximum(maxTime)),
});

/** A decision that came with findings, and the position of its finding in their file: equal code in two folders is two findings. */
export type Decision = z.infer<typeof decisionSchema> & TriageDecision;

/** How imported findings are read. */
export type ImportOptions = Omit<ReadFindingsOptions, 'runId'>;

/** A file that holds findings, read whole and checked. */
export interface ImportedFile {
  /** What goes into the run's folder, by name: `findings.json` always. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** How many findings are shown of it. */
  readonly findings: number;
  readonly cut: Cut | undefined;
  /** What the file says about the run, when it does. */
  readonly run?: RunFacts | undefined;
  /** The names of the folders that the findings are of, in the order in which places count them; empty when it does not say. */
  readonly folders: readonly string[];
  readonly decisions: readonly Decision[];
}

/** Reads the content of a bundle, a SARIF log or any findings file; nothing is written. Throws `badImport`. */
export async function readImport(content: Buffer, options: ImportOptions): Promise<ImportedFile> {
  if (content.length > maxImportBytes) throw badImport('tooLarge');
  const isZip = content.subarray(0, 2).toString('latin1') === 'PK';
  if (!isZip && !isUtf8(content)) throw badImport('notText');
  const files = new Map([['findings.json', content]]);
  const read = isZip ? await fromBundle(content) : { files, folders: [], decisions: [] };
  const { findings, cut } = await parse(read.files.get('findings.json') ?? content, options);
  return { ...read, findings: findings.length, cut };
}

async function fromBundle(content: Buffer): Promise<Omit<ImportedFile, 'findings' | 'cut'>> {
  const { files, run } = await readBundle(content);
  const triage = files.get('triage.json');
  const decisions = triage === undefined ? [] : readJson(triage, 'triage.json');
  return {
    files: new Map([...files].filter(([path]) => path !== 'triage.json')),
    run,
    folders: run.targets.map(({ name }) => visibleLine(name)),
    decisions: Array.isArray(decisions) ? readDecisions(decisions) : [],
  };
}

async function parse(content: Buffer, options: ImportOptions): Promise<ParsedFindings> {
  try {
    return await parseInWorker(content, { ...options, runId: 'import' });
  } catch (error) {
    const { kind, data } = error instanceof AssessmentError ? error : {};
    if (kind === 'malformedFindings' && data?.subject === toolFailed)
      throw badImport('toolFailed', data.detail, error);
    if (kind === 'findingsTooLarge') throw badImport('tooLarge', undefined, error);
    if (kind === 'malformedFindings')
      throw badImport(isTable(content) ? 'notRead' : 'noFindings', undefined, error);
    throw error;
  }
}

/** True for a table of findings: this extension writes them, and does not read them. */
function isTable(content: Buffer): boolean {
  const header = content.subarray(0, 1_000).toString('utf8').split('\n', 1)[0] ?? '';
  return ['title', 'severity', 'file'].every((name) => header.includes(`"${name}"`));
}

/** The decisions in an untrusted list, without its other items. */
export function readDecisions(list: readonly unknown[]): readonly Decision[] {
  return list.flatMap((entry) => {
    const read = decisionSchema.safeParse(entry);
    return read.success ? [read.data] : [];
  });
}

/** Unpacks a bundle in memory, with limits on the bytes that are really there; nothing is written. Its files by path: `findings.json` always, never the index. Throws `badImport`. */
export async function readBundle(
  zip: Buffer,
): Promise<{ readonly run: RunFacts; readonly files: ReadonlyMap<string, Buffer> }> {
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

/** The folder that findings of an import belong to; without a path, one that is not here and where nothing is. */
export interface ImportTarget {
  /** Absolute. */
  readonly folder?: string | undefined;
  readonly name: string;
}

/** Stores imported findings as a run of one or more folders, in the order in which the file counts them; all of it, or nothing. */
export async function importRun(
  imported: ImportedFile,
  origin: { readonly fileName: string; readonly targets: readonly ImportTarget[] },
  { store, clock }: { store: RunStore; clock: Clock },
): Promise<Run> {
  const { files, run: facts } = imported;
  const id = store.newId();
  // The same for every import, so that decisions hold and runs compare.
  const nowhere = (name: string): string =>
    join(dirname(store.folderOf(id)), `.not-here-${encodeURIComponent(name.toWellFormed())}`);
  const run = importedRun(
    { id, now: clock.now() },
    {
      ...facts,
      language: facts?.language ?? 'english',
      targets: origin.targets.map(({ name, folder = nowhere(name) }, index) => ({
        folder,
        name,
        commit: facts?.targets[index]?.commit,
        coverage: facts?.targets[index]?.coverage,
      })),
      importedFrom: visibleLine(origin.fileName),
      artifacts: [['findings', 'findings.json'] as const, ['report', 'report.md'] as const].flatMap(
        ([name, file]) => {
          const content = files.get(file);
          return content === undefined ? [] : [{ name, file, bytes: Buffer.byteLength(content) }];
        },
      ),
    },
  );
  const folder = store.folderOf(id);
  try {
    await makePrivateFolder(folder);
    for (const [name, content] of files) await writeFileAtomic(join(folder, name), content);
    // The journal last: a folder without one is no run.
    await store.create(run);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return run;
}

/** Decisions that came with findings, for those about which nobody decided here, as files of decisions hold them; and for how many findings. */
export function undecidedBy(
  decisions: readonly Decision[],
  all: readonly ShownFinding[],
): { readonly byFolder: DecisionsByFolder; readonly count: number } {
  const byIndex = new Map(decisions.map((decision) => [decision.index, decision]));
  const byFolder = new Map<string, TriageEntry[]>();
  let count = 0;
  for (const shown of all) {
    const decision = byIndex.get(shown.finding.index);
    if (decision === undefined || !isUndecided(shown.triage)) continue;
    count += 1;
    const { state, note, at } = decision;
    for (const { folder, ...subject } of toSubjects(shown)) {
      const entries = byFolder.get(folder) ?? [];
      entries.push({ ...subject, state, note, at });
      byFolder.set(folder, entries);
    }
  }
  return { byFolder, count };
}
