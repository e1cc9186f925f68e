import * as z from 'zod/mini';
import { archiveTypeSchema, identifierSchema, languageSchema, type WorkflowId } from '../api/schema.ts';
import type { AssessmentError, ErrorKind } from '../errors.ts';

const time = z.number();
const count = z.int().check(z.minimum(0));

const failureSchema = z.object({
  kind: z.string() as z.ZodMiniType<ErrorKind>,
  status: z.optional(z.number()),
  detail: z.optional(z.string()),
  subject: z.optional(z.string()),
  origin: z.optional(z.string()),
  limit: z.optional(z.number()),
  actual: z.optional(z.number()),
});
/** Why something went wrong, as it is kept on disk: the kind and the redacted facts of an AssessmentError. */
export type Failure = z.infer<typeof failureSchema>;

const troubleSchema = z.extend(failureSchema, {
  since: time,
  times: count,
  /** When the service first denied the run. */
  deniedSince: z.optional(time),
  notBefore: z.optional(time),
});
/** A failure that may pass: how often this kind came in a row, since when nothing but failures came, and until when the service wants to be left alone. */
export type Trouble = z.infer<typeof troubleSchema>;

const archiveSchema = z.object({
  file: z.string(),
  type: archiveTypeSchema,
  bytes: count,
  sha256: z.string(),
  /** `markOf` the archive when it was written; runs of earlier versions have none. */
  mark: z.optional(z.string()),
  files: count,
  sourceBytes: count,
  /** The first selected files that could not be packed, by path; the manifest has all of them, with reasons. */
  omitted: z.optional(z.array(z.string())),
});

/** The input file on the service. */
const uploadSchema = z.object({
  fileId: identifierSchema,
  state: z.enum(['reserved', 'confirmed', 'cancelled', 'deleted']),
  at: time,
  /** True once the service has said of a file that is believed to be confirmed, and is to stay, that it is no reservation. */
  isSure: z.optional(z.boolean()),
});
/** What is known of an input file on the service; `cancelled` and `deleted` say that the service has confirmed it is gone. */
export type UploadState = z.infer<typeof uploadSchema>['state'];

const targetSchema = z.object({
  folder: z.string(),
  name: z.string(),
  commit: z.optional(z.object({ id: z.string(), dirty: z.boolean() })),
  archive: z.optional(archiveSchema),
  upload: z.optional(uploadSchema),
});
/** A folder that a run assesses, its archive, and the archive's copy on the service. */
export type Target = z.infer<typeof targetSchema>;

const exitSchema = z.object({
  kind: z.string(),
  abort: z.optional(z.object({ code: z.string(), detail: z.optional(z.unknown()) })),
  artifacts: z.array(identifierSchema),
});
/** How the service says a run ended (API reference, section 2.5), with values as they came. */
export type Exit = z.infer<typeof exitSchema>;

const artifactSchema = z.object({
  name: identifierSchema,
  file: z.optional(z.string()),
  bytes: z.optional(count),
  failure: z.optional(failureSchema),
  /** When it was downloaded again. */
  at: z.optional(time),
});
/** An artifact of an ended run: the file it was saved as, or why it could not be downloaded. */
export type Artifact = z.infer<typeof artifactSchema>;

/** The local ID of a run, which is also the name of its folder. */
export const idSchema = z.string().check(z.regex(/^[0-9a-z-]{1,64}$/));

const base = z.object({
  version: z.literal(1),
  id: idSchema,
  workflow: z.enum(['whitebox-assessment']) satisfies z.ZodMiniType<WorkflowId>,
  baseUrl: z.string(),
  organizationId: z.string(),
  language: languageSchema,
  webhookEndpointIds: z.array(z.string()),
  targets: z.array(targetSchema),
  createdAt: time,
  packagedAt: z.optional(time),
  uploadedAt: z.optional(time),
  confirmedAt: z.optional(time),
  /** True until a person was told how the run ended. */
  noticeDue: z.boolean(),
  /** A person's own name for the run. */
  label: z.optional(z.string()),
  /** The failed run that this one is another try of. */
  retryOf: z.optional(idSchema),
  /** When a person was told that the service will soon keep its results no more. */
  retentionNoticedAt: z.optional(time),
  /** Until when the service wants to be left alone with taking the run's files off it. */
  releaseNotBefore: z.optional(time),
});

