import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { readBundle } from '../../../../src/core/findings/importExport/readContent.ts';
import { toBundle, zipBundle } from '../../../../src/core/findings/importExport/bundle.ts';
import { setUpFindings } from '../findingFixture.ts';

/** The invented SARIF log has one suppressed result and one open one. */
const suppressions = [{ kind: 'external', justification: 'Only in tests.' }];
const results = [
  { message: { text: 'A fixed password.' }, suppressions },
  { message: { text: 'A weak hash.' }, suppressions: [] },
];
const log = JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'T' } }, results }] });

test('F173 what a tool suppressed is an accepted risk, in the tool, until a user decides', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], log);
  const states = () => fixture.store.all().map(({ triage: { state, via } }) => `${state} ${String(via)}`);
  assert.deepEqual(states(), ['acceptedRisk tool', 'open undefined']);
  const [suppressed] = fixture.store.all();
  assert.equal(suppressed?.triage.note, 'Only in tests.');
  await fixture.store.setTriage([suppressed], 'open', '');
  assert.deepEqual(states(), ['open undefined', 'open undefined']);
});

test('F173 a bundle has the decisions of people, and those of a tool only in its findings file', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const run = await fixture.addRun(['shop'], log);
  const { shown } = await fixture.store.read(run);
  const content = await readFile(path.join(fixture.runs.folderOf(run.id), 'findings.json'));
  const files = toBundle({ run, shown }, [{ path: 'findings.json', content }]);
  const bundle = await readBundle(zipBundle(files));
  assert.equal(String(bundle.files.get('triage.jsonl')), '');
});
