import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findingsDifferences } from '../checkService/findingsDifferences.ts';
import { type Direction, type Schema, schemaDifferences } from '../checkService/schemaDifferences.ts';
import { callService } from './service/serviceCaller.ts';

const main = join(import.meta.dirname, '../checkService/main.ts');

function check(...args: readonly string[]): Promise<{ status: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe('check-service', () => {
  test('finds no difference to a service written from the API reference', async (t) => {
    const { service } = await callService(t);
    const { status, stdout } = await check(service.baseUrl);
    assert.match(
      stdout,
      /^Operations: 0 differences\nFindings: 0 differences\nFindings of a live application: 0 differences\nFeatures and progress: 0 differences\n/,
    );
    assert.match(stdout, /^ {2}file_path: file$/m);
    assert.equal(status, 0);
  });

  test('names a missing operation and exits with 1', async (t) => {
    const server = createServer((request, response) => {
      const isApi = request.url?.endsWith('openapi.json') === true;
      response.end(JSON.stringify(isApi ? { openapi: '3.1.0', paths: {} } : { type: 'array' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { status, stdout } = await check(
      `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    );
    assert.match(stdout, /POST \/o\/\{orgID\}\/workflows\/whitebox-assessment\/dispatch: not there/);
    assert.match(stdout, /POST \/o\/\{orgID\}\/workflows\/blackbox-crawl\/dispatch: not there/);
    assert.match(stdout, /severity: no property that we read it from/);
    assert.match(stdout, /blackbox-assessment\/scan_progress: body: ours is object, theirs array/);
    assert.equal(status, 1);
  });

  test('says so if the address is missing or nobody answers', async () => {
    assert.deepEqual((await check()).status, 2);
    const { status, stderr } = await check('http://127.0.0.1:9/v1');
    assert.match(stderr, /cannot be reached/);
    assert.equal(status, 2);
  });
});

describe('differences', () => {
  const object = (properties: Record<string, Schema>, required = Object.keys(properties)): Schema => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  });
  const text = { type: 'string' };
  const short = { ...text, maxLength: 9 };
  const integer = { type: 'integer' };
  // prettier-ignore
  const cases: readonly [Direction, Schema, Schema, readonly string[]][] = [
    ['request', object({ a: text }), object({ a: text }), []],
    ['request', text, integer, ['body: ours is string, theirs integer']],
    ['request', integer, { type: 'number' }, []],
    ['request', { type: 'number' }, integer, ['body: ours is number, theirs integer']],
    ['request', text, short, ['body: we may send more than maxLength 9']],
    ['request', short, { ...text, maxLength: 10 }, []],
    ['response', short, { ...text, maxLength: 10 }, ['body: they may send more than maxLength 9']],
    ['response', short, text, []],
    ['request', { enum: ['x', 'y'] }, { enum: ['x'] }, ['body: we may send y']],
    ['request', object({}), object({ b: text }), ['body.b: they need it, it may be missing']],
    ['request', object({ b: text }), object({}), ['body.b: we may send it, they refuse it']],
    ['response', object({ a: text }), object({ a: text }, []), ['body.a: we need it, it may be missing']],
    ['response', object({}), object({ a: text }), ['body.a: theirs alone, not used here']],
    ['request', { items: text }, { items: integer }, ['body[]: ours is string, theirs integer']],
    ['request', { anyOf: [text, integer] }, { anyOf: [short] }, ['body: we may send more than maxLength 9', 'body: ours is integer, theirs string']],
    ['response', text, { anyOf: [integer, text] }, []],
    ['request', text, { $ref: '#/definitions/short' }, ['body: we may send more than maxLength 1']],
    ['request', object({}), { allOf: [object({}), { required: ['b'] }] }, ['body.b: they need it, it may be missing']],
  ];
  test('are listed with place and direction', () => {
    const resolve = (): Schema => ({ type: 'string', maxLength: 1 });
    for (const [direction, ours, theirs, expected] of cases)
      assert.deepEqual(
        schemaDifferences(ours, theirs, { direction, resolve }),
        expected,
        JSON.stringify(theirs),
      );
  });

  test('include a findings property that nothing reads and an unknown severity', () => {
    const finding = object({
      title: text,
      severity: { enum: ['high', 'catastrophic'] },
      description: text,
      file: text,
      line: { type: 'integer' },
      reachability: text,
    });
    const { unread, differences } = findingsDifferences({ type: 'array', items: finding });
    assert.deepEqual(unread, ['reachability: read by nothing, shown among the other fields']);
    assert.deepEqual(differences, ['severity catastrophic: shown as it came, unrated']);
  });
});
