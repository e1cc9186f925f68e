import { ABORT_CODES } from '../invented.ts';
import {
  RunAborted,
  type Contents,
  type EarlierRun,
  type ReceivedArchive,
  type Workflow,
} from './workflow.ts';

export type RunOutcome =
  /**
   * The run ends as its work does: with SUCCESS, or with ABORTED if the work can't continue. After
   * SUCCESS, `contents` replaces artifacts of the same name and adds others.
   */
  | { kind: 'success'; contents?: Readonly<Record<string, string>> }
  /** The run is ABORTED for this reason and with these artifacts, whatever the work produced. */
  | { kind: 'aborted'; code: string; detail?: unknown; contents?: Readonly<Record<string, string>> }
  /** The run is EXITED without output and artifacts. Section 2.3 doesn't rule that out. */
  | { kind: 'bare' };

export interface RunState {
  readonly id: string;
  readonly organizationId: string;
  readonly workflowId: string;
  readonly status: 'RUNNING' | 'EXITED';
  readonly request: unknown;
  readonly archives: readonly ReceivedArchive[];
  readonly cancelRequested: boolean;
  /** Once the run has EXITED, this is the `output` that describe returns. */
  readonly output?: unknown;
}

export interface DispatchBody {
  input: never;
  notification?: { webhook_endpoint_ids: string[] };
}

/** After the end of a run, describe says this, and the artifacts have this content. */
export interface RunExit {
  readonly at: number;
  readonly output?:
    | { kind: 'SUCCESS'; successOutput: Readonly<Record<string, { artifact_name: string }>> }
    | { kind: 'ABORTED'; abortedReason: { code: string; detail?: unknown } };
  readonly contents: Contents;
}

/** The reference does not show how a cancelled run ends: its code is invented. */
const cancelled: RunOutcome = { kind: 'aborted', code: ABORT_CODES.cancelled };

/** Times are milliseconds of the service's clock. */
export interface Run {
  readonly id: string;
  readonly organizationId: string;
  readonly workflow: Workflow;
  readonly request: DispatchBody;
  readonly archives: readonly ReceivedArchive[];
  readonly dueAt: number;
  readonly stop: AbortController;
  outcome: RunOutcome;
  result?: Contents | RunAborted;
  working: Promise<void>;
  cancelAt?: number;
  exit?: RunExit;
}

/**
 * A run ends (section 3) once its cancel has taken effect, its work has failed, or its time has
 * passed and its work is done.
 */
export function isOver(run: Run, now: number): boolean {
  if (isCancelled(run, now)) return true;
  if (run.result instanceof RunAborted) return true;
  return now >= run.dueAt && (run.result !== undefined || run.outcome.kind !== 'success');
}

/** `at` is when the run ends, by itself or because a test ends it (section 2.5). */
export function exitOf(run: Run, at: number): RunExit {
  const outcome = isCancelled(run, at) ? cancelled : run.outcome;
  if (outcome.kind === 'bare') return { at, contents: new Map() };
  if (outcome.kind === 'aborted') {
    const { code, detail, contents = {} } = outcome;
    return aborted(at, new RunAborted(code, detail, new Map(Object.entries(contents))));
  }
  const { result = new RunAborted(ABORT_CODES.internalError) } = run;
  if (result instanceof RunAborted) return aborted(at, result);
  const contents = new Map([...result, ...Object.entries(outcome.contents ?? {})]);
  const successOutput = Object.fromEntries(
    [...contents.keys()].map((name) => [name, { artifact_name: name }]),
  );
  return { at, output: { kind: 'SUCCESS', successOutput }, contents };
}

export function toEarlierRun({ request, exit }: Run): EarlierRun {
  const { output, contents = new Map<string, string>() } = exit ?? {};
  const end = output?.kind === 'ABORTED' ? output.abortedReason.code : output?.kind;
  return { input: request.input, end, contents };
}

function isCancelled(run: Run, now: number): boolean {
  return run.cancelAt !== undefined && now >= run.cancelAt;
}

function aborted(at: number, { code, detail, contents }: RunAborted): RunExit {
  const abortedReason = { code, ...(detail !== undefined && { detail }) };
  return { at, output: { kind: 'ABORTED', abortedReason }, contents };
}
