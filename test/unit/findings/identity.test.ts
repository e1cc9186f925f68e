import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFinder, fingerprintOf, type FindingIdentity } from '../../../src/core/findings/identity.ts';
import { parseFindings } from '../../../src/core/findings/parse/parseFindings.ts';
import { identityFor } from './shownFindings.ts';

/** The path of the finding has to be valid. */
function printOf(item: object): string {
  const [finding] = parseFindings(JSON.stringify([item])).findings;
  return fingerprintOf(finding!, { path: finding?.locations[0]?.path ?? '' });
}

test('a fingerprint is of the weakness, or else the title, and of the quoted code without white space', () => {
  const item = { title: 'One wording', file: 'a.js', line: 1 };
  const sql = { ...item, cwe: 89 };
  const quoted = { ...item, snippet: 'db.query( sql )' };
  for (const [one, other, isSame] of [
    [item, { ...item, title: 'Other wording' }, false],
    [sql, { ...sql, title: 'Other wording' }, true],
    [sql, { ...item, cwe: 79 }, false],
    [quoted, { ...item, snippet: '\tdb.query(sql)\r\n' }, true],
    [quoted, { ...item, snippet: 'db.query(sql, [])' }, false],
  ] as const)
    assert.equal(printOf(one) === printOf(other), isSame, JSON.stringify(other));
});

test('the fingerprint of a live finding is of perspective or weakness, feature, method and URL path', () => {
  const request = { feature_name: 'Search', method: 'GET', url: 'https://shop.example/search?q=1' };
  const item = { title: 'One wording', perspective: 'XSS', ...request };
  const weakness = { ...item, perspective: undefined, cwe: 79 };
  for (const [one, change, isSame] of [
    [item, { title: 'Other wording' }, true],
    [item, { url: 'https://shop.example/search?q=%3Cscript%3E#top' }, true],
    [item, { cwe: 79 }, true],
    [item, { perspective: 'Injection' }, false],
    [item, { feature_name: 'Search for people' }, false],
    [item, { method: 'POST' }, false],
    [item, { url: 'https://shop.example/find?q=1' }, false],
    [weakness, { cwe: 89 }, false],
  ] as const)
    assert.equal(printOf(one) === printOf({ ...one, ...change }), isSame, JSON.stringify(change));
});

test('F165 a finding is found by name, else by file and index, else by a fingerprint unique on both sides', () => {
  const [a, b, twin, other] = ['a', 'b', 'twin', 'other'].map((text) => identityFor(text));
  assert.ok(a && b && twin && other);
  const here = [a, b, { ...twin, fingerprint: 'twins' }, { ...other, fingerprint: 'twins' }];
  const unknown = identityFor('unknown');
  for (const [asked, wanted] of [
    [{ ...unknown, name: a.name, file: b.file, fingerprint: 'b' }, a],
    [{ ...unknown, file: b.file, fingerprint: 'a' }, b],
    [{ ...unknown, fingerprint: 'a' }, a],
    [{ ...unknown, fingerprint: 'twins' }, undefined],
    [unknown, undefined],
  ] satisfies readonly [FindingIdentity, FindingIdentity | undefined][]) {
    assert.equal(createFinder(here, [asked])(asked), wanted);
    const sameFingerprint = { ...identityFor('another'), fingerprint: asked.fingerprint };
    const isByPrint = wanted?.name !== asked.name && wanted?.file !== asked.file;
    const found = createFinder(here, [asked, sameFingerprint])(asked);
    assert.equal(found, isByPrint ? undefined : wanted, 'two are asked for');
  }
});
