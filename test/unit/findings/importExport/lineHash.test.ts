import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { hashLines } from '../../../../src/core/findings/importExport/sarif/lineHash.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

function hashesOf(text: string): string[] {
  const lines = Array.from({ length: text.length + 1 }, (_, at) => at + 1);
  return [...hashLines(text, new Set(lines)).values()];
}

/** The documented algorithm: a 64-bit rolling hash over a window of 100 characters. */
function rollingHashes(text: string): string[] {
  const window: number[] = Array<number>(100).fill(0);
  const starts: boolean[] = Array<boolean>(100).fill(false);
  const counts = new Map<string, number>();
  const hashes: string[] = [];
  const first = 37n ** 100n;
  let value = 0n;
  let at = 0;
  const push = (code: number, isStart: boolean): void => {
    if (starts[at]) {
      const hex = BigInt.asUintN(64, value).toString(16);
      counts.set(hex, (counts.get(hex) ?? 0) + 1);
      hashes.push(`${hex}:${counts.get(hex)}`);
    }
    starts[at] = isStart;
    value = BigInt.asUintN(64, value * 37n + BigInt(code) - first * BigInt(window[at]!));
    window[at] = code;
    at = (at + 1) % 100;
  };
  let isStart = true;
  let wasReturn = false;
  const read = (code: number): void => {
    const isSkipped = code === 32 || code === 9 || (wasReturn && code === 10);
    wasReturn = !isSkipped && code === 13;
    if (isSkipped) return;
    push(code === 13 ? 10 : code, isStart);
    isStart = code === 13 || code === 10;
  };
  for (let index = 0; index < text.length; index++) read(text.charCodeAt(index));
  read(65_535);
  for (let left = 0; left < 100; left++) push(0, false);
  return hashes;
}

const greetings = [
  'e9496ae3ebfced30:1',
  'fb7c023a8b9ccb3f:1',
  'ce8ba1a563dcdaca:1',
  'e20e36e16fcb0cc8:1',
  'b3edc88f2938467e:1',
  'c8e28b0b4002a3a0:1',
  'c129715d7a2bc9a3:1',
];
const repeated = 'a7f2ff13bc495cf2';

/** Texts and their line hashes from the tests of github/codeql-action. */
const known: readonly (readonly [string, readonly string[]])[] = [
  ['', ['c129715d7a2bc9a3:1']],
  [
    ' a\nb\n  \t\tc\n d',
    ['271789c17abda88f:1', '54703d4cd895b18:1', '180aee12dab6264:1', 'a23a3dc5e078b07b:1'],
  ],
  [' hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n', greetings],
  [' hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r', greetings],
  [' hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n', greetings],
  [' hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n', greetings],
  [
    'Lorem ipsum dolor sit amet.\n'.repeat(10),
    [
      ...[1, 2, 3, 4, 5, 6].map((count) => `${repeated}:${count}`),
      'a7f2ff1481e87703:1',
      'a9cf91f7bbf1862b:1',
      '55ec222b86bcae53:1',
      'cc97dc7b1d7d8f7b:1',
      'c129715d7a2bc9a3:1',
    ],
  ],
];

describe('the line hash that GitHub matches alerts by', () => {
  test("F151 equals the one of GitHub's action", () => {
    for (const [text, hashes] of known) assert.deepEqual(hashesOf(text), hashes, JSON.stringify(text));
  });

  test('F151 is a rolling hash over the whole text, for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom('\r', '\n', '\r\n', ' ', '\t', '\uFEFF', '\uFFFF', '\r \n', 'x'.repeat(99), '}'),
      fc.string({ maxLength: 30 }),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        assert.deepEqual(rollingHashes(text), hashesOf(text));
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
