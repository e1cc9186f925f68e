import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Anchor, anchorIn } from '../../../../src/core/findings/drift/anchor.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

const document = [
  'def look(n):',
  '    q = "select " + n',
  '    run(q)',
  '',
  'def other(n):',
  '    run(q)',
  '    return 1',
];

test('a place is clamped to its document, and an invalid line or one past the end is unknown', () => {
  const at = anchorIn(document);
  const lines = (startLine: number, endLine: number): Anchor => ({
    startLine,
    endLine,
    isReanchored: false,
  });
  assert.deepEqual(at({ startLine: 5, endLine: 99 }), lines(5, 7));
  assert.deepEqual(at({ startLine: 5, endLine: 2 }), lines(5, 5));
  assert.deepEqual(at({ startLine: 7 }), lines(7, 7));
  for (const startLine of [undefined, 0, -3, 1.5, NaN, Infinity, 8, 99])
    assert.equal(at({ startLine, endLine: 100 }), undefined);
  assert.equal(anchorIn([])({ startLine: 1 }), undefined);
});

const anchor = anchorIn(document);

function found(startLine: number, endLine = startLine): Anchor {
  return { startLine, endLine, isReanchored: true };
}

function reported(startLine: number, endLine = startLine): Anchor {
  return { startLine, endLine, isReanchored: false };
}

test('a snippet is found despite different indentation, line ends and blank lines', () => {
  assert.deepEqual(anchor({ snippet: '\n\tq = "select " + n  \r\n  run(q)\n\n' }), found(2, 3));
});

test('of several matches the nearest is used, and none if they are ambiguous', () => {
  const snippet = 'run(q)';
  assert.deepEqual(anchor({ snippet, startLine: 2 }), found(3));
  assert.deepEqual(anchor({ snippet, startLine: 7 }), found(6));
  assert.equal(anchor({ snippet }), undefined);
  const twice = anchorIn(['a', 'b', 'x', 'a', 'b']);
  assert.equal(twice({ snippet: 'a\nb', startLine: 2.5 }), undefined);
});

test('a snippet may start and end inside a line, but whole lines are preferred', () => {
  assert.deepEqual(anchor({ snippet: '"select " + n' }), found(2));
  assert.deepEqual(anchor({ snippet: '"select " + n\n run' }), found(2, 3));
  const lines = ['', 'x = run(q)', '', '', 'run(q)'];
  assert.deepEqual(anchorIn(lines)({ snippet: 'run(q)', startLine: 1 }), found(5));
  assert.deepEqual(anchor({ snippet: 'q', startLine: 1 }), reported(1), 'a letter is no evidence');
});

test('an empty or unrelated snippet is not found', () => {
  for (const snippet of ['', ' \n ', 'no such code', document.join('\n').repeat(2)]) {
    assert.equal(anchor({ snippet }), undefined);
    assert.deepEqual(anchor({ snippet, startLine: 5 }), reported(5));
  }
});

test('a snippet corrects a wrong line, and without a match a line past the end is unknown', () => {
  const snippet = 'q = "select " + n';
  assert.deepEqual(anchor({ startLine: 6, endLine: 6, snippet }), found(2));
  assert.deepEqual(anchor({ startLine: 99, snippet }), found(2));
  assert.deepEqual(anchor({ snippet }), found(2));
  assert.deepEqual(anchor({ startLine: 2, endLine: 3, snippet }), reported(2, 3));
  assert.equal(anchor({ startLine: 99, snippet: 'gone()' }), undefined);
  assert.equal(anchor({ snippet: 'gone()' }), undefined);
  assert.equal(anchor({}), undefined);
});

test('a right line is kept if the snippet is part of it, unless the snippet is a fragment', () => {
  const at = anchorIn(['return db.query(sql);', 'x = f({}));', '', 'db.query(sql);', '}));', 'x']);
  assert.deepEqual(at({ startLine: 1, snippet: 'db.query(sql);' }), reported(1));
  assert.deepEqual(at({ startLine: 1, snippet: 'query(sql);\nx = f' }), reported(1));
  assert.deepEqual(at({ startLine: 2, snippet: 'db.query(sql);' }), found(4));
  assert.deepEqual(at({ startLine: 2, snippet: '}));' }), found(5));
  assert.deepEqual(at({ startLine: 2, snippet: 'x' }), found(6));
  assert.deepEqual(at({ startLine: 2, snippet: 'f(' }), reported(2));
});

test('a line in the middle of a snippet with context is kept', () => {
  const snippet = document.slice(0, 4).join('\n');
  assert.deepEqual(anchor({ startLine: 3, snippet }), reported(3));
});

test('a long snippet is not compared with every line if all are alike', () => {
  const lines = Array.from({ length: 100_000 }, () => '0,');
  const snippet = '0,\n'.repeat(10_000);
  const at = anchorIn([...lines, '1,', '2,']);
  const start = cpuMs();
  assert.deepEqual(at({ snippet: `${snippet}1,`, startLine: 5 }), found(90_001, 100_001));
  assert.deepEqual(at({ snippet: `${snippet}3,`, startLine: 5 }), reported(5));
  assert.ok(cpuMs() - start < 3_000);
});

test('lines cut from a document without repetition are found wherever the reported line is', () => {
  const text = fc.uniqueArray(
    fc.string({ minLength: 1 }).filter((line) => line.trim() === line && !/[\r\n]/.test(line)),
    { minLength: 1, maxLength: 30 },
  );
  const line = fc.option(fc.oneof(fc.integer(), fc.integer({ min: 0, max: 40 })), { nil: undefined });
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), line, (lines, from, count, startLine) => {
      const start = from % lines.length;
      const cut = lines.slice(start, start + 1 + (count % 5));
      const snippet = cut.map((each) => `\t${each} `).join('\n');
      const line = startLine ?? 0;
      const isInside = start < line && line <= start + cut.length;
      assert.deepEqual(
        anchorIn(lines)({ snippet, startLine }),
        isInside ? reported(line) : found(start + 1, start + cut.length),
      );
    }),
    { numRuns: propertyRuns(300) },
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
        const range = anchorIn(lines)({ startLine, endLine, snippet });
        if (range === undefined) return;
        assert.ok(range.startLine >= 1 && range.startLine <= range.endLine && range.endLine <= lines.length);
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});
