import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServiceOptions } from '../../service/assessmentService.ts';
import {
  startInventedApplication,
  type InventedApplication,
} from '../../service/blackbox/inventedApplication.ts';
import { callService, send, text, type ServiceCaller, type WireAnswer } from './serviceCaller.ts';

export type BlackboxWorkflow = 'blackbox-crawl' | 'blackbox-assessment';

export interface BlackboxCaller extends ServiceCaller {
  readonly application: InventedApplication;
  /** An input for both workflows that excludes the sign-out page. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly call: (workflow: string, verb: string, body: unknown) => Promise<WireAnswer>;
  readonly dispatch: (workflow: BlackboxWorkflow, change?: object) => Promise<WireAnswer>;
  /** Dispatches, waits for the end, and resolves to the run ID and its description. */
  readonly run: (
    workflow: BlackboxWorkflow,
    change?: object,
  ) => Promise<{ id: string; described: Record<string, unknown> }>;
  readonly artifact: (workflow: string, runId: string, name: string) => Promise<string>;
}

export async function callBlackbox(t: TestContext, options: ServiceOptions = {}): Promise<BlackboxCaller> {
  const application = await startInventedApplication();
  t.after(() => application.close());
  const service = await callService(t, options);
  const caller: BlackboxCaller = {
    ...service,
    application,
    input: {
      language: 'english',
      target_urls: [`${application.origin}/`],
      oos_urls: [`${application.origin}/logout`],
      authentication: { credentials: application.credentials },
    },
    call: (workflow, verb, body) => service.post(`/workflows/${workflow}/${verb}`, body),
    dispatch: (workflow, change) =>
      caller.call(workflow, 'dispatch', { input: { ...caller.input, ...change } }),
    async run(workflow, change) {
      const id = text(await caller.dispatch(workflow, change), 'workflow_run_id');
      await service.service.settle();
      const { status, json } = await caller.call(workflow, 'describe', { workflow_run_id: id });
      assert.equal(status, 200);
      return { id, described: json };
    },
    async artifact(workflow, runId, name) {
      const body = { workflow_run_id: runId, artifact_name: name };
      return (await send('GET', text(await caller.call(workflow, 'get-artifact-download-url', body), 'url')))
        .text;
    },
  };
  return caller;
}
