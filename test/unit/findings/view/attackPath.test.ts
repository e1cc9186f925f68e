import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attackPathOf, type LocationRole } from '../../../../src/core/findings/finding.ts';

const pathOf = (...roles: (LocationRole | undefined)[]): string =>
  attackPathOf({ locations: roles.map((role, at) => ({ path: `${role ?? 'location'}${String(at)}`, role })) })
    .map(({ path }) => path)
    .join(' ');

test('F154 locations are listed source first, sink after all steps, then supporting ones, with or without role', () => {
  assert.equal(
    pathOf('source', undefined, 'step', undefined, 'sink'),
    'source0 location1 step2 location3 sink4',
  );
  const all = pathOf(undefined, 'sink', 'step', 'step', 'source', 'related');
  assert.equal(all, 'source4 location0 step2 step3 sink1 related5');
  assert.equal(pathOf(undefined, undefined), 'location0 location1');
  assert.equal(pathOf('evidence', undefined, 'sink', 'related'), 'location1 sink2 evidence0 related3');
});

test('F154 a line listed with a role is not repeated without one', () => {
  const [main, source, sink] = [
    { path: 'a.js', startLine: 9 },
    { path: 'b.js', startLine: 1, role: 'source' as const },
    { path: 'a.js', startLine: 9, role: 'sink' as const },
  ];
  assert.deepEqual(attackPathOf({ locations: [main, source, sink] }), [source, sink]);
});
