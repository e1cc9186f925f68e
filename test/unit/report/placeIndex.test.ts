import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeIndex } from '../../../webview-ui/report/placeIndex.ts';

const indexes = new Map([
  ['src/app.ts:12', 0],
  ['src/検索/入力.ts:8', 1],
]);

test('a place is recognised in the ways that reports write one', () => {
  const written: Readonly<Record<string, number | undefined>> = {
    'src/app.ts:12': 0,
    ' ./src/app.ts:12 ': 0,
    'src/app.ts:12-20': 0,
    'src/app.ts:12:5': 0,
    'src/app.ts#L12': 0,
    'src/app.ts#L12-L20': 0,
    'src/app.ts#L12-20': 0,
    'src\\app.ts:12': 0,
    '.\\src\\app.ts:12-20': 0,
    'src/検索/入力.ts:8': 1,
    'src\\検索\\入力.ts#L8': 1,
    'src/app.ts': undefined,
    'src/app.ts:1': undefined,
    'src/app.ts:120': undefined,
    'app.ts:12': undefined,
    '../src/app.ts:12': undefined,
    'src/app.ts:12:command': undefined,
    'file:///src/app.ts:12': undefined,
    'src/app.ts?x#L12': undefined,
  };
  for (const [text, index] of Object.entries(written)) assert.equal(placeIndex(indexes, text), index, text);
});
