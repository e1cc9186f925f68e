import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactLine } from '../../../src/core/visibleText.ts';
import { changedLines, changesBetween } from '../../../src/core/workflows/requestChanges.ts';

/** The texts are similar, with characters that are hard to see. */
const pieces = ['a', 'b', 'a'.repeat(53), ' ', '\n', '\t', '\u00A0', '\u202E', '\u200D', '…', '⏎', '\\u{202E}', '😀', '😁', '\uD83D']; // prettier-ignore
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((drawn) => drawn.join(''));

/** Reads back what `exactLine` shows. */
function readBack(line: string): string {
  return line
    .replaceAll('⏎', '\n')
    .replace(/\\u\{([\dA-F]+)\}/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)));
}

test('F144 an exact line can be parsed back for any text, and a dialog collapses no white space in it', () => {
  fc.assert(
    fc.property(text, (written) => {
      const line = exactLine(written);
      assert.equal(readBack(line), written);
      assert.equal(line.replace(/\s+/g, ' ').trim(), line);
    }),
  );
});

/** Omits the common prefix and suffix. */
function between(one: string, other: string): string {
  const [a, b] = [Array.from(one), Array.from(other)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return a.slice(start, a.length - end).join('');
}

test('F144 two lines show all differences between two texts, and the lines differ', () => {
  fc.assert(
    fc.property(text, text, text, text, (start, before, after, end) => {
      const [one, other] = [start + before + end, start + after + end];
      fc.pre(one !== other);
      const { lines } = changedLines({ added: [other], removed: [one] });
      const [added = '', removed = ''] = lines.map((line) => line.text);
      assert.notEqual(added, removed);
      assert.ok(readBack(added).includes(between(other, one)));
      assert.ok(readBack(removed).includes(between(one, other)));
    }),
  );
});

test('F144 every text that only one of two requests has is shown, and no common one', () => {
  const texts = fc.uniqueArray(text, { maxLength: 6 });
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const [before, after] = [one.toSorted(), other.toSorted()];
      const [change] = changesBetween({ preferences: before }, { preferences: after }, false);
      const { lines } = changedLines(change ?? { added: [], removed: [] });
      const count = (sign: string): number => lines.filter((line) => line.sign === sign).length;
      assert.equal(count('+'), after.filter((each) => !before.includes(each)).length);
      assert.equal(count('−'), before.filter((each) => !after.includes(each)).length);
      if (count('+') !== count('−'))
        for (const { sign, text: line } of lines)
          assert.ok((sign === '+' ? after : before).includes(readBack(line)));
    }),
  );
});

test('F144 common prefix and suffix of two texts are shortened, and a long change is marked as long', () => {
  const [start, end] = ['s'.repeat(200), 'e'.repeat(200)];
  const edited = (before: string, after: string) =>
    changedLines({ added: [start + after + end], removed: [start + before + end] });
  assert.deepEqual(
    edited('good', 'evil').lines.map(({ sign, text: line }) => `${sign} ${line}`),
    [`+ …${'s'.repeat(40)}evil${'e'.repeat(40)}…`, `− …${'s'.repeat(40)}good${'e'.repeat(40)}…`],
  );
  assert.equal(edited('b'.repeat(500), 'a'.repeat(500)).isLong, false);
  assert.equal(edited('b'.repeat(500), 'a'.repeat(501)).isLong, true);
  const urls = (count: number) =>
    Array.from({ length: count }, (_, at) => `https://example.test/${String(at)}`);
  assert.equal(changedLines({ added: urls(10), removed: [] }).isLong, false);
  assert.equal(changedLines({ added: urls(11), removed: [] }).isLong, true);
});
