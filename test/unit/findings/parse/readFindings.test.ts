import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { maxFindingsBytes } from '../../../../src/core/findings/parse/parseFindings.ts';
import { type ResultSource, readResult } from '../../../../src/core/findings/result/readResult.ts';
import { pausesWhile } from '../../core/cpuTime.ts';
import { type Scope, tempFolder } from '../../run/tempFolder.ts';
import { finding, setUpFindings, sourceFor } from '../findingFixture.ts';
import { parseWorker } from './bundledWorker.ts';
import { shopRun } from '../importExport/exportingFindings.ts';

const isTooLarge = { kind: 'findingsTooLarge' };

/** Works out the result of a run with this findings file. */
async function read(t: Scope, content: string | Uint8Array, more: Partial<ResultSource> = {}) {
  const folder = await tempFolder(t);
  await mkdir(path.join(folder, shopRun.id));
  await writeFile(path.join(folder, shopRun.id, 'findings.json'), content);
  const runs = { all: () => [shopRun], folderOf: (id: string) => path.join(folder, id) };
  return readResult(shopRun, sourceFor(runs, more));
}

function manyFindings(count: number): string {
  const description = 'd'.repeat(Math.floor(maxFindingsBytes / count) - 110);
  const item = { title: 'SQL injection', severity: 'high', description, file: 'src/a.py' };
  const findings = Array.from({ length: count }, (_, id) => ({ id, ...item, line: (id % 900) + 1 }));
  return JSON.stringify({ findings: [{ ...findings[0], severity: 'low' }, ...findings.slice(1)] });
}

describe('reading a findings file in a worker', () => {
  test('F69 reads the worst 10,000 of 50,000 findings in 64 MiB without blocking', async (t) => {
    const content = Buffer.from(manyFindings(50_000));
    assert.ok(content.length > 0.95 * maxFindingsBytes && content.length <= maxFindingsBytes);
    const { result, pausesMs } = await pausesWhile(() => read(t, content));
    assert.deepEqual(result.head.cut, { shown: 10_000, total: 50_000 });
    assert.deepEqual([result.findings.length, result.findings[0]?.finding.index], [10_000, 1]);
    const p99 = pausesMs[Math.floor(pausesMs.length * 0.99)] ?? Infinity;
    assert.ok(p99 < 50, `p99 ${String(p99)} ms of ${String(pausesMs.length)} turns`);
  });

  test('F118 refuses a file with too many bytes or values, and the process continues', async (t) => {
    for (const content of [
      Buffer.alloc(130_000_000, '0,'),
      Buffer.from(`[${'0,'.repeat(33_000_000)}0]`),
      Buffer.from(`[${'{},'.repeat(22_000_000)}{}]`),
      Buffer.from(`${'['.repeat(33_000_000)}${']'.repeat(33_000_000)}`),
      Buffer.from('{}\n'.repeat(22_000_000)),
    ])
      await assert.rejects(read(t, content), isTooLarge);
  });

  test('F118 refuses a compact file whose expanded content does not fit in memory', async (t) => {
    const file = 'a/'.repeat(2_000);
    const item = { title: 't', file, locations: Array.from({ length: 300 }, (_, at) => ({ line: at + 1 })) };
    const content = Buffer.from(JSON.stringify(Array.from({ length: 300 }, () => item)));
    assert.ok(content.length < 8_000_000);
    await assert.rejects(read(t, content), isTooLarge);
  });

  test('F187 refuses a file that takes too long to be read', async (t) => {
    const workerFile = new URL('data:text/javascript,setInterval(() => undefined, 1_000)');
    await assert.rejects(read(t, '[]', { workerFile, maxReadMs: 50 }), { kind: 'notInTime' });
  });

  test('F111 names a missing worker as such, not as an oversized file', async (t) => {
    const reading = read(t, '[]', { workerFile: '/no/such/worker.cjs' });
    await assert.rejects(reading, { kind: 'workerCrashed' });
  });
});

describe('a findings file that could not be read', () => {
  /**
   * The window of a new fixture shows a run with this findings file. Counts how often a worker has
   * read it.
   */
  async function setUp(t: Parameters<typeof setUpFindings>[0], content: string, isSlow = false) {
    const fixture = await setUpFindings(t, 'shop');
    fixture.store.dispose(); // it would read the run, too
    const run = await fixture.storeRun(['shop'], content);
    const [worker, log, go] = ['worker.cjs', 'log', 'go'].map((name) => path.join(fixture.root, name));
    const code = `const { appendFileSync, existsSync } = require('node:fs');
      const { parentPort, workerData } = require('node:worker_threads');
      if (workerData.kind === 'workOut') appendFileSync(${JSON.stringify(log)}, '.');
      if (${isSlow} && !existsSync(${JSON.stringify(go)})) parentPort.postMessage({ error: 'notInTime', data: {} });
      else require(${JSON.stringify(parseWorker)});`;
    await writeFile(worker!, code);
    const store = fixture.reopen(worker!);
    /** Returns why the findings cannot be read after this, and how often that was tried. */
    const after = async (act: () => Promise<unknown>): Promise<unknown> => {
      await act();
      return [store.shownRuns()[0]?.failure?.kind, (await readFile(log!, 'utf8')).length];
    };
    const file = path.join(fixture.runs.folderOf(run.id), 'findings.json');
    return { store, run, file, after, speedUp: () => writeFile(go!, '') };
  }

  test('F118 is read once by a window, and again when the user shows the run or the file changes', async (t) => {
    const { store, run, file, after } = await setUp(t, `[${'{},'.repeat(3_100_000)}{}]`);
    assert.deepEqual(await after(() => store.load()), ['findingsTooLarge', 1]);
    assert.deepEqual(await after(() => store.focused()), ['findingsTooLarge', 1]);
    assert.deepEqual(await after(() => store.show(run)), ['findingsTooLarge', 2]);
    await writeFile(file, finding('small'));
    assert.deepEqual(await after(() => store.load()), [undefined, 3]);
  });

  test('F118 is not called too large if it was not read in time, and is read again on focus', async (t) => {
    const { store, after, speedUp } = await setUp(t, finding('slow'), true);
    assert.deepEqual(await after(() => store.load()), ['notInTime', 1]);
    await speedUp();
    assert.deepEqual(await after(() => store.load()), ['notInTime', 1]);
    assert.deepEqual(await after(() => store.focused()), [undefined, 2]);
  });
});

test('F173 columns that count code points are shown in the text that is here', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const results = [{ startColumn: 2, endColumn: 3 }, { startColumn: 9 }].map((columns) => ({
    message: { text: 'Flaw.' },
    locations: [
      { physicalLocation: { artifactLocation: { uri: 'a.js' }, region: { startLine: 1, ...columns } } },
    ],
  }));
  const run = { tool: {}, columnKind: 'unicodeCodePoints', results };
  const log = JSON.stringify({ version: '2.1.0', runs: [run] });
  await fixture.addRun(['shop'], log, { 'a.js': '😀😀 one\ntwo\n' });
  const locations = fixture.store
    .all()
    .map(({ locations: [location] }) => [location?.startColumn, location?.endColumn]);
  assert.deepEqual(locations, [[3, 5], [11, undefined]]); // prettier-ignore
});
