import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { AssessmentClient } from '../../api/client.ts';
import { isTransient } from '../../api/retry.ts';
import { AssessmentError, type ErrorKind, isAbortError } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import { workflows } from '../../workflows/workflows.ts';
import type { RunDeps } from '../runDeps.ts';
import {
  type Artifact,
  artifactIn,
  type Exit,
  isFinal,
  keptArtifacts,
  keptOrFailed,
  roleOf,
  type Run,
  type RunIn,
  toFailure,
  type Trouble,
} from '../state/run.ts';

const maxArtifactBytes = 512 * 1024 * 1024;
const permanent: readonly ErrorKind[] = ['rejected', 'tooLarge', 'insecureUrl'];
/** Failures that may pass (a missing artifact, a certificate, a proxy) count as permanent after this many tries in a row. */
const maxTries = 20;

interface Download {
  readonly client: AssessmentClient;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Downloads the artifacts of an exited run that are not here yet, and calls `onDownloaded` with each. A failure does not stop the others, unless
 * it is a rate limit or waits for a person. A permanent failure is kept on its artifact. Throws a temporary failure after all were tried, of several
 * the one with the longest `Retry-After`.
 */
export async function downloadArtifacts(
  run: RunIn<'collecting'>,
  deps: Download & { readonly onDownloaded: (artifact: Artifact) => Promise<unknown> },
): Promise<Artifact[]> {
  const artifacts: Artifact[] = [];
  let temporary: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    try {
      let artifact = keptArtifacts(run).find((each) => each.name === name);
      if (artifact === undefined) {
        artifact = await downloadArtifact(run, name, deps);
        await deps.onDownloaded(artifact);
      }
      artifacts.push(artifact);
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      if (isPermanent(error, run.trouble))
        artifacts.push({ ...artifactIn(run.exit, name), failure: toFailure(error) });
      else if (waitsForPerson(error)) throw error;
      else if (temporary === undefined || waitMsOf(error) > waitMsOf(temporary)) temporary = error;
      if (error.kind === 'rateLimited') break;
    }
  }
  if (temporary !== undefined) throw temporary;
  return artifacts;
}

/** Tries several times. Nothing of an unfinished download stays: an earlier copy is replaced only once the artifact is here whole. */
async function downloadArtifact(
  run: Pick<Run, 'workflow'> & { readonly runId: string; readonly exit: Exit },
  name: string,
  { client, folder, signal }: Download,
): Promise<Artifact> {
  const artifact = artifactIn(run.exit, name);
  const file = artifactFile(run, artifact);
  const path = join(folder, file);
  const options = { maxBytes: maxArtifactBytes, signal };
  const bytes = await client.downloadArtifact(run.workflow, run.runId, name, path, options);
  return { ...artifact, file, bytes };
}

/** The file name of an artifact in the run's folder (docs/api.md, section 2.4). */
function artifactFile(
  { workflow }: Pick<Run, 'workflow'>,
  artifact: Pick<Artifact, 'name' | 'role'>,
): string {
  const knownFile = new Map(Object.entries(workflows[workflow].artifacts)).get(roleOf(artifact));
  return knownFile ?? `artifact-${hash('sha256', artifact.name, 'hex').slice(0, 32)}`;
}

function waitMsOf({ data }: AssessmentError): number {
  return data.retryAfterMs ?? 0;
}

function isPermanent(error: AssessmentError, trouble: Trouble | undefined): boolean {
  if (permanent.includes(error.kind)) return true;
  // `times` counts failed polls with this kind of failure, of whichever artifact.
  return (
    mayBePermanent(error) && trouble !== undefined && mayBePermanent(trouble) && trouble.times >= maxTries
  );
}

/** True for a failure of which only further tries show whether it lasts. */
function mayBePermanent(failure: Pick<AssessmentError, 'kind'>): boolean {
  return !isTransient(failure) && !waitsForPerson(failure);
}

/** True for a failure that stops every download until a person has acted. */
function waitsForPerson({ kind }: Pick<AssessmentError, 'kind'>): boolean {
  return ['unauthorized', 'notSignedIn', 'tokenCommand', 'diskFull', 'storage'].includes(kind);
}

export type RunWithResults = RunIn<'succeeded' | 'aborted' | 'cancelled'> & {
  readonly runId: string;
  readonly exit: NonNullable<RunIn<'succeeded'>['exit']>;
};

export function hasRemoteResults(run: Run): run is RunWithResults {
  return isFinal(run) && 'exit' in run && run.exit !== undefined && run.exit.artifacts.length > 0;
}

/** Downloads every artifact again, none after a rate limit. The earlier copy of an artifact that fails stays. Returns the first failure too. */
export async function downloadAgain(
  run: RunWithResults,
  deps: Download & { readonly clock: Clock },
): Promise<{ artifacts: Artifact[]; failure: AssessmentError | undefined }> {
  const artifacts: Artifact[] = [];
  let failure: AssessmentError | undefined;
  let limited: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    try {
      if (limited !== undefined) throw limited;
      artifacts.push({ ...(await downloadArtifact(run, name, deps)), at: deps.clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      failure ??= error;
      if (error.kind === 'rateLimited') limited = error;
      artifacts.push(keptOrFailed(run, name, toFailure(error)));
    }
  }
  return { artifacts, failure };
}

/** Keeps the source that a run's findings point at. A failure is logged and delays nothing. */
export async function tryToKeepSource(
  run: Run,
  { keepSource, log }: Pick<RunDeps, 'keepSource' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await keepSource?.(run, signal);
  } catch (error) {
    if (isAbortError(error)) throw error;
    log.warn(`Run ${run.id}: the source that its findings point at was not saved: ${String(error)}`);
  }
}
