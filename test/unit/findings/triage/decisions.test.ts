import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setUpFindings } from '../findingFixture.ts';

test('a decision applies to the finding in later runs of its folder, and to no other finding', async (t) => {
  const fixture = await setUpFindings(t, 'shop', 'tool');
  const findings = JSON.stringify([
    { title: 'one', severity: 'high', file: 'a.js', line: 1 },
    { title: 'two', severity: 'high', file: 'a.js', line: 2 },
  ]);
  const sent = { 'a.js': 'one\ntwo\n' };
  await fixture.addRun(['shop'], findings, sent);
  await fixture.addRun(['tool'], findings, sent);
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
  await fixture.addRun(['shop'], findings, sent);
  assert.deepEqual(states(), wanted);
  assert.equal(fixture.store.findByIndex(first.run.id, 0), undefined);
});

/** The triage states by title in the next run after `decide` in the first one. */
async function inTheNextRun(
  t: TestContext,
  first: readonly object[],
  decidedOn: string,
  next: readonly object[],
): Promise<Record<string, string>> {
  const fixture = await setUpFindings(t, 'shop');
  const findings = (items: readonly object[]) =>
    JSON.stringify(items.map((item) => ({ severity: 'critical', cwe: 89, file: 'a.js', ...item })));
  const states = () =>
    Object.fromEntries(
      fixture.store
        .all()
        .map(({ finding: { title }, triage, decidedBefore: before }) => [
          title,
          before === undefined ? triage.state : `${triage.state}, before ${before.state}`,
        ]),
    );
  const run = await fixture.addRun(['shop'], findings(first));
  const about = fixture.store.all().filter(({ finding: { title } }) => title === decidedOn);
  await fixture.store.setTriage(about, 'fixed', '');
  await fixture.addRun(['shop'], findings(next));
  const found = states();
  await fixture.store.show(run);
  assert.equal(states()[decidedOn], 'fixed', 'in its own run it holds');
  return found;
}

for (const [name, first, next, wanted] of [
  [
    'of two that differ only in their titles, the remaining one is not hidden',
    [{ title: 'A' }, { title: 'B' }],
    [{ title: 'B' }],
    { B: 'open' },
  ],
  [
    'of two indistinguishable ones, the remaining one is not hidden',
    [
      { title: 'A', line: 3 },
      { title: 'A', line: 2 },
    ],
    [{ title: 'A', line: 2 }],
    { A: 'open, before fixed' },
  ],
  [
    'one becomes two indistinguishable ones: neither is hidden',
    [{ title: 'A', line: 3 }],
    [
      { title: 'A', line: 3 },
      { title: 'A', line: 2 },
    ],
    { A: 'open' },
  ],
] satisfies readonly [string, readonly object[], readonly object[], Record<string, string>][])
  test(`F109 a decision in the next run: ${name}`, async (t) => {
    assert.deepEqual(await inTheNextRun(t, first, 'A', next), wanted);
  });

test('F148 of two findings with one title and no quote, a decision applies to the one on its line', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const found = (...lines: readonly number[]): string =>
    JSON.stringify(lines.map((line) => ({ title: 'A', cwe: 89, file: 'a.js', line })));
  const sent = { 'a.js': 'code();\n'.repeat(20) };
  await fixture.addRun(['shop'], found(3, 12), sent);
  await fixture.store.setTriage(fixture.store.all().slice(0, 1), 'falsePositive', 'a constant');
  await fixture.addRun(['shop'], found(12, 3), sent);
  assert.deepEqual(
    fixture.store.all().map(({ triage }) => triage.state),
    ['open', 'falsePositive'],
  );
});

test('F109 a decision about a finding without title and quote does not apply to the next such one', async (t) => {
  const sure = ['A', 'B'].map((title) => ({ title, severity: 'low' }));
  const next = await inTheNextRun(t, [{ line: 3 }, ...sure], '', [{ line: 90 }, ...sure]);
  assert.deepEqual(next, { '': 'open', A: 'open', B: 'open' });
});

test('F109 a decision about one of two indistinguishable findings applies to that one in its run', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const findings = [1, 2].map((line) => ({ title: 'A', cwe: 89, file: 'a.js', line }));
  await fixture.addRun(['shop'], JSON.stringify(findings));
  await fixture.store.setTriage(fixture.store.all().slice(1), 'falsePositive', 'escaped');
  await fixture.store.load({ force: true });
  assert.deepEqual(
    fixture.store.all().map(({ triage }) => triage.state),
    ['open', 'falsePositive'],
  );
});

test('a decision is kept when paths are mapped and when files are deleted', async (t) => {
  const fixture = await setUpFindings(t);
  const shop = path.join(fixture.root, 'shop');
  fixture.open.add(shop);
  const findings = [
    { title: 'mapped', file: 'build/gen/lib.js' },
    { title: 'goes', file: './a.js' },
  ];
  await fixture.addRun(['shop'], JSON.stringify(findings));
  await mkdir(path.join(shop, 'app'));
  await writeFile(path.join(shop, 'app', 'lib.js'), 'a\n');
  await fixture.store.setTriage(fixture.store.all(), 'falsePositive', 'because');
  const seen = () => fixture.store.all().map(({ triage, places }) => [triage.state, places.length]);
  assert.deepEqual(seen(), [
    ['falsePositive', 0],
    ['falsePositive', 1],
  ]);
  await fixture.store.mapPaths(shop, 'build/gen', path.join(shop, 'app'));
  assert.deepEqual(seen(), [
    ['falsePositive', 1],
    ['falsePositive', 1],
  ]);
  await rm(path.join(shop, 'a.js'));
  await fixture.store.load({ force: true });
  assert.deepEqual(seen(), [
    ['falsePositive', 1],
    ['falsePositive', 0],
  ]);
});
