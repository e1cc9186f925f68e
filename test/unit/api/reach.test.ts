import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { network } from '../../../src/core/api/reach.ts';

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
