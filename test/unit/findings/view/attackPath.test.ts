import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attackPathOf, type PlaceRole } from '../../../../src/core/findings/finding.ts';

const pathOf = (...roles: (PlaceRole | undefined)[]): string =>
  attackPathOf({ places: roles.map((role, at) => ({ path: `${role ?? 'place'}${String(at)}`, role })) })
    .map(({ path }) => path)
    .join(' ');

test('an attack goes from source over steps to sink, in the order of the file; what belongs to no flow is left out', () => {
  assert.equal(pathOf(undefined, 'sink', 'step', 'step', 'source', 'related'), 'source4 step2 step3 sink1');
});

test('where the file names no flow, all places are the path, what only supports the finding last', () => {
  assert.equal(pathOf(undefined, undefined), 'place0 place1');
  assert.equal(pathOf('evidence', undefined, 'sink', 'related'), 'place1 sink2 evidence0 related3');
});
