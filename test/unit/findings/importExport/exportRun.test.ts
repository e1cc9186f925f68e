import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { ExportRequest } from '../../../../src/core/findings/importExport/exportRun.ts';
import { makeExport } from '../../../../src/core/findings/result/readResult.ts';
import type { ShownRun } from '../../../../src/core/findings/shownFinding.ts';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';
import { importOf, textOf } from './bundles.ts';
import { tool } from './exportingFindings.ts';

const sources = path.join(import.meta.dirname, '../../../../src');
const secretWorkerFile = path.join(sources, 'core/upload/secrets/secretWorker.ts');
const secret = ['AKIA', 'QWERTYUIOPASDFGH'].join('');
const textsOf = (title: string) => ({
  description: `${title}: ${'d'.repeat(2_000)}`,
  recommendation: `${title}: bind parameters.`,
  impact: `${title}: orders leak.`,
});
const found = (title: string): string =>
  JSON.stringify([{ title, file: 'sandbox/src/a.js', line: 1, ...textsOf(title), evidence: secret }]);
const uploaded = { 'src/a.js': 'one\ntwo\n' };

type Form = ExportRequest['form'];

/** The last of two runs does not report what the first does. */
async function setUp(t: Parameters<typeof setUpFindings>[0]) {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], found('Earlier'), uploaded);
  const run = await fixture.addRun(['shop'], found('Later'), uploaded);
  return { fixture, run, source: await fixture.store.read(run) };
}

async function exported(source: ShownRun, form: Form, { runs }: FindingFixture): Promise<Uint8Array> {
  const request = { source, form, tool, secretWorkerFile };
  return (await makeExport(request, { runs, workerFile: parseWorker })).content;
}

test('an export has the details of findings, also of those that only an earlier run reports', async (t) => {
  const { fixture, source } = await setUp(t);
  const { shown, absent = [] } = source;
  const folder = path.join(fixture.root, 'shop');
  const repository = { root: folder, folders: [{ folder, name: 'shop', path: '' }] };
  const forms: readonly (readonly [Form, readonly (keyof ReturnType<typeof textsOf>)[]])[] = [
    [{ kind: 'sarif' }, ['description', 'recommendation', 'impact']],
    [{ kind: 'csv' }, ['description', 'recommendation']],
    [{ kind: 'codeScanning', listed: [...shown, ...absent], repository }, ['description']],
  ];
  for (const [form, names] of forms) {
    const content = new TextDecoder().decode(await exported(source, form, fixture));
    const missing = ['Later', 'Earlier']
      .flatMap((title) => names.map((name) => textsOf(title)[name]))
      .filter((text) => !content.includes(text));
    assert.deepEqual([missing, content.includes(secret)], [[], false], form.kind);
    // The path is as it was uploaded, not as it was reported.
    if (form.kind !== 'csv') assert.equal(content.match(/"uri": "src\/a\.js"/g)?.length, 3, form.kind);
  }
});

test('an offline bundle has the findings as received, and the decisions with masked notes', async (t) => {
  const { fixture, source } = await setUp(t);
  const triage = { state: 'acceptedRisk', note: `known: ${secret}`, at: 7 } as const;
  const decided = { ...source, shown: source.shown.map((shown) => ({ ...shown, triage })) };
  const read = await importOf(Buffer.from(await exported(decided, { kind: 'bundle' }, fixture)));
  assert.equal(textOf(read, 'findings.json'), found('Later'));
  assert.deepEqual([...read.files.keys()], ['findings.json', 'manifest-0.json']);
  const decisions = read.decisions.map(({ index, note }) => [index, note.includes('known: AKIA…')]);
  assert.deepEqual(decisions, [[0, true]]);
});

test('a bundle says why a file of its run cannot be read', async (t) => {
  const { fixture, run, source } = await setUp(t);
  await rm(path.join(fixture.runs.folderOf(run.id), 'findings.json'));
  await assert.rejects(exported(source, { kind: 'bundle' }, fixture), { kind: 'storage' });
});
