import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { isReported, type RunResult } from '../../../../src/core/findings/result/result.ts';
import { allNamesOf, identityOf, namesOf } from '../../../../src/core/findings/identity.ts';
import {
  entryOf,
  formatLine,
  readBook,
  type TriageEntry,
} from '../../../../src/core/findings/triage/book.ts';
import { inSlices } from '../../../../src/core/yieldingWork.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';
import { type History, startHistory, verdictsIn } from './histories.ts';

/** Each of two folders has three invented vulnerabilities. */
const vulnerabilities = ['a', 'b'].flatMap((folder) =>
  [0, 1, 2].map((at) => ({ folder, code: `sink${String(at)}(${folder}Input);` })),
);
const uploaded = Object.fromEntries(vulnerabilities.map(({ code }, at) => [`f${String(at)}.js`, code]));

/** Runs of these folders report the vulnerability like this. */
function itemOf(at: number, folders?: readonly string[]): object {
  const { code, folder } = vulnerabilities[at] ?? { code: '', folder: '' };
  const location = { file: `f${String(at)}.js`, line: 1, snippet: code };
  return { title: `V${String(at)}`, cwe: 89, ...location, target_index: folders?.indexOf(folder) ?? 0 };
}

const position = fc.nat({ max: 5 });
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add'),
      folders: fc.constantFrom(['a'], ['b'], ['a', 'b']),
      reports: fc.shuffledSubarray([0, 1, 2, 3, 4, 5]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('decide'), at: position }) },
  fc.record({ kind: fc.constantFrom('touch', 'download', 'break', 'repair', 'remove'), at: position }),
);

test('F183 in any history of two windows, no finding gets another name, and every decision holds or is said', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const history = await startHistory(t);
      const reportsOf = new Map<Run, readonly number[]>();
      const names = new Map<string, string>();
      const decided: TriageEntry[] = [];
      const about = new Map<string, number>();
      const broken = new Set<Run>();
      for (const each of steps) {
        const at = 'at' in each ? each.at : 0;
        const run = history.runs[at % Math.max(1, history.runs.length)];
        if ('reports' in each) {
          const reports = each.reports.filter((one) =>
            each.folders.some((name) => name === vulnerabilities[one]?.folder),
          );
          const items = reports.map((one) => itemOf(one, each.folders));
          reportsOf.set(await history.add(each.folders, items, uploaded), reports);
        } else if (run === undefined) continue;
        else if (each.kind === 'break' && !broken.has(run)) {
          broken.add(run);
          await history.setReadable(run, false);
        } else if (each.kind === 'repair' && broken.delete(run)) await history.setReadable(run, true);
        else if (broken.has(run)) continue;
        else if (each.kind === 'touch') await history.touch(run);
        else if (each.kind === 'download') {
          const reports = (reportsOf.get(run) ?? []).toReversed();
          reportsOf.set(run, reports);
          const folders = run.targets.map(({ name }) => name);
          const items = reports.map((one) => itemOf(one, folders));
          await history.download(run, items);
        } else if (each.kind === 'remove' && broken.size === 0) await history.remove(run);
        else if (each.kind === 'decide') {
          const found = (await history.result(run))?.findings[0];
          if (found === undefined) continue;
          const decision = { state: 'falsePositive', note: '', at: decided.length + 1 } as const;
          decided.push({ ...identityOf(found), ...decision, title: '', path: '' });
          about.set(found.finding.title, decided.length);
        }
        const book = await inSlices(readBook(Buffer.from(decided.map(formatLine).join('\n'))));
        for (const other of history.runs.toReversed()) {
          const [result] = await Promise.all([history.result(other), history.result(other)]);
          const all = [...(result?.findings ?? []), ...(result?.absent ?? [])];
          const known = allNamesOf(all);
          for (const found of result?.findings ?? []) {
            const { title } = found.finding;
            const key = `${other.id} ${title}`;
            assert.equal(found.name, names.get(key) ?? found.name, key);
            names.set(key, found.name);
            if (!about.has(title) || broken.size > 0) continue;
            const lost = book.byFingerprint.get(found.fingerprint);
            const isHeld = entryOf(book, found) !== undefined || (lost !== undefined && !known.has(lost));
            assert.ok(
              isHeld || found.possibleNames.some((name) => entryOf(book, { name }) !== undefined),
              `${key} has lost its decision`,
            );
          }
          assert.equal(new Set(all.map(({ name }) => name)).size, all.length, 'each name once');
        }
      }
    }),
    { numRuns: propertyRuns(25, 2_000) },
  );
});

/** Adds a run, and works its result out. */
async function resultOf(history: History, ...run: Parameters<History['add']>): Promise<RunResult> {
  const result = await history.result(await history.add(...run));
  assert.ok(result);
  return result;
}

