import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageOf, excludedIn, isUnread, toCoverage } from '../../../../src/core/upload/choose/coverage.ts';
import type { NotUploaded, NotUploadedReason } from '../../../../src/core/upload/choose/prepareUpload.ts';

const notUploaded = (path: string, reason: object): NotUploaded => ({
  path,
  reason: reason as NotUploadedReason,
});

test('F167 excluded paths are counted by reason, and folders once more; unread paths are counted apart', () => {
  const excluded = [
    notUploaded('dist/', { kind: 'ignored' }),
    notUploaded('/start', { kind: 'ignored' }),
    notUploaded('old.log', { kind: 'ignoredButTracked' }),
    notUploaded('key.pem', { kind: 'secret', suspicions: [] }),
    notUploaded('locked.ts', { kind: 'unreadable', code: 'EACCES' }),
    notUploaded('out.ts', { kind: 'outsideRoot' }),
  ];
  assert.deepEqual(toCoverage({ files: [], excluded, unreadIndexes: [] }, 7, 3), {
    uploaded: 7,
    excluded: { ignored: 2, ignoredButTracked: 1, secret: 1 },
    excludedFolders: 1,
    notPackaged: 5,
  });
  assert.deepEqual(
    excluded.map(({ reason }) => isUnread(reason)),
    [false, false, false, false, true, true],
  );
});

test('F167 a run says if the files that Git tracks are unknown in one of its folders', () => {
  const known = toCoverage({ files: [], excluded: [], unreadIndexes: [] }, 1, 0);
  const unknown = toCoverage(
    { files: [], excluded: [], unreadIndexes: [{ file: '.git/index', problem: 'split' }] },
    2,
    0,
  );
  assert.equal(known.trackedUnknown, undefined);
  for (const [one, other] of [
    [known, unknown],
    [unknown, known],
  ]) {
    const all = { uploaded: 3, excluded: {}, excludedFolders: 0, notPackaged: 0, trackedUnknown: true };
    assert.deepEqual(coverageOf({ targets: [{ coverage: one }, { coverage: other }] }), all);
  }
});

test('a run covers the sum of its folders, if it is known for each', () => {
  const one = {
    uploaded: 1,
    excluded: { ignored: 2, choice: 1 },
    excludedFolders: 1,
    notPackaged: 3,
    lfsPointers: 2,
  };
  const other = { uploaded: 10, excluded: { ignored: 5 }, excludedFolders: 2, notPackaged: 4 };
  const sum = {
    uploaded: 11,
    excluded: { ignored: 7, choice: 1 },
    excludedFolders: 3,
    notPackaged: 7,
    lfsPointers: 2,
  };
  assert.deepEqual(coverageOf({ targets: [{ coverage: one }, { coverage: other }] }), sum);
  assert.equal(excludedIn(sum), 8);
  assert.deepEqual(coverageOf({ targets: [{ coverage: one }] }), one);
  assert.equal(coverageOf({ targets: [{ coverage: one }, {}] }), undefined);
  assert.equal(coverageOf({ targets: [] }), undefined);
});
