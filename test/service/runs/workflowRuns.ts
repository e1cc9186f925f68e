import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputFiles } from '../inputFiles.ts';
import { ABORT_CODES } from '../invented.ts';
import { Refusal } from '../replies.ts';
import {
  exitOf,
  isOver,
  toEarlierRun,
  type DispatchBody,
  type Run,
  type RunOutcome,
  type RunState,
} from './run.ts';
import type { Clock, PresignedStorage } from '../storage.ts';
import { RunAborted, type DispatchContext, type RunWork, type Workflow } from './workflow.ts';

interface Needs {
  readonly clock: Clock;
  readonly files: InputFiles;
  readonly storage: PresignedStorage;
  readonly webhookEndpointIds: readonly string[];
  readonly requireVerified: DispatchContext['requireVerified'];
  readonly directory: string;
  readonly log: (line: string) => void;
  readonly runDurationMs: number;
  readonly cancelDelayMs: number;
  readonly downloadUrlSeconds: number;
  readonly retentionMs: number;
}

/** All workflows share the four operations of section 4.2 and the moves of section 3. */
export class WorkflowRuns {
  readonly #runs = new Map<string, Run>();
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async dispatch(organizationId: string, workflow: Workflow, body: unknown) {
    const request = body as DispatchBody;
    const endpoints = request.notification?.webhook_endpoint_ids ?? [];
    const unknown = endpoints.find((endpoint) => !this.#needs.webhookEndpointIds.includes(endpoint));
    if (unknown !== undefined)
      throw new Refusal('unknown_webhook_endpoint', `No webhook endpoint ${unknown}.`);
    const id = `run-${randomUUID()}`;
    const directory = join(this.#needs.directory, id);
    await mkdir(directory);
    const { files, requireVerified } = this.#needs;
    const earlierRun: DispatchContext['earlierRun'] = (workflowId, runId) =>
      toEarlierRun(this.#find(organizationId, workflowId, runId));
    const context = { organizationId, directory, files, requireVerified, earlierRun };
    let work: RunWork;
    try {
      work = await workflow.admit(request.input, context);
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
    const run: Run = {
      id,
      organizationId,
      workflow,
      request,
      archives: work.archives,
      dueAt: this.#needs.clock.now() + this.#needs.runDurationMs,
      stop: new AbortController(),
      outcome: { kind: 'success' },
      working: Promise.resolve(),
    };
    this.#runs.set(id, run);
    run.working = this.#work(run, work, directory);
    return { workflow_run_id: id };
  }

  /** describe: output and artifacts only once EXITED (section 2.3). */
  describe(organizationId: string, workflow: Workflow, runId: string) {
    const run = this.#find(organizationId, workflow.id, runId);
    if (!run.exit) return { status: 'RUNNING' };
    const { output, contents } = run.exit;
    if (!output) return { status: 'EXITED' };
    return { status: 'EXITED', output, artifacts: [...contents.keys()].map((name) => ({ name })) };
  }

  /** cancel: refused with 409 once the run has EXITED; until then it may be repeated. */
  cancel(organizationId: string, workflow: Workflow, runId: string) {
    const run = this.#find(organizationId, workflow.id, runId);
    if (run.exit) throw new Refusal('run_already_exited', `Run ${runId} has exited.`);
    run.cancelAt ??= this.#needs.clock.now() + this.#needs.cancelDelayMs;
    this.#advance(run);
    return {};
  }

  /** get-artifact-download-url: for the names that describe lists. */
  downloadUrl(organizationId: string, workflow: Workflow, runId: string, artifactName: string) {
    const run = this.#find(organizationId, workflow.id, runId);
    if (!run.exit?.contents.has(artifactName)) {
      throw new Refusal('artifact_not_found', `Run ${runId} has no artifact ${artifactName}.`);
    }
    const mediaType =
      workflow.artifacts.find(({ name }) => name === artifactName)?.mediaType ?? 'application/octet-stream';
    const read = () => {
      const content = this.#isRetained(run) ? run.exit?.contents.get(artifactName) : undefined;
      return content === undefined ? undefined : { body: Buffer.from(content), mediaType };
    };
    const { storage, downloadUrlSeconds } = this.#needs;
    return {
      url: storage.presign({ method: 'GET', read }, downloadUrlSeconds),
      expires_in_seconds: downloadUrlSeconds,
    };
  }

  /** Ends a run now; success waits for the work. */
  async finish(runId: string, outcome: RunOutcome = { kind: 'success' }): Promise<void> {
    const run = this.#runs.get(runId);
    if (!run) throw new Error(`no run ${runId}`);
    run.outcome = outcome;
    if (outcome.kind === 'success') await run.working;
    this.#end(run);
  }

  /** Resolves when the work of all runs is done and every run that is due has exited. */
  async settle(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ working }) => working));
    for (const run of this.#runs.values()) this.#advance(run);
  }

  /** The runs are in order of dispatch. */
  list(): RunState[] {
    return [...this.#runs.values()].map((run) => {
      this.#advance(run);
      const { id, organizationId, workflow, request, archives, cancelAt, exit } = run;
      const status = exit ? 'EXITED' : 'RUNNING';
      const cancelRequested = cancelAt !== undefined;
      const output = exit?.output && { output: exit.output };
      return {
        id,
        organizationId,
        workflowId: workflow.id,
        status,
        request,
        archives,
        cancelRequested,
        ...output,
      };
    });
  }

  async close(): Promise<void> {
    for (const run of this.#runs.values()) run.stop.abort();
    await Promise.all([...this.#runs.values()].map(({ working }) => working));
  }

  async #work(run: Run, work: RunWork, directory: string): Promise<void> {
    // The dispatch is answered before the work begins.
    await new Promise(setImmediate);
    try {
      run.result = await work.perform(run.stop.signal);
    } catch (error) {
      if (run.stop.signal.aborted) return;
      this.#needs.log(`${run.id}: ${String(error)}`);
      run.result =
        error instanceof RunAborted ? error : new RunAborted(ABORT_CODES.internalError, String(error));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
    this.#advance(run);
  }

  #advance(run: Run): void {
    if (!run.exit && isOver(run, this.#needs.clock.now())) this.#end(run);
  }

  #end(run: Run): void {
    if (run.exit) return;
    run.exit = exitOf(run, this.#needs.clock.now());
    run.stop.abort();
    this.#needs.log(`${run.id}: exited`);
  }

  #find(organizationId: string, workflowId: string, runId: string): Run {
    const run = this.#runs.get(runId);
    if (run) this.#advance(run);
    if (run?.organizationId !== organizationId || run.workflow.id !== workflowId || !this.#isRetained(run)) {
      throw new Refusal(
        'workflow_run_not_found',
        `There is no ${workflowId} run ${runId} in this organization.`,
      );
    }
    return run;
  }

  #isRetained(run: Run): boolean {
    return !run.exit || this.#needs.clock.now() < run.exit.at + this.#needs.retentionMs;
  }
}
