import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PATH } from '../../../../src/core/findings/finding.ts';
import { toSegments } from '../../../../src/core/findings/location/workspacePath.ts';

/**
 * The path text is in `/home/me/shop` or `C:\Projects\shop`. Returns `none` where it is refused.
 */
function read(text: string, root = '/home/me/shop'): string {
  return toSegments(text, [root])?.join('|') ?? 'none';
}

const refused = [
  ...'a/.. a/../../b /.. //server/share/a.js \\\\server\\share\\a.js C:/Projects/a.js a.js:stream'.split(' '),
  ...'NUL src/nul.txt con/a prn clock$ CONIN$ conout$ com1 LPT9.log lpt¹ a/.../b file://server/share/a.js file:////host/share'.split(
    ' ',
  ),
  ...['', 'a\0.js', 'a/.. /b', 'a/. ./b', 'src/aux .c', 'x'.repeat(MAX_PATH + 1)],
  ...['\\\\?\\C:\\x', 'profile:src', 'a/file:b', '/home/me/shop/'],
];

test('F71 path texts of a findings file mean the same everywhere, or are refused', () => {
  for (const text of refused) assert.equal(read(text), 'none', JSON.stringify(text));
  for (const [text, meaning] of [
    [' src//./a.js ', 'src|a.js'],
    ['src\\a.js', 'src|a.js'],
    ['src/x/../a.js', 'src|a.js'],
    ['/src/a.js', 'src|a.js'],
    ['/home/me/shop/src/a.js', 'src|a.js'],
    ['/home/me/shopping/src/a.js', 'home|me|shopping|src|a.js'],
    ['/HOME/me/shop/src/a.js', 'HOME|me|shop|src|a.js'],
    ['a/ ', 'a'],
    ['com10', 'com10'],
    ['console.js', 'console.js'],
    ['file:src/a.js', 'src|a.js'],
    ['file:///home/me/shop/src/a.js', 'src|a.js'],
    ['FILE://localhost/home/me/shop/src/a.js', 'src|a.js'],
    ['x'.repeat(MAX_PATH), 'x'.repeat(MAX_PATH)],
  ] as const)
    assert.equal(read(text), meaning);
  assert.equal(read('/src/a.js', '/'), 'src|a.js', 'of the whole file system');
  for (const [text, meaning] of [
    ['C:\\Projects\\shop\\src\\a.js', 'src|a.js'],
    ['c:/projects/SHOP/src/a.js', 'src|a.js'],
    ['/C:/Projects/shop/src/a.js', 'src|a.js'],
    ['file:///c:/Projects/shop/src/a.js', 'src|a.js'],
    ['C:/Projects/shopping/a.js', 'none'],
    ['D:/Projects/shop/a.js', 'none'],
    ['xfile:///C:/Projects/shop/src/a.js', 'none'],
  ] as const)
    assert.equal(read(text, 'C:\\Projects\\shop\\'), meaning, text);
});
