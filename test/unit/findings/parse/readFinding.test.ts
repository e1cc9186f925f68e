import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  MAX_PATH,
  type ReportedFinding,
  SEVERITIES,
  splitReported,
  toPlainFinding,
} from '../../../../src/core/findings/finding.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { readOne } from './readOne.ts';

type LocationPart = 'endLine' | 'startColumn' | 'endColumn' | 'snippet' | 'targetIndex';

/** A row compares all of a finding's locations as `path:startLine`, or a part of the first. */
type Part = 'locations' | LocationPart | Exclude<keyof ReportedFinding, 'locations'>;

function partOf(found: ReportedFinding, part: Part): unknown {
  if (part in found && part !== 'locations') return found[part as keyof ReportedFinding];
  if (part !== 'locations') return found.locations[0]?.[part as LocationPart];
  return found.locations.map(({ path, startLine = '?' }) => `${path}:${String(startLine)}`).join(' ');
}

const untitled = { title: undefined, cwe: 1 };
const inList = [{ file: 'src/a.py', line: 3 }];
const cvss = { score: 9.8, vector: undefined };
const file = { file: 'a.py' };
const location = { file: 'a.py', line: 1 };
const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';

describe('F107 a part is read under each of its names:', () => {
  const codeBlock = '```\nx\n```';
  for (const [part, names, value, expected, beside = {}] of [
    ['id', 'id finding_id vulnerability_id uuid guid fingerprint number', 7, '7'],
    ['title', 'title name summary rule_name type category check_id rule_id', 'SQL', 'SQL', untitled],
    ['severity', 'severity severity_level risk risk_level level priority impact', 'High', 'high'],
    ['severity', 'properties.severity', '8.0', 'high'],
    ['severity', 'severity.level severity.value severity.name severity.score', '8.0', 'high'],
    ['description', 'description details detail message explanation rationale overview body', 'd', 'd'],
    ['recommendation', 'recommendation recommendations remediation solution fix suggested_fix', 'r', 'r'],
    ['recommendation', 'mitigation countermeasure countermeasures how_to_fix', 'r', 'r'],
    ['recommendation', 'remediation_steps suggestion recommended_fix', 'r', 'r'],
    ['blocks', 'impact', 'x', [{ kind: 'impact', text: 'x' }]],
    ['blocks', 'exploit_scenario', 'x', [{ kind: 'exploitScenario', text: 'x' }]],
    ['blocks', 'attack_scenario', 'x', [{ kind: 'attackScenario', text: 'x' }]],
    ['blocks', 'evidence', 'x', [{ kind: 'evidence', text: 'x' }]],
    ['blocks', 'reproduction_steps', ['x', 'y'], [{ kind: 'reproductionSteps', text: '1. x\n2. y' }]],
    ['blocks', 'root_cause technical_analysis', 'x', [{ kind: 'rootCause', text: 'x' }]],
    ['blocks', 'poc poc_description proof_of_concept', 'x', [{ kind: 'proofOfConcept', text: 'x' }]],
    ['blocks', 'poc_script_code', 'x', [{ kind: 'proofOfConcept', text: codeBlock }]],
    ['cwes', 'cwe cwe_id cwe_ids cwes taxonomy.cwe identifiers tags', ['CWE-89', 'CWE-2', 'CWE-89'], [89, 2]],
    ['cvss', 'cvss cvss_score score cvss.score cvss.base_score severity.score', '9.8', cvss],
    ['cvss', 'cvss.vector cvss.vector_string vector_string cvss', vector, { score: undefined, vector }],
    ['confidence', 'confidence probability', 0.87, '0.87'],
    ['locations', 'locations location affected_locations code_locations occurrences', inList, 'src/a.py:3'],
    ['locations', 'affected_files files code_snippets evidence code_evidence', inList, 'src/a.py:3'],
    ['locations', 'nodes source sink trace', inList, 'src/a.py:3'],
    ['locations', 'file file_path path filename relative_path uri source_file ref', 'src/a.py', 'src/a.py:?'],
    ['locations', 'start_line line_start line line_number lineno begin_line from', '12', 'a.py:12', file],
    ['locations', 'start.line begin.line region.start_line', 12, 'a.py:12', file],
    ['locations', 'region.start.line range.start.line', 12, 'a.py:12', file],
    ['endLine', 'end_line line_end to end.line region.end_line region.end.line', 20, 20, location],
    ['startColumn', 'column col start_column', 7, 7, location],
    ['endColumn', 'end_column', 9, 9, location],
    ['snippet', 'snippet snippet.text code code_snippet lines', '  x = 1', '  x = 1', location],
    ['targetIndex', 'target_index', 1, 1, location],
  ] as const)
    test(`${part} under ${names.split(' ', 1)[0] ?? ''}`, () => {
      for (const name of names.split(' ')) {
        const named = name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
        const item = { title: 't', ...beside, ...(named as object) };
        assert.deepEqual(partOf(readOne(item), part), expected, name);
      }
    });

  test('every word for a severity, in any letter case', () => {
    for (const [severity, words] of Object.entries({
      critical: 'critical 重大 blocker',
      high: 'high 高 error important',
      medium: 'medium 中 moderate warning',
      low: 'low 低 minor note',
      none: 'none なし info informational 情報',
    }))
      for (const word of words.split(' ').flatMap((each) => [each, each.toUpperCase()]))
        assert.equal(readOne({ title: 't', severity: word }).severity, severity, word);
  });

  test('in every spelling', () => {
    const { id, locations } = readOne({ Title: 't', 'Finding-ID': 7, FILE_PATH: 'a.py', 'start line': 3 });
    assert.deepEqual([id, locations[0]?.path, locations[0]?.startLine], ['7', 'a.py', 3]);
  });
});

