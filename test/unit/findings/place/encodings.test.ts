import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDecode, decodeText } from '../../../../src/core/findings/place/sentFiles.ts';

test('a file is decoded by its mark, else in the encoding that VS Code names', () => {
  const cases: readonly (readonly [hex: string, encoding: string | undefined, text: string])[] = [
    ['e8a8ade8a888', 'shiftjis', '設計'],
    ['90dd8c76', 'shiftjis', '設計'],
    ['c0dfb7d7', 'eucjp', '設計'],
    ['feff8a2d8a08', undefined, '設計'],
    ['fffe2d8a088a', undefined, '設計'],
    ['2d8a088a', 'utf16le', '設計'],
    ['e9', 'windows1252', 'é'],
    ['e9', 'iso88591', 'é'],
    ['c4', 'koi8r', 'д'],
    ['a4a4', 'cp950', '中'],
  ];
  for (const [hex, encoding, text] of cases)
    assert.deepEqual(decodeText(Buffer.from(hex, 'hex'), encoding), { text, isExact: true }, encoding);
});

test('characters of an unknown encoding are not exact, and its lines are right', () => {
  for (const encoding of ['utf8', 'cp437', 'no such encoding']) {
    const { text, isExact } = decodeText(Buffer.from('82ab0a0d0a61', 'hex'), encoding);
    assert.deepEqual([text.split('\n').length, isExact], [3, false], encoding);
  }
});

test('an open document decides before the settings of the innermost folder around it', () => {
  const decode = createDecode({
    documents: new Map([['/shop/open.js', 'eucjp']]),
    folders: new Map([
      ['/', 'eucjp'],
      ['/shop', 'shiftjis'],
    ]),
  });
  const content = Buffer.from('c0dfb7d7', 'hex');
  assert.equal(decode(content, '/shop/open.js').text, '設計');
  assert.equal(decode(content, '/shop/other.js').text, 'ﾀﾟｷﾗ');
  assert.equal(decode(content, '/elsewhere/other.js').text, '設計');
});
