import { join } from 'node:path';
import { whiteboxFindings, whiteboxInput } from '../apiSchemas.ts';
import { RunAborted, type ReceivedArchive, type Workflow } from '../runs/workflow.ts';
import { analyse, byWeight, type ServiceFinding } from './analyse.ts';
import { reportText } from './reportText.ts';
import type { ReportLanguage } from './rules.ts';
import { InvalidArchive, readArchive, type ArchiveType } from './unpack.ts';

interface WhiteboxInput {
  targets: { file_upload: { file_id: string; archive_type: ArchiveType } }[];
  language: ReportLanguage;
}

/** The `whitebox-assessment` workflow (sections 2.4 and 2.9): reads the archives, looks for weaknesses, writes findings and report. */
export const whiteboxAssessment: Workflow = {
  id: 'whitebox-assessment',
  inputSchema: whiteboxInput,
  artifacts: [
    { name: 'report', required: true, mediaType: 'text/markdown; charset=utf-8' },
    { name: 'findings', required: true, mediaType: 'application/json', schema: whiteboxFindings },
  ],
  async admit(input, { organizationId, directory, files }) {
    const { targets, language } = input as WhiteboxInput;
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
          ['report', reportText(findings, { language, fileCount, targetCount: archives.length })],
        ]);
      },
    };
  },
};

function invalidArchive(error: InvalidArchive, targetIndex: number): RunAborted {
  return new RunAborted('invalid_archive', { target_index: targetIndex, message: error.message });
}