/** A dispatch that may have been accepted, and why that is not known. */
const lostDispatchSchema = z.object({ intendedAt: time, reason: failureSchema });

const watched = {
  runId: identifierSchema,
  dispatchedAt: time,
  lastAnswerAt: z.optional(time),
  /** The service's word for the status when it is none we know. */
  status: z.optional(z.string()),
  /** Answers so far that said EXITED without saying how. */
  bareExits: count,
  trouble: z.optional(troubleSchema),
};

const ended = {
  runId: identifierSchema,
  dispatchedAt: time,
  exit: exitSchema,
  exitedAt: time,
  ranAt: z.optional(time),
  endedAt: time,
  artifacts: z.array(artifactSchema),
};

/** A run's journal entry: one variant per state, each with only what that state has. */
export const runSchema = z.discriminatedUnion('state', [
  z.extend(base, { state: z.literal('packaging') }),
  z.extend(base, { state: z.literal('uploading') }),
  z.extend(base, { state: z.literal('confirming') }),
  z.extend(base, {
    state: z.literal('dispatching'),
    intendedAt: time,
    /** The lost dispatch that a person knowingly sends again: what it started may be there, whatever becomes of this one. */
    resendOf: z.optional(lostDispatchSchema),
  }),
  z.extend(base, {
    state: z.literal('unknown'),
    ...lostDispatchSchema.shape,
    /** Why the last try to send it again was not accepted. */
    refusal: z.optional(failureSchema),
  }),
  z.extend(base, {
    state: z.literal('running'),
    ...watched,
    /** When the first cancellation was sent, or was to be, that was not refused: it may have been taken. */
    cancelSentAt: z.optional(time),
  }),
  z.extend(base, { state: z.literal('cancelling'), ...watched, cancelAskedAt: time }),
  z.extend(base, {
    state: z.literal('collecting'),
    runId: identifierSchema,
    dispatchedAt: time,
    exit: exitSchema,
    /** When it was first seen to have ended. */
    exitedAt: time,
    /** When it was last seen running: it ended after that. */
    ranAt: z.optional(time),
    cancelAskedAt: z.optional(time),
    /** Those that are here already. */
    artifacts: z.optional(z.array(artifactSchema)),
    trouble: z.optional(troubleSchema),
  }),
  z.extend(base, { state: z.literal('succeeded'), ...ended }),
  z.extend(base, { state: z.literal('aborted'), ...ended }),
  z.extend(base, {
    state: z.literal('cancelled'),
    endedAt: time,
    runId: z.optional(identifierSchema),
    dispatchedAt: z.optional(time),
    exit: z.optional(exitSchema),
    exitedAt: z.optional(time),
    ranAt: z.optional(time),
    artifacts: z.optional(z.array(artifactSchema)),
  }),
  z.extend(base, {
    state: z.literal('failed'),
    endedAt: time,
    failure: failureSchema,
    runId: z.optional(identifierSchema),
    dispatchedAt: z.optional(time),
  }),
  // Results that were brought here as a file: nothing of it is on a service, and its base URL and organization are empty.
  z.extend(base, {
    state: z.literal('imported'),
    /** When it was brought here. */
    endedAt: time,
    /** Name of the file it came in. */
    importedFrom: z.string(),
    /** True for a run that was aborted or cancelled where it was made. */
    endedEarly: z.optional(z.boolean()),
    runId: z.optional(identifierSchema),
    dispatchedAt: z.optional(time),
    exitedAt: z.optional(time),
    artifacts: z.array(artifactSchema),
  }),
]);
/** A run in any state, as its journal has it. */
export type Run = z.infer<typeof runSchema>;
/** The name of a run's state. */
export type RunState = Run['state'];
/** A run in one of the given states. */
export type RunIn<S extends RunState> = Extract<Run, { state: S }>;

