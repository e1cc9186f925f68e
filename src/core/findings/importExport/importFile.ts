import { isUtf8 } from 'node:buffer';
import { AssessmentError } from '../../errors.ts';
import type { RunFacts } from './bundle.ts';
import { readBundle, readJson } from './bundleRead.ts';
import { type Decision, readDecisions } from '../triage/decisions.ts';
import { badImport, maxImportBytes } from './importFault.ts';
import type { Cut, ParsedFindings } from '../parse/parse.ts';
import { parseInWorker, type ReadFindingsOptions } from '../parse/readFindings.ts';
import { visibleLine } from '../../visibleText.ts';

/** How findings are read that come as a file. */
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
  const read = isZip ? await fromBundle(content) : fromFindings(content);
  const { findings, cut } = await parse(read.files.get('findings.json') ?? content, options);
  return { ...read, findings: findings.length, cut };
}

type Unchecked = Omit<ImportedFile, 'findings' | 'cut'>;

async function fromBundle(content: Buffer): Promise<Unchecked> {
  const { files, run } = await readBundle(content);
  const triage = files.get('triage.json');
  const decisions = triage === undefined ? [] : readJson(triage, 'triage.json');
  const kept = [...files].filter(([path]) => path !== 'triage.json');
  return {
    files: new Map(kept),
    run,
    folders: run.targets.map(({ name }) => visibleLine(name)),
    decisions: Array.isArray(decisions) ? readDecisions(decisions) : [],
  };
}

function fromFindings(content: Buffer): Unchecked {
  if (!isUtf8(content)) throw badImport('notText');
  return { files: new Map([['findings.json', content]]), folders: [], decisions: [] };
}

async function parse(content: Buffer, options: ImportOptions): Promise<ParsedFindings> {
  try {
    return await parseInWorker(content, { ...options, runId: 'import' });
  } catch (error) {
    const kind = error instanceof AssessmentError ? error.kind : undefined;
    if (kind === 'findingsTooLarge') throw badImport('tooLarge', undefined, error);
    if (kind === 'malformedFindings')
      throw badImport(isTable(content) ? 'notRead' : 'noFindings', undefined, error);
    throw error;
  }
}

/** True for a table of findings: this extension writes them, and does not read them. */
function isTable(content: Buffer): boolean {
  const header = content.subarray(0, 1_000).toString('utf8').split('\n', 1)[0] ?? '';
  return ['title', 'severity', 'file'].every((name) => header.split(',').includes(name));
}
