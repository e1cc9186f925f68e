import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksMainPlace } from '../../../../src/core/findings/shownFinding.ts';
import { setUpFindings } from '../findingFixture.ts';

test('the main place of a finding can be missing while its evidence exists', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const evidence = { evidence: [{ file: 'a.js', line: 1 }] };
  const findings = [
    { title: 'lost', file: 'build/gone.js', line: 1, ...evidence },
    { title: 'here', file: 'a.js', line: 2, ...evidence },
    { title: 'without a place' },
  ];
  await fixture.addRun(['shop'], JSON.stringify(findings));
  const lost = fixture.store.all().filter(lacksMainPlace);
  assert.deepEqual(
    lost.map(({ finding, places }) => [finding.title, places.length]),
    [['lost', 1]],
  );
});
