import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { indexQuotes } from '../../../../src/core/findings/drift/anchor.ts';
import type { Location } from '../../../../src/core/findings/finding.ts';
import { cpuMs } from '../../core/cpuTime.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

/** A location is `at` its reported lines, with its columns, `found` by its snippet, or unknown. */
function anchored(lines: readonly string[], location: Omit<Location, 'path'>): string {
  const found = indexQuotes(lines).anchor({ path: '', startColumn: 1, ...location });
  const { startLine, endLine = startLine, startColumn } = found;
  if (startLine === undefined) return 'unknown';
  return `${startColumn === undefined ? 'found' : 'at'} ${String(startLine)}-${String(endLine)}`;
}

const look = ['def look(n):', '    q = "select " + n', '    run(q)', ''];
const document = [...look, 'def other(n):', '    run(q)', '    return 1'];
const long = document.join('\n').repeat(2);
const calls = ['return db.query(sql);', 'x = f({}));', '', 'db.query(sql);', '}));', 'x'];
const assign = 'q = "select " + n';

describe('a location', () => {
  for (const [location, expected] of [
    [{ startLine: 5, endLine: 99 }, 'at 5-7'],
    [{ startLine: 7 }, 'at 7-7'],
    ...[undefined, 8, 99].map((startLine) => [{ startLine, endLine: 100 }, 'unknown'] as const),
    [{}, 'unknown'],
    [{ snippet: '\n\tq = "select " + n  \r\n  run(q)\n\n' }, 'found 2-3'],
    [{ snippet: 'run(q)', startLine: 2 }, 'found 3-3'],
    [{ snippet: 'run(q)', startLine: 7 }, 'found 6-6'],
    [{ snippet: 'run(q)' }, 'unknown'],
    [{ snippet: '"select " + n' }, 'found 2-2'],
    [{ snippet: '"select " + n\n run' }, 'found 2-3'],
    [{ snippet: 'q', startLine: 1 }, 'at 1-1'],
    ...['', ' \n ', 'no such code', long].flatMap((snippet) => [
      [{ snippet }, 'unknown'] as const,
      [{ snippet, startLine: 5 }, 'at 5-5'] as const,
      [{ snippet, startLine: 99 }, 'unknown'] as const,
    ]),
    [{ snippet: assign }, 'found 2-2'],
    [{ snippet: assign, startLine: 6, endLine: 6 }, 'found 2-2'],
    [{ snippet: assign, startLine: 99 }, 'found 2-2'],
    [{ snippet: assign, startLine: 2, endLine: 3 }, 'at 2-3'],
    [{ snippet: look.join('\n'), startLine: 3 }, 'at 3-3'],
  ] as const)
    test(`${JSON.stringify(location).slice(0, 70)} is ${expected}`, () => {
      assert.equal(anchored(document, location), expected);
    });
});

test('the line of a quote counts, then whole lines, then parts of lines', () => {
  for (const [snippet, startLine, expected] of [
    ['db.query(sql);', 1, 'at 1-1'],
    ['query(sql);\nx = f', 1, 'at 1-1'],
    ['db.query(sql);', 2, 'found 4-4'],
    ['}));', 2, 'found 5-5'],
    ['x', 2, 'found 6-6'],
    ['f(', 2, 'at 2-2'],
  ] as const)
    assert.equal(anchored(calls, { startLine, snippet }), expected, snippet);
});

test('a long snippet is not compared with every line if all are alike', () => {
  const lines = [...Array.from({ length: 100_000 }, () => '0,'), '1,', '2,'];
  const snippet = '0,\n'.repeat(10_000);
  const start = cpuMs();
  assert.equal(anchored(lines, { snippet: `${snippet}1,`, startLine: 5 }), 'found 90001-100001');
  assert.equal(anchored(lines, { snippet: `${snippet}3,`, startLine: 5 }), 'at 5-5');
  assert.ok(cpuMs() - start < 3_000);
});

test('F202 2,000 quotes of parts of lines are looked up in 100,000 lines, not searched in each', () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => `value${at} = compute(${String(at * 7)}, x);`);
  const start = cpuMs();
  const { anchor, isQuoted } = indexQuotes(lines);
  for (let at = 0; at < 2_000; at += 1) {
    const snippet = `compute(${String(at * 350)}, x`;
    assert.equal(anchor({ path: '', startLine: 1, snippet }).startLine, at === 0 ? 1 : at * 50 + 1);
    assert.equal(isQuoted(snippet), true);
    assert.equal(isQuoted(`compute(${String(at)}, nowhere)`), false);
  }
  assert.ok(cpuMs() - start < 5_000);
});

test('lines cut from a document without repetition are found wherever the reported line is', () => {
  const text = fc.uniqueArray(
    fc.string({ minLength: 1 }).filter((line) => line.trim() === line && !/[\r\n]/.test(line)),
    { minLength: 1, maxLength: 30 },
  );
  const near = fc.integer({ min: 1, max: 40 });
  const line = fc.option(fc.oneof(fc.integer({ min: 1 }), near), { nil: undefined });
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), line, (lines, from, count, startLine) => {
      const start = from % lines.length;
      const cut = lines.slice(start, start + 1 + (count % 5));
      const snippet = cut.map((each) => `\t${each} `).join('\n');
      const isInside = startLine !== undefined && start < startLine && startLine <= start + cut.length;
      assert.equal(
        anchored(lines, { snippet, startLine }),
        isInside ? `at ${startLine}-${startLine}` : `found ${start + 1}-${start + cut.length}`,
      );
    }),
    { numRuns: propertyRuns(300) },
  );
});
