import type { Description } from '../../api/schema.ts';
import { mayStopWatching } from './deadlines.ts';
import {
  type Artifact,
  artifactIn,
  type Exit,
  type Failure,
  isLive,
  keptArtifacts,
  type Run,
  type RunIn,
  shared,
} from './run.ts';

/** Answers that say EXITED without saying how, after which no more is expected. */
const mostBareExits = 5;
/** No more artifacts of a run are downloaded; no workflow has more than four (API reference, section 2.4). */
const mostArtifacts = 50;

/** A run that the service described: it goes on, or has ended and is collected; one that says EXITED again and again, but not how, ends without a result. */
export function answered(run: RunIn<'running' | 'cancelling'>, description: Description, at: number): Run {
  const { runId, dispatchedAt } = run;
  const cancelAt = run.state === 'running' ? run.cancelSentAt : run.cancelAskedAt;
  const seen = (bareExits: number): Run => {
    const watched = { ...shared(run), runId, dispatchedAt, lastAnswerAt: at, bareExits };
    const known = description.status === 'RUNNING' || description.status === 'EXITED';
    const status = known ? {} : { status: description.status };
    return run.state === 'running'
      ? {
          ...watched,
          ...status,
          state: 'running',
          ...(cancelAt === undefined ? {} : { cancelSentAt: cancelAt }),
        }
      : { ...watched, ...status, state: 'cancelling', cancelAskedAt: run.cancelAskedAt };
  };
  if (description.status !== 'EXITED') return seen(0);
  const exit = toExit(description);
  if (exit !== undefined) {
    const asked = cancelAt === undefined ? {} : { cancelAskedAt: cancelAt };
    const ranAt = run.lastAnswerAt ?? dispatchedAt;
    return { ...shared(run), state: 'collecting', runId, dispatchedAt, exit, exitedAt: at, ranAt, ...asked };
  }
  const bareExits = run.bareExits + 1;
  if (bareExits < mostBareExits) return seen(bareExits);
  if (cancelAt === undefined) return { ...toFailed(run, { kind: 'noResult' }, at), runId, dispatchedAt };
  return {
    ...shared(run),
    state: 'cancelled',
    runId,
    dispatchedAt,
    exitedAt: at,
    endedAt: at,
    noticeDue: true,
  };
}

/** How a run ended, or undefined while the answer does not say it whole: a success must name its artifacts. */
function toExit(description: Description): Exit | undefined {
  const { output, artifacts } = description;
  if (output === undefined) return undefined;
  const references = Object.entries(output.successOutput ?? {}).flatMap(([role, reference]) =>
    reference === undefined ? [] : [{ name: reference.artifact_name, role }],
  );
  const names = [...(artifacts ?? []), ...references].map((artifact) => artifact?.name);
  const unique = [...new Set(names.filter((name) => name !== undefined))];
  if (output.kind === 'SUCCESS' && unique.length === 0) return undefined;
  const kept = unique.slice(0, mostArtifacts);
  const roles = kept
    .map((name) => ({ name, role: roleAmong(references, name) }))
    .filter(({ name, role }) => role !== name);
  return {
    kind: output.kind,
    artifacts: kept,
    ...(roles.length === 0 ? {} : { roles }),
    ...(output.abortedReason === undefined ? {} : { abort: output.abortedReason }),
  };
}

/** The role in which an artifact is referred to, one that is known before others; one that no reference names has its name for a role, unless that is another's. */
function roleAmong(references: readonly { name: string; role: string }[], name: string): string {
  const own = references.filter((each) => each.name === name && each.role.length <= 256);
  const known = own.find(({ role }) => role === name || role === 'report' || role === 'findings');
  return (known ?? own[0])?.role ?? (references.some(({ role }) => role === name) ? 'other' : name);
}

/** A run whose artifacts are here, or are known not to come. */
export function collected(run: RunIn<'collecting'>, artifacts: readonly Artifact[], at: number): Run {
  const { runId, dispatchedAt, exit, exitedAt, ranAt } = run;
  const end = {
    ...shared(run),
    runId,
    dispatchedAt,
    exit,
    exitedAt,
    ...(ranAt === undefined ? {} : { ranAt }),
    endedAt: at,
    artifacts: [...artifacts],
    noticeDue: true,
  };
  if (exit.kind === 'SUCCESS') return { ...end, state: 'succeeded' };
  return { ...end, state: run.cancelAskedAt === undefined ? 'aborted' : 'cancelled' };
}

/** A run that answers no more is let go, by a person only while that is still so; one that had ended keeps how, and lacks what could not be downloaded. */
export function unwatched(run: Run, by: 'person' | 'time', at: number): Run {
  if (!isLive(run) || (by === 'person' && !mayStopWatching(run, at))) return run;
  const failure: Failure = { kind: 'unanswered' };
  const end =
    run.state === 'collecting'
      ? collected(
          run,
          run.exit.artifacts.map(
            (name) =>
              keptArtifacts(run).find((artifact) => artifact.name === name) ?? {
                ...artifactIn(run.exit, name),
                failure,
              },
          ),
          at,
        )
      : { ...toFailed(run, failure, at), runId: run.runId, dispatchedAt: run.dispatchedAt };
  return { ...end, noticeDue: by === 'time' };
}

/** A run that failed on this side. */
export function toFailed(run: Run, failure: Failure, at: number): RunIn<'failed'> {
  return { ...shared(run), state: 'failed', failure, endedAt: at, noticeDue: true };
}
