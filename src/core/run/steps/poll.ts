import * as z from 'zod/mini';
import { type Description, identifierSchema } from '../../api/schema.ts';
import type { AssessmentError } from '../../errors.ts';
import { workflows } from '../../workflows/workflows.ts';
import type { EventOf } from '../state/advance.ts';
import { type Exit, type Run, type RunIn, toFailure } from '../state/run.ts';
import { msSinceFirstSeen, type RunDeps, type StepDeps } from './step.ts';

export async function poll(
  run: RunIn<'running' | 'cancelling'>,
  { clientFor, clock, signal, firstSeen = new Map() }: RunDeps & Partial<StepDeps>,
): Promise<EventOf<'answered'>> {
  const description = await clientFor(run).describe(run.workflow, run.runId, { signal });
  const answered = { ...toAnswered(run, description), at: clock.now() };
  if (answered.status === 'EXITED' && answered.exit === undefined)
    return { ...answered, withoutOutcomeMs: msSinceFirstSeen('exit', { firstSeen, clock }) };
  firstSeen.clear();
  return answered;
}

export function toStepFailed(error: AssessmentError, at: number): EventOf<'stepFailed'> {
  const { retryAfterMs } = error.data;
  const retryAt = retryAfterMs === undefined ? undefined : at + retryAfterMs;
  return { type: 'stepFailed', failure: toFailure(error), retryAt, at };
}

/** No workflow has more than four artifacts (docs/api.md, section 2.4). */
const maxArtifacts = 50;

/** docs/api.md, sections 2.3 to 2.5, describe the response. */
export function toAnswered(
  { workflow }: Pick<Run, 'workflow'>,
  description: Description,
): Omit<EventOf<'answered'>, 'at'> {
  const { status } = description;
  if (status !== 'EXITED') return { type: 'answered', status };
  return { type: 'answered', status, exit: toExit(description, Object.keys(workflows[workflow].artifacts)) };
}

/**
 * Undefined while the response doesn't say in full how the run ended: a success must name
 * artifacts.
 */
function toExit(description: Description, known: readonly string[]): Exit | undefined {
  const { output, artifacts } = description;
  if (output === undefined) return undefined;
  const references = [...referencesIn(output.successOutput), ...referencesIn(output.abortedReason?.detail)];
  const names = [...(artifacts ?? []), ...references].map((artifact) => artifact?.name);
  const unique = [...new Set(names.filter((name) => name !== undefined))];
  if (output.kind === 'SUCCESS' && unique.length === 0) return undefined;
  const kept = unique.slice(0, maxArtifacts);
  const roles = kept
    .map((name) => ({ name, role: roleAmong(references, name, known) }))
    .filter(({ name, role }) => role !== name);
  return {
    kind: output.kind,
    artifacts: kept,
    roles: roles.length === 0 ? undefined : roles,
    abort: output.abortedReason,
  };
}

const referenceSchema = z.object({ artifact_name: identifierSchema });

/** A success and the detail of a credit limit name artifacts (docs/api.md, section 2.5). */
function referencesIn(value: unknown): { name: string; role: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([role, member]) => {
    const reference = referenceSchema.safeParse(member);
    return reference.success ? [{ name: reference.data.artifact_name, role }] : [];
  });
}

/**
 * Prefers a known role. Without a reference, the artifact's name is its role, unless another
 * artifact has that role.
 */
function roleAmong(
  references: readonly { name: string; role: string }[],
  name: string,
  known: readonly string[],
): string {
  const candidates = references.filter((each) => each.name === name && each.role.length <= 256);
  const best = candidates.find(({ role }) => role === name || known.includes(role));
  return (best ?? candidates[0])?.role ?? (references.some(({ role }) => role === name) ? 'other' : name);
}
