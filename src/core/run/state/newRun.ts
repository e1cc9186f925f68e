import * as z from 'zod/mini';
import { type ArchiveType, identifierSchema, type Language, languageSchema } from '../../api/schema.ts';
import type { UploadSelection } from '../../upload/choose/prepareUpload.ts';
import type { ApplicationInput } from '../../workflows/blackboxInput.ts';
import { type WorkflowId, workflowIds } from '../../workflows/workflow.ts';
import { idSchema, journalVersion, type RunIn, type Target } from './run.ts';

export interface RunIdentity {
  readonly id: string;
  readonly now: number;
}

export interface Assessment {
  readonly workflow: WorkflowId;
  /** The base URL is normalized. */
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly language: Language;
  readonly webhookEndpointIds: readonly string[];
  readonly maxArchiveBytes: number;
  readonly targets: readonly {
    folder: string;
    name: string;
    /** A blackbox workflow has none. */
    files?: { readonly selection: UploadSelection; readonly archiveType: ArchiveType };
    commit?: Target['commit'];
  }[];
  readonly input?: ApplicationInput | undefined;
  readonly targetFile?: string | undefined;
  readonly confirms?: string | undefined;
  readonly label?: string | undefined;
  readonly continuesOnePair?: boolean | undefined;
}

export const noteSchema = z.object({
  workflow: z.enum(workflowIds),
  baseUrl: z.string(),
  organizationId: z.string(),
  language: languageSchema,
  runId: identifierSchema,
  dispatchedAt: z.optional(z.number()),
  /** The local ID. Absent if a user tracks the run by its run ID. */
  id: z.optional(idSchema),
  intendedAt: z.optional(z.number()),
  targets: z.array(z.object({ folder: z.string(), name: z.string(), fileId: z.optional(identifierSchema) })),
});
/** Has what is needed to track an accepted run whose folder is lost. Contains no secret. */
export type RunNote = z.infer<typeof noteSchema>;

export function newRun(
  { id, now }: RunIdentity,
  { targets, webhookEndpointIds, ...plan }: Assessment,
  packed: readonly Pick<Target, 'archive' | 'coverage'>[] = [],
): RunIn<'preparing'> {
  const { workflow, baseUrl, organizationId, language, input } = plan;
  const { targetFile, confirms, label, continuesOnePair } = plan;
  return {
    version: journalVersion,
    ...{ id, workflow, baseUrl, organizationId, language, input },
    ...{ targetFile, confirms, label, continuesOnePair },
    webhookEndpointIds: [...webhookEndpointIds],
    targets: targets.map(({ folder, name, commit }, index) => ({ folder, name, commit, ...packed[index] })),
    createdAt: now,
    noticeDue: false,
    state: 'preparing',
  };
}

export function trackedRun({ id, now }: RunIdentity, note: RunNote): RunIn<'running'> {
  const { workflow, baseUrl, organizationId, language, runId, dispatchedAt = now, targets } = note;
  return {
    version: journalVersion,
    ...{ id, workflow, baseUrl, organizationId, language },
    webhookEndpointIds: [],
    targets: targets.map(({ folder, name, fileId }) => ({
      folder,
      name,
      // The service starts runs only with confirmed files.
      upload: fileId === undefined ? undefined : { fileId, state: 'confirmed', at: now },
    })),
    // An older run that is tracked again must not become the latest.
    createdAt: Math.min(now, dispatchedAt),
    noticeDue: false,
    ...{ state: 'running', runId, dispatchedAt, lastAnswerAt: now },
  };
}
