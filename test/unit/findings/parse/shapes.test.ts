import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';
import { readOne } from './spellings.ts';

/** Title, severity, path and line of each finding. */
function read(file: unknown): string[] {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  return parseFindings(text, { runId: 'run' }).findings.map(({ title, severity, places: [place] }) =>
    [
      title,
      severity,
      ...(place === undefined ? [] : [`${place.path}:${String(place.startLine ?? '?')}`]),
    ].join(' '),
  );
}

const a = { title: 'a', severity: 'high', file: 'src/a.ts', line: 1 };
const b = { title: 'b', severity: 'low', file: 'src/b.ts', line: 2 };
const both = ['a high src/a.ts:1', 'b low src/b.ts:2'];

const [unratedA, unratedB] = [
  { ...a, severity: undefined },
  { ...b, severity: undefined },
];

describe('the shape of a findings file', () => {
  for (const [name, file] of [
    ['in an unknown wrapper', { result: { findings: [a, b] } }],
    ['in three wrappers', { meta: {}, data: { report: { scan: { vulnerabilities: [a, b] } } } }],
    ['in two wrappers side by side', { sast: { findings: [a] }, dast: { findings: [b] } }],
    ['beside numbers of a summary', { summary: { issues: { high: 1, low: 1 } }, report: { issues: [a, b] } }],
    ['beside an empty list', { findings: [], results: [a, b] }],
    ['below an empty list', { data: [], report: { findings: [a, b] } }],
    ['by id', { findings: { F1: a, F2: b } }],
    ['by id, beside a number', { findings: { total: 2, F1: a, F2: b } }],
    ['by severity', { findings: { high: [unratedA], low: [unratedB], critical: [] } }],
    ['by severity, beside a number', { findings: { total: 2, high: [unratedA], low: [unratedB] } }],
    ['by severity, one alone', { findings: { High: unratedA, LOW: [unratedB] } }],
  ] as const)
    test(`F107 findings ${name} are read`, () => {
      assert.deepEqual(read(file), both);
    });

  test('F107 lists without findings, a map without any, and an empty report are no error', () => {
    for (const file of [
      { findings: {} },
      { findings: { critical: [], high: [] } },
      { data: { report: { findings: [] } } },
      { data: [] },
      { findings: [], files: [{ path: 'src/a.ts' }], results: [{ path: 'src/a.ts', status: 'reviewed' }] },
      [{ category: 'Injection', findings: [] }],
    ])
      assert.deepEqual(read(file), [], JSON.stringify(file));
  });

  test('F107 a map by ID provides the IDs', () => {
    const { findings } = parseFindings(JSON.stringify({ findings: { F1: a } }), { runId: 'run' });
    assert.equal(findings[0]?.id, 'F1');
  });

  test('F107 no list is guessed in any other shape', () => {
    for (const file of [
      { meta: { tool: 'x' }, security_review: [a, b] },
      { one: { two: { three: { four: { findings: [a] } } } } },
      { high: [unratedA], low: [unratedB] },
      { findings: { 'src/a.ts': [a], Injection: [b] } },
      { name: 'Review', files: [{ path: 'src/a.ts', issues: [a] }] },
      { name: 'Review', risk: 'high', files: [{ path: 'src/a.ts', issues: [a] }] },
      { summary: 'Two flaws.', risk_level: 'high', sections: [{ name: 'Auth', findings: [a, b] }] },
      { data: { user: { name: 'x' }, org: { id: 1 } } },
      { data: { error: { message: 'no such run' } } },
      { errors: [{ code: 1, message: 'no such run' }] },
      { findings: { high: { count: 1 } } },
      { summary: { issues: { high: 1 } } },
    ])
      assert.throws(() => read(file), { kind: 'malformedFindings' }, JSON.stringify(file));
  });

  test('F108 a list of groups gives exactly its findings, with what their group says', () => {
    const groups = [
      { category: 'Injection', findings: [a, { description: 'Tainted query.', file: 'src/c.ts' }] },
      {
        category: 'Crypto',
        severity: 'low',
        description: 'Weak.',
        findings: [{ file: 'src/b.ts', line: 2 }],
      },
    ];
    const expected = ['a high src/a.ts:1', 'Injection unrated src/c.ts:?', 'Crypto low src/b.ts:2'];
    assert.deepEqual(read(groups), expected);
    assert.deepEqual(read({ results: groups }), expected);
    const files = [
      { path: 'src/a.ts', issues: [{ ...a, file: undefined }] },
      { path: 'src/b.ts', summary: 'One flaw.', results: [{ ...b, file: undefined }] },
    ];
    assert.deepEqual(read(files), both);
  });

  test('F108 a report in a wrapper is no finding, whatever its rating', () => {
    const head = { title: 'Assessment of x', risk_level: 'high', path: 'src' };
    assert.deepEqual(read({ data: { report: { ...head, vulnerabilities: [a, b] } } }), both);
    assert.deepEqual(read({ data: { ...head, findings: [a, b] } }), both);
  });

  test('F108 a finding that contains a list is one finding', () => {
    const whole = 'a high src/a.ts:1';
    for (const list of [
      { issues: [{ number: 12, url: 'https://tracker.example/12' }] },
      { references: [{ title: 'CWE-89', file: 'src/a.ts' }] },
      { items: [], data: ['x'], issues: [] },
      { trace: [{ file: 'src/b.ts', line: 2, message: 'from here' }] },
      { metadata: { issues: [{ number: 12 }], items: [{ title: 'x' }] } },
    ])
      assert.deepEqual(read([{ ...a, ...list }]), [whole], JSON.stringify(list));
    assert.deepEqual(read({ ...a, metadata: { issues: [{ number: 12 }], items: [{ title: 'x' }] } }), [
      whole,
    ]);
  });
});

