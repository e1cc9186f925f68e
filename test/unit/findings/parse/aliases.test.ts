import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';
import { at, keysOf, readOne, spellings } from './spellings.ts';

test('a list of findings is found at the top level and under every wrapper key', () => {
  const wrappers = keysOf('findings vulnerabilities results issues items data alerts');
  const files: unknown[] = [
    [{ title: 'a' }, { title: 'b' }],
    ...wrappers.map((key) => ({ meta: 1, [key]: [{ title: 'a' }, { title: 'b' }] })),
    { data: { findings: [{ title: 'a' }, { title: 'b' }] } },
    { runs: [{ results: [{ title: 'a' }] }, { results: [{ title: 'b' }] }] },
  ];
  for (const file of files) {
    const titles = parseFindings(JSON.stringify(file), { runId: 'run' }).findings.map(({ title }) => title);
    assert.deepEqual(titles, ['a', 'b'], JSON.stringify(file));
  }
});

test('a lone object is a list of one', () => {
  const { findings } = parseFindings('{"title":"SQL injection","severity":"high"}', { runId: 'run' });
  assert.deepEqual(
    findings.map(({ title, severity }) => [title, severity]),
    [['SQL injection', 'high']],
  );
});

test('a single object may contain a list of its own, but a report without findings has none', () => {
  const lone = { title: 'SQL injection', severity: 'high', file: 'a.ts', line: 2 };
  const titles = (file: unknown) =>
    parseFindings(JSON.stringify(file), { runId: 'run' }).findings.map(({ title }) => title);
  assert.deepEqual(titles({ ...lone, items: [] }), ['SQL injection']);
  assert.deepEqual(titles({ ...lone, data: ['a', 'b'] }), ['SQL injection']);
  assert.deepEqual(titles({ ...lone, issues: [{ title: 'a' }] }), ['a']);
  assert.deepEqual(titles({ title: 'Report', severity: 'high', findings: [] }), []);
  assert.deepEqual(titles({ name: 'scan', path: 'src', results: [] }), []);
  const none = { summary: 'No vulnerabilities found', severity: 'none', path: 'src' };
  for (const key of keysOf('findings vulnerabilities results issues alerts'))
    assert.deepEqual(titles({ ...none, [key]: [] }), [], key);
  assert.deepEqual(titles({ ...none, data: { findings: [] } }), []);
  const texts = ['SQL injection in a.js:12', 'XSS in b.js:3'];
  const report = { title: 'Assessment of x', risk_level: 'high', files: ['a.js', 'b.js'] };
  assert.deepEqual(titles({ ...report, findings: texts }), texts);
  assert.deepEqual(titles({ ...report, issues: texts }), texts);
});

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
