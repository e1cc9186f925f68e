import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toVisibleJson } from '../../../../src/core/findings/view/rawJson.ts';

test('a raw value is shown as JSON that reads as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const raw = { value, text };
      assert.deepEqual(JSON.parse(toVisibleJson(JSON.stringify(raw)) ?? ''), JSON.parse(JSON.stringify(raw)));
    }),
  );
});

test('nothing in it is invisible, and what people write is left as it is', () => {
  const shown = toVisibleJson(
    JSON.stringify({ title: 'a\u202Eb\u0085\u200B\u{E0041}\u2028', 説明: 'パスワード 👍 é' }),
  );
  assert.ok(shown !== undefined);
  assert.doesNotMatch(shown, /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u007F-\u009F]/u);
  assert.match(shown, /"a\\u202eb\\u0085\\u200b\\udb40\\udc41\\u2028"/);
  assert.match(shown, /"説明": "パスワード 👍 é"/);
});

test('a value that is nested too deeply to be written is none', () => {
  assert.equal(toVisibleJson(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), undefined);
});
