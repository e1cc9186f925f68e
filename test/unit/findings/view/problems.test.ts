import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hiddenFromProblems,
  inOrder,
  neighbor,
  problemsByFile,
} from '../../../../src/core/findings/view/problems.ts';
import { pathKey } from '../../../../src/core/paths.ts';
import { invent } from '../shownFindings.ts';

test('findings not in Problems are counted: by settings, without place, code gone, over 1,000 in a file', () => {
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

const ordered = inOrder(
  problemsByFile(
    [
      ['b.js', 4],
      ['a.js', 9],
      ['a.js', 2],
      ['a.js', 2],
      ['c.js', 1],
    ].map(([path, line], index) => invent({ index, at: { path: path as string, line: line as number } })),
  ),
);
const at = (name: string, line: number): { file: string; line: number } => ({
  file: `/home/dev/shop/${name}`,
  line,
});

describe('stepping through all findings', () => {
  test('goes by file and line', () => {
    assert.deepEqual(
      ordered.map(({ finding }) => finding.index),
      [2, 3, 1, 0, 4],
    );
  });

  test('visits each once, also two in one line, in a circle', () => {
    const tour = (step: 1 | -1): number[] => {
      let current = ordered[0];
      return ordered.map(() => {
        const place = current?.places[0];
        const position = neighbor(ordered, { cursor: at(place!.path, place!.startLine!), current }, step);
        current = ordered[position];
        return position;
      });
    };
    assert.deepEqual(tour(1), [1, 2, 3, 4, 0]);
    assert.deepEqual(tour(-1), [4, 3, 2, 1, 0]);
  });

  test('starts from the cursor if it is elsewhere', () => {
    const from = (cursor: { file: string; line: number } | undefined, step: 1 | -1): number =>
      neighbor(ordered, { cursor, current: ordered[4] }, step);
    assert.equal(from(undefined, 1), 0);
    assert.equal(from(undefined, -1), 4);
    assert.equal(from(at('a.js', 5), 1), 2);
    assert.equal(from(at('a.js', 5), -1), 1);
    assert.equal(from(at('bb.js', 5), 1), 4);
    assert.equal(from(at('z.js', 1), 1), 0);
    assert.equal(from(at('0.js', 1), -1), 4);
  });

  test('visits a finding without a line, with the cursor unchanged in its file', () => {
    const places = [{}, { line: 10 }, { line: 20 }].map((place) => ({ path: 'a.js', ...place }));
    const some = inOrder(problemsByFile(places.map((place, index) => invent({ index, at: place }))));
    const tour = (step: 1 | -1): number[] => {
      let [current, line] = [some[2], 20];
      return places.map(() => {
        const position = neighbor(some, { cursor: at('a.js', line), current }, step);
        current = some[position];
        line = current?.places[0]?.startLine ?? line;
        return position;
      });
    };
    assert.deepEqual(tour(1), [0, 1, 2]);
    assert.deepEqual(tour(-1), [1, 0, 2]);
    assert.equal(neighbor(some, { cursor: at('b.js', 20), current: some[0] }, -1), 2);
  });

  test('does nothing without findings', () => {
    assert.equal(neighbor([], { cursor: undefined, current: undefined }, 1), -1);
  });
});