describe('titles and texts:', () => {
  const script = [{ kind: 'proofOfConcept', text: '```\n# x\ny\n```' }];
  const blocks = ['What.', 'Short.'].map((text) => ({ kind: 'details', text }));
  for (const [name, item, part, expected] of [
    ['the first line of the description is a title', { description: 'One.\nTwo.' }, 'title', 'One.'],
    ['a summary that is the title is no text', { summary: 'Short.' }, 'description', ''],
    ['a name counts before a rule', { rule_id: 'R', name: 'Name' }, 'title', 'Name'],
    ['a script is code', { title: 't', poc_script_code: '# x\ny' }, 'blocks', script],
    ['an empty name counts for nothing', { title: '', rule_id: 'R' }, 'title', 'R'],
    ['Markdown counts before text', { detail: { text: 'x', markdown: '*x*' } }, 'description', '*x*'],
    ['lines are a list', { description: ['One.', 'Two.'] }, 'description', '- One.\n- Two.'],
    [
      'a second text is a block',
      { title: 't', rationale: 'Why.', overview: 'What.', summary: 'Short.' },
      'blocks',
      blocks,
    ],
    [
      'a recommendation has steps',
      { fix: { summary: 'Do it.', steps: ['First.', 'Then.'] } },
      'recommendation',
      'Do it.\n1. First.\n2. Then.',
    ],
  ] as const)
    test(name, () => assert.deepEqual(partOf(readOne({ cwe: 1, ...item }), part), expected));
});

