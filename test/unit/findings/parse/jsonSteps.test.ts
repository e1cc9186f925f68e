import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { atOnce } from '../../../../src/core/findings/slices.ts';
import { parseJsonInSteps } from '../../../../src/core/findings/parse/jsonSteps.ts';

const letters = fc.integer({ min: 1, max: 40 });
const jsonText = fc
  .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\r\n\t'))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));

/** What a parser makes of a text: the value with the order of its keys, or the name and message of what it throws. */
function outcomeOf(parse: () => unknown): unknown {
  try {
    const value = parse();
    return { value, written: JSON.stringify(value) };
  } catch (error) {
    return String(error);
  }
}

function assertSame(text: string, pieceLength: number): void {
  const expected = outcomeOf(() => JSON.parse(text));
  assert.deepEqual(
    outcomeOf(() => atOnce(parseJsonInSteps(text, pieceLength))),
    expected,
    text,
  );
}

test('any JSON is parsed in steps to what JSON.parse gives', () => {
  fc.assert(fc.property(jsonText, letters, assertSame), { numRuns: 3_000 });
});

test('what is no JSON is refused in steps as JSON.parse refuses it', () => {
  const fault = fc.constantFrom('', ',', ']', '}', '[', '{', '"', '\\', ':', ' ', '1', '\u00a0');
  const broken = fc.tuple(jsonText, fault, fc.nat(), fc.nat({ max: 2 })).map(([text, insert, at, remove]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + insert + text.slice(start + remove);
  });
  fc.assert(fc.property(broken, letters, assertSame), { numRuns: 6_000 });
});

test('keys that repeat, count or mean a prototype, empty lists, lost commas and depths are as in JSON.parse', () => {
  const texts = [
    '{"__proto__":{"polluted":1},"b":[1,2,3,4,5,6]}',
    '{"a":1,"b":2,"a":3}',
    '{"2":1,"1":2}',
    ' [ ] ',
    '{ }',
    '[1,2,3,4, ]',
    '[,1,2,3,4]',
    '[1,,2]',
    '[1]]',
    '{"a":[1,2}]',
    '["a\\"b","c\\\\","d"]',
    '"a long text by itself"',
    `${'['.repeat(40)}1${']'.repeat(40)}`,
  ];
  for (const text of texts) {
    for (let pieceLength = 1; pieceLength < 30; pieceLength += 1) assertSame(text, pieceLength);
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('a long list is parsed in as many steps as it has pieces, also inside of other values', () => {
  const results = Array.from({ length: 1_000 }, (_, at) => ({ at, text: 'x'.repeat(90) }));
  const text = JSON.stringify({ version: '2.1.0', runs: [{ tool: {}, results }] });
  const steps = parseJsonInSteps(text, 10_000);
  let count = 0;
  while (steps.next().done !== true) count += 1;
  assert.ok(count >= text.length / 10_000, `${String(count)} steps`);
});
