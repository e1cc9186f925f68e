import assert from 'node:assert/strict';
import { readTargetFile, takePasswords } from '../../../src/core/workflows/targetFile.ts';
import { testBlocks } from '../core/blockedLoop.ts';

/** A target file is read at each keystroke. */
const maxMs = 100;
const url = '"target_urls":["https://staging.example.com/"]';

function read(text: string, expected: readonly string[]) {
  return () => () => {
    const result = readTargetFile(text);
    const kinds = 'problems' in result ? result.problems.map(({ kind }) => kind) : [];
    assert.deepEqual([...new Set(kinds)], expected);
    assert.ok(kinds.length <= 101, String(kinds.length));
  };
}

function members(count: number): string {
  return Array.from({ length: count }, (_, at) => `"member${String(at)}":0`).join();
}

function logins(count: number): string {
  return `{${url},"authentication":{"credentials":[${Array.from(
    { length: count },
    (_, at) => `{"id":"user${String(at)}","role":"buyer","password":"canary-${String(at)}"}`,
  ).join()}]}}`;
}

await testBlocks(import.meta.filename, {
  'F145 1,800 nested brackets in a target file are a problem, and not the end of the editor': {
    maxMs,
    prepare: read(`{${url},"deep":${'['.repeat(1800)}${']'.repeat(1800)}}`, ['unknown', 'unchecked']),
  },
  'F145 a million brackets that are never closed are a problem': {
    maxMs,
    prepare: read('['.repeat(1_000_000), ['type', 'unchecked']),
  },
  'F145 of 30,000 unknown members the first 100 are reported': {
    maxMs,
    prepare: read(`{${members(30_000)},${url}}`, ['unknown', 'unchecked']),
  },
  'F145 of 8 MB of lists the first 100 problems are reported': {
    maxMs,
    prepare: read(`{"${'a":[],"'.repeat(1_100_000)}a":0}`, ['repeated', 'unchecked']),
  },
  'F145 8 MB of blanks are not read to their end': {
    maxMs,
    prepare: read(`{${' '.repeat(7_900_000)}${url}}`, ['unchecked']),
  },
  'F145 a URL of 8 MB is too long': {
    maxMs,
    prepare: read(`{"target_urls":["https://a.example/${'a'.repeat(7_900_000)}"]}`, ['atMost']),
  },
  'F145 a target file of more than 8 MB is refused': {
    maxMs,
    prepare: read(`{${url},"a":"${'あ'.repeat(3_000_000)}"}`, ['tooLarge']),
  },
  'F145 1,000 passwords are taken out of a target file': {
    maxMs,
    prepare: () => {
      const text = logins(1000);
      return () => {
        const taken = takePasswords(text);
        assert.equal(taken.passwords.get(999), 'canary-999');
        assert.doesNotMatch(taken.text, /canary|password/);
      };
    },
  },
  'F145 a target file that is not read to its end keeps its passwords': {
    maxMs,
    prepare: () => {
      const text = logins(50_000);
      return () => assert.deepEqual(takePasswords(text), { text, passwords: new Map() });
    },
  },
});
