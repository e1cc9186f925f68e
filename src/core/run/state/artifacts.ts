import { type Artifact, type Exit, type Failure, isFinal, type Run, type RunIn } from './run.ts';

/** The role of an artifact: the member of the service's output that refers to it, else its name (docs/api.md, section 2.5). */
export function roleOf({ name, role = name }: Pick<Artifact, 'name' | 'role'>): string {
  return role;
}

export function artifactIn({ roles }: Exit, name: string): Pick<Artifact, 'name' | 'role'> {
  return roles?.find((each) => each.name === name) ?? { name };
}

export function keptArtifact(run: Run, role: string): Artifact | undefined {
  return keptArtifacts(run).find((artifact) => roleOf(artifact) === role);
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
  readonly exit: NonNullable<RunIn<'succeeded'>['exit']>;
};

/** True for an ended run whose artifacts can be downloaded again. */
export function hasRemoteResults(run: Run): run is RunWithResults {
  return isFinal(run) && 'exit' in run && run.exit !== undefined && run.exit.artifacts.length > 0;
}
