import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRetryAfter } from '../../../src/core/api/retry.ts';

const now = Date.UTC(2030, 0, 1, 12);
const dayMs = 24 * 60 * 60 * 1000;

test('F51 Retry-After is read in every form, is never early, and is at most a day', () => {
  const forms: readonly (readonly [string | undefined, number])[] = [
    ['120', 120_000],
    [' 0 ', 0],
    ['Tue, 01 Jan 2030 12:02:00 GMT', 120_000],
    ['Tuesday, 01-Jan-30 12:02:00 GMT', 120_000],
    ['Tue Jan  1 12:02:00 2030', 120_000],
    ['Tue, 01 Jan 2030 11:00:00 GMT', 0],
    ['Thu, 01 Jan 2040 00:00:00 GMT', dayMs],
    [String(10 * 365 * 86_400), dayMs],
    ['9'.repeat(400), dayMs],
    [undefined, 0],
    ['', 0],
    ['soon', 0],
    ['soon 2090', 0],
    ['-120', 0],
    ['1.5', 0],
    ['2090-01-01T00:00:00Z', 0],
  ];
  for (const [header, ms] of forms) assert.equal(parseRetryAfter(header, now), ms, header);
});

test('F51 any header leads to a delay between zero and a day', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 0, max: 4e12 }), (header, at) => {
      const ms = parseRetryAfter(header, at);
      assert.ok(ms >= 0 && ms <= dayMs);
    }),
    { numRuns: 1_000 },
  );
});
