import * as z from 'zod/mini';
import { type Description, identifierSchema } from '../../api/schema.ts';
import { workflows } from '../../workflows/workflows.ts';
import type { Artifact, Exit, Failure, Run } from './run.ts';

export type RunEvent = { readonly at: number } & (
  | {
      readonly type: 'reserved';
      readonly target: number;
      readonly fileId: string;
      readonly host?: string | undefined;
    }
  | { readonly type: 'uploaded' }
  | { readonly type: 'confirmed'; readonly target: number }
  | { readonly type: 'dispatchIntended' }
  /** The answer to the start request of that intent, also a late one, or the run ID that a person found for it. */
  | { readonly type: 'dispatched'; readonly intendedAt: number; readonly runId: string }
  | { readonly type: 'dispatchStopped'; readonly by: 'person' | 'windowClose' }
  | { readonly type: 'dispatchLost'; readonly reason: Failure }
  | { readonly type: 'takenOver' }
  /** The service's answer (`toAnswered`). `exit` is present once the answer says in full how the run ended. */
  | { readonly type: 'answered'; readonly status: string; readonly exit?: Exit | undefined }
  /** A poll or a download failed. */
  | { readonly type: 'pollFailed'; readonly failure: Failure; readonly retryAt?: number | undefined }
  /** The service asked to wait before the next removal of an upload. */
  | { readonly type: 'deferred'; readonly retryAt: number }
  | { readonly type: 'cancelAsked' }
  | { readonly type: 'cancelSent' }
  | { readonly type: 'cancelRefused'; readonly sentAt: number }
  /** An artifact is here, or is given up with its failure. */
  | { readonly type: 'artifactDownloaded'; readonly artifact: Artifact }
  | { readonly type: 'collected' }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'abandoned' }
  | { readonly type: 'uploadRemoved'; readonly target: number; readonly state: 'cancelled' | 'deleted' }
  | { readonly type: 'endNotified' }
  | { readonly type: 'unwatched' }
  | { readonly type: 'downloadedAgain'; readonly artifacts: readonly Artifact[] }
  | { readonly type: 'archivesRemoved' }
  | { readonly type: 'renamed'; readonly label: string }
  | { readonly type: 'answeredIsSame'; readonly isSame: boolean }
);

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** No workflow has more than four (docs/api.md, section 2.4). */
const maxArtifacts = 50;

/** The service's answer about a run as an event (docs/api.md, sections 2.4 and 2.5). */
export function toAnswered(
  { workflow }: Pick<Run, 'workflow'>,
  description: Description,
): Omit<EventOf<'answered'>, 'at'> {
  const { status } = description;
  if (status !== 'EXITED') return { type: 'answered', status };
  return { type: 'answered', status, exit: toExit(description, Object.keys(workflows[workflow].artifacts)) };
}

/** Undefined while the answer does not say in full how the run ended: a success must name its artifacts. */
function toExit(description: Description, known: readonly string[]): Exit | undefined {
  const { output, artifacts } = description;
  if (output === undefined) return undefined;
  const references = [
    ...Object.entries(output.successOutput ?? {}).flatMap(([role, reference]) =>
      reference === undefined ? [] : [{ name: reference.artifact_name, role }],
    ),
    ...referencesIn(output.abortedReason?.detail),
  ];
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

/** Such as `scan_progress` in the detail of a credit limit (docs/api.md, section 2.5). */
function referencesIn(detail: unknown): { name: string; role: string }[] {
  if (typeof detail !== 'object' || detail === null) return [];
  return Object.entries(detail).flatMap(([role, value]) => {
    const reference = referenceSchema.safeParse(value);
    return reference.success ? [{ name: reference.data.artifact_name, role }] : [];
  });
}

/** A known role that refers to the artifact, else any; without a reference the name is the role, unless that is another artifact's role. */
function roleAmong(
  references: readonly { name: string; role: string }[],
  name: string,
  known: readonly string[],
): string {
  const candidates = references.filter((each) => each.name === name && each.role.length <= 256);
  const best = candidates.find(({ role }) => role === name || known.includes(role));
  return (best ?? candidates[0])?.role ?? (references.some(({ role }) => role === name) ? 'other' : name);
}
