import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FindingFixture, setUpFindings } from '../findingFixture.ts';

const lines = Array.from({ length: 20 }, (_, at) => `statement(${String(at)});`);
const sent = { 'a.js': lines.join('\n') };
const moved = { 'a.js': ['// above', '// above', ...lines].join('\n') };
const onLine = (line: number, title = 'Injection'): object => ({ title, cwe: 89, file: 'a.js', line });

let reports = 0;

/** Another findings file each time. */
function toText(...found: readonly object[]): string {
  reports += 1;
  return JSON.stringify(found.map((each) => ({ severity: 'high', description: String(reports), ...each })));
}

/** Triage states of shown findings, or else their earlier decisions. */
function decisionsIn({ store }: FindingFixture): string[] {
  return store
    .all()
    .map(({ triage, decidedBefore }) =>
      decidedBefore === undefined ? triage.state : `${triage.state}, before ${decidedBefore.state}`,
    );
}

test('F148 of two findings with one title, a decision applies to the one on its line', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], toText(onLine(3), onLine(12)), sent);
  await fixture.store.setTriage(fixture.store.all().slice(0, 1), 'falsePositive', 'a constant');
  await fixture.addRun(['shop'], toText(onLine(3)), sent);
  assert.deepEqual(decisionsIn(fixture), ['falsePositive']);
});

test('F148 a decision applies over several runs, and the latest counts', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], toText(onLine(3)), sent);
  await fixture.store.setTriage(fixture.store.all(), 'falsePositive', 'a constant');
  await fixture.addRun(['shop'], toText(onLine(5)), moved);
  await fixture.addRun(['shop'], toText(onLine(3)), sent);
  assert.deepEqual(decisionsIn(fixture), ['falsePositive']);
  await fixture.store.setTriage(fixture.store.all(), 'confirmed', '');
  await fixture.addRun(['shop'], toText(onLine(5)), moved);
  assert.deepEqual(decisionsIn(fixture), ['confirmed']);
});

test('F148 a finding reopened by the user stays open despite an earlier decision, and that can be undone', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], toText(onLine(3)), sent);
  await fixture.store.setTriage(fixture.store.all(), 'falsePositive', 'a constant');
  await fixture.addRun(['shop'], toText(onLine(3)), sent);
  const takeBack = await fixture.store.setTriage(fixture.store.all(), 'open', '');
  assert.deepEqual(decisionsIn(fixture), ['open']);
  assert.equal(await takeBack(), 0);
  assert.deepEqual(decisionsIn(fixture), ['falsePositive']);
});
