import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { callService } from './serviceCaller.ts';

const TARGET = 'http://127.0.0.1:9/';
const list = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);
const chars = (count: number) => 'x'.repeat(count);
const urlOf = (length: number) => TARGET.padEnd(length, 'x');

const credential = { id: 'alice', password: '', role: 'buyer' };
const credentials = (change: object, count = 1) => ({
  authentication: { credentials: list(count, { ...credential, ...change }) },
});
const wish = (change: object, count = 1) => ({
  preference: { preferences: list(count, { kind: 'DO', preference: 'x', ...change }) },
});
const ref = { workflow_id: 'blackbox-crawl', workflow_run_id: 'r' };
const resume = { kind: 'assess_crawled_features', assess_crawled_features: ref };
const pair = { feature_name: 'x', perspective: 'XSS' };
const pairs = (change: object, count = 1) => ({ resume, pairs: list(count, { ...pair, ...change }) });

/** A change to an input that fits: [what, what does not fit any more, what just fits]. */
type Bound = readonly [string, object, object?];

const both: readonly Bound[] = [
  ['no language', { language: undefined }],
  ['language', { language: 'ja' }, { language: 'japanese' }],
  ['no target_urls', { target_urls: undefined }],
  ['0 target_urls', { target_urls: [] }],
  ['target_urls', { target_urls: list(101, TARGET) }, { target_urls: list(100, TARGET) }],
  ['characters of a target', { target_urls: [urlOf(5001)] }, { target_urls: [urlOf(5000)] }],
  ['relative target', { target_urls: ['/catalogue'] }],
  ['target without a scheme', { target_urls: ['127.0.0.1/catalogue'] }],
  ['target that is not a string', { target_urls: [1] }],
  ['oos_urls', { oos_urls: list(101, TARGET) }, { oos_urls: list(100, TARGET) }],
  ['0 oos_urls', { oos_urls: 'none' }, { oos_urls: [] }],
  ['characters of an exclusion', { oos_urls: [urlOf(5001)] }, { oos_urls: [urlOf(5000)] }],
  ['relative exclusion', { oos_urls: ['logout'] }],
  ['member of authentication', { authentication: { method: 'x' } }, { authentication: {} }],
  ['0 credentials', credentials({}, 0)],
  ['credentials', credentials({}, 101), credentials({}, 100)],
  ['empty id', credentials({ id: '' })],
  ['characters of an id', credentials({ id: chars(257) }), credentials({ id: chars(256) })],
  ['no password', credentials({ password: undefined })],
  [
    'characters of a password',
    credentials({ password: chars(5001) }),
    credentials({ password: chars(5000) }),
  ],
  ['empty role', credentials({ role: '' })],
  ['characters of a role', credentials({ role: chars(257) }), credentials({ role: chars(256) })],
  ['member of a credential', credentials({ otp: 'x' })],
  ['empty sign-in instructions', { authentication: { additional_instructions: '' } }],
  [
    'characters of sign-in instructions',
    { authentication: { additional_instructions: chars(5001) } },
    { authentication: { additional_instructions: chars(5000) } },
  ],
  ['0 preferences', wish({}, 0)],
  ['preferences', wish({}, 101), wish({}, 100)],
  ['kind of a preference', wish({ kind: 'do' }), wish({ kind: 'DONT' })],
  ['empty preference', wish({ preference: '' })],
  ['characters of a preference', wish({ preference: chars(5001) }), wish({ preference: chars(5000) })],
  ['member of a preference', wish({ weight: 1 })],
  ['member of preference', { preference: { preferences: undefined, style: 'x' } }],
  ['member of input', { name: 'x' }],
];

const crawl: readonly Bound[] = [
  ['credit_limit', { credit_limit: 4 }, { credit_limit: 5 }],
  ['greatest credit_limit', { credit_limit: 100_001 }, { credit_limit: 100_000 }],
  ['fractional credit_limit', { credit_limit: 5.5 }],
  ['empty instructions', { additional_instructions: '' }],
  [
    'characters of instructions',
    { additional_instructions: chars(5001) },
    { additional_instructions: chars(5000) },
  ],
  ['workflow of resume', { resume: { ...ref, workflow_id: 'blackbox-assessment' } }],
  ['no run in resume', { resume: { workflow_id: 'blackbox-crawl' } }],
  ['characters of a run ID', { resume: { ...ref, workflow_run_id: chars(257) } }],
  ['kind of resume', { resume: { ...ref, kind: 'assess_crawled_features' } }],
  ['limit of an assessment', { scan_credit_limit: 10 }],
  ['pairs', { pairs: [] }],
];

