import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  looksLikePath,
  ordered,
  type PathBelief,
  splitPath,
  toLineRange,
} from '../../../../src/core/findings/parse/pathText.ts';
import { MAX_PATH } from '../../../../src/core/findings/finding.ts';

describe('lines after a path', () => {
  for (const [text, path, lines] of [
    ['a.js', 'a.js', {}],
    ['a.js:12', 'a.js', { startLine: 12 }],
    ['a.js:12:5', 'a.js', { startLine: 12, startColumn: 5 }],
    ['a.js:12-20', 'a.js', { startLine: 12, endLine: 20 }],
    ['a.js#L12', 'a.js', { startLine: 12 }],
    ['a.js#L12-L20', 'a.js', { startLine: 12, endLine: 20 }],
    ['a.js#L12-20', 'a.js', { startLine: 12, endLine: 20 }],
    ['a.js#L12C3-L20C4', 'a.js', { startLine: 12, endLine: 20 }],
    ['a.js#l7', 'a.js', { startLine: 7 }],
    ['a.js:20-12', 'a.js', { startLine: 20, endLine: 20 }],
    ['a.js:0', 'a.js', {}],
    ['a.js#L12-L20x1', 'a.js#L12-L20x1', {}],
    ['a.js:x', 'a.js:x', {}],
    ['a.js:1234567890', 'a.js:1234567890', {}],
    ['a.js:12 and more', 'a.js:12 and more', {}],
    ['12:5', '12:5', {}],
    [':12', ':12', {}],
    ['a:12', 'a', { startLine: 12 }],
  ] as const)
    test(`F107 ${text} is split into ${path} and ${JSON.stringify(lines)}`, () => {
      assert.deepEqual(JSON.parse(JSON.stringify(splitPath(text))), { path, ...lines });
    });
});

describe('lines and columns of a place', () => {
  /** Formats lines and columns as `12:3-14:5`, with `?` for missing ones. */
  const said = (lines: ReturnType<typeof toLineRange>): string => {
    const { startLine = '?', startColumn = '?', endLine = '?', endColumn = '?' } = lines ?? {};
    return [startLine, startColumn, endLine, endColumn].join(' ');
  };
  for (const [startLine, startColumn, endLine, endColumn, expected] of [
    [4, 2, 6, 1, '4 2 6 1'],
    [4, 2, 4, 3, '4 2 4 3'],
    [4, 2, 4, 2, '4 2 4 2'],
    [4, 2, 4, 1, '4 2 4 ?'],
    [4, 2, undefined, 1, '4 2 ? ?'],
    [4, undefined, 4, 1, '4 ? 4 1'],
    [4, undefined, 3, undefined, '4 ? 4 ?'],
    [undefined, 2, 6, 3, '? ? ? ?'],
  ] as const)
    test(`${String([startLine, startColumn, endLine, endColumn])} are ordered as ${expected}`, () => {
      assert.equal(said(ordered({ startLine, startColumn, endLine, endColumn })), expected);
    });

  for (const [value, expected] of [
    ['12', '12 ? ? ?'],
    [' L12 - l14 ', '12 ? 14 ?'],
    ['12–14', '12 ? 14 ?'],
    ['12 14', '? ? ? ?'],
    [[12, 13, 14], '12 ? 14 ?'],
    [['L12'], '12 ? 12 ?'],
    [[], '? ? ? ?'],
    [0, '? ? ? ?'],
    [`${' '.repeat(100)}12`, '? ? ? ?'],
  ] as const)
    test(`${JSON.stringify(value)} is read as the lines ${expected}`, () => {
      assert.equal(said(toLineRange(value)), expected);
    });
});

describe('text that may be a path', () => {
  const likes = (text: string): string =>
    (['files', 'places', 'flow'] satisfies PathBelief[])
      .filter((belief) => looksLikePath(text, belief))
      .join(' ');
  for (const [text, beliefs] of [
    ['Makefile', 'files'],
    ['a.js', 'files places'],
    ['a.js:3', 'files places flow'],
    ['a.b-c', 'files'],
    ['src/a', 'files places flow'],
    ['src\\a', 'files places flow'],
    ['my file.js', 'files'],
    ['my folder/a', 'files'],
    ['my folder/a.js', 'files places'],
    ['my folder/a:3', 'files places'],
    ['a.js is wrong', 'files'],
    [`a.${'x'.repeat(16)}`, 'files places'],
    [`a.${'x'.repeat(17)}`, 'files'],
    ['', ''],
    ['   ', ''],
    ['a/b\nc.js', 'files'],
    ['a/b\rc.js', 'files'],
    ['\na/b.js\n', 'files'],
    ['one two.js\n', 'files'],
    ['two\nnames.js', 'files'],
    ['e.g. two\nlines', ''],
    ['a request\nreaches the query', ''],
    ['a.js -> b.js\nb.js -> c.js\nc.js', ''],
    ['https://example.com/a.js', ''],
    ['  git+ssh://example.com/a.js', ''],
    ['file:///a.js', 'files places flow'],
    ['src/x://y.js', 'files places flow'],
    [`a/${'x'.repeat(MAX_PATH - 2)}`, 'files places flow'],
    [`a/${'x'.repeat(MAX_PATH - 1)}`, ''],
  ] as const)
    test(`${JSON.stringify(text.slice(0, 40))} (${String(text.length)}) is accepted as: ${beliefs || 'none'}`, () => {
      assert.equal(likes(text), beliefs);
    });
});
