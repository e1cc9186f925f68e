import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AssessmentError, type ErrorKind } from '../../../src/core/errors.ts';
import { transportFailure, isProvablyUnsent } from '../../../src/core/api/failure.ts';
import { serviceMessage } from '../../../src/core/api/replyBody.ts';
import { exitedRun, failureOf, workflow } from './clientCalls.ts';
import { setUpClient } from './clientFixture.ts';

const statuses: Readonly<Partial<Record<ErrorKind, readonly number[]>>> = {
  badResponse: [201, 204],
  redirected: [302, 304],
  rejected: [400, 405, 418, 422],
  unauthorized: [401],
  forbidden: [403],
  notFound: [404, 410],
  proxy: [407],
  timeout: [408, 499],
  conflict: [409, 412],
  capacity: [413],
  rateLimited: [429],
  serverError: [500, 503, 507, 599],
};

test('every status maps to its kind', async (t) => {
  const { client, service } = await setUpClient(t);
  for (const [kind, each] of Object.entries(statuses))
    for (const status of each) {
      const remove = service.addFault({ match: {}, before: { kind: 'reply', status } });
      const error = await failureOf(client.describe(workflow, 'run'));
      assert.deepEqual([error.kind, error.data.status], [kind, status]);
      assert.equal(error.data.origin, new URL(service.baseUrl).origin);
      remove();
    }
});

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
    ['named, and not quoted, where it is compressed', { 'content-encoding': 'gzip' }, gzip, 'Content-Encoding: gzip'],
    ['named where only its first bytes show the compression', {}, gzip, 'Content-Encoding: gzip'],
    ['named whatever the compression', { 'content-encoding': 'br' }, 'x', 'Content-Encoding: br'],
  ]; // prettier-ignore
  for (const [name, headers, body, said] of forms)
    test(`is ${name}`, async (t) => {
      const { client, service } = await setUpClient(t);
      service.addFault({ match: {}, before: { kind: 'reply', status: 400, headers, body } });
      assert.equal((await failureOf(client.describe(workflow, 'run'))).data.detail, said);
    });

  test('is named where a response of 200 is compressed, to a call and for an artifact', async (t) => {
    const { client, service, runId, folder, download } = await exitedRun(t);
    const before = { kind: 'reply', status: 200, body: gzip } as const;
    for (const [method, call] of [
      ['POST', () => client.describe(workflow, runId)],
      ['GET', download],
    ] as const) {
      const undo = service.addFault({
        match: { method, ...(method === 'POST' && { path: '/describe' }) },
        before,
      });
      const { kind, data } = await failureOf(call());
      assert.deepEqual([kind, data.detail], ['badResponse', 'Content-Encoding: gzip']);
      undo();
    }
    assert.deepEqual(await readdir(folder), []);
  });
});

describe('network errors', () => {
  const url = new URL('https://service.example/v1?signature=canary');
  const failed = (data: object, message = 'x'): Error => Object.assign(new Error(message), data);
  const by = (code: string, syscall: string): Error => failed({ code, syscall });
  const several = new AggregateError([failed({ syscall: 'connect' }), failed({ syscall: 'connect' })]);
  const cases: readonly (readonly [what: string, error: unknown, kind: ErrorKind])[] = [
    ['an unknown host name', by('ENOTFOUND', 'getaddrinfo'), 'unsent'],
    ['a DNS resolver without an answer', by('EAI_AGAIN', 'getaddrinfo'), 'unsent'],
    ['a refused connection', by('ECONNREFUSED', 'connect'), 'unsent'],
    ['a connection that timed out', by('ETIMEDOUT', 'connect'), 'unsent'],
    ['no route', by('EHOSTUNREACH', 'connect'), 'unsent'],
    ['several addresses without an answer', Object.assign(several, { code: 'ETIMEDOUT' }), 'unsent'],
    ['no memory to resolve a name', by('EAI_MEMORY', 'getaddrinfo'), 'unsent'],
    ['no descriptor to resolve a name', by('EMFILE', 'getaddrinfo'), 'unsent'],
    ['no descriptor after resolving', by('EMFILE', 'read'), 'connectionLost'],
    ['a reset', by('ECONNRESET', 'read'), 'connectionLost'],
    ['a broken pipe', by('EPIPE', 'write'), 'connectionLost'],
    ['a timeout of an established connection', by('ETIMEDOUT', 'read'), 'connectionLost'],
    ['something else', new Error('socket hang up'), 'connectionLost'],
    ['no error at all', 'x', 'connectionLost'],
    ['a proxy that requires credentials', failed({}, 'tunneling socket: 407'), 'proxy'],
    ['an unknown host called proxy', failed({ code: 'ENOTFOUND' }, 'getaddrinfo ENOTFOUND proxy.example'), 'unsent'], // prettier-ignore
  ];
  for (const [what, error, kind] of cases) {
    test(`${what} is ${kind}, and a dispatch may be sent again only if that is unsent`, () => {
      const failure = transportFailure(error, url, true);
      assert.ok(failure instanceof AssessmentError);
      assert.deepEqual([failure.kind, isProvablyUnsent(failure)], [kind, kind === 'unsent']);
      assert.ok(!JSON.stringify(failure.data).includes('canary'));
    });
  }

  const shown = (code: string, mayBeSent: boolean): unknown => {
    const failure = transportFailure(failed({ code }), url, mayBeSent);
    return [failure instanceof AssessmentError && failure.kind, isProvablyUnsent(failure)];
  };

  test('F45 a TLS error before the request is written is tls, afterwards a lost answer', () => {
    const codes = `CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID EPROTO
      ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE`;
    for (const code of codes.split(/\s+/)) {
      assert.deepEqual(shown(code, false), ['tls', true], code);
      assert.deepEqual(shown(code, true), ['connectionLost', false], code);
    }
  });

  test('F102 no descriptor or memory before there is a socket is unsent, and the dispatch may be sent again', () => {
    for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])
      assert.deepEqual(shown(code, false), ['unsent', true], code);
  });

  test('an AssessmentError is returned unchanged', () => {
    const error = new AssessmentError('lengthChanged');
    assert.equal(transportFailure(error, url, true), error);
    assert.equal(isProvablyUnsent(new Error('x')), false);
  });
});