test('F183 runs of two folders, of one, and of both again name, carry and miss the findings of each folder', async (t) => {
  const history = await startHistory(t);
  const [one, other] = [itemOf(0), itemOf(3, ['a', 'b'])];
  const before = await resultOf(history, ['a', 'b'], [one, other], uploaded);
  await history.add(['a'], [], uploaded);
  const { findings } = await resultOf(history, ['a', 'b'], [other, one], uploaded);
  const seen = findings.map(({ name, verdict }) => `${name} ${String(verdict)}`);
  const [first, second] = before.findings.map(({ name }) => name);
  assert.deepEqual(seen, [`${String(second)} stillPresent`, `${String(first)} foundAgain`]);
});

test('an earlier run that appears is taken into account, also one before a removed run of another folder', async (t) => {
  const history = await startHistory(t);
  await history.add(['a'], [itemOf(0)], uploaded);
  const removed = await history.add(['b'], [itemOf(3)], uploaded);
  const both = await history.add(['a', 'b'], [itemOf(0), itemOf(3, ['a', 'b'])], uploaded);
  const next = await history.add(['a', 'b'], [itemOf(0)], uploaded);
  const verdictsOf = async (run: Run): Promise<unknown> => verdictsIn(await history.result(run));
  assert.deepEqual(await verdictsOf(next), { V0: 'stillPresent', V3: 'fileUnchanged' });
  await history.remove(removed);
  await history.add(['a'], [], uploaded, { createdAt: 1.5 });
  assert.deepEqual(await verdictsOf(both), { V0: 'foundAgain', V3: undefined });
  await history.add(['a', 'b'], [], uploaded, { createdAt: 3.5 });
  assert.deepEqual(await verdictsOf(next), { V0: 'foundAgain', V3: 'fileUnchanged' });
});

test('F139 a name that is only probable counts as reported, but not for decisions', async (t) => {
  const history = await startHistory(t);
  const twin = itemOf(0);
  const one = await resultOf(history, ['a'], [twin, twin], uploaded);
  const two = await resultOf(history, ['a'], [twin], uploaded);
  const three = await resultOf(history, ['a'], [twin, twin], uploaded);
  const [{ name, verdict } = {}] = two.absent;
  assert.deepEqual([name, verdict, two.absent.length], [one.findings[1]?.name, 'fileUnchanged', 1]);
  const verdicts = three.findings.map((each) => each.verdict);
  assert.deepEqual(verdicts, ['stillPresent', 'foundAgain']);
  assert.deepEqual(three.absent, []);
  assert.deepEqual(three.findings[0]?.possibleNames, [two.findings[0]?.name, one.findings[0]?.name]);
  assert.ok(three.findings.every((each) => isReported(each.verdict) && namesOf(each).length > 1));
});

test('beyond 10,000 findings that are not reported, those absent longest go first, and are counted', async (t) => {
  const history = await startHistory(t);
  const many = (from: number, count: number): { title: string }[] =>
    Array.from({ length: count }, (_, at) => ({ title: `T${String(from + at)}`, file: 'f0.js', line: 1 }));
  await history.add(['a'], many(0, 10_000), uploaded);
  await history.add(['a'], many(10_000, 5), uploaded);
  const { absent, head } = await resultOf(history, ['a'], [], uploaded);
  assert.deepEqual([absent.length, head.unlisted], [10_000, 5]);
  const [titles, latest] = [absent.slice(0, 5).map(({ finding }) => finding.title), many(10_000, 5)];
  assert.equal(titles.join(' '), latest.map(({ title }) => title).join(' '));
});

test('an import of unknown origin keeps the names of the import before it, and says nothing else', async (t) => {
  const history = await startHistory(t);
  const item = itemOf(0);
  const origin = { runId: undefined, importedFrom: 'x.sarif', baseUrl: '', organizationId: '' };
  const imported = { state: 'imported', ...origin } as Partial<Run>;
  const run = await resultOf(history, ['a'], [item], uploaded);
  const other = { ...item, title: 'W', snippet: 'other(input);' };
  const first = await resultOf(history, ['a'], [item, other], undefined, imported);
  const next = await resultOf(history, ['a'], [item], undefined, imported);
  assert.notEqual(first.findings[0]?.name, run.findings[0]?.name);
  assert.equal(next.findings[0]?.name, first.findings[0]?.name);
  assert.deepEqual([next.findings[0]?.verdict, next.absent], [undefined, []]);
});

for (const [name, file, damage] of [
  ['a result that is cut off', 'result.json', (text) => text.slice(0, -40)],
  ['a manifest with an empty entry', 'manifest-0.json', () => '{"entries":[null]}'],
] satisfies readonly [string, string, (text: string) => string][])
  test(`F187 ${name} of an earlier run makes no later one unreadable, and changes no name`, async (t) => {
    const history = await startHistory(t);
    const item = itemOf(0);
    const runs = [await history.add(['a'], [item], uploaded), await history.add(['a'], [item], uploaded)];
    const name = (await history.result(runs[1]!))?.findings[0]?.name;
    for (const run of runs) {
      const damaged = join(history.folderOf(run), file);
      await writeFile(damaged, damage(await readFile(damaged, 'utf8')));
      if (file !== 'result.json') await history.touch(run);
    }
    for (const run of [...runs, await history.add(['a'], [item], uploaded)])
      assert.equal((await history.result(run))?.findings[0]?.name, name);
  });
