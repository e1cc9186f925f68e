import type * as z from 'zod/mini';
import type { ArchiveType, Language } from '../api/schema.ts';
import type { ApplicationInput } from './blackboxInput.ts';

/** docs/api.md, section 1. */
export const workflowIds = ['whitebox-assessment', 'blackbox-crawl', 'blackbox-assessment'] as const;
export type WorkflowId = (typeof workflowIds)[number];

export const targetFileSuffix = '.blackbox.json';

export interface RunRequest {
  readonly language: Language;
  readonly webhookEndpointIds: readonly string[];
  readonly targets: readonly {
    readonly archive?: { readonly type: ArchiveType } | undefined;
    readonly upload?: { readonly fileId: string } | undefined;
  }[];
  readonly input?: ApplicationInput | undefined;
}

/** The parts of a run's end that decide about continuations (docs/api.md, sections 2.7 and 2.8). */
export interface RunEnd {
  readonly kind: string;
  readonly abortCode?: string | undefined;
  readonly artifacts: readonly string[];
}

export type Continuation = 'assessPairs' | 'continueAssessment' | 'crawlFurther';

export type NoContinuation = 'notEligible' | 'noFeatures';

/**
 * The differences between workflows. `targetFile` parses the target file of the two blackbox
 * workflows, and `blackboxInput` has the schemas that the file and the requests share.
 */
export interface Workflow {
  readonly id: WorkflowId;
  readonly request: z.ZodMiniType;
  /** `passwords` are in the order of the input's credentials. */
  readonly toRequest: (run: RunRequest, passwords: readonly string[]) => unknown;
  /** File names by artifact role (docs/api.md, section 2.4). */
  readonly artifacts: Readonly<Record<string, string>>;
  readonly continuations: (end: RunEnd) => ReadonlyMap<Continuation, true | NoContinuation>;
}

/** The one known abort code (docs/api.md, section 2.5). */
export const creditLimitReached = 'credit_limit_reached';

/** The body of a blackbox request (docs/api.md, section 2.6). */
export function toApplicationRequest(run: RunRequest, passwords: readonly string[]): unknown {
  const { authentication, ...input } = run.input ?? {};
  const credentials = authentication?.credentials?.map((credential, index) => ({
    ...credential,
    password: passwords[index],
  }));
  const login = authentication && { ...authentication, ...(credentials && { credentials }) };
  return withNotification({ ...input, language: run.language, ...(login && { authentication: login }) }, run);
}

export function withNotification(
  input: Readonly<Record<string, unknown>>,
  { webhookEndpointIds }: Pick<RunRequest, 'webhookEndpointIds'>,
): Record<string, unknown> {
  return webhookEndpointIds.length === 0
    ? { input }
    : { input, notification: { webhook_endpoint_ids: [...webhookEndpointIds] } };
}
