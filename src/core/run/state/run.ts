import { join } from 'node:path';
import * as z from 'zod/mini';
import { archiveTypeSchema, identifierSchema, languageSchema } from '../../api/schema.ts';
import { AssessmentError, errorKinds } from '../../errors.ts';
import { applicationInputSchema, looseObject } from '../../workflows/blackboxInput.ts';
import { workflowIds } from '../../workflows/workflow.ts';
import { coverageSchema } from '../../upload/choose/coverage.ts';

const time = z.number();
const count = z.int().check(z.minimum(0));

const failureSchema = looseObject({
  kind: z.catch(z.enum(errorKinds), 'unexpected'),
  status: z.optional(z.number()),
  detail: z.optional(z.string()),
  subject: z.optional(z.string()),
  origin: z.optional(z.string()),
  isPage: z.optional(z.boolean()),
  limit: z.optional(z.number()),
  actual: z.optional(z.number()),
});
export type Failure = z.infer<typeof failureSchema>;

export const dayMs = 24 * 60 * 60 * 1000;
/**
 * The service keeps results at least this long (docs/api.md, section 8). The code expects the same
 * period for uploaded files.
 */
export const retentionMs = 30 * dayMs;

const troubleSchema = z.extend(failureSchema, {
  firstSeen: time,
  /** When the service first denied the run since its last good response. */
  deniedSince: z.optional(time),
});

const archiveSchema = looseObject({
  file: z.string(),
  type: archiveTypeSchema,
  bytes: count,
  sha256: z.string(),
  fileStamp: z.optional(z.string()),
  sourceBytes: count,
  /** The first files that could not be packed. The manifest has all of them, with reasons. */
  omitted: z.optional(z.array(z.string())),
});

const uploadSchema = looseObject({
  fileId: identifierSchema,
  state: z.enum(['reserved', 'confirmed', 'cancelled', 'deleted']),
  at: time,
  /** The host of the upload URL, if it isn't the service's. */
  host: z.optional(z.string()),
});
/** `cancelled` and `deleted` mean that the service has removed the file or doesn't know it. */
export type UploadState = z.infer<typeof uploadSchema>['state'];

const targetSchema = looseObject({
  folder: z.string(),
  name: z.string(),
  commit: z.optional(looseObject({ id: z.string(), dirty: z.boolean() })),
  archive: z.optional(archiveSchema),
  coverage: z.optional(coverageSchema),
  upload: z.optional(uploadSchema),
});
export type Target = z.infer<typeof targetSchema>;

const exitSchema = looseObject({
  kind: z.string(),
  abort: z.optional(looseObject({ code: z.string(), detail: z.optional(z.unknown()) })),
  artifacts: z.array(identifierSchema),
  roles: z.optional(z.array(looseObject({ name: identifierSchema, role: z.string() }))),
});
export type Exit = z.infer<typeof exitSchema>;

const artifactSchema = looseObject({
  name: identifierSchema,
  /**
   * Usually the output's member that refers to the artifact, such as `report` (docs/api.md, section
   * 2.5). Absent if it equals the artifact's name.
   */
  role: z.optional(z.string()),
  file: z.optional(z.string()),
  bytes: z.optional(count),
  failure: z.optional(failureSchema),
  /** When the artifact was downloaded again. */
  at: z.optional(time),
});
export type Artifact = z.infer<typeof artifactSchema>;

export const maxLabelLength = 100;

/** The local ID of a run is also the name of its folder. */
export const idSchema = z.string().check(z.regex(/^[0-9a-z-]{1,64}$/));

export const journalVersion = 1;
export const workflowSchema = z.enum(workflowIds);

