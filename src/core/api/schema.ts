import * as z from 'zod/mini';
import { inBrief, redactedJson } from './failure.ts';

/** An identifier as the service bounds it: 1 to 256 characters (docs/api.md, section 8). */
export const identifierSchema = z.string().check(z.minLength(1), z.maxLength(256));

/** Output language of a report (docs/api.md, section 2.9). */
export const languageSchema = z.enum(['english', 'japanese']);
export type Language = z.infer<typeof languageSchema>;

/** Archive types the service accepts for whitebox input (docs/api.md, section 2.2). */
export const archiveTypeSchema = z.enum(['tar_gz', 'zip']);
export type ArchiveType = z.infer<typeof archiveTypeSchema>;

// Requests and responses of the operations (docs/api.md, sections 4.1 and 4.2).

export const getUploadUrlRequestSchema = z.strictObject({ content_length: z.int().check(z.minimum(1)) });

export const uploadUrlSchema = z.object({
  file_id: identifierSchema,
  upload_url: z.string().check(z.minLength(1)),
  expires_in_seconds: z.number(),
});
export type UploadUrl = z.infer<typeof uploadUrlSchema>;

export const fileRequestSchema = z.strictObject({ file_id: identifierSchema });
export const fileResponseSchema = z.object({ file_id: z.string() });

/** Who is notified of the end of a run: 1 to 100 webhook endpoints (docs/api.md, section 2.6). */
export const notificationSchema = z.strictObject({
  webhook_endpoint_ids: z.array(z.string()).check(z.minLength(1), z.maxLength(100)),
});

export const dispatchResponseSchema = z.object({ workflow_run_id: identifierSchema });
export const runRequestSchema = z.strictObject({ workflow_run_id: identifierSchema });

/** What the reference names, and decisions depend on: it stays as it came, though a password may be part of it. */
const known = new Set(['RUNNING', 'EXITED', 'SUCCESS', 'ABORTED', 'credit_limit_reached']);
const progressSchema = z.looseObject({ scan_progress: z.object({ artifact_name: identifierSchema }) });

/**
 * Response of describe; `output` and `artifacts` are absent until EXITED, and dropped when they cannot be read, as is a single artifact among
 * others (docs/api.md, section 2.3). Members beyond `kind` and values not in the reference are kept as they came, shortened and redacted (docs/api.md, section 2.5).
 */
export function toDescriptionSchema(secrets: () => readonly string[]) {
  const brief = (said: string): string => (known.has(said) ? said : inBrief(said, secrets()));
  const safe = (said: unknown): unknown => {
    const { success, data } = progressSchema.safeParse(said);
    if (!success) return redactedJson(said, secrets());
    const { scan_progress, ...others } = data;
    const redacted = redactedJson(others, secrets());
    return { ...(typeof redacted === 'object' ? redacted : { text: redacted }), scan_progress };
  };
  const textSchema = z.pipe(z.string(), z.transform<string, string>(brief));
  const outputSchema = z.object({
    kind: textSchema,
    successOutput: z.catch(
      z.optional(
        z.record(z.string(), z.catch(z.optional(z.object({ artifact_name: identifierSchema })), undefined)),
      ),
      undefined,
    ),
    abortedReason: z.catch(
      z.optional(z.object({ code: textSchema, detail: z.optional(z.pipe(z.unknown(), z.transform(safe))) })),
      undefined,
    ),
  });
  return z.object({
    status: textSchema,
    output: z.catch(z.optional(outputSchema), undefined),
    artifacts: z.catch(
      z.optional(z.array(z.catch(z.optional(z.object({ name: identifierSchema })), undefined))),
      undefined,
    ),
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
export type DownloadUrl = z.infer<typeof downloadUrlSchema>;

/** Response of cancel: an empty object (docs/api.md, section 4.2). */
export const emptySchema = z.object({});
