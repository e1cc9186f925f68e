import assert from 'node:assert/strict';
import { copyFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThere } from '../../../../src/core/files.ts';
import {
  readResult,
  type ResultSource,
  saveResult,
} from '../../../../src/core/findings/result/readResult.ts';
import { readSaved, writeResult } from '../../../../src/core/findings/result/resultFile.ts';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { identityOf } from '../../../../src/core/findings/identity.ts';
import { formatEntry, parseEntry } from '../../../../src/core/findings/triage/book.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { startHistory } from './histories.ts';
import { type FindingFixture, setUpFindings, toVerdicts, verdictsOf, sourceFor } from '../findingFixture.ts';
import { parseWorker } from '../parse/bundledWorker.ts';

const uploaded = { 'a.js': 'a();\n', 'b.js': 'b();\n' };

/** Each finding is on the first line of the file with its title. */
function listOf(...titles: readonly string[]): string {
  const items = titles.map((title) => ({ title, severity: 'high', cwe: 89, file: `${title}.js`, line: 1 }));
  return JSON.stringify(items);
}

function sourceOf({ runs }: FindingFixture): ResultSource {
  return sourceFor(runs);
}

function resultFileOf({ runs }: FindingFixture, run: Run): string {
  return path.join(runs.folderOf(run.id), 'result.json');
}

function statesOf({ store }: FindingFixture): string[] {
  return store.all().map(({ triage }) => triage.state);
}

test('F175 saved results are shown without a worker, and have all verdicts', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], listOf('a', 'b'), uploaded);
  await fixture.addRun(['shop'], listOf('b'), uploaded);
  const last = await fixture.addRun(['shop'], listOf('a'), uploaded);
  const wanted = { a: 'foundAgain', b: 'fileUnchanged' };
  assert.deepEqual(await verdictsOf(fixture, last), wanted);
  const { shown, absent = [] } = await fixture.reopen('/no/such/worker.cjs').read(last);
  assert.deepEqual(toVerdicts([...shown, ...absent]), wanted);
});

test('F148 a decision about a removed run still applies to the later ones that were paired with it', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const first = await fixture.addRun(['shop'], listOf('a'), uploaded);
  await fixture.store.setTriage(fixture.store.all(), 'falsePositive', 'a constant');
  await fixture.addRun(['shop'], listOf('a'), uploaded);
  await fixture.addRun(['shop'], listOf('a'), uploaded);
  await fixture.runs.remove(first.id);
  await fixture.addRun(['shop'], listOf('a'), uploaded);
  assert.deepEqual(statesOf(fixture), ['falsePositive']);
});

test('F183 a decision about a run that was removed before the next one is said about a finding like it', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const first = await fixture.addRun(['shop'], listOf('a', 'b'), uploaded);
  await fixture.store.setTriage(fixture.store.all().slice(0, 1), 'falsePositive', 'a constant');
  await fixture.runs.remove(first.id);
  await fixture.addRun(['shop'], listOf('b', 'a'), uploaded);
  const seen = fixture.store.all().map(({ triage, decidedBefore }) => [triage.state, decidedBefore?.state]);
  assert.equal(seen.join(), 'open,,open,falsePositive');
});

test('F184 a result or details that are cut off, damaged, of another run or file are made again', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const first = await fixture.addRun(['shop'], listOf('a'), uploaded);
  const last = await fixture.addRun(['shop'], listOf('a'), uploaded);
  const file = resultFileOf(fixture, last);
  const details = path.join(path.dirname(file), 'details.jsonl');
  const whole = await readFile(file, 'utf8');
  const wholeDetails = await readFile(details, 'utf8');
  const change = (name: string, from: string | RegExp, to: string) => async (): Promise<void> =>
    writeFile(name, (await readFile(name, 'utf8')).replace(from, to));
  for (const damage of [
    () => rm(file),
    () => truncate(file, whole.length - 20),
    () => writeFile(file, ''),
    change(file, '"severity":"high"', '"severity":"none"'),
    change(file, '"skipped":[]', '"skipped":0'),
    () => copyFile(resultFileOf(fixture, first), file),
    () => rm(details),
    () => truncate(details, 20),
    () => truncate(details, wholeDetails.indexOf('\n') + 1),
    change(details, '"blocks":[]', '"blocks":0'),
    change(details, /"file":"\w+"/u, '"file":"0123456789abcdef"'),
  ]) {
    await damage();
    const { shown } = await fixture.reopen(parseWorker).read(last);
    assert.deepEqual(toVerdicts(shown), { a: 'stillPresent' });
    assert.equal(await readFile(file, 'utf8'), whole, 'with the same names');
    await fixture.store.withDetails(shown);
    assert.equal(await readFile(details, 'utf8'), wholeDetails);
  }
});

