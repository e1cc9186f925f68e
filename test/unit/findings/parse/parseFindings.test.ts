import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssessmentError } from '../../../../src/core/errors.ts';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';

const options = { runId: 'run' };
const isMalformed = (error: unknown) =>
  error instanceof AssessmentError && error.kind === 'malformedFindings';

test('an empty list is no error', () => {
  for (const text of ['[]', '{"findings":[]}', '{"runs":[]}', '{"runs":[{"results":[]}]}']) {
    assert.deepEqual(parseFindings(text, options), { findings: [], cut: undefined }, text);
  }
});

test('what is not JSON, or holds no list, is refused as malformed', () => {
  const texts = [
    '',
    '["SQL injection in a.py"]',
    '<html>',
    '{',
    'null',
    '3',
    '"text"',
    '{}',
    '{"error":"no such run"}',
    '{"findings":null}',
    '{"message":"Not found","status":404}',
    '{"runs":[{"tool":{}}]}',
  ];
  for (const text of texts) assert.throws(() => parseFindings(text, options), isMalformed, text);
});

test('a byte order mark is tolerated', () => {
  assert.equal(parseFindings('\uFEFF[{"title":"t","severity":"low"}]', options).findings[0]?.title, 't');
});

test('the raw JSON of a finding is complete', () => {
  const item = { title: 't', severity: 'low', unheard_of: { deep: [1, null, 'x'] } };
  assert.deepEqual(parseFindings(JSON.stringify([item]), options).findings[0]?.raw, JSON.stringify(item));
});

test('a generated ID depends on run, place and ordinal, and not on the position', () => {
  const equal = { title: 't', file: 'a.py', line: 1 };
  const ids = (list: unknown[], runId: string) =>
    parseFindings(JSON.stringify(list), { runId }).findings.map(({ id }) => id);
  const [first, second, other] = ids([equal, equal, { ...equal, line: 2 }], 'run');
  assert.equal(new Set([first, second, other]).size, 3);
  assert.deepEqual(ids([{ ...equal, line: 2 }, equal, equal], 'run'), [other, first, second]);
  assert.notEqual(ids([equal], 'another run')[0], first);
  assert.match(first ?? '', /^[0-9a-f]{12}$/);
});

test('items that are not objects are listed with a note', () => {
  const { findings } = parseFindings(
    '["SQL injection in a.py", null, {"title":"t","cwe":89}, {"title":"u","cwe":79}, {"title":"v","cwe":22}]',
    options,
  );
  assert.deepEqual(
    findings.map(({ title, raw, shortfall }) => [title, raw, shortfall]),
    [
      ['SQL injection in a.py', '"SQL injection in a.py"', 'unreadable'],
      ['', 'null', 'unreadable'],
      ['t', '{"title":"t","cwe":89}', undefined],
      ['u', '{"title":"u","cwe":79}', undefined],
      ['v', '{"title":"v","cwe":22}', undefined],
    ],
  );
});

test('oversized texts and place lists are cut with a note, and complete in the raw JSON', () => {
  const long = '漢'.repeat(100_000);
  const locations = Array.from({ length: 2_000 }, (_, line) => ({ file: 'a.py', line: line + 1 }));
  const { findings } = parseFindings(
    JSON.stringify([
      { title: 't', severity: 'low' },
      { title: 't', description: long, locations },
    ]),
    options,
  );
  assert.equal(findings[1]?.description.length, 65_536);
  assert.equal(findings[1].places.length, 500);
  assert.equal(findings[1].raw, JSON.stringify({ title: 't', description: long, locations }));
  assert.deepEqual(
    findings.map(({ shortfall }) => shortfall),
    [undefined, 'clipped'],
  );
});

