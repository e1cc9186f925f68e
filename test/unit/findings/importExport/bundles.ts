import { parseWorker } from '../parse/bundledWorker.ts';
import { readImport } from '../../../../src/core/findings/importExport/importFile.ts';
import type { ImportedFile } from '../../../../src/core/findings/importExport/readContent.ts';

export const items = [
  {
    id: 'F-1',
    title: 'SQL インジェクション',
    severity: 'high',
    cwe: 89,
    file: 'src/注文.ts',
    line: 3,
    unknown_field: { kept: true },
  },
];

export const findings = Buffer.from(JSON.stringify(items));

export const report = Buffer.from('# 報告書\n');

const manifest = Buffer.from(
  JSON.stringify({ entries: [{ path: 'src/注文.ts', bytes: 1, sha256: 'ab' }], omitted: [] }),
);

export const artifacts = [
  { path: 'findings.json', content: findings },
  { path: 'report.md', content: report },
  { path: 'manifest-0.json', content: manifest },
];

export const accepted = { state: 'acceptedRisk', note: '社内のみ', at: 7 } as const;

export const importOf = (content: Buffer | string): Promise<ImportedFile> =>
  readImport(Buffer.from(content), { workerFile: parseWorker });

export function textOf({ files }: ImportedFile, name: string): string {
  return new TextDecoder().decode(files.get(name));
}
