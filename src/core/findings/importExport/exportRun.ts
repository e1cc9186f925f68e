import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readIfThere } from '../../files.ts';
import { artifactPath, keptArtifact, type Run } from '../../run/state/run.ts';
import { maskSecrets } from '../../upload/secrets/checkSecrets.ts';
import { addDetails } from '../result/resultFile.ts';
import { readReported } from '../result/workOut.ts';
import type { DetailedFinding, ShownFinding, ShownRun } from '../shownFinding.ts';
import { type BundleFile, toBundle, zipBundle } from './bundle.ts';
import { toCsv } from './csv.ts';
import { readAssessedLocations } from './sarif/assessedLocations.ts';
import { type AssessedRepository, readMainFile, toCodeScanning } from './sarif/codeScanning.ts';
import { type ExportTool, toSarif } from './sarif/sarif.ts';

type ExportForm =
  | { readonly kind: 'sarif' | 'csv' | 'bundle' }
  | {
      readonly kind: 'codeScanning';
      readonly listed: readonly ShownFinding[];
      readonly repository: AssessedRepository;
    };

export interface ExportRequest {
  readonly source: ShownRun;
  readonly form: ExportForm;
  readonly tool: ExportTool;
  readonly secretWorkerFile: string;
}

export interface ExportedFile {
  readonly content: Uint8Array<ArrayBuffer>;
  readonly gzippedBytes?: number | undefined;
}

/** Masks suspected secrets in all texts, except in the artifacts of a bundle. Blocks its thread. */
export async function exportRun(
  { source, form, tool, secretWorkerFile }: ExportRequest,
  runFolderOf: (runId: string) => string,
): Promise<ExportedFile> {
  const withDetails = (findings: readonly ShownFinding[]): Promise<readonly DetailedFinding[]> =>
    addDetails(findings, runFolderOf, (run, file, indexes) =>
      readReported(runFolderOf(run.id), { run, file, indexes, isReadOnly: false }),
    );
  const mask = <T>(value: T): Promise<T> => maskSecrets(value, secretWorkerFile);
  const runFolder = runFolderOf(source.run.id);
  if (form.kind === 'bundle') {
    // Links to findings and decisions about them have the hash of the findings file, so artifacts
    // stay unchanged.
    const files = toBundle(await mask(source), await readArtifacts(source.run, runFolder));
    return { content: new Uint8Array(zipBundle(files)) };
  }
  if (form.kind === 'codeScanning') {
    const { repository } = form;
    const listed = await withDetails(form.listed);
    const assessed = await readAssessedLocations(listed, runFolderOf);
    const mainFile = await readMainFile(source.run, repository, runFolder);
    const content = toJson(
      toCodeScanning(await mask({ source, listed, assessed, repository, mainFile }), tool),
    );
    return { content, gzippedBytes: gzipSync(content).length };
  }
  const shown = await withDetails(source.shown);
  const absent = await withDetails(source.absent ?? []);
  if (form.kind === 'csv') return { content: toBytes(toCsv(await mask({ ...source, shown, absent }))) };
  const assessed = await readAssessedLocations([...shown, ...absent], runFolderOf);
  const masked = await mask({ source: { ...source, shown, absent }, assessed });
  return { content: toJson(toSarif(masked.source, masked.assessed, tool)) };
}

async function readArtifacts(run: Run, runFolder: string): Promise<readonly BundleFile[]> {
  const contentOf = (role: string): Promise<Buffer> => readFile(artifactPath(run, role, runFolder));
  const files = [{ path: 'findings.json', content: await contentOf('findings') }];
  if (keptArtifact(run, 'report') !== undefined)
    files.push({ path: 'report.md', content: await contentOf('report') });
  for (const index of run.targets.keys()) {
    const path = `manifest-${String(index)}.json`;
    const text = await readIfThere(join(runFolder, path));
    if (text !== undefined) files.push({ path, content: Buffer.from(text) });
  }
  return files;
}

function toJson(log: object): Uint8Array<ArrayBuffer> {
  return toBytes(`${JSON.stringify(log, undefined, 1)}\n`);
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
