import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksMainLocation } from '../../../../src/core/findings/shownFinding.ts';
import { invent } from '../shownFindings.ts';

test('the main location of a finding can be missing while its evidence exists', () => {
  const [main, evidence] = [{ path: 'build/gone.js' }, { path: 'a.js' }];
  const found = invent({ locations: [main, evidence], at: evidence });
  const shownAt = (reported: typeof main) => found.locations.map((location) => ({ ...location, reported }));
  assert.equal(lacksMainLocation({ ...found, locations: shownAt(evidence) }), true);
  assert.equal(lacksMainLocation({ ...found, locations: shownAt(main) }), false);
  assert.equal(lacksMainLocation(invent()), false);
});
