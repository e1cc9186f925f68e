import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';

/** Returns title, severity, path, and line of each finding. */
function read(file: unknown): string[] {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  return parseFindings(text).findings.map(({ title, severity, locations: [location] }) => {
    const at = location === undefined ? [] : [`${location.path}:${String(location.startLine ?? '?')}`];
    return [title, severity, ...at].join(' ');
  });
}

const a = { title: 'a', severity: 'high', file: 'src/a.ts', line: 1 };
const b = { title: 'b', severity: 'low', file: 'src/b.ts', line: 2 };
const both = ['a high src/a.ts:1', 'b low src/b.ts:2'];

const [unratedA, unratedB] = [a, b].map((each) => ({ ...each, severity: undefined }));

// All files here are invented.

describe('where the findings are', () => {
  const head = { title: 'Assessment of x', risk_level: 'high', path: 'src' };
  const fenced = (text: string): string => ['```json', text, '```', ''].join('\n');
  const log = (...results: object[]): object => ({ version: '2.1.0', runs: [{ tool: {}, results }] });
  const location = { physicalLocation: { artifactLocation: { uri: 'src/a.ts' }, region: { startLine: 1 } } };
  const result = { message: { text: 'a' }, level: 'error', locations: [location] };

  for (const [name, file] of [
    ['under a key that nobody foresaw', { meta: { tool: 'x' }, security_review: [a, b] }],
    ['under a key of SARIF', { runs: [{ checks: [a, b] }] }],
    ['in an unknown wrapper', { result: { findings: [a, b] } }],
    ['four keys down', { meta: {}, data: { report: { scan: { vulnerabilities: [a, b] } } } }],
    ['in two lists on one level', { sast: { findings: [a] }, dast: { findings: [b] } }],
    ['beside numbers of a summary', { summary: { issues: { high: 1, low: 1 } }, report: { issues: [a, b] } }],
    ['beside the head of the report', { summary: { title: 'Two flaws', risk: 'high' }, report: [a, b] }],
    ['in a report with a rating', { data: { report: { ...head, vulnerabilities: [a, b] } } }],
    ['in a report with a rating, one key down', { data: { ...head, findings: [a, b] } }],
    ['beside an empty list', { findings: [], results: [a, b] }],
    ['below an empty list', { data: [], report: { findings: [a, b] } }],
    ['beside lists of files', { files: [{ name: 'a', path: 'src/a.ts' }], checks: [a, b] }],
    ['below files', { files: [{ name: 'a', path: 'src/a.ts', checks: [a, b] }] }],
    ['beside errors', { errors: [{ message: 'Syntax error', path: 'c.ts', level: 'error' }], r: [a, b] }],
    ['by id', { findings: { F1: a, F2: b } }],
    ['by id, at the root', { F1: a, F2: b }],
    ['by id, beside a number', { findings: { total: 2, F1: a, F2: b } }],
    ['by severity', { findings: { high: [unratedA], low: [unratedB], critical: [] } }],
    ['by severity, at the root', { high: [unratedA], low: [unratedB] }],
    ['by severity, beside a number', { findings: { total: 2, high: [unratedA], low: [unratedB] } }],
    ['by severity, one each', { findings: { high: unratedA, low: unratedB } }],
    ['by anything else', { findings: { Injection: [a], 'A 07': [b] } }],
    ['in lists of groups', { name: 'Review', risk: 'high', groups: [{ name: 'Injection', list: [a, b] }] }],
    ['each in an object', [{ finding: a }, { finding: b }]],
    ['in a group beside a rated group', [{ list: [a] }, { name: 'Crypto', risk: 'low', list: [b] }]],
    ['in a fence', fenced(JSON.stringify([a, b]))],
    ['in a fence after a byte order mark', `\uFEFF${fenced(JSON.stringify({ list: [a, b] }))}`],
  ] as const)
    test(`F188 ${name}: each is read`, () => {
      assert.deepEqual(read(file), both);
    });

  test('F188 in an array of SARIF logs: each is read, whatever the others are', () => {
    const empty = { version: '2.1.0', runs: [{ tool: {}, results: null }] };
    assert.deepEqual(read([log(result), empty, log(result, result)]), Array(3).fill(both[0]));
    assert.throws(() => read([empty, empty]), { data: { subject: 'noResults', detail: undefined } });
  });

  test('F188 checks that passed are no findings', () => {
    const checks = [a, { ...b, check_result: { result: 'PASSED' } }, { ...b, status: 'Pass' }];
    assert.deepEqual(read({ results: { checks } }), [both[0]]);
  });

  test('F188 items of which most have no title of their own, no location and no rating are refused', () => {
    for (const file of [
      [{ rule_id: 'R1', message: 'm', cwe: 89 }],
      [{ message: 'm', cwe: 89 }],
      { error: { message: 'not found', path: '/v1/runs' } },
      { results: [{ check_id: 'C1' }, { check_id: 'C2' }, a] },
      ['SQL injection in a.js:12', a],
      { findings: ['SQL injection in a.js:12', 'XSS in b.js:3'] },
      { sites: [{ label: 'here', where: 'src/a.ts' }], list: [] },
      { name: 'Review', description: 'All.', files: [{ path: 'src/a.ts' }] },
      { files: [{ name: 'a.ts', path: 'src/a.ts' }] },
      [{ filePath: 'src/a.ts', messages: [{ ruleId: 'no-eval', severity: 2, message: 'm', line: 3 }] }],
      { one: { two: { three: { four: { findings: [a] } } } } },
      { data: { user: { name: 'x' }, org: { id: 1 } } },
      { data: { error: { message: 'no such run' } } },
      {},
      { findings: null },
      { message: 'Not found', status: 404 },
      { runs: [{ tool: {} }] },
      { warnings: [], results: [{ flaw: 'SQL injection', danger: 9, notes: [] }] },
      { errors: [{ code: 1, message: 'no such run' }], data: [] },
      { findings: { high: { count: 1 } } },
      { summary: { issues: { high: 1 } } },
      [{ tool: { name: 'x', level: 'info' }, location: { path: 'a.ts', message: 'm' } }],
    ])
      assert.throws(() => read(file), { kind: 'malformedFindings' }, JSON.stringify(file));
  });

  test('F107 an empty list, also of a report with a title and a rating, is no error', () => {
    const none = { summary: 'No vulnerabilities found', severity: 'none', path: 'src' };
    for (const file of [
      [],
      { data: [] },
      { runs: [] },
      { runs: [{ results: [] }] },
      { data: { report: { findings: [] } } },
      { findings: { critical: [], high: [] } },
      { ...none, results: [] },
      { ...none, data: { findings: [] } },
      { findings: [], tool: { name: 'x', level: 'info' } },
      { findings: [], errors: [], tool: { name: 'x', path: 'src' }, files: ['src/a.ts'] },
    ])
      assert.deepEqual(read(file), [], JSON.stringify(file));
  });

  test('F108 a list of groups gives exactly its findings, and a group with a rating is one', () => {
    const groups = [
      { category: 'Injection', findings: [a, { description: 'Tainted query.', file: 'src/c.ts' }] },
      { category: 'Crypto', severity: 'low', description: 'Weak.', findings: [b] },
    ];
    const expected = [both[0], 'Tainted query. unrated src/c.ts:?', both[1]];
    assert.deepEqual(read(groups), expected);
    assert.deepEqual(read({ results: groups }), expected);
    const files = { 'src/a.ts': [{ ...a, file: undefined }], 'src/b.ts': [{ ...b, file: undefined }] };
    assert.deepEqual(read(files), ['a high', 'b low']);
    const rated = [a, b].map(({ title: name, severity }) => ({ name, severity, list: [b] }));
    assert.deepEqual(read(rated), ['a high', 'b low']);
  });

  test('F108 a finding that contains a list is one finding, also alone', () => {
    const whole = 'a high src/a.ts:1';
    for (const list of [
      { issues: [{ number: 12, url: 'https://tracker.example/12' }] },
      { references: [{ title: 'CWE-89', file: 'src/a.ts' }] },
      { items: [], data: ['x'], issues: [] },
      { trace: [{ file: 'src/b.ts', line: 2, message: 'from here' }] },
      { metadata: { issues: [{ number: 12 }], items: [{ title: 'x' }] } },
      { related: [{ title: 'x', severity: 'low' }] },
    ]) {
      assert.deepEqual(read([{ ...a, ...list }]), [whole], JSON.stringify(list));
      assert.deepEqual(read({ ...a, ...list }), [whole], JSON.stringify(list));
    }
    const steps = [{ message: 'from here', file: 'src/b.ts' }];
    assert.deepEqual(read([{ title: 'a', severity: 'high', steps }]), ['a high']);
    assert.deepEqual(read({ title: 'a', severity: 'high' }), ['a high']);
  });
});