describe('a rating:', () => {
  const prose = 'All orders can be read.';
  const vague = 'Anybody can read what is of high value';
  for (const [item, severity, text] of [
    [{ severity: ' INFORMATIONAL ' }, 'none', 'INFORMATIONAL'],
    ...([9.1, 8.9, 6.9, 0.1] as const).map((score, at) => {
      return [{ severity: score }, SEVERITIES[at], String(score)] as const;
    }),
    ...['0.0', 0, 1, 2, 8, 11.5].map((rank) => [{ severity: rank }, 'unrated', String(rank)] as const),
    [{ properties: { 'security-severity': 8 } }, 'high', '8'],
    [{ cvss_score: 9 }, 'critical'],
    [{ cvss: { score: 0 } }, 'unrated'],
    [{ score: 9 }, 'unrated'],
    [{ severity: 'Showstopper', level: 'medium' }, 'medium'],
    [{ severity: null, risk: 'low', impact: prose }, 'low'],
    [{ severity: 'Showstopper', impact: prose }, 'unrated', 'Showstopper'],
    [{ severity: 'x', priority: 'P1' }, 'unrated', 'x'],
    [{ priority: 1 }, 'unrated'],
    [{ impact: 'High, since all orders can be read.' }, 'unrated'],
    [{ severity: { level: 'P2', value: 'Medium' } }, 'medium'],
    [{ severity: { name: 'P1', score: 8.8 } }, 'high', '8.8'],
    [{ severity: { level: '', name: 'P3', score: 88 } }, 'unrated', 'P3'],
    [{ severity: 'High Risk' }, 'high', 'High Risk'],
    [{ severity: 'High (CVSS 8.1)' }, 'high', 'High (CVSS 8.1)'],
    [{ severity: 'High risk of data loss' }, 'high', 'High risk of data loss'],
    [{ severity: vague }, 'unrated', vague],
    [{ impact: 'Error message disclosure' }, 'unrated'],
    [{ impact: ' HIGH ' }, 'high'],
    [{ severity: 'S1 - critical' }, 'critical', 'S1 - critical'],
    [{ severity: '危険度：高' }, 'high', '危険度：高'],
    [{ severity: 'low to medium' }, 'unrated', 'low to medium'],
    [{ severity: 'highly unlikely' }, 'unrated', 'highly unlikely'],
    [{ score: 0.87 }, 'low'],
    [{ score: 0.87, confidence: 0.87 }, 'unrated'],
    [{ score: 8.7, confidence: 0.87 }, 'high'],
  ] as const)
    test(`F107 ${JSON.stringify(item)} is ${String(severity)}`, () => {
      const found = readOne({ title: 't', ...item });
      assert.deepEqual([found.severity, found.severityText], [severity, text]);
    });
});

describe('CWE numbers:', () => {
  for (const [item, cwes] of [
    [{ cwe: 89 }, [89]],
    [{ cwe: 'CWE-89: SQL Injection' }, [89]],
    [{ cwe: 'cwe_89' }, [89]],
    [{ cwe: { id: 89, name: 'SQL Injection' } }, [89]],
    [{ tags: ['security', 'external/cwe/cwe-089', '2021'] }, [89]],
    [{ identifiers: [7, { type: 'gemnasium', value: '7' }, { type: 'cwe', value: '89' }] }, [89]],
  ] as const)
    test(JSON.stringify(item), () => assert.deepEqual(readOne({ title: 't', ...item }).cwes, cwes));
});