test('F184 a result that is too large is saved with fewer locations for its findings, which say so', async (t) => {
  const history = await startHistory(t);
  const locations = Array.from({ length: 20 }, (_, at) => ({ file: 'a.js', line: at + 1 }));
  const found = [locations, locations.slice(0, 1)].map((some) => ({ title: 'A', locations: some }));
  const run = await history.add(['shop'], found, uploaded);
  const result = await history.result(run);
  const [many, one] = result?.findings ?? [];
  assert.ok(result && many && one);
  for (const [at, length] of [10, 6_000, 20_000].entries()) {
    const wanted = [20, 10, 2][at]!;
    const label = 'x'.repeat(length);
    const locations = many.finding.locations.map((each) => ({ ...each, label }));
    const findings = Array.from({ length: 200 }, () => ({
      ...many,
      finding: { ...many.finding, locations },
    }));
    const head = { ...result.head, counts: { findings: 201, absent: 0 } };
    await writeResult(history.folderOf(run), { head, findings: [...findings, one], absent: [] });
    const saved = (await readSaved(history.folderOf(run)))?.findings ?? [];
    const clipped = wanted < 20 ? 'clipped' : undefined;
    for (const at of [0, 199])
      assert.deepEqual(
        [saved[at]?.finding.locations.length, saved[at]?.uploaded.length, saved[at]?.finding.shortfall],
        [wanted, wanted, clipped],
      );
    assert.deepEqual([saved.length, saved[200]?.finding.locations.length], [201, 1]);
  }
});

test('F184 a result of an earlier format gives its names, and one of a later format is left alone', async (t) => {
  const history = await startHistory(t);
  const item = { title: 'V', cwe: 89, file: 'a.js', line: 1 };
  const first = await history.add(['shop'], [item], uploaded);
  const last = await history.add(['shop'], [item], uploaded);
  const name = (await history.result(last))?.findings[0]?.name;
  await history.remove(first);
  const file = path.join(history.folderOf(last), 'result.json');
  const saved = await readFile(file, 'utf8');
  const resultWithFormat = async (format: number) => {
    await writeFile(file, saved.replace(/"format":\d+/u, `"format":${String(format)}`));
    return [await history.result(last), await readFile(file, 'utf8')] as const;
  };
  const [former, now] = await resultWithFormat(1);
  assert.ok(name !== undefined && name === former?.findings[0]?.name && /"format":(?!1,)/u.test(now));
  const [own, later] = await resultWithFormat(999);
  assert.deepEqual([own?.findings.length, later], [1, saved.replace(/"format":\d+/u, '"format":999')]);
});

test('F184 a result that no disk takes is kept in memory', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await fixture.storeRun(['shop'], listOf('a'), uploaded);
  const file = resultFileOf(fixture, run);
  await rm(file);
  await mkdir(path.join(file, 'in the way'), { recursive: true });
  const source = sourceOf(fixture);
  const titlesFrom = async (workerFile: string): Promise<string[]> => {
    const { findings } = await readResult(run, { ...source, workerFile });
    return findings.map(({ finding }) => finding.title);
  };
  assert.deepEqual(await titlesFrom(parseWorker), ['a']);
  assert.deepEqual(await titlesFrom('/no/such/worker.cjs'), ['a']);
});

test('findings have a summary, and their details are read when somebody looks', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const texts = { description: 'd'.repeat(5_000), impact: 'All rows can be read.' };
  const reported = [{ title: 'a', file: 'a.js', line: 1, ...texts }];
  const check = async ([shown]: readonly ShownFinding[]): Promise<void> => {
    assert.ok(shown);
    assert.equal(shown.finding.summary, 'd'.repeat(120));
    const [{ details }] = await fixture.store.withDetails([shown]);
    assert.deepEqual(
      [details.description, details.blocks.map(({ text }) => text), await fixture.store.itemOf(shown)],
      [texts.description, [texts.impact], JSON.stringify(reported[0])],
    );
  };
  await fixture.addRun(['shop'], JSON.stringify(reported), uploaded);
  await check(fixture.store.all());
  await fixture.addRun(['shop'], '[]', uploaded);
  await check(fixture.store.absent());
  for (const name of ['findings.json', 'details.jsonl'])
    await rm(path.join(fixture.runs.folderOf('run-1'), name));
  const [absent] = fixture.store.absent();
  assert.ok(absent);
  await assert.rejects(fixture.store.withDetails([absent]), { kind: 'storage' });
  await writeFile(path.join(fixture.runs.folderOf('run-1'), 'findings.json'), listOf('other'));
  assert.equal(await fixture.store.itemOf(absent), undefined, 'the item of another file');
  await fixture.store.load();
  const withoutWorker = fixture.reopen('/no/such/worker.cjs');
  const [{ details }] = await withoutWorker.withDetails([absent]);
  assert.equal(details.description, absent.finding.summary, 'no worker reads another file for them');
});

