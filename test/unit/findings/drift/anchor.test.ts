import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anchorPlace, clampLine, clampPlace, reanchor } from '../../../../src/core/findings/drift/anchor.ts';

const document = [
  'def look(n):',
  '    q = "select " + n',
  '    run(q)',
  '',
  'def other(n):',
  '    run(q)',
  '    return 1',
];

test('a line is clamped to the document, and an unknown one stays unknown', () => {
  assert.deepEqual(
    [1, 7, 8, 10_000_000].map((line) => clampLine(line, 7)),
    [1, 7, 7, 7],
  );
  for (const unknown of [undefined, 0, -3, 1.5, NaN, Infinity])
    assert.equal(clampLine(unknown, 7), undefined);
  assert.equal(clampLine(1, 0), undefined);
});

test('a place is clamped at both ends, and an end before the start is the start', () => {
  assert.deepEqual(clampPlace({ startLine: 5, endLine: 99 }, 7), { startLine: 5, endLine: 7 });
  assert.deepEqual(clampPlace({ startLine: 5, endLine: 2 }, 7), { startLine: 5, endLine: 5 });
  assert.deepEqual(clampPlace({ startLine: 5 }, 7), { startLine: 5, endLine: 5 });
  assert.equal(clampPlace({}, 7), undefined);
});

test('a snippet is found whatever its indentation, line ends and surrounding blank lines', () => {
  assert.deepEqual(reanchor('\n\tq = "select " + n  \r\n  run(q)\n\n', document), {
    startLine: 2,
    endLine: 3,
  });
});

test('of several matches the nearest is taken, and none when nothing tells them apart', () => {
  assert.deepEqual(reanchor('run(q)', document, 2), { startLine: 3, endLine: 3 });
  assert.deepEqual(reanchor('run(q)', document, 7), { startLine: 6, endLine: 6 });
  assert.equal(reanchor('run(q)', document), undefined);
  assert.equal(reanchor('a\nb', ['a', 'b', 'x', 'a', 'b'], 2.5), undefined);
});

test('a snippet may start and end inside a line, but whole lines come first', () => {
  assert.deepEqual(reanchor('"select " + n', document), { startLine: 2, endLine: 2 });
  assert.deepEqual(reanchor('"select " + n\n run', document), { startLine: 2, endLine: 3 });
  assert.deepEqual(reanchor('run(q)', ['x = run(q)', 'run(q)'], 1), { startLine: 2, endLine: 2 });
  assert.equal(reanchor('q', document, 1), undefined, 'a letter is no evidence');
});

test('an empty or foreign snippet is found nowhere', () => {
  for (const snippet of ['', ' \n ', 'no such code', document.join('\n').repeat(2)])
    assert.equal(reanchor(snippet, document, 1), undefined);
});

test('a snippet re-anchors a wrong line, a right line stays, and without a match the clamped line counts', () => {
  const snippet = 'q = "select " + n';
  assert.deepEqual(anchorPlace({ startLine: 6, endLine: 6, snippet }, document), {
    startLine: 2,
    endLine: 2,
    reanchored: true,
  });
  assert.deepEqual(anchorPlace({ startLine: 99, snippet }, document), {
    startLine: 2,
    endLine: 2,
    reanchored: true,
  });
  assert.deepEqual(anchorPlace({ snippet }, document), { startLine: 2, endLine: 2, reanchored: true });
  assert.deepEqual(anchorPlace({ startLine: 2, endLine: 3, snippet }, document), {
    startLine: 2,
    endLine: 3,
    reanchored: false,
  });
  assert.deepEqual(anchorPlace({ startLine: 99, snippet: 'gone()' }, document), {
    startLine: 7,
    endLine: 7,
    reanchored: false,
  });
  assert.equal(anchorPlace({ snippet: 'gone()' }, document), undefined);
  assert.equal(anchorPlace({}, document), undefined);
});

test('a line in the middle of a snippet with context stays', () => {
  const snippet = document.slice(0, 4).join('\n');
  assert.deepEqual(anchorPlace({ startLine: 3, snippet }, document), {
    startLine: 3,
    endLine: 3,
    reanchored: false,
  });
});

test('lines cut from a document without repetition are found where they were, whatever line is told', () => {
  const text = fc.uniqueArray(
    fc.string({ minLength: 1 }).filter((line) => line.trim() === line && !/[\r\n]/.test(line)),
    { minLength: 1, maxLength: 30 },
  );
  fc.assert(
    fc.property(
      text,
      fc.nat(),
      fc.nat(),
      fc.option(fc.integer(), { nil: undefined }),
      (lines, from, count, told) => {
        const start = from % lines.length;
        const cut = lines.slice(start, start + 1 + (count % 5));
        assert.deepEqual(reanchor(cut.map((line) => `\t${line} `).join('\n'), lines, told), {
          startLine: start + 1,
          endLine: start + cut.length,
        });
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a range never leaves the document', () => {
  const line = fc.option(fc.oneof(fc.integer(), fc.double()), { nil: undefined });
  fc.assert(
    fc.property(
      line,
      line,
      fc.string(),
      fc.array(fc.string(), { maxLength: 20 }),
      (startLine, endLine, snippet, lines) => {
        const range = anchorPlace({ startLine, endLine, snippet }, lines);
        if (range === undefined) return;
        assert.ok(range.startLine >= 1 && range.startLine <= range.endLine && range.endLine <= lines.length);
      },
    ),
    { numRuns: 1_000 },
  );
});
