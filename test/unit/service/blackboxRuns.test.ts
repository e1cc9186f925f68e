import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inventedShop } from '../../service/blackbox/inventedShop.ts';
import type { RunOutcome } from '../../service/runs/run.ts';
import { callService, send, text } from './serviceCaller.ts';

const CRAWL = 'blackbox-crawl';
const ASSESSMENT = 'blackbox-assessment';
const { origin, credentials } = inventedShop;
const input = {
  language: 'english',
  target_urls: [`${origin}/`],
  oos_urls: [`${origin}/contact`],
  authentication: { credentials },
};

const by = (kind: string, workflow_id: string, workflow_run_id: string) => ({
  kind,
  [kind]: { workflow_id, workflow_run_id },
});
const assess = (workflow: string, run: string) => ({ resume: by('assess_crawled_features', workflow, run) });
const go = (run: string, workflow = ASSESSMENT) => ({ resume: by('continue_assessment', workflow, run) });

test('an assessment is aborted at its credit limit with its progress, and continued to the end', async (t) => {
  const { post, service } = await callService(t);
  const run = async (change: object) => {
    const path = `/workflows/${ASSESSMENT}`;
    const started = await post(`${path}/dispatch`, { input: { ...input, ...change } });
    const id = { workflow_run_id: text(started, 'workflow_run_id') };
    await service.settle();
    const { output } = (await post(`${path}/describe`, id)).json as { output: object };
    const read = async (artifact_name: string) =>
      (
        await send(
          'GET',
          text(await post(`${path}/get-artifact-download-url`, { ...id, artifact_name }), 'url'),
        )
      ).text;
    const [found, scanned] = [await read('findings'), await read('scan_progress')];
    const { completed, skipped } = JSON.parse(scanned) as { completed: object[]; skipped: object[] };
    return { id: id.workflow_run_id, output, findings: JSON.parse(found) as object[], completed, skipped };
  };
  const first = await run({ scan_credit_limit: 10 });
  const detail = { scan_progress: { artifact_name: 'scan_progress' } };
  const abortedReason = { code: 'credit_limit_reached', detail };
  assert.deepEqual(first.output, { kind: 'ABORTED', abortedReason });
  assert.equal(first.completed.length, 10);
  const second = await run(go(first.id));
  assert.deepEqual(second.completed.slice(0, 10), first.completed);
  assert.equal(second.completed.length + second.skipped.length, 12 * 11);
  assert.deepEqual(second.findings.slice(0, first.findings.length), first.findings);
  assert.equal(second.findings.length, 8);
});

test('a run is continued only where the reference allows it', async (t) => {
  const { post, service } = await callService(t, { runDurationMs: 86_400_000 });
  const dispatch = (workflow: string, change: object = {}) =>
    post(`/workflows/${workflow}/dispatch`, { input: { ...input, ...change } });
  const ended = async (workflow: string, outcome?: RunOutcome) => {
    const id = text(await dispatch(workflow), 'workflow_run_id');
    if (outcome !== undefined) await service.finishRun(id, outcome);
    return id;
  };
  const crawled = await ended(CRAWL, { kind: 'success' });
  const assessed = await ended(ASSESSMENT, { kind: 'success' });
  const cancelled = await ended(ASSESSMENT, { kind: 'aborted', code: 'cancelled' });
  const bare = await ended(CRAWL, { kind: 'bare' });
  const running = await ended(CRAWL);
  const limit = { kind: 'aborted', code: 'credit_limit_reached' } as const;
  const limited = await ended(CRAWL, { ...limit, contents: { features: '[]' } });
  const older = await ended(ASSESSMENT, limit);
  const pairs = [{ feature_name: 'GET /gone', perspective: 'CORS' }];
  const crawlOf = (workflow_run_id: string) => ({ resume: { workflow_id: CRAWL, workflow_run_id } });

  const refused: [workflow: string, change: object, status: number, code: string][] = [
    [CRAWL, crawlOf(running), 409, 'run_not_eligible'],
    [CRAWL, crawlOf(limited), 409, 'run_not_eligible'],
    [CRAWL, crawlOf(assessed), 404, 'workflow_run_not_found'],
    [ASSESSMENT, assess(CRAWL, running), 409, 'run_not_eligible'],
    [ASSESSMENT, assess(CRAWL, bare), 409, 'run_not_eligible'],
    [ASSESSMENT, assess(ASSESSMENT, cancelled), 409, 'run_not_eligible'],
    [ASSESSMENT, assess(ASSESSMENT, older), 409, 'run_not_eligible'],
    [ASSESSMENT, assess('whitebox-assessment', crawled), 409, 'run_not_eligible'],
    [ASSESSMENT, assess(ASSESSMENT, crawled), 404, 'workflow_run_not_found'],
    [ASSESSMENT, go(crawled, CRAWL), 409, 'run_not_eligible'],
    [ASSESSMENT, go('run-unknown'), 404, 'workflow_run_not_found'],
    [ASSESSMENT, { ...go(assessed), target_urls: [`${origin}/catalogue`] }, 422, 'other_target_urls'],
    [ASSESSMENT, { ...assess(CRAWL, crawled), pairs }, 422, 'unknown_feature'],
  ];
  const runs = service.runs().length;
  for (const [workflow, change, status, code] of refused) {
    const answer = await dispatch(workflow, change);
    const problem = (answer.json['error'] as { code: string } | undefined)?.code;
    assert.deepEqual([answer.status, problem], [status, code], JSON.stringify(change));
  }
  assert.equal(service.runs().length, runs);
  const twice = [...input.target_urls, ...input.target_urls];
  const taken = await dispatch(ASSESSMENT, { ...assess(CRAWL, crawled), target_urls: twice });
  assert.equal(taken.status, 200, taken.text);
});
