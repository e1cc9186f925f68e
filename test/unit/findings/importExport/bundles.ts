import { toBundle, zipBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { readImport } from '../../../../src/core/findings/importExport/importFile.ts';
import type { ImportedFile } from '../../../../src/core/findings/importExport/readContent.ts';
import type { ShownRun } from '../../../../src/core/findings/shownFinding.ts';
import { parseWorker } from '../parse/bundledWorker.ts';
import { sourceOf } from './exportingFindings.ts';

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

type Texts = Readonly<Record<string, string>>;

export const artifacts: Texts = {
  'findings.json': JSON.stringify(items),
  'report.md': '# 報告書\n',
  'manifest-0.json': JSON.stringify({ entries: [{ path: 'src/注文.ts', bytes: 1, sha256: 'ab' }] }),
};

export const accepted = { state: 'acceptedRisk', note: '社内のみ', at: 7 } as const;

export function zipOf(files: Texts): Buffer {
  return zipBundle(Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) })));
}

/** These files replace the usual ones. */
export function bundleOf(files: Texts = artifacts, source: ShownRun = sourceOf(items)) {
  const contents = Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) }));
  return zipBundle(toBundle(source, contents));
}

export const importOf = (content: Buffer | string): Promise<ImportedFile> =>
  readImport(Buffer.from(content), parseWorker);

export function textOf({ files }: ImportedFile, name: string): string {
  return new TextDecoder().decode(files.get(name));
}
