import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/core/findings/finding.ts';
import { at, keysOf, readOne } from './spellings.ts';

const live = {
  title: 'Reflected cross-site scripting',
  severity: 'high',
  feature_name: 'Search for products',
  perspective: 'XSS',
  method: 'GET',
  url: 'https://shop.example/search?q=1',
};
const about = ({ feature, perspective, method, url }: Finding) => ({ feature, perspective, method, url });
const nothing = { feature: undefined, perspective: undefined, method: undefined, url: undefined };

test('feature, perspective, method and URL of a live finding are read from every alias', () => {
  const expected = { feature: 'Search for products', perspective: 'XSS', method: 'GET', url: live.url };
  assert.deepEqual(about(readOne(live)), expected);
  const { feature_name: feature, method, url, ...rest } = live;
  for (const key of keysOf('feature_name feature.name feature'))
    assert.deepEqual(about(readOne({ ...rest, method, url, ...at(key, feature) })), expected, key);
  for (const key of keysOf('method http_method request.method'))
    assert.deepEqual(about(readOne({ ...rest, feature, url, ...at(key, method) })), expected, key);
  for (const key of keysOf('url request.url'))
    assert.deepEqual(about(readOne({ ...rest, feature, method, ...at(key, url) })), expected, key);
  assert.equal(readOne({ ...live, perspective: 'Cache Poisoning' }).perspective, 'Cache Poisoning');
  assert.equal(readOne({ ...live, url: '/search?q=1' }).url, '/search?q=1');
});

test('a finding about code is not live, whatever URLs it contains', () => {
  const code = { title: 'SQL injection', severity: 'high', file: 'src/db.js', line: 4 };
  const references: readonly object[] = [
    {},
    { url: 'https://cwe.mitre.org/data/definitions/89.html' },
    { feature: 'Orders' },
    { method: 'get', url: 'https://docs.example/get' },
    { method: 'OrderController.find' },
    { url: 'not an address', method: 'GET' },
    { perspective: 'An attacker, who has no account, sends a quote.' },
  ];
  for (const each of references) {
    const finding = readOne({ ...code, ...each });
    assert.deepEqual({ ...nothing, ...about(finding) }, nothing, JSON.stringify(each));
    assert.equal(finding.places[0]?.path, 'src/db.js');
  }
});

test('F138 the path of a URL is no place in code', () => {
  const odd = { path: '/search', evidence: '/search', files: ['search'] };
  assert.deepEqual(readOne({ ...live, ...odd }).places, []);
  const traced = readOne({ ...live, file: 'src/search.js', line: 3 });
  assert.deepEqual(
    traced.places.map(({ path }) => path),
    ['src/search.js'],
  );
});

test('control and bidi characters of a URL and a feature are escaped, and oversized values dropped', () => {
  const odd = readOne({ ...live, feature_name: 'a\u202Eb\nc', url: 'https://a.example/\u202Ex' });
  assert.doesNotMatch(`${odd.feature ?? ''}${odd.url ?? ''}`, /[\u202E\n]/);
  assert.equal(readOne({ ...live, url: `https://a.example/${'x'.repeat(5_000)}` }).url, undefined);
});
