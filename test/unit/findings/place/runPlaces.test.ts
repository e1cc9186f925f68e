import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeLinks } from '../../../../src/core/findings/place/runPlaces.ts';
import type { ShownPlace } from '../../../../src/core/findings/shownFinding.ts';

const shownPlace = (
  path: string,
  startLine: number,
  options: { path?: string; startLine?: number; drift?: ShownPlace['drift'] } = {},
) => ({
  places: [
    {
      file: `/w/${path}`,
      folder: '/w',
      path,
      startLine,
      drift: options.drift ?? 'same',
      reported: { path: options.path ?? path, startLine: options.startLine ?? startLine },
    } as ShownPlace,
  ],
});

test('a place is named by its path as reported and as it is here, and by its line as reported, whatever moved since', () => {
  const links = placeLinks([
    shownPlace('src/a.ts', 14, { path: 'shop\\src\\a.ts', startLine: 10 }),
    shownPlace('src/a.ts', 18, { startLine: 14 }),
  ]);
  assert.deepEqual(
    [...links].map(([label, { startLine }]) => [label, startLine]),
    [
      ['src/a.ts:10', 14],
      ['shop/src/a.ts:10', 14],
      ['src/a.ts:14', 18],
    ],
  );
});

test('a text that means two places is not linked; two findings at one place are', () => {
  const links = placeLinks([
    shownPlace('api/a.ts', 5, { path: 'a.ts' }),
    shownPlace('web/a.ts', 5, { path: 'a.ts' }),
    shownPlace('web/a.ts', 5),
  ]);
  assert.deepEqual([...links.keys()].sort(), ['api/a.ts:5', 'web/a.ts:5']);
});

test('a third place does not bring an ambiguous text back', () => {
  const links = placeLinks(
    ['x', 'y', 'x'].map((folder) => shownPlace(`${folder}/a.ts`, 5, { path: 'a.ts' })),
  );
  assert.equal(links.has('a.ts:5'), false);
});

test('a place without a line is not linked', () => {
  const [{ places }] = [shownPlace('a.ts', 1)];
  assert.equal(placeLinks([{ places: places.map((place) => ({ ...place, startLine: undefined })) }]).size, 0);
});

test('a place whose code is gone gives way to one that was reported on the same line and is there', () => {
  const gone = shownPlace('a.ts', 3, { startLine: 4, drift: 'gone' });
  const there = shownPlace('a.ts', 5, { startLine: 4, drift: 'moved' });
  assert.equal(placeLinks([gone]).get('a.ts:4'), gone.places[0]);
  for (const shown of [
    [gone, there],
    [there, gone],
  ])
    assert.equal(placeLinks(shown).get('a.ts:4'), there.places[0]);
  assert.equal(placeLinks([gone, there, shownPlace('a.ts', 4)]).has('a.ts:4'), false);
});

test('a reported path that starts with ./ is named without it, as texts are looked up', () => {
  const links = placeLinks([shownPlace('api/src/a.ts', 5, { path: '.\\src\\a.ts' })]);
  assert.deepEqual([...links.keys()].sort(), ['api/src/a.ts:5', 'src/a.ts:5']);
});
