import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';

const rule = {
  id: 'R',
  shortDescription: { text: 'Copy without a bound' },
  properties: { 'security-severity': '9.0' },
};
function read(result: object, rules: readonly object[] = [rule]): Finding | undefined {
  const log = { runs: [{ tool: { driver: { rules } }, results: [{ ruleId: 'R', ...result }] }] };
  return parseFindings(JSON.stringify(log), { runId: 'run' }).findings[0];
}

for (const kind of ['pass', 'open', 'review', 'informational', 'notApplicable'])
  test(`a SARIF result of kind ${kind} has no level unless it has one explicitly`, () => {
    assert.equal(read({ kind })?.severity, 'none');
    assert.equal(read({ kind }, [])?.severity, 'none');
    assert.equal(read({ kind, level: 'error' }, [])?.severity, 'high');
  });

test('a SARIF failure has the level of its rule, or else warning', () => {
  for (const result of [{}, { kind: 'fail' }]) {
    assert.equal(read(result)?.severity, 'critical');
    assert.equal(read(result, [])?.severity, 'medium');
  }
});

test('a SARIF result finds its rule by ID, or else by index', () => {
  const log = {
    runs: [
      { tool: { driver: { rules: [rule] } }, results: [{ ruleIndex: 0 }, { ruleId: 'R/1', ruleIndex: 0 }] },
    ],
  };
  const { findings } = parseFindings(JSON.stringify(log), { runId: 'run' });
  assert.deepEqual(
    findings.map(({ title, severity }) => [title, severity]),
    [
      ['Copy without a bound', 'critical'],
      ['R/1', 'medium'],
    ],
  );
});

test('F122 a SARIF message is plain text, not a template with arguments', () => {
  const text = '{0}'.repeat(20_000);
  assert.equal(read({ message: { text, arguments: ['x'.repeat(60_000)] } })?.description, text);
});
