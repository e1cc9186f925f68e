import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDecode, decodeText } from '../../../../src/core/findings/location/uploadedFiles.ts';

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
    ['e3', 'iso885916', 'ă'],
    ['c4', 'koi8r', 'д'],
    ['a4a4', 'cp950', '中'],
  ];
  for (const [hex, encoding, text] of cases)
    assert.deepEqual(decodeText(Buffer.from(hex, 'hex'), encoding), { text, isExact: true }, encoding);
});

test('bytes that the platform cannot decode are Latin-1: not exact, and lines and changes are right', () => {
  for (const encoding of ['utf8', 'cp437', 'no such encoding', 'shiftjis', 'eucjp'])
    for (const [byte, text] of Object.entries({ ff: 'ÿ\n\r\na', fe: 'þ\n\r\na' })) {
      const content = Buffer.from(`${byte}0a0d0a61`, 'hex');
      assert.deepEqual(decodeText(content, encoding), { text, isExact: false }, encoding);
    }
  // These are a lone surrogate in UTF-16, and a NUL.
  for (const hex of ['fffe610000d80a00', '610a00'])
    assert.deepEqual(decodeText(Buffer.from(hex, 'hex')).text.split('\n').length, 2, hex);
});

test('an open document decides before the settings of the innermost folder around it', () => {
  const decode = createDecode({
    documents: new Map([['/shop/open.js', 'eucjp']]),
    folders: new Map(Object.entries({ '/': 'eucjp', '/shop': 'shiftjis' })),
  });
  const content = Buffer.from('c0dfb7d7', 'hex');
  assert.equal(decode(content, '/shop/open.js').text, '設計');
  assert.equal(decode(content, '/shop/other.js').text, 'ﾀﾟｷﾗ');
  assert.equal(decode(content, '/elsewhere/other.js').text, '設計');
});
