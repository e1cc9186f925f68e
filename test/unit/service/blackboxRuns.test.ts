import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Feature, LiveFinding, ScanProgress } from '../../service/blackbox/blackboxSchemas.ts';
import { callBlackbox, type BlackboxCaller } from './blackboxCaller.ts';
import { text } from './serviceCaller.ts';

const CRAWL = 'blackbox-crawl';
const ASSESSMENT = 'blackbox-assessment';
const artifacts = ['report', 'findings', 'features', 'scan_progress'].map((name) => ({ name }));

const featuresOf = async (
  { artifact }: BlackboxCaller,
  workflow: typeof CRAWL | typeof ASSESSMENT,
  id: string,
) => JSON.parse(await artifact(workflow, id, 'features')) as Feature[];
const progressOf = async ({ artifact }: BlackboxCaller, id: string) =>
  JSON.parse(await artifact(ASSESSMENT, id, 'scan_progress')) as ScanProgress;
const findingsOf = async ({ artifact }: BlackboxCaller, id: string) =>
  JSON.parse(await artifact(ASSESSMENT, id, 'findings')) as LiveFinding[];
const assessFeatures = (workflow_id: string, workflow_run_id: string) => ({
  kind: 'assess_crawled_features',
  assess_crawled_features: { workflow_id, workflow_run_id },
});
const continueRun = (workflow_run_id: string, workflow_id = ASSESSMENT) => ({
  kind: 'continue_assessment',
  continue_assessment: { workflow_id, workflow_run_id },
});
const pairKeys = (pairs: ScanProgress['completed']) =>
  pairs.map(({ feature_name, perspective }) => `${perspective} ${feature_name}`);

describe('a crawl of the invented application', () => {
  test('finds pages and forms for each role that signs in, within its scope', async (t) => {
    const caller = await callBlackbox(t);
    const { id, described } = await caller.run(CRAWL);
    assert.deepEqual(described, {
      status: 'EXITED',
      output: { kind: 'SUCCESS', successOutput: { features: { artifact_name: 'features' } } },
      artifacts: [{ name: 'features' }],
    });
    const everyone = 'anonymous buyer admin';
    assert.deepEqual(
      (await featuresOf(caller, CRAWL, id)).map(({ name, roles }) => [name, roles.join(' ')]),
      [
        ['Invented Shop (GET /)', everyone],
        ['Catalogue (GET /catalogue)', everyone],
        ['Search (GET /search)', everyone],
        ['お問い合わせ (GET /contact)', everyone],
        ['送信 (POST /contact)', everyone],
        ['GET /go', everyone],
        ['Sign in (GET /login)', 'anonymous'],
        ['Sign in (POST /login)', 'anonymous'],
        ['Product (GET /product)', everyone],
        ['GET /prices', everyone],
        ['Account (GET /account)', 'buyer admin'],
        ['Change address (POST /account/address)', 'buyer admin'],
        ['Orders (GET /orders)', 'buyer admin'],
        ['Administration (GET /admin)', 'admin'],
      ],
    );
    const { requests } = caller.application;
    assert.ok(!requests.includes('GET /logout'));
    assert.deepEqual(
      requests.filter((each) => each.startsWith('POST')),
      ['POST /login', 'POST /login'],
    );
  });
});

