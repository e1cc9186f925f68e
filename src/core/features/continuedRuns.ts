import { type Continuation, creditLimitReached, type NoContinuation } from '../workflows/workflow.ts';
import { workflows } from '../workflows/workflows.ts';
import { isFinal, keptArtifacts, roleOf, type Run } from '../run/state/run.ts';

/** `true` means that the continuation is allowed (docs/api.md, sections 2.7 and 2.8). */
export function continuationsOf(run: Run): ReadonlyMap<Continuation, true | NoContinuation> {
  // An imported run may have a run ID, but doesn't name its service.
  if (!isFinal(run) || run.state === 'imported' || run.runId === undefined) return new Map();
  const exit = 'exit' in run ? run.exit : undefined;
  return workflows[run.workflow].continuations({
    kind: exit?.kind ?? '',
    abortCode: exit?.abort?.code,
    artifacts: keptArtifacts(run).map(roleOf),
  });
}

export function hasHitCreditLimit(run: Run): boolean {
  return run.state === 'aborted' && run.exit.abort?.code === creditLimitReached;
}

/** True if the run continues another run's assessment (docs/api.md, section 2.7, rule 4). */
export function isContinued({ input }: Pick<Run, 'input'>): boolean {
  const resume = input?.resume;
  return resume !== undefined && 'kind' in resume && resume.kind === 'continue_assessment';
}

/**
 * Returns the service's ID of the run whose assessment or crawl this run continues, or whose
 * features it assesses.
 */
export function predecessorOf({ input }: Pick<Run, 'input'>): string | undefined {
  const resume = input?.resume;
  if (resume === undefined || !('kind' in resume)) return resume?.workflow_run_id;
  return resume.kind === 'continue_assessment'
    ? resume.continue_assessment.workflow_run_id
    : resume.assess_crawled_features.workflow_run_id;
}
