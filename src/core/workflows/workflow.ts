import type * as z from 'zod/mini';
import type { ArchiveType, Language } from '../api/schema.ts';
import type { ApplicationInput } from './application.ts';

/** The IDs of the service's workflows (docs/api.md, section 1). */
export const workflowIds = ['whitebox-assessment', 'blackbox-crawl', 'blackbox-assessment'] as const;
export type WorkflowId = (typeof workflowIds)[number];

/** How the name of a target file ends: what runs of live applications are started from. */
export const targetFileSuffix = '.blackbox.json';

/** What a run asks of its workflow, as far as a request needs it: the files of a whitebox run, the input of a blackbox one. */
export interface RunRequest {
  readonly language: Language;
  readonly webhookEndpointIds: readonly string[];
  readonly targets: readonly {
    readonly archive?: { readonly type: ArchiveType } | undefined;
    readonly upload?: { readonly fileId: string } | undefined;
  }[];
  /** The members of the API's `input` except `language` and passwords. */
  readonly input?: ApplicationInput | undefined;
}

/** How a run ended, as far as the rules for going on from it need it (docs/api.md, sections 2.7 and 2.8). */
export interface RunEnd {
  readonly kind: string;
  readonly abortCode?: string | undefined;
  /** Roles of the artifacts that were downloaded. */
  readonly artifacts: readonly string[];
}

/** What can be started from the results of an ended run. */
export type Continuation = 'assessPairs' | 'continueAssessment' | 'crawlFurther';

/** Why an ended run does not allow a continuation. */
export type NoContinuation = 'notEligible' | 'noFeatures';

/** All that differs between workflows. */
export interface Workflow {
  readonly id: WorkflowId;
  /** The dispatch body (docs/api.md, sections 2.6 to 2.9). */
  readonly request: z.ZodMiniType;
  /** The dispatch body of a run; `passwords` are in the order of the credentials of its input. */
  readonly toRequest: (run: RunRequest, passwords: readonly string[]) => unknown;
  /** The file that each artifact is kept as, by its role (docs/api.md, section 2.4). */
  readonly artifacts: Readonly<Record<string, string>>;
  /** Which continuations an ended run of this workflow allows, and for the others why not. */
  readonly continuations: (end: RunEnd) => ReadonlyMap<Continuation, true | NoContinuation>;
}

/** The abort code of an assessment that hit its scan credit limit (docs/api.md, section 2.5). */
export const creditLimitReached = 'credit_limit_reached';

/** The dispatch body of a blackbox run: its input as the journal has it, with the language and each credential's password (docs/api.md, section 2.6). */
export function toApplicationRequest(run: RunRequest, passwords: readonly string[]): unknown {
  const { authentication, ...input } = run.input ?? {};
  const credentials = authentication?.credentials?.map((credential, index) => ({
    ...credential,
    password: passwords[index],
  }));
  const login = authentication && { ...authentication, ...(credentials && { credentials }) };
  return withNotification({ ...input, language: run.language, ...(login && { authentication: login }) }, run);
}

/** Adds the recipients of the end's notification to a dispatch body (docs/api.md, section 2.6). */
export function withNotification(
  input: Readonly<Record<string, unknown>>,
  { webhookEndpointIds }: Pick<RunRequest, 'webhookEndpointIds'>,
): Record<string, unknown> {
  return webhookEndpointIds.length === 0
    ? { input }
    : { input, notification: { webhook_endpoint_ids: [...webhookEndpointIds] } };
}