const base = looseObject({
  version: z.literal(journalVersion),
  id: idSchema,
  workflow: workflowSchema,
  baseUrl: z.string(),
  organizationId: z.string(),
  language: languageSchema,
  webhookEndpointIds: z.array(z.string()),
  /** The input of the start request, without passwords. Only a blackbox run has one. */
  input: z.optional(applicationInputSchema),
  /** The name of the code finding that this run is to confirm. It is never sent to the service. */
  confirms: z.optional(z.string()),
  continuesOnePair: z.optional(z.boolean()),
  /** A user's answer to whether the run found the finding that it `confirms`. */
  isSame: z.optional(z.boolean()),
  targetFile: z.optional(z.string()),
  targets: z.array(targetSchema),
  createdAt: time,
  confirmedAt: z.optional(time),
  /** True while the run's end, or its lost dispatch, is still to be shown. */
  noticeDue: z.boolean(),
  /** A user's name for the run. If it `confirms` a finding, the default is the finding's title. */
  label: z.optional(z.string()),
  archivesRemovedAt: z.optional(time),
  /** True while the findings of an ended run are still to be saved. */
  lacksRecord: z.optional(z.boolean()),
  /** The end of the last `Retry-After`. Until then, the drive sends no request for this run. */
  retryAt: z.optional(time),
});

/** A dispatch that may have been accepted. */
const lostDispatchSchema = looseObject({ intendedAt: time, reason: failureSchema });

const watched = {
  runId: identifierSchema,
  dispatchedAt: time,
  lastAnswerAt: z.optional(time),
  /** A status that this version doesn't know, in the service's words. */
  status: z.optional(z.string()),
  trouble: z.optional(troubleSchema),
};

const maybeAccepted = { runId: z.optional(identifierSchema), dispatchedAt: z.optional(time) };

const exited = {
  runId: identifierSchema,
  dispatchedAt: time,
  exit: exitSchema,
  exitedAt: time,
  ranAt: z.optional(time),
};

const ended = { ...exited, endedAt: time, artifacts: z.array(artifactSchema) };

export const runSchema = z.discriminatedUnion('state', [
  // The run's files, if any, are being uploaded and confirmed.
  z.extend(base, { state: z.literal('preparing') }),
  z.extend(base, {
    state: z.literal('dispatching'),
    intendedAt: time,
    /**
     * The lost dispatch that a user sends again. Its run may exist even if this dispatch is
     * refused.
     */
    resendOf: z.optional(lostDispatchSchema),
  }),
  z.extend(base, {
    state: z.literal('unknown'),
    ...lostDispatchSchema.shape,
    refusal: z.optional(failureSchema),
  }),
  z.extend(base, {
    state: z.literal('running'),
    ...watched,
    /** When the first cancellation without a refusal was sent: the service may have accepted it. */
    cancelSentAt: z.optional(time),
  }),
  z.extend(base, { state: z.literal('cancelling'), ...watched, cancelAskedAt: time }),
  z.extend(base, {
    state: z.literal('collecting'),
    ...exited,
    cancelAskedAt: z.optional(time),
    artifacts: z.optional(z.array(artifactSchema)),
    trouble: z.optional(troubleSchema),
  }),
  z.extend(base, { state: z.literal('succeeded'), ...ended }),
  z.extend(base, { state: z.literal('aborted'), ...ended }),
  z.extend(base, {
    state: z.literal('cancelled'),
    endedAt: time,
    /**
     * True for a lost dispatch that a user abandoned: the run may continue on the service and spend
     * credits.
     */
    mayStillRun: z.optional(z.boolean()),
    ...maybeAccepted,
    exit: z.optional(exitSchema),
    exitedAt: z.optional(time),
    ranAt: z.optional(time),
    artifacts: z.optional(z.array(artifactSchema)),
  }),
  z.extend(base, {
    state: z.literal('failed'),
    endedAt: time,
    failure: failureSchema,
    ...maybeAccepted,
  }),
  // Base URL and organization are empty, because an imported file doesn't name them.
  z.extend(base, {
    state: z.literal('imported'),
    endedAt: time,
    importedFrom: z.string(),
    /** True if the run ended early or tested one pair, so it may lack findings. */
    endedEarly: z.optional(z.boolean()),
    ...maybeAccepted,
    exitedAt: z.optional(time),
    artifacts: z.array(artifactSchema),
  }),
]);
export type Run = z.infer<typeof runSchema>;
export type RunState = Run['state'];
export type RunIn<S extends RunState> = Extract<Run, { state: S }>;
export type LiveRun = RunIn<'running' | 'cancelling' | 'collecting'>;

