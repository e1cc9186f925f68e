import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RunIn } from '../../../../src/core/run/state/run.ts';
import {
  accountHash,
  isReferredTo,
  extensionId,
  readLink,
  readPasted,
  type RunReference,
  toLinkQuery,
} from '../../../../src/editor/runs/runLink.ts';
import { workflowIds } from '../../../../src/core/workflows/workflow.ts';
import { runOf } from '../../run/sampleRuns.ts';

const run = runOf.succeeded as RunIn<'succeeded'>;
const addressOf = (path: string, query: string): string => `vscode://${extensionId}${path}?${query}`;

const finding = `${'0'.repeat(16)}:3`;
const named = { finding, file: '0'.repeat(16), index: '7' };
const reference = { workflow: 'whitebox-assessment', run: run.runId, at: accountHash(run) };

test('F165 a link to a finding names run, findings file and position, and is read back', () => {
  const query = toLinkQuery(run, named);
  assert.deepEqual(readLink('/finding', query), { ...reference, ...named });
  assert.deepEqual(readLink('/run', toLinkQuery(run)), reference);
  for (const bad of [{ file: 'x' }, ...['', 'x', 'x1', '1x', '12345678', '-1'].map((index) => ({ index }))])
    assert.equal(readLink('/finding', toLinkQuery(run, { ...named, ...bad })), undefined);
  const imported = toLinkQuery({ ...runOf.imported, baseUrl: '' }, { finding });
  assert.deepEqual(Object.keys(readLink('/finding', imported) ?? {}), ['workflow', 'run', 'finding']);
});

test('F199 a link is read among other words, in brackets and quotes, in markup, and wrapped', () => {
  const imported = { ...runOf.imported, baseUrl: '' };
  for (const from of [run, imported]) {
    const query = toLinkQuery(from, { ...named, print: `1:${'c'.repeat(32)}` });
    const address = addressOf('/finding', query);
    const whole = readLink('/finding', query);
    assert.ok(whole);
    const lines = (width: number): string =>
      address.replaceAll(new RegExp(`.{${String(width)}}`, 'g'), '$&\r\n');
    const pasted = [
      ...'. , ; : ) ] 。 、 」 ） > ” | &gt; **'.split(' '),
      ...['. See', ' and', '\nFound'],
      ...['を参照', '…', '.\n\n-- \nAda'],
    ].map((after) => address + after);
    const around = [`Weak hash\nRun x\n${address}\nNext`, `[the finding](${address})`, `<${address}>`];
    pasted.push(...around, `「${address}」`);
    pasted.push(address.replaceAll('&', '&amp;'), `${address}\n${addressOf('/run', query)}`);
    if (from === run) pasted.push(...[20, 40, 76].map((width) => `See\n${lines(width)}\nadded by hand`));
    for (const text of pasted) assert.deepEqual(readPasted(text), whole, text);
  }
});

const link = readLink('/run', toLinkQuery(run))!;
const elsewhere = { ...link, at: 'f'.repeat(12) };
for (const [what, here, isIt, referred = link] of [
  ['its run', {}, true],
  ['no run of another service', { baseUrl: 'https://other.example.test/v1' }, false],
  ['no run of another organization', { organizationId: 'another-organization' }, false],
  ['no other run', { runId: 'another' }, false],
  ['no run of another account', {}, false, elsewhere],
  ['the run of any account if it names none', {}, true, { ...link, at: undefined }],
  ['no run of another workflow', {}, false, { ...link, at: undefined, workflow: 'blackbox-crawl' as const }],
  ['the run as it was imported, of any account', { ...runOf.imported, runId: run.runId }, true, elsewhere],
] satisfies readonly [string, object, boolean, RunReference?][])
  test(`F142 a link means ${what}`, () => {
    assert.equal(isReferredTo({ ...run, ...here }, referred), isIt);
  });

test('F142 a forged link, or one of another version or workflow, is not read', () => {
  const query = toLinkQuery(run, { finding });
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
