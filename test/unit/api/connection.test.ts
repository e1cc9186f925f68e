import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { CONNECTION_PARTS, failedPart, network } from '../../../src/core/api/connection.ts';
import type { ErrorKind } from '../../../src/core/errors.ts';

describe('the network', () => {
  test('F53 reaches a service that listens, sends it nothing, and does not reach one that is gone', async () => {
    let bytes = 0;
    const server = createServer((socket) => socket.on('data', (chunk) => (bytes += chunk.length)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const baseUrl = `http://127.0.0.1:${String(address.port)}/v1`;
    assert.equal(await network.reaches(baseUrl), true);
    await new Promise((resolve) => server.close(resolve));
    assert.equal(bytes, 0);
    assert.equal(await network.reaches(baseUrl), false);
  });

  test('a name that does not resolve is not reached', async () => {
    assert.equal(await network.reaches('https://nowhere.invalid/v1'), false);
  });

  test('has addresses as text that compares', () => {
    assert.equal(network.addresses(), network.addresses());
  });
});

test('a failed call shows which part of the way is wrong, in the order in which it is found out', () => {
  const shown: readonly [ErrorKind, string | undefined][] = [
    ['insecureUrl', 'address'],
    ['unsent', 'network'],
    ['timeout', 'network'],
    ['proxy', 'proxy'],
    ['tls', 'certificate'],
    ['redirected', 'service'],
    ['badResponse', 'service'],
    ['serverError', 'service'],
    ['notFound', 'service'],
    ['unauthorized', 'token'],
    ['tokenCommand', 'token'],
    ['forbidden', 'organization'],
    ['diskFull', undefined],
  ];
  assert.deepEqual(
    shown.map(([kind]) => failedPart(kind)),
    shown.map(([, part]) => part),
  );
  const order = shown.map(([, part]) => CONNECTION_PARTS.findIndex((each) => each === part));
  assert.deepEqual(
    order.slice(0, -1),
    [...order.slice(0, -1)].sort((one, other) => one - other),
  );
});
