import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksMainPlace } from '../../../../src/core/findings/shownFinding.ts';
import { invent } from '../shownFindings.ts';

test('the main place of a finding can be missing while its evidence exists', () => {
  const [main, evidence] = [{ path: 'build/gone.js' }, { path: 'a.js' }];
  const found = invent({ places: [main, evidence], at: evidence });
  const shownAt = (reported: typeof main) => found.places.map((place) => ({ ...place, reported }));
  assert.equal(lacksMainPlace({ ...found, places: shownAt(evidence) }), true);
  assert.equal(lacksMainPlace({ ...found, places: shownAt(main) }), false);
  assert.equal(lacksMainPlace(invent()), false);
});
