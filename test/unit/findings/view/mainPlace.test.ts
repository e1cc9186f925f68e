import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksMainPlace } from '../../../../src/core/findings/shownFinding.ts';
import { setScene } from '../findingScene.ts';

test('a finding lacks its main place, whatever became of its evidence', async (t) => {
  const scene = await setScene(t, 'shop');
  const evidence = { evidence: [{ file: 'a.js', line: 1 }] };
  const told = [
    { title: 'lost', file: 'build/gone.js', line: 1, ...evidence },
    { title: 'here', file: 'a.js', line: 2, ...evidence },
    { title: 'without a place' },
  ];
  await scene.addRun(['shop'], JSON.stringify(told));
  const lost = scene.store.all().filter(lacksMainPlace);
  assert.deepEqual(
    lost.map(({ finding, places }) => [finding.title, places.length]),
    [['lost', 1]],
  );
});
