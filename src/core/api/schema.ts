import * as z from 'zod/mini';
import { excerptOf, redactedJson } from './replyBody.ts';

/** docs/api.md, section 8. */
export const identifierSchema = z.string().check(z.minLength(1), z.maxLength(256));

/** docs/api.md, section 2.9. */
export const languageSchema = z.enum(['english', 'japanese']);
export type Language = z.infer<typeof languageSchema>;

/** docs/api.md, section 2.2. */
export const archiveTypeSchema = z.enum(['tar_gz', 'zip']);
export type ArchiveType = z.infer<typeof archiveTypeSchema>;

// See docs/api.md, sections 4.1 and 4.2, for these requests and responses.

export const getUploadUrlRequestSchema = z.strictObject({ content_length: z.int().check(z.minimum(1)) });

export const uploadUrlSchema = z.object({
  file_id: identifierSchema,
  upload_url: z.string().check(z.minLength(1)),
  expires_in_seconds: z.number(),
});
export type UploadUrl = z.infer<typeof uploadUrlSchema>;

export const fileRequestSchema = z.strictObject({ file_id: identifierSchema });
export const fileResponseSchema = z.object({ file_id: z.string() });

/** docs/api.md, section 2.6. */
export const notificationSchema = z.strictObject({
  webhook_endpoint_ids: z.array(z.string()).check(z.minLength(1), z.maxLength(100)),
});

export const dispatchResponseSchema = z.object({ workflow_run_id: identifierSchema });
export const runRequestSchema = z.strictObject({ workflow_run_id: identifierSchema });

/** The code compares these words, so they are kept even if a password is part of one. */
const known = new Set(['RUNNING', 'EXITED', 'SUCCESS', 'ABORTED', 'credit_limit_reached']);
const progressSchema = z.looseObject({ scan_progress: z.object({ artifact_name: identifierSchema }) });

function ifReadable<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.catch(z.optional(schema), undefined);
}

/**
 * The response of describe (docs/api.md, sections 2.3 and 2.5). A part of `output` or `artifacts`
 * that can't be read becomes undefined. Unknown statuses, kinds, and codes, and the detail except
 * `scan_progress`, are redacted, and shortened if too long.
 */
export function toDescriptionSchema(secrets: () => readonly string[]) {
  const brief = (word: string): string => (known.has(word) ? word : excerptOf(word, secrets()));
  const safe = (detail: unknown): unknown => {
    const { success, data } = progressSchema.safeParse(detail);
    if (!success) return redactedJson(detail, secrets());
    const { scan_progress, ...others } = data;
    const redacted = redactedJson(others, secrets());
    return { ...(typeof redacted === 'object' ? redacted : { text: redacted }), scan_progress };
  };
  const textSchema = z.pipe(z.string(), z.transform<string, string>(brief));
  const outputSchema = z.object({
    kind: textSchema,
    successOutput: ifReadable(
      z.record(z.string(), ifReadable(z.object({ artifact_name: identifierSchema }))),
    ),
    abortedReason: ifReadable(
      z.object({ code: textSchema, detail: z.optional(z.pipe(z.unknown(), z.transform(safe))) }),
    ),
  });
  return z.object({
    status: textSchema,
    output: ifReadable(outputSchema),
    artifacts: ifReadable(z.array(ifReadable(z.object({ name: identifierSchema })))),
  });
}
export type Description = z.infer<ReturnType<typeof toDescriptionSchema>>;

export const artifactRequestSchema = z.strictObject({
  workflow_run_id: identifierSchema,
  artifact_name: identifierSchema,
});

export const downloadUrlSchema = z.object({
  url: z.string().check(z.minLength(1)),
  expires_in_seconds: z.number(),
});

/** The response of cancel (docs/api.md, section 4.2). */
export const emptySchema = z.object({});