test('a comparison with a chosen run is not saved, and decisions follow the saved result', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const [first, second] = [
    await fixture.addRun(['shop'], listOf('b'), uploaded),
    await fixture.addRun(['shop'], listOf('a'), uploaded),
  ];
  await fixture.store.setTriage(fixture.store.all(), 'falsePositive', 'a constant');
  const last = await fixture.addRun(['shop'], listOf('a'), uploaded);
  const saved = await readFile(resultFileOf(fixture, last), 'utf8');
  await fixture.store.showComparison(last, first);
  assert.deepEqual([toVerdicts(fixture.store.all()), statesOf(fixture)], [{ a: 'new' }, ['falsePositive']]);
  assert.equal(await readFile(resultFileOf(fixture, last), 'utf8'), saved);
  await fixture.store.showComparison(last, second);
  assert.deepEqual(toVerdicts(fixture.store.all()), { a: 'stillPresent' });
});

test('working out a result ends with the reason of the signal', async (t) => {
  const fixture = await setUpFindings(t);
  const run = await fixture.storeRun(['shop'], listOf('a'));
  const reason = new DOMException('closed', 'AbortError');
  const ended = new AbortController();
  const saving = saveResult(run, sourceOf(fixture), ended.signal);
  ended.abort(reason);
  await assert.rejects(saving, (error) => error === reason);
});

test('F203 saving a result fails where it may succeed later, and not where it never can', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const save = (run: Run, changes: Partial<ResultSource> = {}): Promise<void> =>
    saveResult(run, { ...sourceOf(fixture), ...changes });
  const whole = await fixture.addRun(['shop'], listOf('a'));
  await assert.rejects(save(whole, { workerFile: '/no/such/worker.cjs' }), { kind: 'workerCrashed' });
  await rm(resultFileOf(fixture, whole));
  await mkdir(resultFileOf(fixture, whole));
  await assert.rejects(save(whole), { kind: 'storage' });
  const malformed = await fixture.storeRun(['shop'], '[');
  await save(malformed);
  await truncate(path.join(fixture.runs.folderOf(malformed.id), 'findings.json'), 2 ** 40);
  await save(malformed);
});

test('a run that is removed at any moment while it is worked out does not come back', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}.js`, 'a();\n']));
  const found = listOf(...Object.keys(files).map((name) => name.slice(0, -3)));
  for (let moment = 0; moment < 6; moment += 1) {
    const run = await fixture.addRun(['shop'], found, files);
    const working = saveResult(run, sourceOf(fixture)).catch(() => undefined);
    await sleep(40 * moment);
    await fixture.runs.remove(run.id);
    await working;
    assert.ok(!(await isThere(fixture.runs.folderOf(run.id))), `${40 * moment} ms`);
  }
});

test('F165 a decision and a link find the finding on a machine that does not know what was uploaded', async (t) => {
  const found = listOf('sandbox/src/a', 'sandbox/src/b');
  const [uploaded, tracked, other] = [
    await setUpFindings(t, 'shop'),
    await setUpFindings(t, 'shop'),
    await setUpFindings(t, 'shop'),
  ];
  await uploaded.addRun(['shop'], found, { 'src/a.js': 'a();\n', 'src/b.js': 'b();\n' });
  await tracked.addRun(['shop'], found);
  await other.addRun(['shop'], `${found}\n`);
  const [[here], [there]] = [uploaded.store.all(), tracked.store.all()];
  assert.ok(here && there);
  assert.notEqual(here.fingerprint, there.fingerprint);
  assert.equal(there.name, here.name, 'what a link names');
  // The file of a shared decision has this.
  const decision = { state: 'falsePositive', note: 'a constant', at: 1 } as const;
  const entry = parseEntry(formatEntry({ ...decision, ...identityOf(here), title: '', path: '' }));
  assert.ok(entry);
  for (const { store, triage, root } of [tracked, other]) {
    await triage.set([{ ...entry, folder: path.join(root, 'shop') }], entry.state, entry.note);
    await store.load();
  }
  assert.deepEqual(statesOf(tracked), ['falsePositive', 'open']);
  assert.deepEqual(statesOf(other), ['open', 'open'], 'another findings file');
});
