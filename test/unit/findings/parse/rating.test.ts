import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOne } from './spellings.ts';

test('a severity in parts uses the first known part, and is kept as written if none is known', () => {
  const ratingOf = (severity: unknown) => {
    const { severity: read, severityText } = readOne({ title: 't', severity });
    return [read, severityText];
  };
  assert.deepEqual(ratingOf({ name: 'P1', score: 8.8 }), ['high', '8.8']);
  assert.deepEqual(ratingOf({ level: 'P2', value: 'Medium' }), ['medium', undefined]);
  assert.deepEqual(ratingOf({ level: '', name: 'P3', score: 88 }), ['unrated', 'P3']);
});