describe('locations:', () => {
  const own = { file: 'src/login.ts', line: 42 };
  const files = ['src/session.ts', 'src/login.ts'];
  for (const [name, item, locations] of [
    ['a string with its line', { location: 'src/a.py:3' }, 'src/a.py:3'],
    ['strings with their lines', { evidence: ['src/a.py:3'] }, 'src/a.py:3'],
    ['not a tool', { ...own, source: 'Scanner 1.0' }, 'src/login.ts:42'],
    ['not a tool’s version', { source: 'Scanner v1.2' }, ''],
    ['not code', { sink: 'cursor.execute' }, ''],
    ['not prose', { evidence: 'The log shows src/a.py failing.' }, ''],
    ['not a web address', { uri: 'https://example.com/a.py', trace: 'https://example.com/a.py' }, ''],
    ['not what has no path', { location: 'the login handler', file: 'a.py' }, 'a.py:?'],
    ['in the file around them', { file: 'a.py', occurrences: [{ line: 3 }, { line: 9 }] }, 'a.py:3 a.py:9'],
    ['in their own file', { files: [{ path: 'a.py', lines: 3, nodes: [{ line: 9 }] }] }, 'a.py:9'],
    ['completed by the finding', { location: 'src/a.py', line: 12 }, 'src/a.py:12'],
    ['its own before others', { ...own, affected_files: ['b.ts'] }, 'src/login.ts:42 b.ts:?'],
    ['its own before listed ones', { ...own, locations: ['a.ts:1'] }, 'src/login.ts:42 a.ts:1'],
    ['its own in a list of files', { ...own, files }, 'src/login.ts:42 src/session.ts:?'],
    ['its own file in a list', { file: own.file, files }, 'src/session.ts:? src/login.ts:?'],
    ['once with and without a line', { ...own, locations: [{ file: own.file }, own] }, 'src/login.ts:42'],
    ['as listed with lines', { ...own, locations: ['a.ts:1', 'src/login.ts:7'] }, 'a.ts:1 src/login.ts:7'],
    ['a list as file', { file: ['a.ts', 'b.ts:7'] }, 'a.ts:? b.ts:7'],
    ['not the keys of a path', { path: ['paths', '/orders', 'get.json'] }, ''],
    ['not a host', { location: '10.0.0.12:443' }, ''],
    ['not a package', { nodes: ['node_modules/lodash'] }, ''],
    ['an object as file', { file: { path: 'a.ts' }, region: { start: { line: 3 } } }, 'a.ts:3'],
  ] as const)
    test(`F107 ${name}`, () =>
      assert.equal(partOf(readOne({ title: 't', ...item }), 'locations'), locations));

  test('are in the order of their roles, each time they are reported, with labels and code', () => {
    const location = { file: 'a.py', line: 1 };
    const { locations } = readOne({
      title: 't',
      target_index: 1,
      locations: [location, { file: 'b.py', line: 2, label: 'here' }, { ...location, target_index: 0 }],
      trace: [{ file: 'a.py', line: 1, code: 'x()' }],
      source: { file: 'd.py', line: 4 },
      sink: 'src/e.py:5',
    });
    assert.deepEqual(
      locations.map(({ path, startLine, role, targetIndex, label, snippet }) =>
        [path, startLine, role, targetIndex, label, snippet].filter((each) => each !== undefined).join(' '),
      ),
      ['a.py 1 1', 'b.py 2 1 here', 'a.py 1 0', 'd.py 4 source', 'src/e.py 5 sink', 'a.py 1 step x()'],
    );
  });
});

describe('the lines of a location:', () => {
  for (const [fields, ...expected] of [
    [{ lines: [12, 20] }, 12, 20],
    [{ lines: ' L12 – l20 ' }, 12, 20],
    [{ line_range: '12-20' }, 12, 20],
    [{ lines: { start: 12, end: 20 } }, 12, 20],
    [{ line: { start: 3, end: 9 } }, 3, 9],
    [{ line: 'L12-L20' }, 12, 20],
    [{ line: '12 14' }],
    [{ start: { line: 1, col: 7 } }, 1, undefined, 7],
    [{ range: { start: { line: 0, character: 4 }, end: { line: 2, character: 0 } } }, 1, 3, 5, 1],
    [{ line: 12, range: { start: { line: 11, character: 4 } } }, 12, undefined, 5],
    [{ range: { start: { line: 1, column: 4 }, end: { line: 2 } } }, 1, 2, 4],
    [{ line: 4, col: 2, end_line: 4, end_column: 1 }, 4, 4, 2],
    [{ line: 4, col: 2, end_line: 3 }, 4, 4, 2],
    [{ end_line: 6, col: 2 }, 6, 6, 2],
    [{ file: 'a.py:12' }, 12],
    [{ file: 'a.py:12:5' }, 12, undefined, 5],
    [{ file: 'a.py:12-20' }, 12, 20],
    [{ file: 'a.py:20-12' }, 20, 20],
    [{ file: 'a.py#L12' }, 12],
    [{ file: 'a.py#L12C3-L20C4' }, 12, 20],
    [{ file: 'a.py:0' }],
  ] as const)
    test(`F107 ${JSON.stringify(fields)}`, () => {
      const [found] = readOne({ title: 't', location: { file: 'a.py', ...fields } }).locations;
      const { path, startLine, endLine, startColumn, endColumn, snippet } = found ?? {};
      const [line, last, column, lastColumn] = expected;
      assert.deepEqual(
        [path, startLine, endLine, startColumn, endColumn, snippet],
        ['a.py', line, last, column, lastColumn, undefined],
      );
    });
});