describe('output of language models', () => {
  test('F107 may have an object as line and a list as file', () => {
    const [place] = readOne({ title: 't', file: 'a.ts', line: { start: 3, end: 9 } }).places;
    assert.deepEqual([place?.startLine, place?.endLine], [3, 9]);
    const { places } = readOne({ title: 't', file: ['a.ts', 'b.ts:7'], line: 3 });
    assert.deepEqual(
      places.map(({ path, startLine }) => [path, startLine]),
      [
        ['a.ts', 3],
        ['b.ts', 7],
      ],
    );
  });

  test('F107 may have more words in a severity, but not another severity', () => {
    for (const [word, severity] of [
      ['High Risk', 'high'],
      ['S1 - critical', 'critical'],
      ['Severity: Medium', 'medium'],
      ['危険度：高', 'high'],
      ['low to medium', 'unrated'],
      ['highly unlikely', 'unrated'],
    ] as const)
      assert.equal(readOne({ title: 't', severity: word }).severity, severity, word);
    assert.equal(readOne({ title: 't', impact: 'High, since all orders can be read.' }).severity, 'unrated');
  });

  test('F107 may have a number from 0 to 1 beside a confidence, which is no severity', () => {
    for (const key of ['confidence', 'probability']) {
      const finding = readOne({ title: 't', score: 0.87, [key]: 0.87 });
      assert.deepEqual(
        [finding.severity, finding.cvss, finding.confidence],
        ['unrated', undefined, '0.87'],
        key,
      );
      assert.equal(readOne({ title: 't', score: 8.7, [key]: 0.87 }).severity, 'high');
    }
    assert.equal(readOne({ title: 't', confidence: 'HIGH' }).confidence, 'HIGH');
    assert.equal(readOne({ title: 't', score: 0.87 }).severity, 'low');
  });

  test('F107 may have a snippet in a fence or with line numbers, which are removed', () => {
    for (const snippet of [
      '```ts\nif (a) {\n  b();\n}\n```',
      '\n```\nif (a) {\n  b();\n}\n```\n',
      '9 | if (a) {\n10 |   b();\n11 | }',
      '   9\tif (a) {\n  10\t  b();\n  11\t}',
      '   9: if (a) {\n> 10:   b();\n  11: }',
      '```\n9 if (a) {\n10   b();\n11 }\n```',
      ['9: if (a) {', '10:   b();', '11: }'],
    ])
      assert.equal(
        readOne({ title: 't', file: 'a.ts', snippet }).places[0]?.snippet,
        'if (a) {\n  b();\n}',
        JSON.stringify(snippet),
      );
    const left = ['9 | if (a) {', '...', '11 | }'].join('\n');
    for (const [snippet, code] of [
      ['9: if (a) {', 'if (a) {'],
      ['> 9\tif (a) {', 'if (a) {'],
      [left, 'if (a) {\n...\n}'],
      ['8: if (a) {', '8: if (a) {'],
      ['...\n9: if (a) {', '...\n9: if (a) {'],
      [left.replace('11', '9'), left.replace('11', '9')],
    ] as const)
      assert.equal(
        readOne({ title: 't', file: 'a.ts', line: 9, snippet }).places[0]?.snippet,
        code,
        JSON.stringify(snippet),
      );
    for (const code of ['1: "one",\n2: "two"', '10 PRINT "A"', 'a\n```\nb', '3 | x\n7 | y']) {
      const isCounted = code.startsWith('1:');
      const found = readOne({ title: 't', file: 'a.ts', snippet: code }).places[0]?.snippet;
      assert.equal(found, isCounted ? '"one",\n"two"' : code, code);
    }
  });
});
