import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_PATH } from '../../../../src/core/findings/finding.ts';
import { toSegments } from '../../../../src/core/findings/place/workspacePath.ts';

/** The segments of a path text in `/home/me/shop` or `C:\Projects\shop`; `none` where it is refused. */
function read(text: string, root = '/home/me/shop'): string {
  return toSegments(text, [root])?.join('|') ?? 'none';
}

describe('a path text of a findings file', () => {
  for (const [text, meaning] of [
    ['src/a.js', 'src|a.js'],
    [' src//./a.js ', 'src|a.js'],
    ['src\\a.js', 'src|a.js'],
    ['src/x/../a.js', 'src|a.js'],
    ['/src/a.js', 'src|a.js'],
    ['/home/me/shop/src/a.js', 'src|a.js'],
    ['/home/me/shopping/src/a.js', 'home|me|shopping|src|a.js'],
    ['/HOME/me/shop/src/a.js', 'HOME|me|shop|src|a.js'],
    ['/home/me/shop/', 'none'],
    ['', 'none'],
    ['a/..', 'none'],
    ['a/../../b', 'none'],
    ['/..', 'none'],
    ['//server/share/a.js', 'none'],
    ['\\\\server\\share\\a.js', 'none'],
    ['C:/Projects/a.js', 'none'],
    ['a.js:stream', 'none'],
    ['a\0.js', 'none'],
    ['a/.../b', 'none'],
    ['a/.. /b', 'none'],
    ['a/ ', 'a'],
    ['a/. ./b', 'none'],
    ['NUL', 'none'],
    ['src/nul.txt', 'none'],
    ['src/aux .c', 'none'],
    ['con/a', 'none'],
    ['LPT9.log', 'none'],
    ['lpt¹', 'none'],
    ['com10', 'com10'],
    ['console.js', 'console.js'],
    ['file:src/a.js', 'src|a.js'],
    ['file:///home/me/shop/src/a.js', 'src|a.js'],
    ['FILE://localhost/home/me/shop/src/a.js', 'src|a.js'],
    ['file:///src/a.js', 'src|a.js'],
    ['file://server/share/a.js', 'none'],
    ['file:////host/share', 'none'],
    ['\\\\?\\C:\\x', 'none'],
    ['profile:src', 'none'],
    ['a/file:b', 'none'],
    ['x'.repeat(MAX_PATH), 'x'.repeat(MAX_PATH)],
    ['x'.repeat(MAX_PATH + 1), 'none'],
  ] as const)
    test(`F71 ${JSON.stringify(text.slice(0, 60))} (${String(text.length)}) is read as ${meaning.slice(0, 60)}`, () => {
      assert.equal(read(text), meaning);
    });

  for (const [text, meaning] of [
    ['C:\\Projects\\shop\\src\\a.js', 'src|a.js'],
    ['c:/projects/SHOP/src/a.js', 'src|a.js'],
    ['/C:/Projects/shop/src/a.js', 'src|a.js'],
    ['file:///C:/Projects/shop/src/a.js', 'src|a.js'],
    ['file:///c:/Projects/shop/src/a.js', 'src|a.js'],
    ['C:/Projects/shopping/a.js', 'none'],
    ['D:/Projects/shop/a.js', 'none'],
    ['xfile:///C:/Projects/shop/src/a.js', 'none'],
  ] as const)
    test(`F71 ${text} is read as ${meaning} in a folder of Windows`, () => {
      assert.equal(read(text, 'C:\\Projects\\shop\\'), meaning);
    });

  test('keeps its first segment if the folder is the file system root', () => {
    assert.equal(read('/src/a.js', '/'), 'src|a.js');
  });
});
