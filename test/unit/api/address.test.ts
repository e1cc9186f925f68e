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

test('F126 a presigned loopback URL is accepted only for a loopback service, link-local and cloud metadata never', () => {
  const own =
    '127.0.0.1 127.1 2130706433 localhost LOCALHOST. files.localhost 0.0.0.0 [::1] [::] [::ffff:127.0.0.1] [64:ff9b::127.0.0.1]'.split(
      ' ',
    );
  const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192'];
  const prefixes = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'];
  const never = [
    ...'2852039166 [fe80::1] [febf::1] [fd00:ec2::254] [fd20:ce::254]'.split(' '),
    ...metadata.flatMap((host) => [host, ...prefixes.map((prefix) => `[${prefix}${host}]`)]),
  ];
  const others =
    'store.example 10.0.0.1 192.168.1.1 [fd00::1] localhost.example 128.0.0.1 100.100.100.201 [64:ff9b::8.8.8.8]'.split(
      ' ',
    );
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
    for (const host of never) assert.equal(isTaken(host, service), false, host);
    for (const host of others) assert.equal(isTaken(host, service), true, host);
  }
});

test('F43 a URL with user information or another scheme is refused', () => {
  const texts =
    'https://me@service.example https://me:secret@service.example file:///etc/passwd ftp://127.0.0.1/x';
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

test('F198 a base URL without a scheme is said to be one', () => {
  for (const text of ['localhost:9000', 'service.example', 'service.example:8443/v1', '10.0.0.1:80']) {
    const isSaid = (error: AssessmentError): boolean => error.data.detail === 'noScheme';
    assert.throws(() => toBaseUrl(text), isSaid, text);
  }
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
