import { hash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { idempotent, once } from '../../api/retry.ts';
import { AssessmentError, type ErrorKind } from '../../errors.ts';
import { replaceFile } from '../../files.ts';
import { workflows } from '../../workflows/workflows.ts';
import {
  type Artifact,
  artifactIn,
  keptArtifact,
  roleOf,
  type RunIn,
  type RunWithResults,
  toFailure,
} from '../state/run.ts';
import type { EventOf } from '../state/advance.ts';
import type { RunDeps, StepDeps } from './step.ts';

const maxArtifactBytes = 512 * 1024 * 1024;
const permanent: readonly ErrorKind[] = ['rejected', 'tooLarge', 'insecureUrl'];
/** Of the network here, or waiting for a person or a time: such failures give nothing up. */
const passing: readonly ErrorKind[] = [
  ...(['unsent', 'connectionLost', 'timeout', 'intercepted', 'rateLimited'] as const),
  ...(['unauthorized', 'notSignedIn', 'tokenCommand', 'secretStorage', 'diskFull', 'storage'] as const),
];
/** What the service says of an artifact that it does not have. */
const denied: readonly ErrorKind[] = ['notFound', 'forbidden', 'addressRefused'];
/** An artifact that the service denies, or that fails otherwise, for so long since the exit and since downloads began to fail counts as lost. */
const lostAfterMs = { denied: 30 * 60 * 1000, failing: 6 * 60 * 60 * 1000 };

type DownloadDeps = Pick<RunDeps, 'store' | 'clientFor' | 'clock'> & { readonly signal: AbortSignal };

/**
 * Downloads the artifacts of an exited run that are not here yet, each tried once, and saves each. A failure does not stop the others, unless it is a
 * rate limit or waits for a person. Throws a temporary failure after all were tried, of several the one with the longest `Retry-After`. May be
 * repeated: what was saved is not asked for again.
 */
export async function downloadArtifacts(run: RunIn<'collecting'>, deps: DownloadDeps): Promise<undefined> {
  const { store, clock } = deps;
  let temporary: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    if (run.artifacts?.some((artifact) => artifact.name === name) === true) continue;
    let artifact: Artifact;
    try {
      artifact = await downloadArtifact(run, name, fileOf(run, name), once.attempts, deps);
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      if (!isLost(error, run, clock.now())) {
        if (temporary === undefined || waitMsOf(error) > waitMsOf(temporary)) temporary = error;
        if (error.kind === 'rateLimited' || waitsForPerson(error)) break;
        continue;
      }
      artifact = { ...artifactIn(run.exit, name), failure: toFailure(error) };
    }
    await store.apply(run.id, { type: 'artifactDownloaded', artifact, at: clock.now() });
  }
  if (temporary !== undefined) throw temporary;
}

/**
 * Downloads every artifact again, under names that no other window removes, and that replace the earlier copies together. Cancelled or failed, nothing has changed; but an artifact
 * that is not here and that the service does not have keeps its failure.
 */
export async function downloadAgain(
  run: RunWithResults,
  deps: DownloadDeps,
): Promise<EventOf<'downloadedAgain'>> {
  const { store, clock, signal } = deps;
  const artifacts: Artifact[] = [];
  const arrived: { readonly from: string; readonly to: string }[] = [];
  const pathOf = (file: string): string => join(store.folderOf(run.id), file);
  try {
    for (const name of run.exit.artifacts) {
      const file = fileOf(run, name);
      const temporary = `${file}.${randomBytes(4).toString('hex')}.again`;
      arrived.push({ from: pathOf(temporary), to: pathOf(file) });
      try {
        const artifact = await downloadArtifact(run, name, temporary, idempotent.attempts, deps);
        artifacts.push({ ...artifact, file, at: clock.now() });
      } catch (error) {
        if (!(error instanceof AssessmentError) || !isMissing(error) || isHere(run, name)) throw error;
        artifacts.push({ ...artifactIn(run.exit, name), failure: toFailure(error) });
        arrived.pop();
      }
    }
    signal.throwIfAborted();
    for (const { from, to } of arrived) await replaceFile(from, to);
    return { type: 'downloadedAgain', artifacts, at: clock.now() };
  } finally {
    for (const { from } of arrived) await rm(from, { force: true });
  }
}

/** Nothing of an unfinished download stays: an earlier copy is replaced only once the artifact is here whole. */
async function downloadArtifact(
  run: RunWithExit,
  name: string,
  file: string,
  attempts: number,
  { store, clientFor, signal }: Pick<StepDeps, 'store' | 'clientFor' | 'signal'>,
): Promise<Artifact> {
  const path = join(store.folderOf(run.id), file);
  const options = { maxBytes: maxArtifactBytes, attempts, signal };
  const bytes = await clientFor(run).downloadArtifact(run.workflow, run.runId, name, path, options);
  return { ...artifactIn(run.exit, name), file, bytes };
}

type RunWithExit = RunWithResults | RunIn<'collecting'>;

/** The file name of an artifact in the run's folder (docs/api.md, section 2.4). */
function fileOf({ workflow, exit }: RunWithExit, name: string): string {
  const role = roleOf(artifactIn(exit, name));
  const knownFile = new Map(Object.entries(workflows[workflow].artifacts)).get(role);
  return knownFile ?? `artifact-${hash('sha256', name, 'hex').slice(0, 32)}`;
}

function isHere(run: RunWithResults, name: string): boolean {
  return keptArtifact(run, roleOf(artifactIn(run.exit, name))) !== undefined;
}

function waitMsOf({ data }: AssessmentError): number {
  return data.retryAfterMs ?? 0;
}

function isLost({ kind }: AssessmentError, { trouble, exitedAt }: RunIn<'collecting'>, now: number): boolean {
  if (permanent.includes(kind)) return true;
  if (passing.includes(kind) || trouble === undefined) return false;
  const maxMs = lostAfterMs[denied.includes(kind) ? 'denied' : 'failing'];
  return now - Math.max(exitedAt, trouble.since) >= maxMs;
}

function isMissing({ kind }: AssessmentError): boolean {
  return permanent.includes(kind) || denied.includes(kind);
}

/** True for a failure that stops every download until a person has acted. */
function waitsForPerson({ kind }: AssessmentError): boolean {
  return ['unauthorized', 'notSignedIn', 'tokenCommand', 'diskFull', 'storage'].includes(kind);
}
