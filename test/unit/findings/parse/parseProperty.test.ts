import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

const isMalformed = (error: unknown) =>
  error instanceof AssessmentError && error.kind === 'malformedFindings';

test('F68 findings of known keys with random values satisfy every rule of a location', () => {
  const locationKeys = 'file line start_line lines end_line column end_column start range snippet'.split(' ');
  const keys = ['title', 'severity', 'description', 'locations', 'trace', 'cwe', 'cvss', ...locationKeys];
  const line = fc.oneof(fc.integer(), fc.double(), fc.constantFrom('12-20', [3, 1], '9', 'src/a.py:7'));
  const value = fc.oneof(line, fc.string(), fc.jsonValue());
  const location = fc.dictionary(fc.constantFrom(...locationKeys), value);
  const values = fc.oneof(value, location, fc.array(location, { maxLength: 3 }));
  const finding = fc.dictionary(fc.constantFrom(...keys), values);
  fc.assert(
    fc.property(fc.array(finding, { maxLength: 4 }), (odd) => {
      const sure = { title: 't', severity: 'low' };
      const list = [...odd, ...Array.from({ length: odd.length + 1 }, () => sure)];
      const { findings } = parseFindings(JSON.stringify(list));
      assert.equal(findings.length, list.length);
      for (const { locations, cwes } of findings) {
        for (const { path, startLine, endLine, startColumn, endColumn } of locations) {
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