describe('a text that may be a path', () => {
  /** Each text is a path under `file`; under `location` or `sink`, only what looks like one. */
  const keys = ['file', 'location', 'sink'];
  for (const [text, accepted] of [
    ['Makefile', 1],
    ['a.js', 2],
    ['a.js:3', 3],
    ['src/a', 2],
    ['src\\a.js', 3],
    ['my folder/a', 1],
    ['my folder/a.js', 2],
    ['a.js is wrong', 1],
    ['a.js:x', 1],
    ['12:5', 1],
    [' ', 0],
    ['a/b\nc.js', 0],
    ['a request\nreaches the query', 0],
    ['a.js -> b.js\nb.js -> c.js\nc.js', 0],
    ['https://example.com/a.js', 0],
    ['file:///a.js', 3],
    [`a/${'x'.repeat(MAX_PATH - 5)}.js`, 3],
    [`a/${'x'.repeat(MAX_PATH - 1)}`, 0],
  ] as const)
    test(`F107 ${JSON.stringify(text.slice(0, 40))} is one under ${String(accepted)} of three keys`, () => {
      const found = keys.filter((key) => readOne({ title: 't', [key]: text }).locations.length > 0);
      assert.deepEqual(found, keys.slice(0, accepted));
    });
});

describe('a quote has no fence and no line numbers:', () => {
  const code = 'if (a) {\n  b();\n}';
  const left = '9 | if (a) {\n...\n11 | }';
  for (const [snippet, expected, line] of [
    ['```ts\nif (a) {\n  b();\n}\n```', code],
    ['\n```\nif (a) {\n  b();\n}\n```\n', code],
    ['9 | if (a) {\n10 |   b();\n11 | }', code],
    ['   9\tif (a) {\n  10\t  b();\n  11\t}', code],
    ['   9: if (a) {\n> 10:   b();\n  11: }', code],
    ['```\n9 if (a) {\n10   b();\n11 }\n```', code],
    [['9: if (a) {', '10:   b();', '11: }'], code],
    ['requires login', undefined],
    ['12-20', undefined],
    ['9: if (a) {', 'if (a) {', 9],
    ['> 9\tif (a) {', 'if (a) {', 9],
    [left, 'if (a) {\n...\n}', 9],
    ['8: if (a) {', '8: if (a) {', 9],
    ['12 | if (a) {', 'if (a) {', 9],
    ['...\n9: if (a) {', '...\n9: if (a) {', 9],
    [left.replace('11', '9'), left.replace('11', '9'), 9],
    ['1: "one",\n2: "two"', '"one",\n"two"'],
    ['10 PRINT "A"', '10 PRINT "A"'],
    ['a\n```\nb', 'a\n```\nb'],
    ['3 | x\n7 | y', '3 | x\n7 | y'],
  ] as const)
    test(`F107 ${JSON.stringify(snippet)}`, () => {
      const [location] = readOne({ title: 't', file: 'a.ts', line, snippet }).locations;
      assert.equal(location?.snippet, expected);
    });
});

