import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inEnglish, isInPart, zeroFindings } from '../../../../src/core/findings/view/zeroFindings.ts';
import { type Coverage, toCoverage } from '../../../../src/core/upload/choose/coverage.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import type { NotUploadedReason } from '../../../../src/core/upload/choose/prepareUpload.ts';
import { shopRun } from '../importExport/exportingFindings.ts';

const reasons = {
  choice: { kind: 'choice' },
  link: { kind: 'link' },
  secret: { kind: 'secret', suspicions: [] },
  unreadable: { kind: 'unreadable', code: 'EACCES' },
  outsideRoot: { kind: 'outsideRoot' },
} satisfies Partial<Record<NotUploadedReason['kind'], NotUploadedReason>>;

/** These paths of the folder were excluded. */
function covering(
  uploaded: number,
  excluded: readonly (readonly [string, keyof typeof reasons])[] = [],
  omitted = 0,
): Coverage {
  const paths = excluded.map(([path, kind]) => ({ path, reason: reasons[kind] }));
  return toCoverage({ files: [], excluded: paths, unreadIndexes: [] }, uploaded, omitted);
}

function runOver(coverages: readonly (Coverage | undefined)[], changes: object = {}): Run {
  const targets = coverages.map((coverage, at) => ({ folder: `/${at}`, name: String(at), coverage }));
  return { ...shopRun, targets, ...changes };
}

const two = covering(239, [
  ['a.env', 'secret'],
  ['b', 'link'],
]);
const cases: readonly (readonly [Run, string, boolean])[] = [
  [runOver([covering(1)]), '0 findings in 1 uploaded file.', false],
  [runOver([covering(1, [['a', 'choice']])]), '0 findings in 1 uploaded file. 1 file was excluded.', false],
  [runOver([two]), '0 findings in 239 uploaded files. 2 files were excluded.', false],
  [
    runOver([two, covering(1_000, [['lib/', 'choice']])]),
    '0 findings in 1,239 uploaded files. Excluded files and folders: 3.',
    false,
  ],
  [
    runOver([covering(5, [['a', 'unreadable'], ['b/', 'outsideRoot']], 1)]), // prettier-ignore
    '0 findings in 5 uploaded files. Files and folders that couldn’t be packaged: 3.',
    true,
  ],
  [
    runOver([two], { state: 'aborted' }),
    '0 findings in 239 uploaded files. 2 files were excluded. The run ended early.',
    true,
  ],
  [
    runOver([{ ...covering(3), lfsPointers: 2 }]),
    '0 findings in 3 uploaded files. Git LFS pointers without their content: 2.',
    false,
  ],
  [runOver([two, undefined]), '0 findings.', false],
  [runOver([undefined], { state: 'imported', endedEarly: true }), '0 findings. The run ended early.', true],
  [runOver([]), '0 findings.', false],
];
for (const [run, sentence, isPart] of cases)
  test(`F155 a run without findings says its coverage only: ${sentence} (${String(run.targets.length)})`, () => {
    assert.deepEqual([zeroFindings(run, inEnglish), isInPart(run)], [sentence, isPart]);
  });
