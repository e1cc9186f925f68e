import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hiddenFromProblems,
  inOrder,
  neighbor,
  problemsByFile,
} from '../../../../src/core/findings/view/problems.ts';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { pathKey } from '../../../../src/core/paths.ts';
import { invent, type Invented } from '../shownFindings.ts';

test('findings not in Problems are counted: by settings, without location, code gone, over 1,000 in a file', () => {
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
      .get(pathKey('/home/dev/shop/other.js'))
      ?.map(({ finding }) => finding.index),
    [2_002],
  );
});

const shop = '/home/dev/shop';
const inventAt = (...locations: readonly NonNullable<Invented['at']>[]) =>
  inOrder(problemsByFile(locations.map((at, index) => invent({ index, at }))));
const ordered = inventAt(
  { path: 'b.js', line: 4 },
  { path: 'a.js', line: 9 },
  { path: 'a.js', line: 2 },
  { path: 'a.js', line: 2 },
  { path: 'c.js', line: 1 },
);
const withoutLine = inventAt({ path: 'a.js' }, { path: 'a.js', line: 10 }, { path: 'a.js', line: 20 });

/**
 * Goes through the findings in a circle, from one of them. Going to one without a line keeps the
 * cursor's line.
 */
function tour(all: readonly ShownFinding[], from: number, step: 1 | -1): readonly number[] {
  let at = from;
  let line = 1;
  return all.map(() => {
    const { path = '', startLine = line } = all[at]?.locations[0] ?? {};
    line = startLine;
    at = neighbor(all, { cursor: { file: `${shop}/${path}`, line }, current: all[at] }, step);
    return at;
  });
}

test('stepping goes by file and line, visits each finding once, in a circle, also two in one line or without a line', () => {
  const indexes = ordered.map(({ finding }) => finding.index);
  assert.deepEqual(indexes, [2, 3, 1, 0, 4]);
  assert.deepEqual(tour(ordered, 0, 1), [1, 2, 3, 4, 0]);
  assert.deepEqual(tour(ordered, 0, -1), [4, 3, 2, 1, 0]);
  assert.deepEqual(tour(withoutLine, 2, 1), [0, 1, 2]);
  assert.deepEqual(tour(withoutLine, 2, -1), [1, 0, 2]);
});

test('stepping starts from the cursor if it is elsewhere, and does nothing without findings', () => {
  const current = ordered[4];
  for (const [file, line, step, position] of [
    ['a.js', 5, 1, 2],
    ['a.js', 5, -1, 1],
    ['bb.js', 5, 1, 4],
    ['z.js', 1, 1, 0],
    ['0.js', 1, -1, 4],
  ] as const)
    assert.equal(neighbor(ordered, { cursor: { file: `${shop}/${file}`, line }, current }, step), position);
  const nowhere = { cursor: undefined, current };
  const positions = [neighbor(ordered, nowhere, 1), neighbor(ordered, nowhere, -1), neighbor([], nowhere, 1)];
  assert.deepEqual(positions, [0, 4, -1]);
  const cursor = { file: `${shop}/b.js`, line: 20 };
  assert.equal(neighbor(withoutLine, { cursor, current: withoutLine[0] }, -1), 2);
});
