// The contents of these artifacts are not documented: all shapes here are invented.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  listProgress,
  readScanProgress,
  type ScanProgress,
  toScanProgress,
} from '../../../src/core/features/scanProgress.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { parseWorker } from '../findings/parse/bundledWorker.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { crawledWith } from './crawledRun.ts';

const statesOf = ({ stateOf }: ScanProgress): string[] => [
  stateOf('Log in', 'XSS'),
  stateOf('Log in', 'OpenRedirect'),
  stateOf('Log in', 'CSRF'),
];

test('completed pairs are tested, skipped ones not applicable, and others untested', () => {
  const progress = toScanProgress(
    listProgress({
      completed: [{ feature_name: 'Log in', perspective: 'XSS' }],
      skipped: [{ feature_name: 'Log in', perspective: 'OpenRedirect' }],
    }),
  );
  assert.deepEqual(statesOf(progress), ['tested', 'notApplicable', 'notTested']);
  assert.deepEqual([progress.tested, progress.notApplicable, progress.problem], [1, 1, undefined]);
});

test('names are compared exactly, and a pair in both lists is tested', () => {
  const { stateOf, tested, notApplicable } = toScanProgress(
    listProgress({
      completed: [{ feature_name: 'Log in ', perspective: 'XSS' }],
      skipped: [{ feature_name: 'Log in ', perspective: 'XSS' }],
    }),
  );
  assert.deepEqual([stateOf('Log in ', 'XSS'), stateOf('Log in', 'XSS')], ['tested', 'notTested']);
  assert.deepEqual([tested, notApplicable], [1, 0]);
});

test('F136 if entries are unreadable, unlisted pairs are unknown', () => {
  const progress = toScanProgress(
    listProgress({
      completed: [
        { feature_name: 'Log in', perspective: 'XSS' },
        { feature_name: 'Log in', perspective: 'New One' },
        ['Log in', 'CSRF'],
      ],
      skipped: [],
    }),
  );
  assert.deepEqual(statesOf(progress), ['tested', 'unknown', 'unknown']);
  assert.equal(progress.problem, 'partlyUnreadable');
});

test('F136 missing or malformed progress makes every pair unknown, with a message', async (t) => {
  const folder = await tempFolder(t);
  const crawl = crawledWith('scan_progress');
  const run: Run = { ...crawl, workflow: 'blackbox-assessment' };
  const read = async (of: Run = run): Promise<unknown[]> => {
    const progress = await readScanProgress(of, folder, parseWorker);
    return [progress.problem, ...new Set(statesOf(progress))];
  };
  assert.deepEqual(
    await read({ ...crawl, artifacts: [] }),
    ['absent', 'notTested'],
    'F155 a crawl tests none',
  );
  assert.deepEqual(await read(), ['absent', 'unknown']);
  assert.equal((await readScanProgress({ ...run, artifacts: [] }, folder, parseWorker)).problem, 'absent');
  for (const text of ['', '{}', '7', 'null', '{"done":true}', 'not JSON']) {
    await writeFile(join(folder, 'scan_progress.json'), text);
    assert.deepEqual(await read(), ['unreadable', 'unknown'], text);
  }
  await writeFile(join(folder, 'scan_progress.json'), '{"completed":[],"skipped":[]}');
  assert.deepEqual(await read(), [undefined, 'notTested']);
});
