import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

const isMalformed = (error: unknown) =>
  error instanceof AssessmentError && error.kind === 'malformedFindings';

/** Makes any list one of findings. */
const sure = (count: number): object[] =>
  Array.from({ length: count }, () => ({ title: 't', severity: 'low' }));

test('findings of known keys with random values satisfy every rule of a place', () => {
  const line = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string(),
    fc.jsonValue(),
    fc.constantFrom('12-20', [3, 1], '9'),
  );
  const place = fc.record(
    {
      file: fc.oneof(fc.string(), fc.constant('src/a.py:7')),
      start_line: line,
      line,
      lines: line,
      end_line: line,
      column: line,
      end_column: line,
      start: fc.record({ line, character: line }, { requiredKeys: [] }),
      snippet: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const finding = fc.record(
    {
      title: fc.jsonValue(),
      severity: fc.oneof(fc.string(), fc.double(), fc.jsonValue()),
      description: fc.jsonValue(),
      locations: fc.array(place),
      trace: fc.jsonValue(),
      cwe: fc.jsonValue(),
      cvss: fc.jsonValue(),
      file: fc.string(),
      line,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(finding, { maxLength: 4 }), (some) => {
      const list = [...some, ...sure(some.length + 1)];
      const { findings } = parseFindings(JSON.stringify(list));
      assert.equal(findings.length, list.length);
      for (const { places, cwes } of findings) {
        for (const { path, startLine, endLine, startColumn, endColumn } of places) {
          assert.notEqual(path.trim(), '');
          for (const number of [startLine, endLine, startColumn, endColumn])
            assert.ok(number === undefined || (Number.isInteger(number) && number >= 1));
          assert.ok(endLine === undefined || (startLine !== undefined && endLine >= startLine));
        }
        for (const cwe of cwes) assert.ok(Number.isInteger(cwe) && cwe > 0);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('any text is read or refused as malformed, and nothing else is thrown', () => {
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ findings: value, runs: value, data: value })),
  );
  fc.assert(
    fc.property(text, (anything) => {
      try {
        parseFindings(anything);
      } catch (error) {
        assert.ok(isMalformed(error), String(error));
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