/** True in a state that nothing leaves. */
export function isFinal(
  run: Run,
): run is RunIn<'succeeded' | 'aborted' | 'cancelled' | 'failed' | 'imported'> {
  return ['succeeded', 'aborted', 'cancelled', 'failed', 'imported'].includes(run.state);
}

/** True for a run that did not get to its end, here or where it was imported from. */
export function endedEarly(run: Run): boolean {
  if (run.state === 'imported') return run.endedEarly === true;
  return run.state === 'aborted' || run.state === 'cancelled' || run.state === 'failed';
}

/** True while the service has the run and this side has to ask or to download. */
export function isLive(run: Run): run is RunIn<'running' | 'cancelling' | 'collecting'> {
  return ['running', 'cancelling', 'collecting'].includes(run.state);
}

/** True before the intent to dispatch is written: nothing has been paid for. */
export function isPreparing(run: Run): run is RunIn<'packaging' | 'uploading' | 'confirming'> {
  return ['packaging', 'uploading', 'confirming'].includes(run.state);
}

/** True when the run waits for a person: a lost dispatch, or a token that no longer works. */
export function needsPerson(run: Run): boolean {
  if (!isLive(run)) return run.state === 'unknown';
  // A command that failed may work the next time: what waits for it is asked about again all the same.
  return run.trouble !== undefined && (waitsForToken(run.trouble) || run.trouble.kind === 'tokenCommand');
}

/** True for a live run that nobody asks about before its token has changed. */
export function needsToken(run: Run): boolean {
  return isLive(run) && run.trouble !== undefined && waitsForToken(run.trouble);
}

/** True when asking again makes no sense before the token has changed. */
export function waitsForToken({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'unauthorized' || kind === 'notSignedIn';
}

/** True when the service answered that it does not know a run, or does not show it. */
export function deniesRun({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'notFound' || kind === 'forbidden';
}

/** An artifact of a run that is on this machine. */
export function keptArtifact(run: Run, name: string): Artifact | undefined {
  const artifacts = 'artifacts' in run ? run.artifacts : undefined;
  return artifacts?.find((artifact) => artifact.name === name && artifact.file !== undefined);
}

/** True for a run that failed before the service had it: another try costs nothing twice. */
export function isUnsent(run: Run): run is RunIn<'failed'> {
  return run.state === 'failed' && run.runId === undefined;
}

/** Milliseconds the run took, or has taken until `now`: from dispatch where there was one, else from its creation. */
export function elapsedMs(run: Run, now: number): number {
  const start = ('dispatchedAt' in run ? run.dispatchedAt : undefined) ?? run.createdAt;
  const end = ('exitedAt' in run ? run.exitedAt : undefined) ?? ('endedAt' in run ? run.endedAt : now);
  return Math.max(0, end - start);
}

/** The names of the folders a run assesses, as its title. */
export function titleOf(run: Run): string {
  return run.targets.map((target) => target.name).join(', ');
}

/** The journal form of an error. */
export function toFailure(error: AssessmentError): Failure {
  const { status, detail, subject, origin, limit, actual } = error.data;
  const facts = Object.entries({ status, detail, subject, origin, limit, actual }).filter(
    ([, value]) => value !== undefined,
  );
  return { kind: error.kind, ...Object.fromEntries(facts) };
}

/** What every state has, without what only the present one has. */
export function shared(run: Run): z.infer<typeof base> {
  const entries = Object.entries(run).filter(([key, value]) => key in base.shape && value !== undefined);
  return Object.fromEntries(entries) as z.infer<typeof base>;
}
