import { join } from 'node:path';
import type { AssessmentClient } from '../api/client.ts';
import { isPassing } from '../api/retry.ts';
import { AssessmentError } from '../errors.ts';
import { type Artifact, type RunIn, toFailure, waitsForToken } from './run.ts';

const maxArtifactBytes = 512 * 1024 * 1024;

/** The file an artifact is saved as, in the run's folder; the two of a whitebox run have names of their own (API reference, section 2.4). */
export function artifactFile(name: string): string {
  switch (name) {
    case 'findings':
      return 'findings.json';
    case 'report':
      return 'report.md';
    default:
      return `artifact-${Buffer.from(name).toString('base64url').slice(0, 100)}`;
  }
}

/** Downloads every artifact of an ended run; throws when trying again later may help, else notes on the artifact why it is not there. */
export async function collectArtifacts(
  run: RunIn<'collecting'>,
  deps: { client: AssessmentClient; folder: string; signal: AbortSignal },
): Promise<Artifact[]> {
  const artifacts: Artifact[] = [];
  for (const name of run.exit.artifacts) {
    const file = artifactFile(name);
    try {
      const bytes = await deps.client.downloadArtifact(
        run.workflow,
        run.runId,
        name,
        join(deps.folder, file),
        {
          maxBytes: maxArtifactBytes,
          signal: deps.signal,
        },
      );
      artifacts.push({ name, file, bytes });
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      const failure = toFailure(error);
      if (isPassing(error) || waitsForToken({ ...failure, since: 0, times: 0 }) || error.kind === 'diskFull')
        throw error;
      artifacts.push({ name, failure });
    }
  }
  return artifacts;
}
