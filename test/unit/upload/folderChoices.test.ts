import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  choicesBelow,
  type FolderChoices,
  replaceBelow,
  withChosen,
  withRestored,
} from '../../../src/core/upload/folderChoices.ts';

const none: FolderChoices = { include: [], leaveOut: [] };
const leaving = { isSent: false, isIgnored: false };
const files = ['a', 'src/b', 'src/deep/c', 'src/deep/d', 'src/deep/er/e', 'src/other/f', 'src/other/g'].map(
  (path) => ({ path }),
);

test('to restore one file below a folder that was left out leaves out the rest of it: files beside it, and whole folders', () => {
  const left = withChosen(none, 'src/', leaving);
  assert.deepEqual(withRestored(left, 'src/deep/c', files), {
    include: [],
    leaveOut: ['src/b', 'src/deep/d', 'src/deep/er/', 'src/other/'],
  });
});

test('to restore a file takes back every folder above it that was left out, and nothing else', () => {
  const left = ['a', 'src/deep/', 'src/', 'src/deep/c', 'lib/'].reduce(
    (choices, path) => withChosen(choices, path, leaving),
    none,
  );
  assert.deepEqual(withRestored(left, 'src/deep/c', files).leaveOut, [
    'a',
    'lib/',
    'src/b',
    'src/deep/d',
    'src/deep/er/',
    'src/other/',
  ]);
  assert.deepEqual(withRestored(withChosen(none, 'a', leaving), 'a', files), none);
});

test('what was sent by choice goes back to what ignore files say; what was left out by choice is sent again', () => {
  const sent = withChosen(none, 'build/', { isSent: true, isIgnored: true });
  assert.deepEqual(sent, { include: ['build/'], leaveOut: [] });
  assert.deepEqual(withChosen(sent, 'build/', leaving), none);
  assert.deepEqual(withChosen(withChosen(none, 'a', leaving), 'a', { isSent: true, isIgnored: false }), none);
});

test('choices are remembered for the workspace folder, and hold for each folder in it by paths of its own', () => {
  const whole: FolderChoices = { include: ['app/build/'], leaveOut: ['app/src/a', 'app/src/', 'b'] };
  assert.deepEqual(choicesBelow(whole, ''), whole);
  assert.deepEqual(choicesBelow(whole, 'app/'), { include: ['build/'], leaveOut: ['src/a', 'src/'] });
  assert.deepEqual(choicesBelow(whole, 'app/src/'), { include: [], leaveOut: ['a'] });
  assert.deepEqual(choicesBelow(whole, 'ap/'), none);
});

test('a choice made in a subfolder leaves those beside and above it as they are', () => {
  const whole: FolderChoices = { include: ['lib/x'], leaveOut: ['app/', 'app/src/a'] };
  const restored = withRestored(choicesBelow(whole, 'app/src/'), 'a', [{ path: 'a' }, { path: 'b' }]);
  assert.deepEqual(replaceBelow(whole, 'app/src/', restored), { include: ['lib/x'], leaveOut: ['app/'] });
  const left = withChosen(choicesBelow(whole, 'app/src/'), 'b', leaving);
  assert.deepEqual(replaceBelow(whole, 'app/src/', left), {
    include: ['lib/x'],
    leaveOut: ['app/', 'app/src/a', 'app/src/b'],
  });
});
