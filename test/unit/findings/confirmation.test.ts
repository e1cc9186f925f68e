import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { readConfirmations, resultOf, toConfirmInput } from '../../../src/core/findings/confirmation.ts';
import { readResult } from '../../../src/core/findings/result/readResult.ts';
import { getFinding } from '../../../src/core/findings/agents/toolAnswers.ts';
import { isUnsent, type Run, runIdOf } from '../../../src/core/run/state/run.ts';
import { blackboxAssessment } from '../../../src/core/workflows/blackboxAssessment.ts';
import { setUpFindings, type FindingFixture, sourceFor } from './findingFixture.ts';
import { invent } from './shownFindings.ts';
import { runOf } from '../run/sampleRuns.ts';

const pair = { feature_name: 'Search', perspective: 'XSS' } as const;
const input = { target_urls: ['https://shop.example/'], pairs: [pair] };
const url = 'https://shop.example/s';
const reflected = { title: 'Reflected', severity: 'high', ...pair, method: 'GET', url };

test('the result after testing a pair claims no more than its run reports', () => {
  const { succeeded, running, failed } = runOf;
  const found = [invent().finding];
  for (const [run, findings, state, result] of [
    [running, undefined, 'unknown', 'pending'],
    [failed, undefined, 'unknown', isUnsent(failed) ? 'notTested' : 'unknown'],
    [succeeded, found, 'tested', 'found'],
    [{ ...succeeded, isSame: true }, found, 'tested', 'same'],
    [{ ...succeeded, isSame: false }, found, 'tested', 'other'],
    [succeeded, [], 'tested', 'nothing'],
    [succeeded, undefined, 'tested', 'unknown'],
    [succeeded, [], 'notApplicable', 'notApplicable'],
    [succeeded, [], 'notTested', 'notTested'],
    [succeeded, [], 'unknown', 'unknown'],
  ] as const)
    assert.equal(resultOf(run, findings, state), result);
});

/** Stores an ended run that tried one pair for the finding `1:print`. */
async function addTried(fixture: FindingFixture, findings: unknown, progress: unknown, rest: object = {}) {
  const run = await fixture.addRun(['shop'], JSON.stringify(findings));
  const there = path.join(fixture.runs.folderOf(run.id), 'scan_progress.json');
  await writeFile(there, JSON.stringify(progress));
  const artifacts = ['findings', 'scan_progress'].map((name) => ({ name, file: `${name}.json` }));
  const tried = { workflow: 'blackbox-assessment', confirms: '1:print', input, artifacts, ...rest };
  return fixture.runs.create({ ...run, ...tried } as Run);
}

test('runs that tested the pair of a finding count for this pair only, latest first', async (t) => {
  const fixture = await setUpFindings(t);
  const results = sourceFor(fixture.runs);
  const source = { ...results, read: (run: Run) => readResult(run, results) };
  const completed = { completed: [pair], skipped: [] };
  await addTried(fixture, [], { completed: [], skipped: [pair] });
  await addTried(fixture, [], completed);
  const lost = await addTried(fixture, [], completed);
  await rm(path.join(fixture.runs.folderOf(lost.id), 'findings.json'));
  await addTried(fixture, 'no list', completed);
  const last = await addTried(fixture, [{ ...reflected, perspective: 'Cross-Site Scripting' }], completed);
  await addTried(fixture, [reflected], completed, { confirms: '1:other' });
  const confirmations = await readConfirmations('1:print', source);
  assert.deepEqual(
    confirmations.map(({ feature, perspective, result }) => [feature, perspective, result]),
    ['found', 'unknown', 'unknown', 'nothing', 'notApplicable'].map((result) => ['Search', 'XSS', result]),
  );
  assert.equal(confirmations[0]?.found[0]?.finding.title, 'Reflected');

  await fixture.runs.apply(last.id, { type: 'answeredIsSame', isSame: true, at: 9 });
  const [answered] = await readConfirmations('1:print', source);
  assert.equal(answered?.result, 'same');
  const { confirmLive } = getFinding(invent(), [answered]) as { confirmLive: Record<string, unknown>[] };
  assert.match(String(confirmLive[0]?.['result']), /the user says that it is the same$/);
});

test('one pair is tested again within 10 and 5 credits, otherwise with the input of the run', () => {
  const asked = {
    target_urls: ['https://shop.example/'],
    oos_urls: ['https://shop.example/logout'],
    authentication: { credentials: [{ id: 'alice', role: 'buyer' }] },
    credit_limit: 500,
    additional_instructions: 'Start from the catalogue.',
  };
  const crawl: Run = { ...runOf.succeeded, workflow: 'blackbox-crawl', input: asked };
  const confirming = toConfirmInput(crawl, 'Search', 'XSS');
  assert.ok(confirming);
  assert.deepEqual(confirming, {
    target_urls: asked.target_urls,
    oos_urls: asked.oos_urls,
    authentication: asked.authentication,
    scan_credit_limit: 10,
    crawl_credit_limit: 5,
    resume: {
      kind: 'assess_crawled_features',
      assess_crawled_features: { workflow_id: 'blackbox-crawl', workflow_run_id: runIdOf(crawl) },
    },
    pairs: [pair],
  });
  const body = blackboxAssessment.toRequest({ ...crawl, input: confirming }, ['']);
  assert.ok(blackboxAssessment.request.safeParse(body).success);
  assert.ok(!JSON.stringify(body).includes('confirms'), 'the service never learns which finding is meant');
  assert.equal(toConfirmInput(runOf.succeeded, 'Search', 'XSS'), undefined);
});
