import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { attackPathOf } from '../../../../src/core/findings/finding.ts';
import { isSample, makeSample } from '../../../../src/core/findings/importExport/sample.ts';
import { leastOf } from '../../../../src/core/findings/location/evidence.ts';
import { acceptanceEnd } from '../../../../src/core/findings/triage/currentDecision.ts';
import { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import { silent } from '../../../silentLog.ts';
import { clock, setUpFindings } from '../findingFixture.ts';

const from = path.join(import.meta.dirname, '../../../../examples/sample');
const english = { from, language: 'english' } as const;

async function openFilled(t: TestContext, source: Parameters<typeof makeSample>[1] = english) {
  const fixture = await setUpFindings(t, 'shop');
  const { root, runs, store: findings, triage } = fixture;
  const folder = path.join(root, 'shop');
  const deps = { runs, findings, triage, clock, log: silent };
  await mkdir(folder);
  await makeSample(folder, source, deps);
  await findings.load();
  return { ...fixture, folder, deps };
}

describe('the sample', () => {
  test('shows verdicts, decisions, an attack path over two files, owners, and evidence', async (t) => {
    const { store, runs } = await openFilled(t);
    const [second, first] = runs.all();
    assert.equal(runs.all().length, 2);
    assert.ok(isSample(first!) && isSample(second!));
    const [shown] = store.shownRuns();
    assert.deepEqual([shown?.run.id, shown?.failure, shown?.changedFiles], [second?.id, undefined, 0]);
    assert.deepEqual(
      Object.fromEntries(
        [...store.all(), ...store.absent()].map(({ finding, verdict }) => [finding.id, verdict]),
      ),
      {
        ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((at) => [`S-${String(at)}`, 'stillPresent'])),
        ...{ 'S-8': 'codeChanged', 'S-9': 'fileUnchanged', 'S-10': 'new', 'S-11': 'new' },
      },
    );
    const decided = store.all().filter(({ triage }) => triage.state !== 'open');
    assert.deepEqual(
      decided.map(({ finding, triage }) => [finding.id, triage.state, acceptanceEnd(triage, Date.now())]),
      [
        ['S-1', 'confirmed', undefined],
        ['S-5', 'acceptedRisk', 'soon'],
        ['S-6', 'falsePositive', undefined],
      ],
    );
    const missing = store.all().find(({ finding }) => finding.id === 'S-10');
    assert.deepEqual(
      attackPathOf(missing!.finding).map(({ path: file, startLine }) => `${file}:${String(startLine)}`),
      ['src/server.js:12', 'src/orders.js:22'],
    );
    assert.deepEqual(missing?.owners, ['@sample-shop/orders']);
    assert.deepEqual(
      Object.groupBy(store.all(), ({ evidence }) => leastOf(evidence)?.kind ?? 'none').quoteNotFound?.map(
        ({ finding }) => finding.id,
      ),
      ['S-11'],
    );
  });

  test('has the same findings in Japanese', async (t) => {
    const { store } = await openFilled(t, { from, language: 'japanese' });
    const all = store.all();
    assert.equal(all.length, 9);
    for (const { finding } of all) assert.match(finding.title, /[ぁ-ヶ一-龠]/);
    assert.equal(all.filter(({ triage }) => triage.state !== 'open').length, 3);
  });

  test('has two runs if two windows make it at the same time', async (t) => {
    const { root, folder, deps, runs } = await openFilled(t);
    const other = new RunStore(path.join(root, 'runs'), { clock, log: silent });
    await Promise.all([
      makeSample(folder, english, deps),
      makeSample(folder, english, { ...deps, runs: other }),
    ]);
    await runs.reload();
    assert.equal(runs.all().length, 2);
  });

  test('starts over: with its files, runs, and decisions as at first', async (t) => {
    const { folder, deps, runs, store } = await openFilled(t);
    const file = path.join(folder, 'src/orders.js');
    const original = await readFile(file, 'utf8');
    await writeFile(file, 'changed');
    await writeFile(path.join(folder, 'added.js'), '');
    const ids = runs.all().map(({ id }) => id);
    await store.setTriage(store.all(), 'falsePositive', 'changed', {});
    await makeSample(folder, english, deps);
    await store.load();
    assert.equal(await readFile(file, 'utf8'), original);
    await assert.rejects(readFile(path.join(folder, 'added.js')), { code: 'ENOENT' });
    assert.deepEqual(
      runs.all().map(({ id }) => ids.includes(id)),
      [false, false],
    );
    assert.deepEqual(
      store.all().flatMap(({ finding, triage }) => (triage.state === 'falsePositive' ? finding.id : [])),
      ['S-6'],
    );
  });

  test('has evidence for the file that was changed between its runs', async (t) => {
    const { store, runs } = await openFilled(t);
    const { shown } = await store.read(runs.all().at(-1)!);
    const logged = shown.find(({ finding }) => finding.id === 'S-8');
    assert.equal(leastOf(logged?.evidence)?.kind, 'quoteFound');
  });
});
