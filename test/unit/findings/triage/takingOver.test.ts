import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { undecidedBy } from '../../../../src/core/findings/importExport/importFile.ts';
import { readDecisions } from '../../../../src/core/findings/importExport/readContent.ts';
import { setUpFindings } from '../findingFixture.ts';

test('decisions with notes are taken over at once, with their times', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const findings = Array.from({ length: 50 }, (_, at) => ({ title: `finding ${at}`, file: 'a.js', line: 2 }));
  await fixture.addRun(['shop'], JSON.stringify(findings));
  const times = [...findings.keys()].map((at) => Date.UTC(2020, 0, 1) + at);
  const decisions = readDecisions([
    ...times.map((at, index) => ({ index, state: 'falsePositive', note: `note ${index}`, at })),
    { index: 0, state: 'confirmed', note: '', at: 1e300 },
  ]);
  let heard = 0;
  fixture.triage.onDidChange(() => {
    heard += 1;
  });
  const { byFolder, count } = undecidedBy(decisions, fixture.store.all());
  assert.equal(count, 50);
  await fixture.triage.importDecisions(byFolder);
  assert.equal(heard, 1);
  assert.deepEqual(
    fixture.store.all().map(({ triage: { state, note, at } }) => [state, note, at]),
    times.map((at, index) => ['falsePositive', `note ${index}`, at]),
  );
});

test('a folder that reappears is polled like its files', async (t) => {
  const fixture = await setUpFindings(t);
  const shop = path.join(fixture.root, 'shop');
  fixture.open.add(shop);
  await fixture.addRun(['shop'], JSON.stringify([{ title: 'x', file: 'lib/deep/x.js', line: 1 }]));
  const file = path.join(shop, 'lib/deep/x.js');
  const places = () => fixture.store.all()[0]?.places.length;
  for (const name of ['lib', 'lib/deep', 'lib/deep/x.js']) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, 'x\n');
    await fixture.store.rePlace(new Set(), new Set([path.join(shop, 'other')]));
    assert.equal(places(), 0);
    await fixture.store.rePlace(new Set(), new Set([path.join(shop, name)]));
    assert.equal(places(), 1, name);
    await rm(path.join(shop, 'lib'), { recursive: true });
    await fixture.store.load({ force: true });
  }
});
