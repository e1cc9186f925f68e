import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkPacked,
  maxPackings,
  prepareFolders,
  type SecretRules,
} from '../../../../src/core/upload/choose/prepareUpload.ts';
import { checked, inventedFolder, progress } from '../inventedFolder.ts';

/** The default content of a file is its path. */
function packed(paths: readonly string[], contents: Readonly<Record<string, string>> = {}) {
  return [paths.map((each) => ({ path: each, sha256: contents[each] ?? each }))];
}

const pathsOf = (all: readonly { path: string }[] = []): string[] => all.map((each) => each.path);

test('F30 a file that contains a secret since the decision leads to a question before it is uploaded', async () => {
  const outcome = async (mode: SecretRules['mode']) => {
    const { steps } = inventedFolder(['a', 'b', 'c-locked'], mode);
    const decided = await prepareFolders(['invented'], steps, progress);
    const looked: string[] = [];
    const check: typeof steps.check = (_root, files) => {
      looked.push(...pathsOf(files));
      return Promise.resolve(new Map([['b', checked('b', 'a secret')]]));
    };
    const archives = packed(['a', 'b'], { b: 'a secret' });
    const { prepared, isAsPacked } = await checkPacked(
      decided,
      archives,
      { ...steps, check },
      { ...progress, packings: 1 },
    );
    const [again] = prepared;
    return {
      looked,
      sent: pathsOf(again?.selection.files),
      undecided: pathsOf(again?.undecided),
      isAsPacked,
    };
  };
  assert.deepEqual(await outcome('block'), {
    looked: ['b'],
    sent: ['a'],
    undecided: ['b'],
    isAsPacked: false,
  });
  assert.deepEqual(await outcome('warn'), {
    looked: ['b'],
    sent: ['a', 'b'],
    undecided: ['b'],
    isAsPacked: true,
  });
  assert.deepEqual(await outcome('off'), {
    looked: [],
    sent: ['a', 'b', 'c-locked'],
    undecided: [],
    isAsPacked: true,
  });
});

test('F30 a file that differed only while it was packed is packed again, and omitted if that repeats', async () => {
  const { folder, steps } = inventedFolder(['a', 'b']);
  const decided = await prepareFolders(['invented'], steps, progress);
  const archives = packed(['a', 'b'], { b: 'clear text' });
  for (let packings = 1; packings < maxPackings; packings++) {
    const { prepared, isAsPacked } = await checkPacked(decided, archives, steps, { ...progress, packings });
    assert.deepEqual([pathsOf(prepared[0]?.selection.files), isAsPacked], [['a', 'b'], false]);
  }
  assert.deepEqual(folder.checked, ['a', 'b', 'b', 'b']);
  const { prepared, isAsPacked } = await checkPacked(decided, archives, steps, {
    ...progress,
    packings: maxPackings,
  });
  assert.equal(isAsPacked, false);
  const [last] = prepared;
  assert.deepEqual(pathsOf(last?.selection.files), ['a']);
  assert.deepEqual(last?.selection.excluded, [
    { path: 'b', reason: { kind: 'unreadable', code: 'changed' } },
  ]);
  const end = await checkPacked(prepared, packed(['a']), steps, { ...progress, packings: maxPackings + 1 });
  assert.ok(end.isAsPacked);
});

test('F30 the archive is packed again if one file is excluded and another included', async () => {
  const { folder, steps } = inventedFolder(['a', 'b', 'c-secret']);
  const decided = await prepareFolders(['invented'], steps, progress);
  const again = { ...progress, packings: 1 };
  assert.ok((await checkPacked(decided, packed(['a', 'b']), steps, again)).isAsPacked);
  folder.decisions = { c: 'send' };
  const check: typeof steps.check = () => Promise.resolve(new Map([['b', checked('b', 'a secret')]]));
  const archives = packed(['a', 'b'], { b: 'a secret' });
  const { prepared, isAsPacked } = await checkPacked(decided, archives, { ...steps, check }, again);
  assert.deepEqual(pathsOf(prepared[0]?.selection.files), ['a', 'c-secret']);
  assert.ok(!isAsPacked);
});
