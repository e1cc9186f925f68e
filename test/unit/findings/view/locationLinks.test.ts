import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locationLinks } from '../../../../src/core/findings/view/findingMarkdown.ts';
import type { ShownLocation } from '../../../../src/core/findings/shownFinding.ts';

const shownLocation = (
  path: string,
  startLine: number,
  options: { path?: string; startLine?: number; drift?: ShownLocation['drift'] } = {},
) => ({
  locations: [
    {
      file: `/w/${path}`,
      folder: '/w',
      path,
      startLine,
      drift: options.drift ?? 'same',
      reported: { path: options.path ?? path, startLine: options.startLine ?? startLine },
    } as ShownLocation,
  ],
});

test('a location is named by its reported and its local path, with the reported line even if it moved', () => {
  const links = locationLinks([
    shownLocation('src/a.ts', 14, { path: 'shop\\src\\a.ts', startLine: 10 }),
    shownLocation('src/a.ts', 18, { startLine: 14 }),
  ]);
  const lines = [...links].map(([label, { startLine }]) => `${label} ${String(startLine)}`);
  assert.deepEqual(lines, ['src/a.ts:10 14', 'shop/src/a.ts:10 14', 'src/a.ts:14 18']);
});

test('a text with two meanings is not linked; two findings at one place are', () => {
  const links = locationLinks([
    shownLocation('api/a.ts', 5, { path: 'a.ts' }),
    shownLocation('web/a.ts', 5, { path: 'a.ts' }),
    shownLocation('web/a.ts', 5),
  ]);
  assert.deepEqual([...links.keys()].sort(), ['api/a.ts:5', 'web/a.ts:5']);
});

test('a location whose code is gone yields to an existing one with the same reported line', () => {
  const gone = shownLocation('a.ts', 3, { startLine: 4, drift: 'gone' });
  const there = shownLocation('a.ts', 5, { startLine: 4, drift: 'moved' });
  assert.equal(locationLinks([gone]).get('a.ts:4'), gone.locations[0]);
  assert.equal(locationLinks([gone, there]).get('a.ts:4'), there.locations[0]);
  assert.equal(locationLinks([there, gone]).get('a.ts:4'), there.locations[0]);
  assert.equal(locationLinks([gone, there, shownLocation('a.ts', 4)]).has('a.ts:4'), false);
});

test('a reported path starting with ./ is named without it', () => {
  const links = locationLinks([shownLocation('api/src/a.ts', 5, { path: '.\\src\\a.ts' })]);
  assert.deepEqual([...links.keys()].sort(), ['api/src/a.ts:5', 'src/a.ts:5']);
});
