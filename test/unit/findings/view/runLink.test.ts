import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Run, RunIn } from '../../../../src/core/run/state/run.ts';
import {
  accountHash,
  isReferredTo,
  extensionId,
  readLink,
  readPasted,
  toLinkQuery,
} from '../../../../src/editor/runs/runLink.ts';
import { workflowIds } from '../../../../src/core/workflows/workflow.ts';
import { runOf } from '../../run/sampleRuns.ts';

const run = runOf.succeeded as RunIn<'succeeded'>;
const addressOf = (path: string, query: string): string => `vscode://${extensionId}${path}?${query}`;

test('a link to a finding or a run is read back, also within other text', () => {
  const query = toLinkQuery(run, { finding: '1:abcdef' });
  const reference = readLink('/finding', query);
  assert.deepEqual(reference, {
    ...{ workflow: 'whitebox-assessment', run: run.runId, finding: '1:abcdef', at: accountHash(run) },
  });
  assert.deepEqual(readPasted(`Weak hash\nRun x\n${addressOf('/finding', query)}\n`), reference);
  assert.equal(isReferredTo(run, reference), true);
  assert.deepEqual({ ...readLink('/run', toLinkQuery(run)), finding: '1:abcdef' }, reference);
});

test('a link to an imported run names no account, and is read back', () => {
  const query = toLinkQuery({ ...runOf.imported, baseUrl: '' }, { finding: '1:abcdef' });
  assert.deepEqual(Object.keys(readLink('/finding', query) ?? {}), ['workflow', 'run', 'finding']);
});

test('F142 a link for another service or organization matches no local run', () => {
  const reference = readLink('/run', toLinkQuery(run))!;
  const others: Partial<Run>[] = [
    { baseUrl: 'https://other.example.test/v1' },
    { organizationId: 'another-organization' },
    { runId: 'another' },
  ];
  for (const other of others) assert.equal(isReferredTo({ ...run, ...other } as Run, reference), false);
  assert.equal(
    isReferredTo({ ...run, baseUrl: 'https://other.example.test' }, { ...reference, at: 'f'.repeat(12) }),
    false,
  );
});

test('a link without an account means the run on any account, and of its workflow only', () => {
  const reference = { ...readLink('/run', toLinkQuery(run))!, at: undefined };
  assert.equal(isReferredTo(run, reference), true);
  assert.equal(isReferredTo(run, { ...reference, workflow: 'blackbox-crawl' }), false);
  const imported = { ...runOf.imported, runId: run.runId } as Run;
  assert.equal(isReferredTo(imported, { ...reference, at: 'f'.repeat(12) }), true);
});

test('F165 a link to a finding names its findings file, and the position in it', () => {
  const named = { finding: '1:abcdef', file: '0'.repeat(16), index: '7' };
  const { finding, file, index } = readLink('/finding', toLinkQuery(run, named)) ?? {};
  assert.deepEqual({ finding, file, index }, named);
  assert.equal(readLink('/finding', toLinkQuery(run, { ...named, file: 'x' })), undefined);
});

test('a link to one of several findings with the same fingerprint has its position', () => {
  const query = (index: string): string => toLinkQuery(run, { finding: '1:abcdef', index });
  assert.equal(readLink('/finding', query('1234567'))?.index, '1234567');
  for (const index of ['', 'x', 'x1', '1x', '12345678', '-1'])
    assert.equal(readLink('/finding', query(index)), undefined, index);
});

test('F142 a forged link, or one of another version or workflow, is not read', () => {
  const query = toLinkQuery(run, { finding: '1:abcdef' });
  const bad: readonly (readonly [path: string, query: string])[] = [
    ['/finding', query.replace('v=1', 'v=2')],
    ['/finding', query.replace('v=1', '')],
    ['/finding', query.replace('whitebox-assessment', 'delete-everything')],
    ['/finding', toLinkQuery(run)],
    ['/start', query],
    ['/run/../start', query],
    ['/run', ''],
    ['/run', `v=1&workflow=whitebox-assessment&run=${'x'.repeat(257)}`],
    ...['../../x', `${'a'.repeat(12)}x`, `x${'a'.repeat(12)}`].map(
      (at) => ['/run', `v=1&workflow=whitebox-assessment&run=x&at=${at}`] as const,
    ),
  ];
  for (const [path, text] of bad) {
    assert.equal(readLink(path, text), undefined, `${path}?${text}`);
    assert.equal(readPasted(addressOf(path, text)), undefined);
  }
});

test('F142 from a pasted webhook body only the run is read', () => {
  const data = { workflow_id: 'whitebox-assessment', workflow_run_id: 'run-7' };
  const event = { type: 'x', timestamp: 'y', data, base_url: 'https://hostile.example.test', at: 'f' };
  const reference = { workflow: 'whitebox-assessment', run: 'run-7' };
  assert.deepEqual(readPasted(JSON.stringify(event, null, 2)), reference);
  const forged = [
    { data: { ...data, workflow_id: 'other' } },
    { data: { ...data, workflow_run_id: 7 } },
    { data: { ...data, workflow_run_id: '' } },
    data,
    [event],
    null,
  ];
  for (const each of forged) assert.equal(readPasted(JSON.stringify(each)), undefined);
  assert.equal(readPasted(JSON.stringify({ data, more: 'x'.repeat(100_000) })), undefined);
});

test('F142 any text gives a run of a known workflow or nothing, without an error', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.tuple(fc.webPath(), fc.webQueryParameters()).map(([path, query]) => addressOf(path, query)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const reference = readPasted(text);
      assert.ok(reference === undefined || workflowIds.includes(reference.workflow));
    }),
  );
});
