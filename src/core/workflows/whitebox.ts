import * as z from 'zod/mini';
import { archiveTypeSchema, identifierSchema, languageSchema, notificationSchema } from '../api/schema.ts';
import { withNotification, type Workflow } from './workflow.ts';

/** Analyzes uploaded source code (docs/api.md, section 2.9). */
export const whitebox: Workflow = {
  id: 'whitebox-assessment',
  request: z.strictObject({
    input: z.strictObject({
      targets: z
        .array(
          z.strictObject({
            file_upload: z.strictObject({ file_id: identifierSchema, archive_type: archiveTypeSchema }),
          }),
        )
        .check(z.minLength(1)),
      language: languageSchema,
    }),
    notification: z.optional(notificationSchema),
  }),
  toRequest: (run) => {
    const targets = run.targets.flatMap(({ archive, upload }) =>
      archive === undefined || upload === undefined
        ? []
        : [{ file_upload: { file_id: upload.fileId, archive_type: archive.type } }],
    );
    return withNotification({ targets, language: run.language }, run);
  },
  artifacts: { report: 'report.md', findings: 'findings.json' },
  continuations: () => new Map(),
};
