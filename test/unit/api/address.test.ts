import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { originOf, toBaseUrl, toPresignedUrl } from '../../../src/core/api/address.ts';
import { AssessmentError } from '../../../src/core/errors.ts';

test('a base URL is accepted with and without version and trailing slash', () => {
  const expected = 'https://service.example/v1';
  for (const text of ['https://service.example', expected, `${expected}/`, ' https://SERVICE.example// ']) {
    assert.equal(toBaseUrl(text), expected);
  }
  assert.equal(toBaseUrl('https://service.example:8443/api/v2/'), 'https://service.example:8443/api/v2');
  assert.equal(originOf(`${expected}/o`), 'https://service.example');
});

test('http is accepted only on loopback', () => {
  for (const host of ['127.0.0.1:8080', '127.1.2.3', 'localhost:1', '[::1]:99']) {
    assert.equal(toBaseUrl(`http://${host}`), `http://${host}/v1`);
  }
  const others = 'service.example 127.0.0.1.evil.example localhost.evil.example 10.0.0.1 0.0.0.0 [::2]';
  for (const host of others.split(' ')) {
    const presigned = (): unknown => toPresignedUrl(`http://${host}/x`, 'http://127.0.0.1/v1');
    assert.throws(() => toBaseUrl(`http://${host}`), { kind: 'insecureUrl' }, host);
    assert.throws(presigned, { kind: 'insecureUrl' }, host);
  }
});

test('F126 a presigned loopback URL is accepted only for a loopback service, and a link-local one never', () => {
  const own =
    '127.0.0.1 127.1 2130706433 localhost LOCALHOST. files.localhost 0.0.0.0 [::1] [::] [::ffff:127.0.0.1]'.split(
      ' ',
    );
  const linkLocal = '169.254.169.254 2852039166 [fe80::1] [febf::1] [::ffff:169.254.169.254]'.split(' ');
  const others = 'store.example 10.0.0.1 192.168.1.1 [fd00::1] localhost.example 128.0.0.1'.split(' ');
  const isTaken = (host: string, service: string): boolean => {
    try {
      toPresignedUrl(`https://${host}/x`, service);
      return true;
    } catch (error) {
      assert.ok(error instanceof AssessmentError && error.kind === 'insecureUrl');
      assert.equal(error.data.subject, 'files');
      return false;
    }
  };
  const here = ['http://127.0.0.1:8080/v1', 'http://localhost/v1', 'http://[::1]/v1'];
  for (const service of ['https://service.example/v1', 'https://10.0.0.1/v1', ...here]) {
    for (const host of own) assert.equal(isTaken(host, service), here.includes(service), host);
    for (const host of linkLocal) assert.equal(isTaken(host, service), false, host);
    for (const host of others) assert.equal(isTaken(host, service), true, host);
  }
});

test('F43 a URL with user information or another scheme is refused', () => {
  const texts =
    'https://me@service.example https://me:secret@service.example file:///etc/passwd ftp://127.0.0.1/x data:,x';
  for (const text of texts.split(' ')) {
    assert.throws(() => toPresignedUrl(text, 'http://127.0.0.1/v1'), { kind: 'insecureUrl' }, text);
    assert.throws(() => toBaseUrl(text), { kind: 'insecureUrl' }, text);
  }
});

test('a base URL that is invalid or has a query is an invalid setting', () => {
  const texts = [
    '',
    'service.example',
    'https://',
    'https://service.example?x=1',
    'https://service.example#x',
  ];
  for (const text of texts) assert.throws(() => toBaseUrl(text), { kind: 'badSetting' }, text);
});

test('F90 the error about a refused presigned URL does not contain it', () => {
  for (const text of 'http://store.example/a?signature=canary https://u:canary@store.example canary'.split(
    ' ',
  ))
    assert.throws(
      () => toPresignedUrl(text, 'http://127.0.0.1/v1'),
      (error) => error instanceof AssessmentError && !/canary/.test(inspect(error)),
    );
});
