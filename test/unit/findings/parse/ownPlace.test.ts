import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from '../../../../src/core/findings/parse/parse.ts';

/** The places of a finding with these fields, as `path:line`. */
function placesOf(fields: Record<string, unknown>): string[] {
  const { findings } = parseFindings(JSON.stringify([{ title: 't', ...fields }]), { runId: 'run' });
  return (findings[0]?.places ?? []).map(({ path, startLine }) => `${path}:${String(startLine ?? '?')}`);
}

const own = { file: 'src/login.ts', line: 42 };

test('a finding’s own file and line are its main place when only other files are listed', () => {
  assert.deepEqual(placesOf({ ...own, affected_files: ['src/session.ts'] }), [
    'src/login.ts:42',
    'src/session.ts:?',
  ]);
  assert.deepEqual(placesOf({ ...own, locations: [{ file: 'a.ts', line: 1 }] }), [
    'src/login.ts:42',
    'a.ts:1',
  ]);
});

test('a finding’s own line completes its file in a list of files', () => {
  const files = { affected_files: ['src/session.ts', 'src/login.ts'] };
  assert.deepEqual(placesOf({ ...own, ...files }), ['src/login.ts:42', 'src/session.ts:?']);
  assert.deepEqual(placesOf({ file: own.file, ...files }), ['src/session.ts:?', 'src/login.ts:?']);
  assert.deepEqual(placesOf({ ...own, locations: [{ file: own.file }, own] }), ['src/login.ts:42']);
});

test('places with lines of their own stay as they are listed', () => {
  const locations = [
    { file: 'a.ts', line: 1 },
    { file: own.file, line: 7 },
  ];
  assert.deepEqual(placesOf({ ...own, locations }), ['a.ts:1', 'src/login.ts:7']);
  assert.deepEqual(placesOf({ file: own.file, line: 7, locations }), ['a.ts:1', 'src/login.ts:7']);
});
