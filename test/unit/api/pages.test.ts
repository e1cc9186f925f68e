import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isPage } from '../../../src/core/api/replyBody.ts';
import { isTransient } from '../../../src/core/api/retry.ts';
import { cpuMs } from '../core/cpuTime.ts';
import { exitedRun, failureOf, reservedUpload } from './clientCalls.ts';
import { setUpClient } from './clientFixture.ts';

const html = { 'content-type': 'text/html; charset=utf-8' };
const page = '<!DOCTYPE html>\n<html><head><title>Sign in to Guest</title></head></html>';

describe('a page instead of an answer', () => {
  const replies = [
    ['by its start', { status: 200, body: page }],
    ['by its type', { status: 200, headers: html, body: 'Sign in to Guest' }],
    ['of a network sign-in', { status: 511, headers: html, body: '<title>Sign in to Guest</title>' }],
  ] as const;
  for (const [how, reply] of replies) {
    const said = [['intercepted', reply.status, 'Sign in to Guest'], true] as const;
    const before = { kind: 'reply' as const, ...reply };

    test(`F170 ${how} is no answer to a call, which is tried again`, async (t) => {
      const { client, service, waits } = await setUpClient(t);
      service.addFault({ match: { path: '/confirm-upload' }, before });
      const error = await failureOf(client.confirmUpload('file'));
      assert.deepEqual([[error.kind, error.data.status, error.data.detail], isTransient(error)], said);
      assert.deepEqual([service.requests.length, waits.length], [4, 3]);
    });

    test(`F170 ${how} is no answer to an upload, and nothing counts as stored`, async (t) => {
      const { client, service, archive, address } = await reservedUpload(t, randomBytes(1e6));
      for (const afterBodyBytes of [0, archive.bytes]) {
        const undo = service.addFault({ match: { method: 'PUT' }, before: { ...before, afterBodyBytes } });
        const error = await failureOf(client.putArchive(address, archive));
        assert.deepEqual([[error.kind, error.data.status, error.data.detail], isTransient(error)], said);
        assert.equal(error.data.subject, 'files');
        undo();
      }
    });

    test(`F170 ${how} is no artifact: nothing is saved, and it is tried again`, async (t) => {
      const { path, service, download } = await exitedRun(t);
      const undo = service.addFault({ match: { method: 'GET' }, before });
      const error = await failureOf(download());
      assert.deepEqual([[error.kind, error.data.status, error.data.detail], isTransient(error)], said);
      assert.deepEqual(await readdir(join(path, '..')), []);
      assert.equal(service.requests.filter(({ method }) => method === 'GET').length, 4);
      undo();
      await download();
      assert.match(await readFile(path, 'utf8'), /^# /);
    });
  }
});

describe('what is no page', () => {
  test('F170 an upload answered 200 with the type of a page and no body is done, as Google’s storage does it', async (t) => {
    const { client, service, archive, address } = await reservedUpload(t);
    const reply = { kind: 'reply' as const, status: 200, headers: html };
    service.addFault({ match: { method: 'PUT' }, after: reply });
    await client.putArchive(address, archive);
  });

  const reports = [
    ['<p align="center"><img src="a.png"></p>\n\n# Report\n', html],
    ['<details><summary>All</summary>\n\n## Findings\n</details>', {}],
    ['<!-- written by a tool -->\n# Report\n<html>\n', {}],
    ['# Report\n\n```html\n<!doctype html>\n```\n', html],
    ['[{"title":"<html>"}]', html],
  ] as const;
  for (const [body, headers] of reports) {
    test(`F170 an artifact is saved although it begins with ${body.slice(0, 12)}`, async (t) => {
      const { path, service, download } = await exitedRun(t);
      service.addFault({ match: { method: 'GET' }, before: { kind: 'reply', status: 200, headers, body } });
      await download();
      assert.equal(await readFile(path, 'utf8'), body);
    });
  }
});

test('F170 the start of a page is found behind a mark, space, comments and declarations', () => {
  const starts = ['<HTML lang=ja>', '<!DOCTYPE HTML PUBLIC "-//W3C">', '<head>', '<html', '<body class="x">'];
  const before = ['', '\uFEFF', '\r\n\t ', '<!-- a --><!-- <p> -->', '<?xml version="1.0"?>\n<!doctype svg>'];
  for (const start of starts)
    for (const each of before) assert.equal(isPage(`${each}${start} `), true, `${each}${start}`);
  const others = ['', '<Error>', '<?xml version="1.0"?><Error>', '<header>', '<htmlx>', '<!-- <html> -->'];
  for (const other of [...others, 'x <html>']) assert.equal(isPage(other), false, other);
});

test('F119 the start of a page is looked for in linear time', () => {
  const before = cpuMs();
  for (const piece of ['<!---->', '<!--', '<?', '<!doctype x', '<title ', '# ', '&#'])
    isPage(piece.repeat((4 << 20) / piece.length), 'text/html');
  const tookMs = cpuMs() - before;
  assert.ok(tookMs < 2_000, `${String(tookMs)} ms`);
});
