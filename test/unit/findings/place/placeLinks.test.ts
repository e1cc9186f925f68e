import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeLinks } from '../../../../src/core/findings/place/placeLinks.ts';
import type { ShownPlace } from '../../../../src/core/findings/shownFinding.ts';

const shownPlace = (path: string, startLine: number, told: { path?: string; startLine?: number } = {}) => ({
  places: [
    {
      file: `/w/${path}`,
      folder: '/w',
      path,
      startLine,
      told: { path: told.path ?? path, startLine: told.startLine ?? startLine },
    } as ShownPlace,
  ],
});

test('a place is named by its path as told and as it is here, by its line as told and as it is now', () => {
  const links = placeLinks([shownPlace('src/a.ts', 60, { path: 'shop\\src\\a.ts', startLine: 10 })]);
  assert.deepEqual([...links.keys()].sort(), [
    'shop/src/a.ts:10',
    'shop/src/a.ts:60',
    'src/a.ts:10',
    'src/a.ts:60',
  ]);
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