describe('an assessment of the invented application', () => {
  test('finds each planted weakness once, tests each applicable pair and reports in the chosen language', async (t) => {
    const caller = await callBlackbox(t);
    const { id, described } = await caller.run(ASSESSMENT, { language: 'japanese' });
    assert.deepEqual(described, {
      status: 'EXITED',
      output: {
        kind: 'SUCCESS',
        successOutput: Object.fromEntries(artifacts.map(({ name }) => [name, { artifact_name: name }])),
      },
      artifacts,
    });
    assert.deepEqual(
      (await findingsOf(caller, id)).map(({ cwe, perspective, method, url }) =>
        [cwe, perspective, method, new URL(url).pathname].join(' '),
      ),
      [
        'CWE-79 XSS GET /search',
        'CWE-601 OpenRedirect GET /go',
        'CWE-307 Authentication POST /login',
        'CWE-89 Injection GET /product',
        'CWE-942 CORS GET /prices',
        'CWE-1021 Clickjacking GET /account',
        'CWE-352 CSRF POST /account/address',
        'CWE-862 Authorization GET /admin',
      ],
    );
    assert.match(await caller.artifact(ASSESSMENT, id, 'report'), /^# ブラックボックス診断レポート\n/);
    const features = await featuresOf(caller, ASSESSMENT, id);
    const { completed, skipped } = await progressOf(caller, id);
    assert.equal(completed.length + skipped.length, features.length * 11);
    assert.ok(pairKeys(skipped).includes('Authentication Catalogue (GET /catalogue)'));
  });

  test('is aborted at the scan credit limit with its progress, and can be continued', async (t) => {
    const caller = await callBlackbox(t);
    const first = await caller.run(ASSESSMENT, { scan_credit_limit: 10 });
    assert.deepEqual(first.described, {
      status: 'EXITED',
      output: {
        kind: 'ABORTED',
        abortedReason: {
          code: 'credit_limit_reached',
          detail: { scan_progress: { artifact_name: 'scan_progress' } },
        },
      },
      artifacts,
    });
    const before = await progressOf(caller, first.id);
    const found = await findingsOf(caller, first.id);
    assert.equal(before.completed.length, 10);

    const sent = caller.application.requests.length;
    const second = await caller.run(ASSESSMENT, { resume: continueRun(first.id) });
    assert.equal((second.described['output'] as { kind: string }).kind, 'SUCCESS');
    const after = await progressOf(caller, second.id);
    assert.deepEqual(after.completed.slice(0, 10), before.completed);
    assert.equal(new Set(pairKeys([...after.completed, ...after.skipped])).size, 14 * 11);
    const all = await findingsOf(caller, second.id);
    assert.deepEqual(all.slice(0, found.length), found);
    assert.equal(all.length, 8);
    // Nothing is crawled again.
    assert.ok(!caller.application.requests.slice(sent).includes('GET /'));

    const third = await caller.run(ASSESSMENT, { resume: continueRun(second.id) });
    assert.deepEqual(await progressOf(caller, third.id), after);
  });
});

describe('a continued run', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;

  test('is refused where the reference forbids it', async (t) => {
    const caller = await callBlackbox(t, { runDurationMs: DAY_MS });
    const { service, application, input } = caller;
    const started = async (workflow: typeof CRAWL | typeof ASSESSMENT) =>
      text(await caller.dispatch(workflow), 'workflow_run_id');
    const ended = async (
      workflow: typeof CRAWL | typeof ASSESSMENT,
      outcome: Parameters<typeof service.finishRun>[1],
    ) => {
      const id = await started(workflow);
      await service.finishRun(id, outcome);
      return id;
    };
    const crawled = await ended(CRAWL, { kind: 'success' });
    const assessed = await ended(ASSESSMENT, { kind: 'success' });
    const older = await ended(ASSESSMENT, { kind: 'success', without: ['features', 'scan_progress'] });
    const cancelled = await ended(ASSESSMENT, { kind: 'aborted', code: 'cancelled' });
    const bare = await ended(CRAWL, { kind: 'bare' });
    const running = await started(CRAWL);
    const limited = await ended(CRAWL, {
      kind: 'aborted',
      code: 'credit_limit_reached',
      contents: { features: '[]' },
    });
    const assess = (resume: object, change: object = {}) => ({ resume, ...change });
    const pairs = [{ feature_name: 'GET /gone', perspective: 'CORS' }];

    const refused: [typeof CRAWL | typeof ASSESSMENT, object, number, string][] = [
      [CRAWL, assess({ workflow_id: CRAWL, workflow_run_id: running }), 409, 'run_not_eligible'],
      [CRAWL, assess({ workflow_id: CRAWL, workflow_run_id: limited }), 409, 'run_not_eligible'],
      [CRAWL, assess({ workflow_id: CRAWL, workflow_run_id: assessed }), 404, 'workflow_run_not_found'],
      [ASSESSMENT, assess(assessFeatures(CRAWL, running)), 409, 'run_not_eligible'],
      [ASSESSMENT, assess(assessFeatures(CRAWL, bare)), 409, 'run_not_eligible'],
      [ASSESSMENT, assess(assessFeatures(ASSESSMENT, cancelled)), 409, 'run_not_eligible'],
      [ASSESSMENT, assess(assessFeatures(ASSESSMENT, older)), 409, 'run_not_eligible'],
      [ASSESSMENT, assess(assessFeatures('whitebox-assessment', crawled)), 409, 'run_not_eligible'],
      [ASSESSMENT, assess(assessFeatures(ASSESSMENT, crawled)), 404, 'workflow_run_not_found'],
      [ASSESSMENT, assess(continueRun(crawled, CRAWL)), 409, 'run_not_eligible'],
      [ASSESSMENT, assess(continueRun('run-unknown')), 404, 'workflow_run_not_found'],
      [
        ASSESSMENT,
        assess(continueRun(assessed), { target_urls: [`${application.origin}/catalogue`] }),
        422,
        'other_target_urls',
      ],
      [ASSESSMENT, assess(assessFeatures(CRAWL, crawled), { pairs }), 422, 'unknown_feature'],
    ];
    const runs = service.runs().length;
    for (const [workflow, change, status, code] of refused) {
      const answer = await caller.dispatch(workflow, change);
      assert.deepEqual(
        [answer.status, (answer.json['error'] as { code: string }).code],
        [status, code],
        JSON.stringify(change),
      );
    }
    assert.equal(service.runs().length, runs);
    const sameUrls = {
      target_urls: [...(input['target_urls'] as string[]), ...(input['target_urls'] as string[])],
    };
    const taken = await caller.dispatch(ASSESSMENT, assess(assessFeatures(CRAWL, crawled), sameUrls));
    assert.equal(taken.status, 200, taken.text);
  });
});
