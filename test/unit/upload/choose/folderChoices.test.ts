import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  choicesBelow,
  type FolderChoices,
  leavingOut,
  noChoices,
  replaceBelow,
  withChosen,
  withExcluded,
  withoutExcluded,
  withRestored,
} from '../../../../src/core/upload/choose/choices.ts';

const leaving = { isSent: false, isIgnored: false };

/** Which of these paths a person left out. */
function leftOut(choices: FolderChoices, ...paths: string[]): string[] {
  return paths.filter(leavingOut(choices));
}

test('to restore one file below a folder that was left out brings back that file alone; what is made there later stays out', () => {
  const left = withChosen(noChoices, 'src/', leaving);
  const restored = withRestored(left, 'src/deep/c');
  assert.deepEqual(leftOut(restored, 'src/deep/c', 'src/b', 'src/deep/new', 'a'), ['src/b', 'src/deep/new']);
  const all = ['src/b', 'src/deep/d'].reduce((choices, path) => withRestored(choices, path), restored);
  assert.deepEqual(leftOut(all, 'src/b', 'src/deep/d', 'src/new'), ['src/new']);
});

test('a restored file goes with the folder that is left out after it, and alone when it is left out by itself', () => {
  const restored = withRestored(withChosen(noChoices, 'src/', leaving), 'src/deep/c');
  for (const path of ['src/deep/c', 'src/deep/', 'src/'])
    assert.deepEqual(leftOut(withChosen(restored, path, leaving), 'src/deep/c'), ['src/deep/c'], path);
  const other = withChosen(restored, 'src/other/', leaving);
  assert.deepEqual(leftOut(other, 'src/deep/c', 'src/other/f'), ['src/other/f']);
});

test('to restore a file that was left out by itself leaves no trace', () => {
  assert.deepEqual(withRestored(withChosen(noChoices, 'a', leaving), 'a'), noChoices);
});

test('what is excluded goes whatever was chosen before about it or what lies below, and undoing brings just that back', () => {
  const before: FolderChoices = {
    include: ['dist/', 'dist/a', 'distinct'],
    leaveOut: ['lib/'],
    restored: ['lib/x', 'lib/y'],
  };
  const excluded = withExcluded(before, ['dist/', 'lib/x']);
  assert.deepEqual(excluded, {
    include: ['distinct'],
    leaveOut: ['lib/', 'dist/', 'lib/x'],
    restored: ['lib/y'],
  });
  const undone = withoutExcluded(withChosen(excluded, 'b', leaving), ['dist/', 'lib/x'], before);
  assert.deepEqual(
    { include: undone.include.toSorted(), leaveOut: undone.leaveOut, restored: undone.restored.toSorted() },
    { ...before, leaveOut: ['lib/', 'b'] },
  );
  const known = withChosen(noChoices, 'a', leaving);
  assert.deepEqual(withoutExcluded(withExcluded(known, ['a']), ['a'], known), known);
});

test('what was sent by choice goes back to what ignore files say; what was left out by choice is sent again', () => {
  const sent = withChosen(noChoices, 'build/', { isSent: true, isIgnored: true });
  assert.deepEqual(sent, { ...noChoices, include: ['build/'] });
  assert.deepEqual(withChosen(sent, 'build/', leaving), noChoices);
  assert.deepEqual(
    withChosen(withChosen(noChoices, 'a', leaving), 'a', { isSent: true, isIgnored: false }),
    noChoices,
  );
});

test('choices are remembered for the workspace folder, and hold for each folder in it by paths of its own', () => {
  const whole: FolderChoices = {
    include: ['app/build/'],
    leaveOut: ['app/src/a', 'app/src/', 'b'],
    restored: ['app/src/c'],
  };
  assert.deepEqual(choicesBelow(whole, ''), whole);
  assert.deepEqual(choicesBelow(whole, 'app/'), {
    include: ['build/'],
    leaveOut: ['src/a', 'src/'],
    restored: ['src/c'],
  });
  assert.deepEqual(choicesBelow(whole, 'app/src/'), { ...noChoices, leaveOut: ['a'], restored: ['c'] });
  assert.deepEqual(choicesBelow(whole, 'ap/'), noChoices);
});

test('a choice made in a subfolder leaves those beside and above it as they are', () => {
  const whole: FolderChoices = { ...noChoices, include: ['lib/x'], leaveOut: ['app/', 'app/src/a'] };
  const restored = withRestored(choicesBelow(whole, 'app/src/'), 'a');
  assert.deepEqual(replaceBelow(whole, 'app/src/', restored), {
    ...noChoices,
    include: ['lib/x'],
    leaveOut: ['app/'],
  });
  const left = withChosen(choicesBelow(whole, 'app/src/'), 'b', leaving);
  assert.deepEqual(replaceBelow(whole, 'app/src/', left), {
    ...noChoices,
    include: ['lib/x'],
    leaveOut: ['app/', 'app/src/a', 'app/src/b'],
  });
});
