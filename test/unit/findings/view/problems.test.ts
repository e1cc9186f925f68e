import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hiddenFromProblems, problemsByFile } from '../../../../src/core/findings/view/problems.ts';
import { invent } from '../shownFindings.ts';

test('what Problems does not show is counted: kept back by settings, no place, code that is gone, more than 1,000 in a file', () => {
  const shown = [
    ...Array.from({ length: 1_200 }, (_, index) => invent({ index, at: { path: 'crowded.js' } })),
    invent({ index: 2_000 }),
    invent({ index: 2_001, at: { path: 'other.js', line: 1, drift: 'gone' } }),
    invent({ index: 2_002, at: { path: 'other.js', line: 1, drift: 'changed' } }),
    invent({ index: 2_003, at: { path: 'settled.js', line: 1 }, state: 'acceptedRisk' }),
    invent({ index: 2_004, at: { path: 'settled.js', line: 1, drift: 'gone' }, state: 'acceptedRisk' }),
  ];
  const display = { minimumSeverity: 'none', hideTriaged: true } as const;
  assert.equal(hiddenFromProblems(shown, display), 204);
  assert.equal(hiddenFromProblems(shown, { ...display, hideTriaged: false }), 203);
  assert.equal(hiddenFromProblems(shown, { ...display, minimumSeverity: 'critical' }), shown.length);
  assert.deepEqual(
    problemsByFile(shown)
      .get('/home/dev/shop/other.js')
      ?.map(({ finding }) => finding.index),
    [2_002],
  );
});