export function isFinal(
  run: Run,
): run is RunIn<'succeeded' | 'aborted' | 'cancelled' | 'failed' | 'imported'> {
  return ['succeeded', 'aborted', 'cancelled', 'failed', 'imported'].includes(run.state);
}

export function endedEarly(run: Run): boolean {
  if (run.state === 'imported') return run.endedEarly === true;
  return run.state === 'aborted' || run.state === 'cancelled' || run.state === 'failed';
}

export function isLive(run: Run): run is LiveRun {
  return ['running', 'cancelling', 'collecting'].includes(run.state);
}

export function foldersOfRuns(runs: readonly Pick<Run, 'targets'>[]): readonly string[] {
  return runs.flatMap(({ targets }) => targets.map(({ folder }) => folder));
}

export function runIdOf(run: Run): string | undefined {
  return 'runId' in run ? run.runId : undefined;
}

export function roleOf({ name, role = name }: Pick<Artifact, 'name' | 'role'>): string {
  return role;
}

export function artifactIn({ roles }: Exit, name: string): Pick<Artifact, 'name' | 'role'> {
  return roles?.find((each) => each.name === name) ?? { name };
}

export function keptArtifact(run: Run, role: string): Artifact | undefined {
  return keptArtifacts(run).find((artifact) => roleOf(artifact) === role);
}

export function artifactPath(run: Run, role: string, runFolder: string): string {
  const { file } = keptArtifact(run, role) ?? {};
  if (file !== undefined) return join(runFolder, file);
  throw new AssessmentError('storage', { subject: join(runFolder, role), detail: 'ENOENT' });
}

export function keptOrFailed(run: Run & { readonly exit: Exit }, name: string, failure: Failure): Artifact {
  const kept = keptArtifacts(run).find((artifact) => artifact.name === name);
  return kept ?? { ...artifactIn(run.exit, name), failure };
}

export function keptArtifacts(run: Run): Artifact[] {
  const artifacts = 'artifacts' in run ? (run.artifacts ?? []) : [];
  return artifacts.filter(({ file }) => file !== undefined);
}

export type RunWithResults = RunIn<'succeeded' | 'aborted' | 'cancelled'> & {
  readonly runId: string;
  readonly exit: Exit;
};

export function hasRemoteResults(run: Run): run is RunWithResults {
  return isFinal(run) && 'exit' in run && run.exit !== undefined && run.exit.artifacts.length > 0;
}

/** True for a failed run whose dispatch was never accepted: a retry doesn't spend credits twice. */
export function isUnsent(run: Run): run is RunIn<'failed'> {
  return run.state === 'failed' && run.runId === undefined;
}

/** False for a run that was tracked by its ID, was imported, or never got to its start request. */
export function wasStartedHere(run: Run): boolean {
  return run.confirmedAt !== undefined;
}

export function elapsedMs(run: Run, now: number): number {
  const start = ('dispatchedAt' in run ? run.dispatchedAt : undefined) ?? run.createdAt;
  const end = ('exitedAt' in run ? run.exitedAt : undefined) ?? ('endedAt' in run ? run.endedAt : now);
  return Math.max(0, end - start);
}

export function toFailure(error: AssessmentError): Failure {
  const { status, detail, subject, origin, isPage, limit, actual } = error.data;
  const facts = Object.entries({ status, detail, subject, origin, isPage, limit, actual }).filter(
    ([, value]) => value !== undefined,
  );
  return { kind: error.kind, ...Object.fromEntries(facts) };
}

const keysOfOneState = new Set(
  runSchema.def.options.flatMap(({ shape }) => Object.keys(shape)).filter((key) => !(key in base.shape)),
);

/** Keeps the members that all states have, and members that only a later version knows. */
export function shared(run: Run): z.infer<typeof base> {
  const entries = Object.entries(run).filter(
    ([key, value]) => !keysOfOneState.has(key) && value !== undefined,
  );
  return Object.fromEntries(entries) as z.infer<typeof base>;
}