const assessment: readonly Bound[] = [
  ['scan_credit_limit', { scan_credit_limit: 9 }, { scan_credit_limit: 10 }],
  ['greatest scan_credit_limit', { scan_credit_limit: 100_001 }, { scan_credit_limit: 100_000 }],
  ['crawl_credit_limit', { crawl_credit_limit: 4 }, { crawl_credit_limit: 5 }],
  ['greatest crawl_credit_limit', { crawl_credit_limit: 100_001 }, { crawl_credit_limit: 100_000 }],
  ['limit of a crawl', { credit_limit: 20 }],
  ['instructions of a crawl', { additional_instructions: 'x' }],
  ['kind of resume', { resume: { ...resume, kind: 'again' } }],
  ['no kind of resume', { resume: { assess_crawled_features: ref } }],
  ['resume without the object of its kind', { resume: { ...resume, kind: 'continue_assessment' } }],
  ['member of resume', { resume: { ...resume, force: true } }],
  ['empty workflow ID', { resume: { ...resume, assess_crawled_features: { ...ref, workflow_id: '' } } }],
  ['member of a reference', { resume: { ...resume, assess_crawled_features: { ...ref, name: 'x' } } }],
  ['pairs without resume', { pairs: [] }],
  ['number of pairs', pairs({}, 10_001)],
  ['empty feature name', pairs({ feature_name: '' })],
  ['characters of a feature name', pairs({ feature_name: chars(5001) })],
  ['perspective', pairs({ perspective: 'xss' })],
  ['priority', pairs({ priority: 'urgent' })],
  ['member of a pair', pairs({ state: 'tested' })],
];

describe('the input of blackbox workflows', () => {
  for (const [workflow, bounds] of [
    ['blackbox-crawl', [...both, ...crawl]],
    ['blackbox-assessment', [...both, ...assessment]],
  ] as const) {
    test(`of ${workflow} is refused beyond every documented bound, and accepted at it`, async (t) => {
      const { service, post } = await callService(t, { outcome: { kind: 'bare' } });
      const path = `/workflows/${workflow}/dispatch`;
      const dispatch = (change: object) =>
        post(path, { input: { language: 'english', target_urls: [TARGET], ...change } });
      let runs = 0;
      for (const [what, beyond, within] of bounds) {
        const refused = await dispatch(beyond);
        assert.equal(refused.status, 422, `${what}: ${refused.text}`);
        assert.match(refused.text, /"invalid_request"/, what);
        if (!within) continue;
        const taken = await dispatch(within);
        assert.equal(taken.status, 200, `${what}: ${taken.text}`);
        runs++;
      }
      assert.equal(service.runs().length, runs);
      const beside = { input: { language: 'english', target_urls: [TARGET] }, idempotency_key: 'x' };
      assert.equal((await post(path, beside)).status, 422);
      assert.equal((await post(path, { ...beside, idempotency_key: undefined })).status, 200);
    });
  }

  test('may contain 10,000 pairs with names of maximum length', async (t) => {
    const { post } = await callService(t);
    const input = { language: 'english', target_urls: [TARGET], ...pairs({ priority: 'medium' }, 10_000) };
    const [first] = input.pairs;
    input.pairs[0] = { ...first!, feature_name: chars(5000) };
    const { status, text } = await post('/workflows/blackbox-assessment/dispatch', { input });
    assert.deepEqual([status, /workflow_run_not_found/.test(text)], [404, true], text);
  });

  test('is accepted only for applications with verified ownership', async (t) => {
    const verifiedOrigins = ['http://127.0.0.1:9'];
    const { service, post } = await callService(t, { verifiedOrigins, outcome: { kind: 'bare' } });
    for (const other of [
      'http://127.0.0.1:10/',
      'https://example.com/',
      'ftp://127.0.0.1:9/',
      'mailto:alice@shop.example',
      'http://127.0.0.1:99999/',
    ]) {
      for (const workflow of ['blackbox-crawl', 'blackbox-assessment']) {
        const input = { language: 'english', target_urls: [TARGET, other] };
        const { status, text } = await post(`/workflows/${workflow}/dispatch`, { input });
        assert.deepEqual([status, /ownership/.test(text)], [403, true], `${other}: ${text}`);
      }
    }
    assert.deepEqual(service.runs(), []);
    await assert.rejects(callService(t, { verifiedOrigins: ['https://example.com'] }), /not a loopback/);
  });
});
