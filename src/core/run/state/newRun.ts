import type { WorkflowId } from '../../workflows/workflow.ts';
import type { Run, RunIn, Target } from './run.ts';
import type { ApplicationInput } from '../../workflows/application.ts';

/** Which local run this is, and when it was made here. */
interface Identity {
  readonly id: string;
  readonly now: number;
}

/** What a person decided to run, and where. */
interface Destination {
  readonly workflow: WorkflowId;
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly language: Run['language'];
}

/** What a run has in every state. */
function baseOf(
  { id, now }: Identity,
  plan: Destination & {
    readonly webhookEndpointIds: readonly string[];
    readonly targets: readonly Pick<Target, 'folder' | 'name' | 'commit'>[];
    readonly retryOf?: string | undefined;
    readonly input?: ApplicationInput | undefined;
    readonly targetFile?: string | undefined;
    readonly confirms?: string | undefined;
  },
): Omit<RunIn<'preparing'>, 'state' | 'step'> {
  const { workflow, baseUrl, organizationId, language, webhookEndpointIds, targets } = plan;
  const { retryOf, input, targetFile, confirms } = plan;
  return {
    version: 1,
    id,
    workflow,
    baseUrl,
    organizationId,
    language,
    webhookEndpointIds: [...webhookEndpointIds],
    targets: targets.map(({ folder, name, commit }) => ({ folder, name, commit })),
    createdAt: now,
    noticeDue: false,
    retryOf,
    input,
    targetFile,
    confirms,
  };
}

/** A run at its beginning. */
export function newRun(identity: Identity, plan: Parameters<typeof baseOf>[1]): RunIn<'preparing'> {
  return { ...baseOf(identity, plan), state: 'preparing', step: 'packaging' };
}

/** A run of the service that was started elsewhere, or whose journal was lost. */
export function trackedRun(
  { id, now }: Identity,
  place: Destination & {
    readonly runId: string;
    readonly dispatchedAt?: number | undefined;
    readonly targets: readonly { folder: string; name: string; fileId?: string | undefined }[];
  },
): RunIn<'running'> {
  const { runId, dispatchedAt = now, targets } = place;
  return {
    ...baseOf({ id, now }, { ...place, webhookEndpointIds: [] }),
    targets: targets.map(({ folder, name, fileId }) => ({
      folder,
      name,
      // Only confirmed files can be dispatched.
      upload: fileId === undefined ? undefined : { fileId, state: 'confirmed', at: now },
    })),
    // Tracked again, an older run does not become the latest.
    createdAt: Math.min(now, dispatchedAt),
    state: 'running',
    runId,
    dispatchedAt,
    lastAnswerAt: now,
    emptyExits: 0,
  };
}

/** A run whose results were brought here as a file. */
export function importedRun(
  { id, now }: Identity,
  facts: Pick<RunIn<'imported'>, 'language' | 'importedFrom' | 'artifacts' | 'runId' | 'endedEarly'> & {
    readonly workflow?: WorkflowId | undefined;
    readonly targetUrls?: readonly string[] | undefined;
    readonly targets: readonly Pick<Target, 'folder' | 'name' | 'commit'>[];
    readonly dispatchedAt?: number | undefined;
    readonly exitedAt?: number | undefined;
  },
): RunIn<'imported'> {
  const { language, targets, importedFrom, artifacts, runId, dispatchedAt, exitedAt } = facts;
  const { workflow = 'whitebox-assessment', targetUrls, endedEarly } = facts;
  const nowhere = { workflow, baseUrl: '', organizationId: '' };
  const input = targetUrls === undefined ? undefined : { target_urls: [...targetUrls] };
  return {
    ...baseOf({ id, now }, { ...nowhere, language, webhookEndpointIds: [], targets, input }),
    state: 'imported',
    // It is listed among the runs of its time.
    createdAt: Math.min(now, dispatchedAt ?? now),
    endedAt: now,
    importedFrom,
    artifacts,
    runId,
    ...(dispatchedAt === undefined || exitedAt === undefined ? {} : { dispatchedAt, exitedAt }),
    endedEarly,
  };
}
