import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionParts, failedPart } from '../../../src/core/api/connection.ts';
import type { ErrorKind } from '../../../src/core/errors.ts';

test('a failed call shows which part of the connection is wrong, in the order of discovery', () => {
  const shown: readonly [ErrorKind, string | undefined][] = [
    ['insecureUrl', 'address'],
    ['unsent', 'network'],
    ['timeout', 'network'],
    ['proxy', 'proxy'],
    ['intercepted', 'proxy'],
    ['tls', 'certificate'],
    ['redirected', 'service'],
    ['badResponse', 'service'],
    ['serverError', 'service'],
    ['notFound', 'service'],
    ['unauthorized', 'token'],
    ['tokenCommand', 'token'],
    ['secretStorage', 'token'],
    ['forbidden', 'organization'],
    ['diskFull', undefined],
  ];
  assert.deepEqual(
    shown.map(([kind]) => failedPart(kind)),
    shown.map(([, part]) => part),
  );
  const order = shown.map(([, part]) => connectionParts.findIndex((each) => each === part));
  assert.deepEqual(
    order.slice(0, -1),
    [...order.slice(0, -1)].sort((one, other) => one - other),
  );
});
