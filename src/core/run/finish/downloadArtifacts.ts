import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AssessmentClient } from '../../api/client.ts';
import { isTransient } from '../../api/retry.ts';
import { AssessmentError, type ErrorKind } from '../../errors.ts';
import {
  type Artifact,
  artifactIn,
  type Exit,
  keptArtifacts,
  roleOf,
  type Run,
  type RunIn,
  toFailure,
  type Trouble,
} from '../state/run.ts';

const maxArtifactBytes = 512 * 1024 * 1024;
/** Failures of an artifact that a later try will not mend. */
const lasting: readonly ErrorKind[] = ['rejected', 'tooLarge', 'insecureUrl'];
/** Other failures (an artifact that is not there yet, a portal's page, a certificate, a proxy) are taken as lasting after so many tries in a row. */
const mostTries = 20;

/** The file an artifact is saved as, in the run's folder; the two of a whitebox run have names of their own (API reference, section 2.4). */
function artifactFile(artifact: Pick<Artifact, 'name' | 'role'>): string {
  switch (roleOf(artifact)) {
    case 'findings':
      return 'findings.json';
    case 'report':
      return 'report.md';
    default:
      return `artifact-${createHash('sha256').update(artifact.name).digest('hex').slice(0, 32)}`;
  }
}

/** What downloading works with. */
export interface DownloadDeps {
  readonly client: AssessmentClient;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** Downloads one artifact of a run into its folder; a former copy is replaced as a whole, or stays. */
export async function downloadArtifact(
  run: Pick<Run, 'workflow'> & { readonly runId: string; readonly exit: Exit },
  name: string,
  { client, folder, signal }: DownloadDeps,
): Promise<Artifact> {
  const artifact = artifactIn(run.exit, name);
  const file = artifactFile(artifact);
  const path = join(folder, file);
  const options = { maxBytes: maxArtifactBytes, signal };
  const bytes = await client.downloadArtifact(run.workflow, run.runId, name, path, options);
  return { ...artifact, file, bytes };
}

/**
 * Downloads every artifact of an ended run that is not here yet, and tells `onKept` of each; one that cannot be had keeps no other from coming,
 * unless the service wants to be left alone. Throws, after all were tried, when trying again later may help with one, and then what the
 * service wants to wait for longest; else notes on the artifact why it is not there.
 */
export async function collectArtifacts(
  run: RunIn<'collecting'>,
  deps: DownloadDeps & { readonly onKept: (artifact: Artifact) => Promise<unknown> },
): Promise<Artifact[]> {
  const artifacts: Artifact[] = [];
  let mayCome: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    try {
      let artifact = keptArtifacts(run).find((each) => each.name === name);
      if (artifact === undefined) {
        artifact = await downloadArtifact(run, name, deps);
        await deps.onKept(artifact);
      }
      artifacts.push(artifact);
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      if (isLasting(error, run.trouble))
        artifacts.push({ ...artifactIn(run.exit, name), failure: toFailure(error) });
      else if (waitsForSomebody(error)) throw error;
      else if (mayCome === undefined || waitMsOf(error) > waitMsOf(mayCome)) mayCome = error;
      if (error.kind === 'rateLimited') break;
    }
  }
  if (mayCome !== undefined) throw mayCome;
  return artifacts;
}

function waitMsOf({ data }: AssessmentError): number {
  return data.retryAfterMs ?? 0;
}

function isLasting(error: AssessmentError, trouble: Trouble | undefined): boolean {
  if (lasting.includes(error.kind)) return true;
  // Several artifacts may fail in ways of their own, of which the trouble tells one.
  return isStubborn(error) && trouble !== undefined && isStubborn(trouble) && trouble.times >= mostTries;
}

/** True for a failure that neither time nor a person need mend: that it lasts shows only by trying. */
function isStubborn(failure: Pick<AssessmentError, 'kind'>): boolean {
  return !isTransient(failure) && !waitsForSomebody(failure);
}

/** True for what keeps every artifact from coming until somebody has done something. */
function waitsForSomebody({ kind }: Pick<AssessmentError, 'kind'>): boolean {
  return ['unauthorized', 'notSignedIn', 'tokenCommand', 'diskFull', 'storage'].includes(kind);
}
