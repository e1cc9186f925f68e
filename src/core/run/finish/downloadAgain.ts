import { AssessmentError } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import {
  type Artifact,
  artifactIn,
  isFinal,
  keptArtifacts,
  type Run,
  type RunIn,
  toFailure,
} from '../state/run.ts';
import { downloadArtifact, type DownloadDeps } from './downloadArtifacts.ts';

/** A run that ended with results on the service. */
export type RunWithResults = RunIn<'succeeded' | 'aborted' | 'cancelled'> & {
  readonly runId: string;
  readonly exit: NonNullable<RunIn<'succeeded'>['exit']>;
};

/** True for an ended run whose artifacts can be asked for. */
export function hasRemoteResults(run: Run): run is RunWithResults {
  return isFinal(run) && 'exit' in run && run.exit !== undefined && run.exit.artifacts.length > 0;
}

/** Downloads every artifact of an ended run anew; one that cannot be had stays as it is here, and none is asked for once the service wants to be left alone. Returns them with the first failure. */
export async function downloadAgain(
  run: RunWithResults,
  deps: DownloadDeps & { readonly clock: Clock },
): Promise<{ artifacts: Artifact[]; failure: AssessmentError | undefined }> {
  const artifacts: Artifact[] = [];
  let failure: AssessmentError | undefined;
  let limited: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    try {
      if (limited !== undefined) throw limited; // as it would be answered
      artifacts.push({ ...(await downloadArtifact(run, name, deps)), at: deps.clock.now() });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      failure ??= error;
      if (error.kind === 'rateLimited') limited = error;
      const kept = keptArtifacts(run).find((each) => each.name === name);
      artifacts.push(kept ?? { ...artifactIn(run.exit, name), failure: toFailure(error) });
    }
  }
  return { artifacts, failure };
}
