import { hash } from 'node:crypto';
import { join } from 'node:path';
import { idempotent, isTransient, once } from '../../api/retry.ts';
import { AssessmentError, type ErrorKind } from '../../errors.ts';
import { workflows } from '../../workflows/workflows.ts';
import { artifactIn, keptArtifacts, keptOrFailed, roleOf, type RunWithResults } from '../state/artifacts.ts';
import type { EventOf } from '../state/event.ts';
import { type Artifact, type Exit, type Run, type RunIn, toFailure, type Trouble } from '../state/run.ts';
import type { RunDeps, StepDeps } from './step.ts';

const maxArtifactBytes = 512 * 1024 * 1024;
const permanent: readonly ErrorKind[] = ['rejected', 'tooLarge', 'insecureUrl'];
/** Failures that may pass (a missing artifact, a certificate, a proxy) count as permanent after this many tries in a row. */
const maxTries = 20;

/**
 * Downloads the artifacts of an exited run that are not here yet, each tried once, and saves each. A failure does not
 * stop the others, unless it is a rate limit or waits for a person. A permanent failure is kept on its artifact. Throws a
 * temporary failure after all were tried, of several the one with the longest `Retry-After`.
 */
export async function downloadArtifacts(
  run: RunIn<'collecting'>,
  deps: Pick<StepDeps, 'store' | 'clientFor' | 'clock' | 'signal' | 'save'>,
): Promise<EventOf<'downloaded'>> {
  const artifacts: Artifact[] = [];
  let temporary: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    try {
      let artifact = keptArtifacts(run).find((each) => each.name === name);
      if (artifact === undefined) {
        artifact = await downloadArtifact(run, name, once.attempts, deps);
        await deps.save({ type: 'artifactDownloaded', artifact, at: deps.clock.now() });
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
  return { type: 'downloaded', artifacts, at: deps.clock.now() };
}

/** Nothing of an unfinished download stays: an earlier copy is replaced only once the artifact is here whole. */
async function downloadArtifact(
  run: Pick<Run, 'id' | 'workflow' | 'baseUrl' | 'organizationId' | 'input'> & {
    readonly runId: string;
    readonly exit: Exit;
  },
  name: string,
  attempts: number,
  { store, clientFor, signal }: Pick<StepDeps, 'store' | 'clientFor' | 'signal'>,
): Promise<Artifact> {
  const artifact = artifactIn(run.exit, name);
  const file = artifactFile(run, artifact);
  const path = join(store.folderOf(run.id), file);
  const options = { maxBytes: maxArtifactBytes, attempts, signal };
  const bytes = await clientFor(run).downloadArtifact(run.workflow, run.runId, name, path, options);
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

/** Downloads every artifact again, none after a rate limit. The earlier copy of an artifact that fails stays. Returns the first failure too. */
export async function downloadAgain(
  run: RunWithResults,
  deps: Pick<RunDeps, 'store' | 'clientFor' | 'clock'> & { readonly signal: AbortSignal },
): Promise<{ artifacts: Artifact[]; failure: AssessmentError | undefined }> {
  const artifacts: Artifact[] = [];
  let failure: AssessmentError | undefined;
  let limited: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    try {
      if (limited !== undefined) throw limited;
      const artifact = await downloadArtifact(run, name, idempotent.attempts, deps);
      artifacts.push({ ...artifact, at: deps.clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      failure ??= error;
      if (error.kind === 'rateLimited') limited = error;
      artifacts.push(keptOrFailed(run, name, toFailure(error)));
    }
  }
  return { artifacts, failure };
}
