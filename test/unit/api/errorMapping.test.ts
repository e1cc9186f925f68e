import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AssessmentError } from '../../../src/core/errors.ts';
import { transportFailure, wasRefused } from '../../../src/core/api/failure.ts';
import { serviceMessage } from '../../../src/core/api/replyBody.ts';
import { exitedRun, failureOf, workflow } from './clientCalls.ts';
import { setUpClient } from './clientFixture.ts';

describe('the message of a response body', () => {
  const forms: readonly (readonly [string, string, string | undefined])[] = [
    ['message', '{"message":"No.","error":"x"}', 'No.'],
    ['error as text', '{"error":"No.","detail":"x"}', 'No.'],
    ['error.message with error.code', '{"error":{"message":"No.","code":"nope"}}', 'No. (nope)'],
    ['error.message alone', '{"error":{"message":"No."}}', 'No.'],
    ['error.code alone', '{"error":{"code":"nope"}}', 'nope'],
    ['detail', '{"detail":"No.","title":"x"}', 'No.'],
    ['title', '{"title":"No.","status":400}', 'No.'],
    ['the first of errors', '{"errors":[{"message":"No."},{"message":"x"}]}', 'No.'],
    ['JSON text', '"No."', 'No.'],
    ['JSON after a byte order mark', '\uFEFF{"message":"No."}', 'No.'],
    ['unknown members', '{"why":"No.","at":{"x":1,"of":[5,6]}}', 'why: No., at: (x: 1, of: 5, 6)'],
    ['plain text', ' No.\n\tNever. ', 'No. Never.'],
    ['the title of a page', '<!doctype html><html><head><title>No.</title></head><p>x', 'No.'],
    ['the text of a page', '<html><body><h1>502</h1><p>Bad   Gateway</p></body>', '502 Bad Gateway'],
    ['the text of a page with an empty title', '<title> </title><p>No.</p>', 'No.'],
    ['the Details beside it', '<Error><Message>Invalid.</Message><Details>It expired.</Details></Error>', 'Invalid. It expired.'],
    [
      'the name of a header that Azure asks for',
      '<Error><Code>C</Code><Message>A header is missing.\nRequestId:1</Message><HeaderName>x-ms-blob-type</HeaderName></Error>',
      'A header is missing. RequestId:1 (x-ms-blob-type)',
    ],
    ['Details alone', '<Error><Code>C</Code><Details>It expired.</Details></Error>', 'It expired.'],
    ['entities', '<Message>It&apos;s &quot;A&amp;B&quot; &#40;&#x3c;1&gt;&#41;</Message>', 'It\'s "A&B" (<1>)'],
    ['entities that are none', '<p>&none; &#x110000; &#55296; &amp;lt;</p>', '&none; &#x110000; \uFFFD &lt;'],
    ['the Message of XML', '<?xml version="1.0"?><Error><Code>C</Code><Message>No.</Message></Error>', 'No.'],
    [
      'text with hidden or reordering characters',
      '{"message":"a\\u001b[31m\\u202eb\\r\\nINFO c\\u0000"}',
      'a\\u{001B}[31m\\u{202E}b INFO c\\u{0000}',
    ],
    ['nothing', '', undefined],
    ['an empty object', '{}', undefined],
    ['null', 'null', undefined],
  ]; // prettier-ignore
  for (const [form, body, said] of forms) {
    test(`is read from ${form}`, () => {
      assert.equal(serviceMessage(body, []), said);
    });
  }

  test('is redacted where a secret is written with entities', () => {
    const said = serviceMessage('<Message>Got canary&#45;of&amp;it.</Message>', ['canary-of&it']);
    assert.equal(said, 'Got [redacted].');
  });

  test('is redacted before it is cut to 500 characters', () => {
    const said = serviceMessage(`${'x'.repeat(495)} canary-token`, ['canary-token']);
    assert.equal(said?.length, 500);
    assert.ok(!said.includes('cana'));
  });

  test('is redacted before markup is cut, too', () => {
    const said = serviceMessage(`<p class="${'x'.repeat(1_975)}">No. canary-token</p>`, ['canary-token']);
    assert.match(said ?? '', /^No\. \[redac/);
  });
});

describe('the body of a refusal', () => {
  const japanese = Buffer.from('8bf382ab82dc82b982f1', 'hex'); // 空きません in Shift_JIS
  const latin1 = Buffer.from('Zugriff für Müller verweigert', 'latin1');
  const utf16 = Buffer.from('\uFEFFNein.', 'utf16le');
  const gzip = gzipSync('{"message":"No."}');
  const forms: readonly (readonly [
    name: string,
    headers: Record<string, string>,
    body: string | Uint8Array,
    said: string,
  ])[] = [
    ['read by its charset', { 'content-type': 'text/plain; charset=ISO-8859-1' }, latin1, 'Zugriff für Müller verweigert'],
    ['read by a quoted charset', { 'content-type': 'text/plain; Charset="Shift_JIS"' }, japanese, '空きません'],
    [
      'read by the charset that a page names',
      { 'content-type': 'text/html' },
      Buffer.concat([
        Buffer.from('<html><meta name=viewport><meta charset=shift_jis><title>'),
        japanese,
        Buffer.from('</title>'),
      ]),
      '空きません',
    ],
    ['read as UTF-16 with its mark', { 'content-type': 'text/plain; charset=utf-16' }, utf16, 'Nein.'],
    ['read as UTF-8 where the charset is unknown', { 'content-type': 'text/plain; charset=x-none' }, 'für', 'für'],
    ['named where only its first bytes show the compression', {}, gzip, 'Content-Encoding: gzip'],
  ]; // prettier-ignore
  for (const [name, headers, body, said] of forms)
    test(`is ${name}`, async (t) => {
      const { client, service } = await setUpClient(t);
      service.addFault({ match: {}, before: { kind: 'reply', status: 400, headers, body } });
      assert.equal((await failureOf(client.describe(workflow, 'run'))).data.detail, said);
    });
});

describe('an encoding of the content', () => {
  /** The bytes are said to have this encoding. */
  async function outcomes(t: TestContext, encoding: string | undefined, json: string | Buffer) {
    const { client, service, runId, folder, download } = await exitedRun(t);
    const headers = encoding === undefined ? {} : { 'content-encoding': encoding };
    const before = { kind: 'reply', status: 200, headers, body: json } as const;
    service.addFault({ match: { path: '/describe' }, before });
    service.addFault({ match: { method: 'GET' }, before });
    const said = (error: AssessmentError): string => error.message;
    const description = await client.describe(workflow, runId).then(({ status }) => status, said);
    return [description, await download().then(() => 'saved', said), await readdir(folder)];
  }

  for (const encoding of ['identity', 'None', 'aws-chunked', 'UTF-8', '', 'AWS-chunked, identity'])
    test(`F192 of “${encoding}” leaves the bytes of a call and of an artifact as they are`, async (t) => {
      const json = '{"status":"RUNNING"}';
      assert.deepEqual(await outcomes(t, encoding, json), ['RUNNING', 'saved', ['report.md']]);
    });

  for (const encoding of [
    'gzip',
    'deflate',
    'br',
    'zstd',
    'compress',
    'x-gzip',
    'aws-chunked, GZIP',
    undefined,
  ])
    test(`F192 of ${encoding ?? 'gzip, which only the bytes show,'} is said, and nothing is saved`, async (t) => {
      const name = encoding?.replace('aws-chunked, ', '').toLowerCase() ?? 'gzip';
      const said = `badResponse: Content-Encoding: ${name}`;
      assert.deepEqual(await outcomes(t, encoding, gzipSync('{}')), [said, said, []]);
    });
});

/** Node has these codes for a certificate that it refuses. */
const certificateCodes = `UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_CRL UNABLE_TO_DECRYPT_CERT_SIGNATURE
  UNABLE_TO_DECRYPT_CRL_SIGNATURE UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY CERT_SIGNATURE_FAILURE CRL_SIGNATURE_FAILURE
  CERT_NOT_YET_VALID CERT_HAS_EXPIRED CRL_NOT_YET_VALID CRL_HAS_EXPIRED ERROR_IN_CERT_NOT_BEFORE_FIELD
  ERROR_IN_CERT_NOT_AFTER_FIELD ERROR_IN_CRL_LAST_UPDATE_FIELD ERROR_IN_CRL_NEXT_UPDATE_FIELD OUT_OF_MEM
  DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT_LOCALLY
  UNABLE_TO_VERIFY_LEAF_SIGNATURE CERT_CHAIN_TOO_LONG CERT_REVOKED INVALID_CA PATH_LENGTH_EXCEEDED INVALID_PURPOSE
  CERT_UNTRUSTED CERT_REJECTED HOSTNAME_MISMATCH UNSPECIFIED ERR_TLS_CERT_ALTNAME_INVALID`.split(/\s+/);

describe('a failure of the network', () => {
  const url = new URL('https://service.example/v1?signature=canary');
  const failed = (code: string | undefined): Error => Object.assign(new Error('canary'), code && { code });
  const shown = (error: unknown, isReady: boolean): unknown => {
    const failure = transportFailure(error, url, isReady);
    assert.ok(failure instanceof AssessmentError);
    assert.doesNotMatch(JSON.stringify(failure.data), /canary/);
    return [failure.kind, failure.data.detail, wasRefused(failure)];
  };
  const network =
    `ENOTFOUND EAI_AGAIN EAI_FAIL EAI_MEMORY ECONNREFUSED ECONNRESET ETIMEDOUT EHOSTUNREACH ENETUNREACH EPIPE
    EMFILE ENFILE ENOMEM ENOBUFS`.split(/\s+/);
  const ofTls = 'EPROTO ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_WRONG_VERSION_NUMBER'.split(' ');

  test('F49 F102 F193 before the connection is ready has sent nothing, and only TLS has a kind of its own', () => {
    for (const code of [...network, undefined])
      assert.deepEqual(shown(failed(code), false), ['unsent', code, true], code);
    for (const code of [...certificateCodes, ...ofTls])
      assert.deepEqual(shown(failed(code), false), ['tls', code, true], code);
    assert.deepEqual(shown('no error', false), ['unsent', undefined, true]);
  });

  test('F45 of a connection that was ready is a lost answer, whatever its code', () => {
    for (const code of [...network, ...certificateCodes, ...ofTls, undefined])
      assert.deepEqual(shown(failed(code), true), ['connectionLost', code, false], code);
  });

  test('is returned unchanged if it is an AssessmentError', () => {
    const error = new AssessmentError('lengthChanged');
    assert.equal(transportFailure(error, url, true), error);
  });
});
