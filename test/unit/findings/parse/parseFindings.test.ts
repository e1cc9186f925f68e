import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from '../../../../src/core/findings/parse/parseFindings.ts';
import { readOne } from './readOne.ts';

const read = (value: unknown) => parseFindings(JSON.stringify(value));

test('what is not JSON is refused as malformed', () => {
  for (const text of ['', '<html>', '{', 'null', '3', '"text"', '[{"line": NaN}]'])
    assert.throws(() => parseFindings(text), { kind: 'malformedFindings' }, text);
});

test('items that are not objects are listed with a note, and all with their JSON, and an ID', () => {
  const last = { id: 'F-1', title: 't', cwe: 89, deep: [1, null] };
  const { findings } = read(['a flaw in a.py', null, { title: 't', cwe: 1 }, last, last]);
  assert.deepEqual(
    findings.slice(0, 4).map(({ id, title, raw, shortfall }) => [id, title, raw, shortfall]),
    [
      ['#1', 'a flaw in a.py', '"a flaw in a.py"', 'unreadable'],
      ['#2', '', 'null', 'unreadable'],
      ['#3', 't', '{"title":"t","cwe":1}', undefined],
      ['F-1', 't', JSON.stringify(last), undefined],
    ],
  );
  assert.equal(readOne({ title: 't', cwe: 1, extra: 'x'.repeat(1_000_001) }).raw, undefined);
});

test('oversized texts and location lists are cut with a note, and complete in the raw JSON', () => {
  const locations = Array.from({ length: 2_000 }, (_, line) => ({ file: 'a.py', line: line + 1 }));
  for (const item of [{ description: '漢'.repeat(100_000) }, { description: '', locations }]) {
    const { description, locations, raw, shortfall } = readOne({ title: 't', ...item });
    const sizes = [Math.min(item.description.length, 65_536), 'locations' in item ? 500 : 0];
    assert.deepEqual([description.length, locations.length, shortfall], [...sizes, 'clipped']);
    assert.equal(raw, JSON.stringify({ title: 't', ...item }));
  }
});

test('past the limit the worst findings are kept, in file order, with the total count', () => {
  const many = Array.from({ length: 9_997 }, () => 'critical');
  const severities = ['low', 'critical', 'none', 'high', 'Showstopper', ...many, 'critical'];
  const { findings, cut } = read(severities.map((severity) => ({ title: 't', severity })));
  const indexes = findings.map(({ index }) => index);
  assert.deepEqual([...indexes.slice(0, 3), indexes.at(-1)], [1, 3, 5, severities.length - 1]);
  assert.deepEqual(cut, { shown: 10_000, total: severities.length });
});

test('F68 unknown fields, wrong types, NaN, negative and huge lines are kept and clamped', () => {
  const linesOf = (item: object) => {
    const [location, ...others] = readOne({ title: 't', file: 'a.py', ...item }).locations;
    assert.deepEqual([location?.path, others], ['a.py', []]);
    return [location?.startLine, location?.endLine];
  };
  const numbers = [0, -1, -1e9, 1.5, 1e300, 2 ** 53];
  for (const line of [...numbers, '12abc', 'NaN', '', null, true, {}, [], [0, 4], '9'.repeat(30)])
    assert.deepEqual(linesOf({ line, unheard_of: 1 }), [undefined, undefined], JSON.stringify(line));
  assert.deepEqual(linesOf({ start_line: 9, end_line: 3 }), [9, 9]);
  const texts = { id: {}, title: 7, severity: [], description: false, recommendation: null };
  const wrong = readOne({ ...texts, locations: 3, cwe: {}, cvss: [], tags: 'x' });
  assert.deepEqual(
    [wrong.severity, wrong.description, wrong.locations, wrong.cwes, wrong.cvss],
    ['unrated', '', [], [], undefined],
  );
});

test('F118 nesting of any depth is read without a stack overflow', () => {
  const nest = (open: string, close: string): string => `${open.repeat(100_000)}${close.repeat(100_000)}`;
  const deep = nest('[', ']');
  const text = `[{"title":"t","file":"a.py","description":${deep},"locations":${deep},"cwe":${deep},"severity":${deep},"impact":${deep}}]`;
  assert.equal(parseFindings(text).findings[0]?.title, 't');
  const wrapped = { '{"data":': '{}}', '[{"findings":': '[]}]', '{"data":{"x":': '1}}' };
  for (const parts of Object.entries(wrapped))
    assert.throws(() => parseFindings(nest(...parts)), { kind: 'malformedFindings' });
});

test('F70 keys such as __proto__ pollute nothing', () => {
  const text = `[{"__proto__":{"title":"polluted","polluted":1},"constructor":{"prototype":{"polluted":1}},"title":"t",
    "location":{"__proto__":{"file":"evil.py"},"hasOwnProperty":1,"file":"a.py"},"severity":{"__proto__":{"level":"high"}}}]`;
  const [found] = parseFindings(text).findings;
  assert.deepEqual([found?.title, found?.severity, found?.locations[0]?.path], ['t', 'unrated', 'a.py']);
  const inSarif = `{"runs":[{"tool":{"driver":{"rules":[{"id":"__proto__","__proto__":{"polluted":1}}]}},"results":[{"ruleId":"__proto__"},{"ruleId":"constructor"}]}]}`;
  assert.equal(parseFindings(inSarif).findings.length, 2);
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
});
