import type { ReceivedArchive, RunAborted, Workflow } from './workflow.ts';

/** How a run ends. */
export type RunOutcome =
  /** SUCCESS; `contents` replaces what the work produced, by artifact name. */
  | { kind: 'success'; contents?: Readonly<Record<string, string>> }
  /** ABORTED for this reason, whatever the work produced. */
  | { kind: 'aborted'; code: string; detail?: unknown }
  /** EXITED without output and artifacts, which section 2.3 allows to be read as possible. */
  | { kind: 'bare' };

/** What a test may know about a run. */
export interface RunState {
  readonly id: string;
  readonly organizationId: string;
  readonly workflowId: string;
  readonly status: 'RUNNING' | 'EXITED';
  /** The dispatched body as it was received. */
  readonly request: unknown;
  /** The archives with the entries found in them so far. */
  readonly archives: readonly ReceivedArchive[];
  readonly cancelRequested: boolean;
  /** Once EXITED, what describe says. */
  readonly output?: unknown;
}

/** The body of a dispatch that fits its schema (section 2.6). */
export interface DispatchBody {
  input: unknown;
  notification?: { webhook_endpoint_ids: string[] };
}

/** The end of a run: what describe says from then on, and the content of the artifacts. */
export interface RunExit {
  readonly at: number;
  readonly output?: object;
  readonly contents?: ReadonlyMap<string, string>;
}

/** A run as the service keeps it; times are milliseconds of the service's clock. */
export interface Run {
  readonly id: string;
  readonly organizationId: string;
  readonly workflow: Workflow;
  readonly request: DispatchBody;
  readonly archives: readonly ReceivedArchive[];
  readonly dueAt: number;
  readonly stop: AbortController;
  outcome: RunOutcome;
  readonly cancelOutcome: RunOutcome;
  /** What the work came to, once it is done. */
  result?: { contents: ReadonlyMap<string, string> } | { aborted: RunAborted };
  working: Promise<void>;
  cancelAt?: number;
  exit?: RunExit;
}

/** Whether a run ends now (section 3): its cancel has taken effect, its work has failed, or its time has passed and its work is done. */
export function isOver(run: Run, now: number): boolean {
  if (isCancelled(run, now)) return true;
  if (run.result && 'aborted' in run.result) return true;
  return now >= run.dueAt && (run.result !== undefined || run.outcome.kind !== 'success');
}

/** The end of a run that is over, or that is made to end, at this time (section 2.5). */
export function exitOf(run: Run, at: number): RunExit {
  const outcome = isCancelled(run, at) ? run.cancelOutcome : run.outcome;
  const { result } = run;
  switch (outcome.kind) {
    case 'bare':
      return { at };
    case 'aborted':
      return { at, output: aborted(outcome.code, outcome.detail) };
    case 'success': {
      if (!result || 'aborted' in result) {
        return { at, output: aborted(result?.aborted.code ?? 'internal_error', result?.aborted.detail) };
      }
      const contents = new Map([...result.contents, ...Object.entries(outcome.contents ?? {})]);
      const successOutput = Object.fromEntries(
        [...contents.keys()].map((name) => [name, { artifact_name: name }]),
      );
      return { at, output: { kind: 'SUCCESS', successOutput }, contents };
    }
  }
}

function isCancelled(run: Run, now: number): boolean {
  return run.cancelAt !== undefined && now >= run.cancelAt;
}

function aborted(code: string, detail: unknown) {
  return { kind: 'ABORTED', abortedReason: { code, ...(detail !== undefined && { detail }) } };
}