test('past the limit the worst findings are kept, in file order, with the total count', () => {
  const many = Array.from({ length: 9_997 }, () => 'critical');
  const severities = ['low', 'critical', 'none', 'high', 'Showstopper', ...many, 'critical'];
  const { findings, cut } = parseFindings(
    JSON.stringify(severities.map((severity) => ({ title: 't', severity }))),
    {
      runId: 'run',
    },
  );
  assert.deepEqual(
    findings.slice(0, 3).map(({ index, severity }) => [index, severity]),
    [
      [1, 'critical'],
      [3, 'high'],
      [5, 'critical'],
    ],
  );
  assert.equal(findings.at(-1)?.index, severities.length - 1);
  assert.deepEqual(cut, { shown: 10_000, total: severities.length });
});

test('F68 unknown fields, wrong types, NaN, negative and huge lines are kept and clamped', () => {
  const unknownLines = [
    0,
    -1,
    -1e9,
    1.5,
    1e300,
    2 ** 53,
    '12abc',
    'NaN',
    '',
    null,
    true,
    {},
    [],
    [0, 4],
    '9'.repeat(30),
  ];
  for (const line of unknownLines) {
    const { findings } = parseFindings(
      JSON.stringify([{ title: 't', file: 'a.py', line, extra: [], unheard_of: 1 }]),
      options,
    );
    assert.deepEqual(
      findings[0]?.places.map(({ path, startLine, endLine }) => [path, startLine, endLine]),
      [['a.py', undefined, undefined]],
      JSON.stringify(line),
    );
  }
  assert.throws(() => parseFindings('[{"line": NaN}]', options), isMalformed);
  const backwards = parseFindings('[{"title":"t","file":"a.py","start_line":9,"end_line":3}]', options)
    .findings[0]?.places[0];
  assert.deepEqual([backwards?.startLine, backwards?.endLine], [9, 9]);
  const wrongTypes = {
    id: {},
    title: 7,
    severity: [],
    description: false,
    recommendation: null,
    locations: 3,
    cwe: {},
    cvss: [],
    tags: 'x',
  };
  const sure = { title: 't', severity: 'low' };
  const wrong = parseFindings(JSON.stringify([wrongTypes, sure, sure]), options).findings[0];
  assert.deepEqual(
    [wrong?.severity, wrong?.description, wrong?.places, wrong?.cwes, wrong?.cvss],
    ['unrated', '', [], [], undefined],
  );
  assert.equal(wrong?.raw, JSON.stringify(wrongTypes));
});

test('nesting of any depth is read without a stack overflow', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const text = `[{"title":"t","file":"a.py","description":${deep},"locations":${deep},"cwe":${deep},"severity":${deep},"impact":${deep}}]`;
  assert.equal(parseFindings(text, options).findings[0]?.title, 't');
});

test('an item too long to be shown has no raw JSON', () => {
  const { findings } = parseFindings(
    JSON.stringify([{ title: 't', cwe: 1, extra: 'x'.repeat(1_000_001) }]),
    options,
  );
  assert.deepEqual([findings[0]?.title, findings[0]?.raw], ['t', undefined]);
});

test('F70 keys such as __proto__ pollute nothing', () => {
  const text = `[{"__proto__":{"title":"polluted","polluted":1},"constructor":{"prototype":{"polluted":1}},"title":"t",
    "location":{"__proto__":{"file":"evil.py"},"hasOwnProperty":1,"file":"a.py"},"severity":{"__proto__":{"level":"high"}}}]`;
  const { findings } = parseFindings(text, options);
  assert.deepEqual([findings[0]?.title, findings[0]?.severity], ['t', 'unrated']);
  assert.deepEqual(
    findings[0]?.places.map(({ path }) => path),
    ['a.py'],
  );
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  const inSarif = `{"runs":[{"tool":{"driver":{"rules":[{"id":"__proto__","__proto__":{"polluted":1}}]}},"results":[{"ruleId":"__proto__"},{"ruleId":"constructor"}]}]}`;
  assert.equal(parseFindings(inSarif, options).findings.length, 2);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});
