import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { identityOf } from '../../../../src/core/findings/identity.ts';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { formatEntry } from '../../../../src/core/findings/triage/book.ts';
import { finding, setUpFindings } from '../findingFixture.ts';

test('a decision applies to the finding in later runs of its folder, and to no other finding', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'tool');
  const findings = JSON.stringify([
    { title: 'one', severity: 'high', file: 'a.js', line: 1 },
    { title: 'two', severity: 'high', file: 'a.js', line: 2 },
  ]);
  const uploaded = { 'a.js': 'one\ntwo\n' };
  await fixture.addRun(['shop'], findings, uploaded);
  await fixture.addRun(['tool'], findings, uploaded);
  const [first] = fixture.store.all().filter(({ run }) => run.targets[0]?.name === 'shop');
  assert.ok(first);
  await fixture.store.setTriage([first], 'falsePositive', 'escaped by the driver');
  const states = () =>
    Object.fromEntries(
      fixture.store
        .all()
        .map(({ run, finding, triage }) => [`${run.targets[0]?.name ?? ''} ${finding.title}`, triage.state]),
    );
  const wanted = { 'shop one': 'falsePositive', 'shop two': 'open', 'tool one': 'open', 'tool two': 'open' };
  assert.deepEqual(states(), wanted);
  await fixture.addRun(['shop'], findings, uploaded);
  assert.deepEqual(states(), wanted);
  assert.equal(fixture.store.find(first.run.id, first.name), undefined);
});

const first = { title: 'A', line: 3 };
const second = { title: 'A', line: 2 };
const sure = ['A', 'B'].map((title) => ({ title, severity: 'low' }));
for (const [name, decidedOn, before, next, wanted] of [
  ['two differ in titles: the other', 'A', [{ title: 'A' }, { title: 'B' }], [{ title: 'B' }], ['B: open']],
  ['two are indistinguishable: the remaining one', 'A', [first, second], [second], ['A: open before fixed']],
  ['one becomes two alike: neither', 'A', [first], [first, second], ['A: open before fixed', 'A: open']],
  [
    'no title, no quote: the next such one',
    '',
    [{ line: 3 }, ...sure],
    [{ line: 90 }, ...sure],
    [': open', 'A: open', 'B: open'],
  ],
] as const)
  test(`F109 a decision does not hide in the next run, of ${name}`, async (t) => {
    const fixture = await setUpFindings(t, 'shop');
    const { store } = fixture;
    const findings = (items: readonly object[]) =>
      JSON.stringify(items.map((item) => ({ severity: 'critical', cwe: 89, file: 'a.js', ...item })));
    const stateOf = ({ finding: { title }, triage, decidedBefore }: ShownFinding): string =>
      `${title}: ${[triage, decidedBefore].flatMap((each) => each?.state ?? []).join(' before ')}`;
    const states = () => store.all().map(stateOf);
    const run = await fixture.addRun(['shop'], findings(before));
    const about = store.all().filter(({ finding: { title } }) => title === decidedOn);
    await store.setTriage(about, 'fixed', '');
    await fixture.addRun(['shop'], findings(next));
    assert.deepEqual(states(), wanted);
    await store.show(run);
    assert.ok(states().includes(`${decidedOn}: fixed`), 'in its own run it holds');
  });

test('F109 F148 a decision about one of two alike applies to that one in its run, and to the one on its line later', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store } = fixture;
  const found = (...lines: readonly number[]): string =>
    JSON.stringify(lines.map((line) => ({ title: 'A', cwe: 89, file: 'a.js', line })));
  const states = () => store.all().map(({ triage }) => triage.state);
  const uploaded = { 'a.js': 'code();\n'.repeat(20) };
  await fixture.addRun(['shop'], found(3, 12), uploaded);
  await store.setTriage(store.all().slice(0, 1), 'falsePositive', 'a constant');
  await store.load();
  assert.deepEqual(states(), ['falsePositive', 'open']);
  await fixture.addRun(['shop'], found(12, 3), uploaded);
  assert.deepEqual(states(), ['open', 'falsePositive']);
});

test('F206 a shared decision is about the finding of the last record, shown or not, and else cannot be accepted', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { store, triage, root, runs } = fixture;
  const shop = path.join(root, 'shop');
  const uploaded = { 'a.js': 'one\ntwo\n' };
  const before = await fixture.addRun(['shop'], finding('hole'), uploaded);
  const [hole] = store.all();
  assert.ok(hole);
  const latest = await fixture.addRun(['shop'], '[]', uploaded);
  fixture.shared.add(shop);
  await store.setTriage([hole], 'confirmed', 'mine');
  const claimed = { title: 'harmless', path: 'docs/x.md', state: 'falsePositive', note: '' } as const;
  const at = Date.now() + 1;
  const text = formatEntry({ ...identityOf(hole), ...claimed, at });
  await writeFile(path.join(shop, 'shared', 'theirs.json'), text);
  await triage.reload();
  const rows = async () => store.sharedDecisions(await store.latestFindings()).get(shop) ?? [];
  const titlesIn = (decisions = store.sharedDecisions().get(shop)) =>
    decisions?.map(({ about }) => about?.finding.title);
  assert.deepEqual([titlesIn(), titlesIn(await rows())], [['hole'], ['hole']], 'it is not found again');
  await store.clear();
  assert.deepEqual([titlesIn(), titlesIn(await rows())], [[undefined], ['hole']], 'it is not shown');
  for (const { id } of [before, latest]) await rm(path.join(runs.folderOf(id), 'result.json'));
  const unmatched = await rows();
  assert.deepEqual(titlesIn(unmatched), [undefined]);
  await triage.accept(shop, unmatched);
  await store.show(before);
  const states = () => store.all().map((each) => each.triage.state);
  assert.deepEqual(states(), ['confirmed']);
  await triage.accept(shop, await rows());
  assert.deepEqual(states(), ['falsePositive']);
});

test('a decision is kept when paths are mapped and when files are deleted', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const { root, store } = fixture;
  const shop = path.join(root, 'shop');
  const files = ['build/gen/lib.js', './a.js'];
  await fixture.addRun(['shop'], JSON.stringify(files.map((file) => ({ title: `In ${file}`, file }))));
  await mkdir(path.join(shop, 'app'));
  await writeFile(path.join(shop, 'app', 'lib.js'), 'a\n');
  await store.setTriage(store.all(), 'falsePositive', 'because');
  const locations = (): readonly number[] => {
    assert.ok(store.all().every(({ triage }) => triage.state === 'falsePositive'));
    return store.all().map((shown) => shown.locations.length);
  };
  assert.deepEqual(locations(), [0, 1]);
  await store.mapPaths(shop, 'build/gen', path.join(shop, 'app'));
  assert.deepEqual(locations(), [1, 1]);
  await rm(path.join(shop, 'a.js'));
  await store.forgetMappings(shop);
  assert.deepEqual(locations(), [0, 0]);
});
