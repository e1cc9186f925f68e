import { AssessmentError } from '../../errors.ts';
import type { RunFacts } from './bundle.ts';
import { readBundle, readJson } from './bundleRead.ts';
import { readCsv } from './csv.ts';
import { type Decision, readDecisions } from '../triage/decisions.ts';
import { badImport, maxImportBytes } from './importFault.ts';
import { parseFindingsInSlices } from '../parse/parse.ts';
import { readSarifExtras } from './sarifExtras.ts';
import { visibleLine } from '../parse/visibleText.ts';

/** A file that holds findings, read whole and checked. */
export interface ImportedFile {
  /** What goes into the run's folder, by name: `findings.json` always. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  readonly findings: number;
  /** What the file says about the run, when it does. */
  readonly run?: RunFacts | undefined;
  /** The names of the folders that the findings are of, in the order in which places count them; empty when it does not say. */
  readonly folders: readonly string[];
  readonly decisions: readonly Decision[];
}

/** Reads the content of a bundle, a SARIF log, a table of ours or any findings file; nothing is written. Throws `badImport`. */
export async function readImport(content: Buffer, signal?: AbortSignal): Promise<ImportedFile> {
  if (content.length > maxImportBytes) throw badImport('tooLarge');
  const isZip = content.subarray(0, 2).toString('latin1') === 'PK';
  const read = isZip ? await fromBundle(content) : fromText(content);
  const text = String(read.files.get('findings.json'));
  return { ...read, findings: await countFindings(text, signal) };
}

type Unchecked = Omit<ImportedFile, 'findings'>;

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

function fromText(content: Buffer): Unchecked {
  const text = decode(content);
  const start = text.trimStart()[0];
  if (start === '{' || start === '[') {
    return { files: new Map([['findings.json', content]]), ...readSarifExtras(text) };
  }
  const rows = asImport(() => readCsv(text));
  const folders = [...new Set(rows.flatMap((row) => row.get('folder') ?? []))];
  const findings = rows.map((row) => {
    const target = folders.indexOf(row.get('folder') ?? '');
    return { ...Object.fromEntries(row), ...(target < 0 ? {} : { target_index: target }) };
  });
  const decisions = rows.map((row, index) => ({
    index,
    state: row.get('triage'),
    note: row.get('triage_note') ?? '',
    at: 0,
  }));
  return {
    files: new Map([['findings.json', JSON.stringify({ findings })]]),
    folders: folders.map(visibleLine),
    decisions: readDecisions(decisions),
  };
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (cause) {
    throw badImport('notText', undefined, cause);
  }
}

async function countFindings(text: string, signal: AbortSignal | undefined): Promise<number> {
  try {
    return (await parseFindingsInSlices(text, { runId: 'import' }, signal)).findings.length;
  } catch (error) {
    throw asBadImport(error);
  }
}

function asImport<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asBadImport(error);
  }
}

function asBadImport(error: unknown): unknown {
  return error instanceof AssessmentError && error.kind === 'malformedFindings'
    ? badImport('noFindings', error.data.detail, error)
    : error;
}
