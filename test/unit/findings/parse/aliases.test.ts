import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';

function readOne(item: unknown): Finding {
  const { findings } = parseFindings(JSON.stringify([item]), { runId: 'run' });
  assert.equal(findings.length, 1);
  return findings[0]!;
}

/** An object with one value, at a dotted key. */
function at(key: string, value: unknown): Record<string, unknown> {
  return key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<
    string,
    unknown
  >;
}

/** The same key as other services spell it. */
function spellings(key: string): string[] {
  const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return [...new Set([key, camel, key.replaceAll('_', '-').toUpperCase(), key.replaceAll('_', ' ')])];
}

const keysOf = (row: string): string[] => row.split(/\s+/).flatMap(spellings);

test('a list of findings is found at the top and under every wrapper key', () => {
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

test('the id comes from any of its names, as text or number', () => {
  for (const key of keysOf('id finding_id vulnerability_id uuid guid fingerprint number')) {
    assert.equal(readOne({ title: 't', [key]: 'F-7' }).id, 'F-7', key);
    assert.equal(readOne({ title: 't', [key]: 7 }).id, '7', key);
  }
});

test('the title comes from any of its names, the earlier one first', () => {
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

test('the severity comes from any of its names', () => {
  for (const key of keysOf('severity severity_level risk risk_level level priority impact')) {
    assert.equal(readOne({ [key]: 'High' }).severity, 'high', key);
  }
});

test('every severity word is known, in any case', () => {
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

test('a severity that maps to nothing known leaves the choice to the next key', () => {
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
});

test('the description comes from any of its names, as text, as text or Markdown of an object, or as lines', () => {
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

test('prose under a second name is kept as a block of details', () => {
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

test('further blocks are read under their names', () => {
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

test('the recommendation comes from any of its names, as text, list, or summary with steps', () => {
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

test('places are read under every name, from an array, an object or a string', () => {
  const names =
    'locations location affected_locations code_locations occurrences affected_files files code_snippets evidence nodes source sink trace';
  for (const key of keysOf(names)) {
    for (const value of [
      [{ file: 'src/a.py', line: 3 }],
      { file: 'src/a.py', line: 3 },
      'src/a.py:3',
      ['src/a.py:3'],
    ]) {
      const [place, ...others] = readOne({ title: 't', [key]: value }).places;
      assert.deepEqual(
        [place?.path, place?.startLine, others],
        ['src/a.py', 3, []],
        `${key} ${JSON.stringify(value)}`,
      );
    }
  }
});

test('fields of the finding itself are its place when it has no other', () => {
  const { places } = readOne({
    title: 't',
    file: 'src/a.py',
    line: 3,
    end_line: 5,
    snippet: 'x = 1',
    source: 'Scanner 1.0',
  });
  assert.deepEqual(
    places.map(({ path, startLine, endLine, snippet }) => [path, startLine, endLine, snippet]),
    [['src/a.py', 3, 5, 'x = 1']],
  );
});

test('a tool, code or prose where a place could be is not taken for a path', () => {
  for (const value of [
    'semgrep',
    'Scanner v1.2',
    'request.args',
    'cursor.execute',
    'The log shows src/a.py failing.',
    'https://example.com/a.py',
    '',
  ]) {
    for (const key of ['source', 'sink', 'evidence', 'trace'])
      assert.deepEqual(readOne({ title: 't', [key]: value }).places, [], `${key}: ${value}`);
  }
  assert.deepEqual(readOne({ title: 't', uri: 'https://example.com/a.py' }).places, []);
  assert.deepEqual(
    readOne({ title: 't', location: 'the login handler', file: 'src/a.py' }).places.map(({ path }) => path),
    ['src/a.py'],
  );
});

test('several locations come in order, each path and line once, with the role their key gives them', () => {
  const { places } = readOne({
    title: 't',
    locations: [
      { file: 'a.py', line: 1 },
      { file: 'b.py', line: 2, label: 'here' },
    ],
    trace: [
      { file: 'a.py', line: 1, code: 'x()' },
      { file: 'c.py', line: 3 },
    ],
    source: { file: 'd.py', line: 4 },
    sink: 'src/e.py:5',
  });
  assert.deepEqual(
    places.map(({ path, startLine, role }) => [path, startLine, role]),
    [
      ['a.py', 1, undefined],
      ['b.py', 2, undefined],
      ['d.py', 4, 'source'],
      ['src/e.py', 5, 'sink'],
      ['c.py', 3, 'step'],
    ],
  );
  assert.deepEqual([places[0]?.snippet, places[1]?.label], ['x()', 'here']);
});

test('a place takes what it lacks from the object around it', () => {
  const inherited = readOne({ title: 't', file: 'a.py', occurrences: [{ line: 3 }, { line: 9 }] });
  assert.deepEqual(
    inherited.places.map(({ path, startLine }) => [path, startLine]),
    [
      ['a.py', 3],
      ['a.py', 9],
    ],
  );
  const completed = readOne({ title: 't', location: 'src/a.py', line: 12, code_snippet: 'x = 1' });
  assert.deepEqual(
    completed.places.map(({ path, startLine, snippet }) => [path, startLine, snippet]),
    [['src/a.py', 12, 'x = 1']],
  );
  const file = readOne({
    title: 't',
    affected_files: [{ path: 'a.py', locations: [{ line: 3 }, { line: 9 }] }],
  });
  assert.deepEqual(
    file.places.map(({ path, startLine }) => [path, startLine]),
    [
      ['a.py', 3],
      ['a.py', 9],
    ],
  );
});

test('the file comes from any of its names', () => {
  for (const key of [
    ...keysOf('file file_path path filename relative_path uri source_file ref'),
    'artifactLocation.uri',
  ]) {
    assert.equal(readOne({ title: 't', location: at(key, 'src/a.py') }).places[0]?.path, 'src/a.py', key);
    assert.equal(readOne({ title: 't', ...at(key, 'src/a.py') }).places[0]?.path, 'src/a.py', key);
  }
});

test('lines behind a path are split from it', () => {
  const cases = [
    ['src/a.py:12', 'src/a.py', 12, undefined, undefined],
    ['src/a.py:12:5', 'src/a.py', 12, undefined, 5],
    ['src/a.py:12-20', 'src/a.py', 12, 20, undefined],
    ['src/a.py#L12-L20', 'src/a.py', 12, 20, undefined],
    ['src/a.py#L12', 'src/a.py', 12, undefined, undefined],
    ['src/a.py', 'src/a.py', undefined, undefined, undefined],
    ['src/a.py:12:x', 'src/a.py:12:x', undefined, undefined, undefined],
  ] as const;
  for (const [text, ...expected] of cases) {
    const place = readOne({ title: 't', file: text }).places[0];
    assert.deepEqual([place?.path, place?.startLine, place?.endLine, place?.startColumn], expected, text);
  }
});

test('the start line comes from any of its names, as number or digits', () => {
  const names = [
    ...keysOf('start_line line_start line line_number lineno begin_line from'),
    'start.line',
    'begin.line',
    'region.startLine',
    'range.start.line',
  ];
  for (const key of names) {
    for (const value of [12, '12'])
      assert.equal(
        readOne({ title: 't', location: { file: 'a.py', ...at(key, value) } }).places[0]?.startLine,
        12,
        key,
      );
  }
});

test('the end line comes from any of its names', () => {
  for (const key of [...keysOf('end_line line_end to'), 'end.line', 'region.endLine']) {
    assert.equal(
      readOne({ title: 't', location: { file: 'a.py', line: 12, ...at(key, 20) } }).places[0]?.endLine,
      20,
      key,
    );
  }
});

test('lines may be one value', () => {
  for (const range of [
    { lines: [12, 20] },
    { lines: '12-20' },
    { line_range: '12-20' },
    { line_range: [12, 20] },
    { lines: { start: 12, end: 20 } },
    { line: 'L12-L20' },
  ]) {
    const place = readOne({ title: 't', location: { file: 'a.py', ...range } }).places[0];
    assert.deepEqual(
      [place?.startLine, place?.endLine, place?.snippet],
      [12, 20, undefined],
      JSON.stringify(range),
    );
  }
});

test('a position counts from 0 only where it has a character', () => {
  const place = (range: unknown) => readOne({ title: 't', location: { file: 'a.py', range } }).places[0];
  const fromZero = place({ start: { line: 0, character: 4 }, end: { line: 2, character: 0 } });
  assert.deepEqual(
    [fromZero?.startLine, fromZero?.startColumn, fromZero?.endLine, fromZero?.endColumn],
    [1, 5, 3, 1],
  );
  const fromOne = place({ start: { line: 1, column: 4 }, end: { line: 2 } });
  assert.deepEqual([fromOne?.startLine, fromOne?.startColumn, fromOne?.endLine], [1, 4, 2]);
});

test('columns come from any of their names', () => {
  for (const key of [...keysOf('column col start_column'), 'start.col']) {
    const location =
      key === 'start.col'
        ? { file: 'a.py', start: { line: 1, col: 7 } }
        : { file: 'a.py', line: 1, ...at(key, 7) };
    assert.equal(readOne({ title: 't', location }).places[0]?.startColumn, 7, key);
  }
  for (const key of keysOf('end_column'))
    assert.equal(
      readOne({ title: 't', location: { file: 'a.py', line: 1, [key]: 9 } }).places[0]?.endColumn,
      9,
      key,
    );
});

test('a snippet comes from any of its names, as text, object or lines', () => {
  for (const key of keysOf('snippet code code_snippet lines')) {
    assert.equal(
      readOne({ title: 't', location: { file: 'a.py', line: 1, [key]: '  x = 1' } }).places[0]?.snippet,
      '  x = 1',
      key,
    );
  }
  assert.equal(
    readOne({ title: 't', location: { file: 'a.py', snippet: { text: 'x = 1' } } }).places[0]?.snippet,
    'x = 1',
  );
  assert.equal(
    readOne({ title: 't', location: { file: 'a.py', lines: ['a = 1', 'b = 2'] } }).places[0]?.snippet,
    'a = 1\nb = 2',
  );
});

test('CWE numbers come from any of their names and forms', () => {
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

test('CVSS comes from any of its names and forms', () => {
  for (const key of ['cvss', 'cvss_score', 'score', 'cvss.score', 'cvss.base_score', 'cvss.baseScore']) {
    for (const value of [9.8, '9.8'])
      assert.equal(readOne({ title: 't', ...at(key, value) }).cvss?.score, 9.8, key);
  }
  const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
  for (const key of ['cvss.vector', 'cvss.vectorString', 'vector_string', 'cvss']) {
    assert.equal(readOne({ title: 't', ...at(key, vector) }).cvss?.vector, vector, key);
  }
});

test('the target index of a place is kept', () => {
  assert.equal(
    readOne({ title: 't', location: { file: 'a.py', target_index: 1 } }).places[0]?.targetIndex,
    1,
  );
});
