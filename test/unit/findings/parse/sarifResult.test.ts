import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';

const rule = {
  id: 'R',
  shortDescription: { text: 'Copy without a bound' },
  properties: { 'security-severity': '9.0' },
  messageStrings: {
    default: { text: 'Call of {0} in {{{1}}}.', markdown: 'Call of `{0}` in {{{1}}}.' },
    plain: { text: 'Two {{braces}}, {0} and {9}.' },
  },
};
const artifacts = [{ location: { uri: 'src/copy.c' } }];

function read(result: object, rules: readonly object[] = [rule]): Finding | undefined {
  const log = { runs: [{ tool: { driver: { rules } }, artifacts, results: [{ ruleId: 'R', ...result }] }] };
  return parseFindings(JSON.stringify(log), { runId: 'run' }).findings[0];
}

for (const kind of ['pass', 'open', 'review', 'informational', 'notApplicable'])
  test(`a SARIF result of the kind ${kind} has no level unless it says so`, () => {
    assert.equal(read({ kind })?.severity, 'none');
    assert.equal(read({ kind }, [])?.severity, 'none');
    assert.equal(read({ kind, level: 'error' }, [])?.severity, 'high');
  });

test('a SARIF failure has the level of its rule, else a warning', () => {
  for (const result of [{}, { kind: 'fail' }]) {
    assert.equal(read(result)?.severity, 'critical');
    assert.equal(read(result, [])?.severity, 'medium');
  }
});

test('a SARIF message by id is the text of its rule, with its arguments', () => {
  const told = (message: object): string | undefined => read({ message })?.description;
  assert.equal(told({ id: 'default', arguments: ['strcpy', 'main'] }), 'Call of `strcpy` in {main}.');
  assert.equal(told({ id: 'plain' }), 'Two {braces}, {0} and {9}.');
  assert.equal(told({ text: 'Use of {0}, {0}', arguments: ['gets'] }), 'Use of gets, gets');
  assert.equal(told({ text: 'if (a) {{ b[{0}] }}' }), 'if (a) {{ b[{0}] }}', 'code without arguments');
  for (const id of ['unknown', '__proto__', 'constructor']) assert.equal(told({ id }), `id: ${id}`);
});

test('arguments cannot make a SARIF message grow beyond what is kept', () => {
  const text = read({ message: { text: '{0}'.repeat(20_000), arguments: ['x'.repeat(60_000)] } });
  assert.deepEqual([text?.description.length, text?.shortfall], [65_536, 'clipped']);
});

test('a SARIF place by the number of its file is in that file', () => {
  const at = (artifactLocation: object, startLine = 3) => ({
    physicalLocation: { artifactLocation, region: { startLine } },
  });
  const finding = read({
    locations: [at({ index: 0 })],
    codeFlows: [
      {
        threadFlows: [
          {
            locations: [{ location: { ...at({ index: 0 }, 9), message: { id: 'plain', arguments: ['1'] } } }],
          },
        ],
      },
    ],
    relatedLocations: [at({ index: 7 }), at({ uri: 'own.c', index: 0 })],
  });
  assert.deepEqual(
    finding?.places.map(({ path, startLine, label }) => [path, startLine, label]),
    [
      ['src/copy.c', 3, undefined],
      ['src/copy.c', 9, 'Two {braces}, 1 and {9}.'],
      ['own.c', 3, undefined],
    ],
  );
});
