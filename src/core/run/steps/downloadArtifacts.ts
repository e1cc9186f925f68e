import { hash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { idempotent, noRetry } from '../../api/retry.ts';
import { AssessmentError, type ErrorKind, knownError } from '../../errors.ts';
import { workflows } from '../../workflows/workflows.ts';
import {
  type Artifact,
  artifactIn,
  keptArtifact,
  keptArtifacts,
  roleOf,
  type Run,
  type RunIn,
  type RunWithResults,
  toFailure,
} from '../state/run.ts';
import { msSinceFirstSeen, type RunDeps, type StepDeps } from './step.ts';

const maxArtifactBytes = 512 * 1024 * 1024;
const permanent: readonly ErrorKind[] = ['rejected', 'tooLarge', 'insecureUrl'];
/**
 * The service or its storage may report these for an artifact that it doesn't have. A web page
 * doesn't count, because a proxy may have sent it.
 */
const denied: readonly ErrorKind[] = ['notFound', 'forbidden', 'addressRefused', 'conflict', 'badResponse'];
/**
 * An artifact counts as lost if it is still denied this long after the exit, and the drive has seen
 * it denied for `deniedForMs`.
 */
const lostAfterMs = 6 * 60 * 60 * 1000;
const deniedForMs = 30 * 60 * 1000;

/**
 * A failure doesn't stop the other downloads, unless it is a rate limit or waits for a user. At the
 * end, throws the temporary failure with the longest `Retry-After`.
 */
export async function downloadArtifacts(run: RunIn<'collecting'>, deps: StepDeps): Promise<undefined> {
  const { store, clock } = deps;
  let temporary: AssessmentError | undefined;
  for (const name of run.exit.artifacts) {
    if (run.artifacts?.some((artifact) => artifact.name === name) === true) continue;
    let artifact: Artifact;
    try {
      artifact = await downloadArtifact(run, name, fileOf(run, name), noRetry.attempts, deps, deps.signal);
    } catch (error) {
      if (!(error instanceof AssessmentError)) throw error;
      if (!isLost(error, name, run.exitedAt, deps)) {
        if ((error.data.retryAfterMs ?? 0) > (temporary?.data.retryAfterMs ?? -1)) temporary = error;
        if (error.kind === 'rateLimited' || waitsForUser(error)) break;
        continue;
      }
      artifact = { ...artifactIn(run.exit, name), failure: toFailure(error) };
    }
    await store.apply(run.id, { type: 'artifactDownloaded', artifact, at: clock.now() });
  }
  if (temporary !== undefined) throw temporary;
}

/**
 * Downloads files under new names, and then switches the journal to all of them at once. If an
 * artifact that isn't here is denied or fails permanently, its failure is saved. Any other failure,
 * or a cancellation, changes nothing.
 */
export async function downloadAgain(run: RunWithResults, deps: RunDeps, signal: AbortSignal): Promise<Run> {
  const { store, clock } = deps;
  const suffix = `-${randomBytes(4).toString('hex')}`;
  const artifacts: Artifact[] = [];
  try {
    for (const name of run.exit.artifacts) {
      try {
        const file = fileOf(run, name).replace(/(?=\.|$)/, suffix);
        const artifact = await downloadArtifact(run, name, file, idempotent.attempts, deps, signal);
        artifacts.push({ ...artifact, at: clock.now() });
      } catch (error) {
        const known = knownError(error);
        const isMissing = permanent.includes(known.kind) || isDenied(known);
        if (!isMissing || isHere(run, name)) throw error;
        artifacts.push({ ...artifactIn(run.exit, name), failure: toFailure(known) });
      }
    }
    signal.throwIfAborted();
    return await store.apply(run.id, { type: 'downloadedAgain', artifacts, at: clock.now() });
  } finally {
    await removeReplaced(run.id, [...keptArtifacts(run), ...artifacts], deps);
  }
}

async function removeReplaced(
  id: string,
  artifacts: readonly Artifact[],
  { store, log }: RunDeps,
): Promise<void> {
  try {
    const run = await store.refresh(id);
    for (const { file } of artifacts)
      if (run !== undefined && file !== undefined && !isNamed(run, file))
        await rm(join(store.folderOf(id), file), { force: true });
  } catch (error) {
    log.warn(`Run ${id}: replaced artifacts could not be removed: ${String(error)}`);
  }
}

/** True for a file of `downloadAgain` that the journal doesn't name. */
export function isReplaced(run: Run, file: string): boolean {
  return /-[0-9a-f]{8}(\.\w+)?$/.test(file) && !isNamed(run, file);
}

function isNamed(run: Run, file: string): boolean {
  return keptArtifacts(run).some((artifact) => artifact.file === file);
}

async function downloadArtifact(
  run: RunWithExit,
  name: string,
  file: string,
  attempts: number,
  { store, clientFor }: RunDeps,
  signal: AbortSignal,
): Promise<Artifact> {
  const path = join(store.folderOf(run.id), file);
  const options = { maxBytes: maxArtifactBytes, attempts, signal };
  const bytes = await clientFor(run).downloadArtifact(run.workflow, run.runId, name, path, options);
  return { ...artifactIn(run.exit, name), file, bytes };
}

type RunWithExit = RunWithResults | RunIn<'collecting'>;

function fileOf({ workflow, exit }: RunWithExit, name: string): string {
  const role = roleOf(artifactIn(exit, name));
  const knownFile = new Map(Object.entries(workflows[workflow].artifacts)).get(role);
  return knownFile ?? `artifact-${hash('sha256', name, 'hex').slice(0, 32)}`;
}

function isHere(run: RunWithResults, name: string): boolean {
  return keptArtifact(run, roleOf(artifactIn(run.exit, name))) !== undefined;
}

function isDenied({ kind, data }: AssessmentError): boolean {
  return denied.includes(kind) && data.isPage !== true;
}

function isLost(error: AssessmentError, name: string, exitedAt: number, deps: StepDeps): boolean {
  if (permanent.includes(error.kind)) return true;
  if (isDenied(error)) {
    const deniedMs = msSinceFirstSeen(name, deps);
    return deniedMs >= deniedForMs && Math.max(deniedMs, deps.clock.now() - exitedAt) >= lostAfterMs;
  }
  deps.firstSeen.delete(name);
  return false;
}

function waitsForUser({ kind }: AssessmentError): boolean {
  return ['unauthorized', 'notSignedIn', 'tokenCommand', 'diskFull', 'storage'].includes(kind);
}