describe('a finding of a live application', () => {
  const live = {
    title: 'Reflected cross-site scripting',
    severity: 'high',
    feature_name: 'Search for products',
    perspective: 'XSS',
    method: 'GET',
    url: 'https://shop.example/search?q=1',
  };
  const about = ({ feature, perspective, method, url }: ReportedFinding) =>
    [feature, perspective, method, url].map((each) => each ?? '-').join(' ');

  test('has a feature, a perspective, a method and a URL', () => {
    const { feature_name: feature, method, url, ...rest } = live;
    const expected = 'Search for products XSS GET https://shop.example/search?q=1';
    for (const named of [{ feature }, { feature_name: feature }, { feature: { name: feature } }])
      assert.equal(about(readOne({ ...rest, ...named, request: { method, url } })), expected);
    assert.equal(readOne({ ...live, url: '/search?q=1' }).url, '/search?q=1');
    const alone = [{ description: 'd', feature, url }];
    assert.equal(parseFindings(JSON.stringify(alone)).findings.length, 1);
  });

  for (const more of [
    { url: 'https://cwe.mitre.org/data/definitions/89.html' },
    { feature: 'Orders' },
    { method: 'get', url: 'https://docs.example/get' },
    { method: 'OrderController.find' },
    { url: 'not an address', method: 'GET' },
    { perspective: 'An attacker, who has no account, sends a quote.' },
  ])
    test(`is not one about code with ${JSON.stringify(more)}`, () => {
      const found = readOne({ title: 'SQL', severity: 'high', file: 'src/db.js', line: 4, ...more });
      assert.deepEqual([about(found), partOf(found, 'locations')], ['- - - -', 'src/db.js:4']);
    });

  test('F138 has no location in code by the path of a URL', () => {
    const odd = { path: '/search', evidence: '/search', files: ['search'] };
    assert.equal(partOf(readOne({ ...live, ...odd }), 'locations'), '');
    assert.equal(
      partOf(readOne({ ...live, file: 'src/search.js', line: 3 }), 'locations'),
      'src/search.js:3',
    );
  });

  test('has visible control characters, and no oversized values', () => {
    const odd = readOne({ ...live, feature_name: 'a\u202Eb\nc', url: 'https://a.example/\u202Ex' });
    assert.doesNotMatch(about(odd), /[\u202E\n]/);
    assert.equal(readOne({ ...live, url: `https://a.example/${'x'.repeat(5_000)}` }).url, undefined);
  });
});

describe('other fields', () => {
  const othersOf = (fields: object): string | undefined =>
    readOne({ title: 't', ...fields }).blocks.find(({ kind }) => kind === 'other')?.text;

  for (const [fields, others] of [
    [
      { exploitability: 'high', verified: false, cve: null, empty: [], refs: ['a', 'b'], attempts: 3 },
      '- ` exploitability `: high\n- ` verified `: false\n- ` refs `:\n  - a\n  - b\n- ` attempts `: 3',
    ],
    [{ severity: 'low', description: 'd', file: 'a.c', line: 3, id: 'F-1' }, undefined],
    [{ category: 'Injection' }, '- ` category `: Injection'],
    [{ line: 3, code: 'x = 1' }, '- ` line `: 3\n- ` code `: x = 1'],
    [{ location: 'the login handler' }, '- ` location `: the login handler'],
    [{ url: 'https://docs.example' }, '- ` url `: https://docs.example'],
    [{ severity: 'low', level: 'P3' }, '- ` level `: P3'],
    [{ extra: { message: 'm', metadata: { cwe: 'CWE-89', owasp: 'A3' } } }, '- ` extra.metadata.owasp `: A3'],
  ] as const)
    test(`F107 of ${Object.keys(fields).join(', ')} are what no part shows`, () => {
      assert.equal(othersOf(fields), others);
    });

  test('F107 they are bounded, and read again from an export', () => {
    const keys = Array.from({ length: 5_000 }, (_, at) => [`key${String(at)}`, 'x'.repeat(99)]);
    assert.equal(othersOf(Object.fromEntries(keys) as object)?.length, 65_536);
    const { finding, details } = splitReported(readOne({ title: 't', status: 'new' }));
    const again = toPlainFinding(finding, details);
    assert.deepEqual(readOne(again).blocks, [{ kind: 'other', text: '- ` status `: new' }]);
  });

  test('F173 those of a SARIF result are listed as it has them, without what was resolved', () => {
    const properties = { team: 'web', severity: 'low' };
    const result = { ruleId: 'R', ruleIndex: 0, message: { text: 'm' }, rank: 7, properties };
    const run = { tool: { driver: { rules: [{ id: 'R', name: 'Rule' }] } }, results: [result] };
    const { findings } = parseFindings(JSON.stringify({ version: '2.1.0', runs: [run] }));
    const text = '- ` rank `: 7\n- ` properties.team `: web';
    assert.deepEqual(findings[0]?.blocks, [{ kind: 'other', text }]);
  });
});
