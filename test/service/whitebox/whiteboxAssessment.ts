import { join } from 'node:path';
import { whiteboxFindings, whiteboxInput } from '../apiSchemas.ts';
import { ABORT_CODES } from '../invented.ts';
import { RunAborted, type ReceivedArchive, type Workflow } from '../runs/workflow.ts';
import { reportText, type ReportLanguage } from '../runs/reportText.ts';
import { analyse, byWeight, toReported, type ServiceFinding } from './analyse.ts';
import { InvalidArchive, readArchive, type ArchiveType } from './unpack.ts';

interface WhiteboxInput {
  targets: { file_upload: { file_id: string; archive_type: ArchiveType } }[];
  language: ReportLanguage;
}

const headings = {
  english: (files: number, targets: number) => ({
    title: 'Whitebox Assessment Report',
    scope: `The assessment read ${files} ${files === 1 ? 'file' : 'files'} in ${targets} ${targets === 1 ? 'archive' : 'archives'}.`,
  }),
  japanese: (files: number, targets: number) => ({
    title: 'ホワイトボックス診断レポート',
    scope: `${targets} 個のアーカイブに含まれる ${files} 個のファイルを診断しました。`,
  }),
};

/**
 * The workflow reads the archives, looks for weaknesses, and writes findings and report (sections
 * 2.4 and 2.9).
 */
export const whiteboxAssessment: Workflow = {
  id: 'whitebox-assessment',
  inputSchema: whiteboxInput,
  artifacts: [
    { name: 'report', required: true, mediaType: 'text/markdown; charset=utf-8' },
    { name: 'findings', required: true, mediaType: 'application/json', schema: whiteboxFindings },
  ],
  async admit({ targets, language }: WhiteboxInput, { organizationId, directory, files }) {
    // All or nothing: a dispatch that is refused has copied no file.
    for (const { file_upload } of targets) files.requireConfirmed(organizationId, file_upload.file_id);
    const archives: (ReceivedArchive & { path: string; archiveType: ArchiveType })[] = [];
    for (const [index, { file_upload }] of targets.entries()) {
      const path = join(directory, `target-${index}`);
      await files.copyTo(organizationId, file_upload.file_id, path);
      archives.push({
        fileId: file_upload.file_id,
        archiveType: file_upload.archive_type,
        path,
        entries: [],
      });
    }

    return {
      archives,
      async perform(signal) {
        const findings: ServiceFinding[] = [];
        for (const [targetIndex, { path, archiveType, entries }] of archives.entries()) {
          try {
            for await (const entry of readArchive(path, archiveType, signal)) {
              entries.push({ path: entry.path, bytes: entry.bytes });
              findings.push(...analyse(entry, targetIndex, language));
            }
          } catch (error) {
            if (error instanceof InvalidArchive) throw invalidArchive(error, targetIndex);
            throw error;
          }
        }
        findings.sort(byWeight);
        const fileCount = archives.reduce((sum, { entries }) => sum + entries.length, 0);
        return new Map([
          ['findings', `${JSON.stringify(findings, null, 2)}\n`],
          [
            'report',
            reportText(findings.map(toReported), {
              language,
              ...headings[language](fileCount, archives.length),
            }),
          ],
        ]);
      },
    };
  },
};

function invalidArchive(error: InvalidArchive, targetIndex: number): RunAborted {
  return new RunAborted(ABORT_CODES.invalidArchive, { target_index: targetIndex, message: error.message });
}
