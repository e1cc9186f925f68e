import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { splitReported, toPlainFinding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { at, keysOf, readOne, spellings } from './spellings.ts';

test('the ID is read from any alias, as text or number', () => {
  for (const key of keysOf('id finding_id vulnerability_id uuid guid fingerprint number')) {
    assert.equal(readOne({ title: 't', [key]: 'F-7' }).id, 'F-7', key);
    assert.equal(readOne({ title: 't', [key]: 7 }).id, '7', key);
  }
});

test('the title is read from any alias, in order of preference', () => {
  const names = 'title name summary rule_name type category check_id rule_id';
  for (const key of keysOf(names))
    assert.equal(readOne({ [key]: 'SQL injection', description: 'd' }).title, 'SQL injection', key);
  const all = Object.fromEntries(
    names
      .split(' ')
      .reverse()
      .map((key) => [key, `from ${key}`]),
  );
  for (const key of names.split(' ')) {
    assert.equal(readOne(all).title, `from ${key}`);
    all[key] = '';
  }
});

test('without a title the first line of the description is the title', () => {
  assert.equal(readOne({ description: 'First line.\nSecond line.' }).title, 'First line.');
});

test('the severity is read from any alias', () => {
  for (const key of keysOf('severity severity_level risk risk_level level priority impact')) {
    assert.equal(readOne({ [key]: 'High' }).severity, 'high', key);
  }
});

test('every severity word is known, in any letter case', () => {
  const words = {
    critical: 'critical 重大 blocker',
    high: 'high 高 error important',
    medium: 'medium 中 moderate warning',
    low: 'low 低 minor note',
    none: 'none なし info informational 情報',
  };
  for (const [severity, row] of Object.entries(words)) {
    for (const word of row.split(' ').flatMap((each) => [each, each.toUpperCase(), ` ${each} `])) {
      assert.equal(readOne({ severity: word }).severity, severity, word);
    }
  }
});

test('an unknown severity falls back to the next alias', () => {
  assert.equal(readOne({ severity: 'Showstopper', level: 'medium' }).severity, 'medium');
  assert.equal(readOne({ severity: null, risk: 'low', impact: 'All orders can be read.' }).severity, 'low');
});

test('an unknown severity is unrated and kept as written', () => {
  const { severity, severityText } = readOne({ severity: 'Showstopper', impact: 'All orders can be read.' });
  assert.deepEqual([severity, severityText], ['unrated', 'Showstopper']);
});

test('a severity may be an object with level, value, name or score', () => {
  for (const part of ['level', 'value', 'name'])
    assert.equal(readOne({ severity: { [part]: 'Critical' } }).severity, 'critical', part);
  assert.equal(readOne({ severity: { score: 7.5 } }).severity, 'high');
});

test('a severity number is read as a CVSS score', () => {
  const bands = [
    [0, 'none'],
    [0.1, 'low'],
    [3.9, 'low'],
    [4, 'medium'],
    [6.9, 'medium'],
    [7, 'high'],
    [8.9, 'high'],
    [9, 'critical'],
    [10, 'critical'],
  ] as const;
  for (const [score, severity] of bands) {
    assert.equal(readOne({ severity: score }).severity, severity, String(score));
    assert.equal(readOne({ severity: String(score) }).severity, severity, `"${String(score)}"`);
    assert.equal(readOne({ cvss: { base_score: score } }).severity, severity, `cvss ${String(score)}`);
  }
  assert.equal(readOne({ severity: 11 }).severity, 'unrated');
  assert.equal(readOne({ priority: 1 }).severity, 'unrated');
  assert.deepEqual(readOne({ severity: 'x', priority: 'P1' }).severityText, 'x');
});

test('the description is read from any alias, as text, Markdown object or lines', () => {
  for (const key of keysOf('description details detail message explanation rationale overview body')) {
    assert.equal(readOne({ title: 't', [key]: 'Prose.' }).description, 'Prose.', key);
    assert.equal(readOne({ title: 't', [key]: { text: 'Prose.' } }).description, 'Prose.', key);
    assert.equal(
      readOne({ title: 't', [key]: { text: 'Prose.', markdown: '*Prose.*' } }).description,
      '*Prose.*',
      key,
    );
  }
  assert.equal(readOne({ title: 't', description: ['One.', 'Two.'] }).description, '- One.\n- Two.');
});

test('prose under a second alias becomes a block of the details', () => {
  const { description, blocks } = readOne({
    title: 't',
    rationale: 'Why.',
    overview: 'What.',
    summary: 'Short.',
  });
  assert.equal(description, 'Why.');
  assert.deepEqual(blocks, [
    { kind: 'details', text: 'What.' },
    { kind: 'details', text: 'Short.' },
  ]);
});

test('further blocks are read from their aliases', () => {
  const kinds = {
    impact: 'impact',
    exploit_scenario: 'exploitScenario',
    attack_scenario: 'attackScenario',
    evidence: 'evidence',
    reproduction_steps: 'reproductionSteps',
    poc: 'proofOfConcept',
  };
  for (const [name, kind] of Object.entries(kinds)) {
    for (const key of spellings(name))
      assert.deepEqual(readOne({ title: 't', [key]: 'Text.' }).blocks, [{ kind, text: 'Text.' }], key);
  }
  assert.equal(
    readOne({ title: 't', reproduction_steps: ['Go.', 'Look.'] }).blocks[0]?.text,
    '1. Go.\n2. Look.',
  );
});

test('the recommendation is read from any alias, as text, list, or summary with steps', () => {
  const names =
    'recommendation recommendations remediation solution fix suggested_fix mitigation countermeasure countermeasures how_to_fix';
  for (const key of keysOf(names)) {
    assert.equal(readOne({ title: 't', [key]: 'Do it.' }).recommendation, 'Do it.', key);
    assert.equal(
      readOne({ title: 't', [key]: ['Do it.', 'Test it.'] }).recommendation,
      '- Do it.\n- Test it.',
      key,
    );
    assert.equal(
      readOne({ title: 't', [key]: { summary: 'Do it.', steps: ['First.', 'Then.'] } }).recommendation,
      'Do it.\n1. First.\n2. Then.',
      key,
    );
  }
});

test('CWE numbers are read from any alias and form', () => {
  for (const key of keysOf('cwe cwe_id cwe_ids cwes')) {
    for (const value of [
      89,
      '89',
      'CWE-89',
      'CWE-89: SQL Injection',
      'cwe_89',
      ['CWE-89'],
      [{ id: 'CWE-89' }],
      { id: 89, name: 'SQL Injection' },
    ]) {
      assert.deepEqual(readOne({ title: 't', [key]: value }).cwes, [89], `${key} ${JSON.stringify(value)}`);
    }
  }
  assert.deepEqual(readOne({ title: 't', cwes: ['CWE-89', 'CWE-20', 'CWE-89'] }).cwes, [89, 20]);
  assert.deepEqual(readOne({ title: 't', tags: ['security', 'external/cwe/cwe-089', '2021'] }).cwes, [89]);
  const identifiers = [
    { type: 'semgrep_id', value: '7' },
    { type: 'cwe', value: '89' },
  ];
  assert.deepEqual(readOne({ title: 't', identifiers }).cwes, [89]);
});

test('CVSS is read from any alias and form', () => {
  for (const key of ['cvss', 'cvss_score', 'score', 'cvss.score', 'cvss.base_score', 'cvss.baseScore']) {
    for (const value of [9.8, '9.8'])
      assert.equal(readOne({ title: 't', ...at(key, value) }).cvss?.score, 9.8, key);
  }
  const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
  for (const key of ['cvss.vector', 'cvss.vectorString', 'vector_string', 'cvss']) {
    assert.equal(readOne({ title: 't', ...at(key, vector) }).cvss?.vector, vector, key);
  }
});

test('F107 the fields of reviewers by language models are read', () => {
  const fields = {
    title: 'SQL injection',
    severity: { level: 'high', score: 8.1 },
    taxonomy: { category: 'Injection', cwe: ['CWE-89'] },
    rootCause: 'The query is built from text.',
    technical_analysis: 'The number is not checked.',
    recommended_fix: 'Use parameters.',
    remediation_steps: ['Change it.', 'Test it.'],
    suggestion: 'Or escape it.',
    poc_description: 'Send a quote.',
    proof_of_concept: 'See below.',
    poc_script_code: '# a comment, not a heading\nprint(1)',
    codeEvidence: [{ path: 'src/db.js', startLine: 4, id: 'sink', label: 'Sink', code: 'query(text)' }],
    code_locations: [
      { file: 'src/db.js', start_line: 4, end_line: 5, snippet: 'query(text)', label: 'here' },
    ],
  };
  const found = readOne(fields);
  assert.deepEqual(
    [found.severity, found.cvss, found.cwes],
    ['high', { score: 8.1, vector: undefined }, [89]],
  );
  assert.deepEqual(
    found.places.map(({ path, startLine, endLine, snippet, role, label }) => [
      path,
      startLine,
      endLine,
      snippet,
      role,
      label,
    ]),
    [
      ['src/db.js', 4, 5, 'query(text)', undefined, 'here'],
      ['src/db.js', 4, undefined, 'query(text)', 'evidence', 'Sink'],
    ],
  );
  assert.equal(found.recommendation, '- Change it.\n- Test it.');
  assert.deepEqual(found.blocks, [
    { kind: 'rootCause', text: 'The query is built from text.' },
    { kind: 'rootCause', text: 'The number is not checked.' },
    { kind: 'proofOfConcept', text: 'Send a quote.' },
    { kind: 'proofOfConcept', text: 'See below.' },
    { kind: 'proofOfConcept', text: '```\n# a comment, not a heading\nprint(1)\n```' },
    { kind: 'recommendation', text: 'Use parameters.' },
    { kind: 'recommendation', text: 'Or escape it.' },
    { kind: 'other', text: '- ` taxonomy.category `: Injection' },
  ]);
  assert.deepEqual(readOne({ title: 't', cweIds: ['CWE-79'] }).cwes, [79]);
});

describe('other fields', () => {
  const othersOf = (fields: object): string | undefined =>
    readOne({ title: 't', ...fields }).blocks.find(({ kind }) => kind === 'other')?.text;

  test('F107 what no part of a finding shows is listed, in the order of the file', () => {
    assert.equal(
      othersOf({
        exploitability: 'high',
        verified: false,
        cve: null,
        empty: [],
        refs: ['a', 'b'],
        attempts: 3,
      }),
      '- ` exploitability `: high\n- ` verified `: false\n- ` refs `:\n  - a\n  - b\n- ` attempts `: 3',
    );
    assert.equal(othersOf({ severity: 'low', description: 'd', file: 'a.c', line: 3, id: 'F-1' }), undefined);
  });

  test('F107 a known name whose value is used for nothing is listed', () => {
    assert.equal(othersOf({ category: 'Injection' }), '- ` category `: Injection');
    assert.equal(othersOf({ line: 3, code: 'x = 1' }), '- ` line `: 3\n- ` code `: x = 1');
    assert.equal(othersOf({ location: 'the login handler' }), '- ` location `: the login handler');
    assert.equal(othersOf({ url: 'https://docs.example' }), '- ` url `: https://docs.example');
    assert.equal(othersOf({ severity: 'low', level: 'P3' }), '- ` level `: P3');
  });

  test('F107 of an object that is used in part, the rest is listed', () => {
    const extra = { message: 'm', metadata: { cwe: 'CWE-89', owasp: 'A03' } };
    assert.equal(othersOf({ extra }), '- ` extra.metadata.owasp `: A03');
  });

  test('F107 they are bounded, and read again from an export', () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`key${String(at)}`, 'x'.repeat(99)]),
    );
    assert.equal(othersOf(many)?.length, 65_536);
    const { finding, details } = splitReported(readOne({ title: 't', status: 'new' }));
    const again = toPlainFinding(finding, details);
    assert.deepEqual(readOne(again).blocks, [{ kind: 'other', text: '- ` status `: new' }]);
  });

  test('F173 those of a SARIF result are listed as it has them, without what was resolved', () => {
    const result = {
      ruleId: 'R',
      ruleIndex: 0,
      message: { text: 'm' },
      rank: 7,
      properties: { team: 'web', severity: 'low' },
    };
    const run = { tool: { driver: { rules: [{ id: 'R', name: 'Rule' }] } }, results: [result] };
    const { findings } = parseFindings(JSON.stringify({ version: '2.1.0', runs: [run] }), { runId: 'run' });
    assert.deepEqual(findings[0]?.blocks, [
      { kind: 'other', text: '- ` rank `: 7\n- ` properties.team `: web' },
    ]);
  });
});
