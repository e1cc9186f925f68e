import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  applyChoices,
  prepareFolders,
  type SecretDecision,
  type SecretRules,
} from '../../../../src/core/upload/choose/prepareUpload.ts';
import { type PathChoices, withChosen } from '../../../../src/core/upload/choose/choices.ts';
import { file, inventedFolder, selection, progress } from '../inventedFolder.ts';

const name = fc.constantFrom('a', 'b');
const path = fc
  .tuple(fc.array(name, { maxLength: 3 }), name, fc.constantFrom('', '', 'secret', 'locked'))
  .map(([above, own, kind]) => [...above.map((each) => `${each}d`), own + kind].join('/'));
const step = fc.record({
  kind: fc.constantFrom('exclude', 'excludeFolder', 'restore', 'decide'),
  at: fc.nat(30),
});

test('after any choices the preview equals a new preparation, without reading the folder again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
      fc.array(step, { maxLength: 8 }),
      fc.constantFrom('block' as const, 'warn' as const),
      async (paths, changes, mode) => {
        const { folder, preview } = inventedFolder(paths, mode);
        await preview.open(['invented']);
        for (const { kind, at } of changes) {
          const [shown] = preview.shown;
          assert.ok(shown);
          const pick = <T>(from: readonly T[]): T | undefined => from[at % Math.max(from.length, 1)];
          const { files, excluded } = shown.selection;
          if (kind === 'exclude' || kind === 'excludeFolder') {
            const chosen = pick(files)?.path;
            const above = chosen?.slice(0, chosen.lastIndexOf('/') + 1);
            const what = kind === 'exclude' ? chosen : above;
            if (what !== undefined && what !== '')
              folder.choices = withChosen(folder.choices, what, { isUploaded: false, isIgnored: false });
          } else if (kind === 'restore') {
            const item = pick(excluded.filter(({ reason }) => reason.kind === 'choice'));
            if (item === undefined) continue;
            const others = excluded.filter(
              ({ reason, path: each }) => reason.kind === 'choice' && each !== item.path,
            );
            folder.choices = withChosen(folder.choices, item.path, { isUploaded: true, isIgnored: false });
            await preview.applyChoices();
            const now = preview.shown[0]?.selection.excluded ?? [];
            assert.deepEqual(
              now.filter(({ reason }) => reason.kind === 'choice'),
              others,
              'all else that was left out stays out',
            );
          } else {
            folder.decisions = {
              ...folder.decisions,
              [at % 2 === 0 ? 'a' : 'b']: at % 3 === 0 ? 'send' : 'exclude',
            };
          }
          await preview.applyChoices();
          const fresh = inventedFolder(paths, mode);
          fresh.folder.choices = folder.choices;
          fresh.folder.decisions = folder.decisions;
          const [full] = await prepareFolders(['invented'], fresh.steps, progress);
          const [now] = preview.shown;
          assert.deepEqual(
            [now?.selection, now?.undecided, now?.unchecked],
            [full?.selection, full?.undecided, []],
          );
        }
        assert.equal(folder.selections, 1);
        assert.equal(new Set(folder.checked).size, folder.checked.length, 'no file is looked through twice');
      },
    ),
    { numRuns: 300 },
  );
});

test("an excluded file is listed as the user's choice and not counted; a folder is no name prefix", () => {
  const all = selection(['a.txt', 'src/b.txt', 'src/deep/c.txt', 'srcs.txt']);
  const choices: PathChoices = { 'src/': 'exclude', 'a.txt': 'exclude' };
  const { selection: left } = applyChoices(
    { folder: 'invented', selected: all, include: [], checks: new Map() },
    choices,
    { mode: 'off', decisionOf: () => undefined },
  );
  assert.deepEqual(left.files, [file('srcs.txt')]);
  assert.equal(left.bytes, 8);
  assert.deepEqual(
    left.excluded.map((each) => [each.path, each.reason.kind]),
    [
      ['a.txt', 'choice'],
      ['src/b.txt', 'choice'],
      ['src/deep/c.txt', 'choice'],
    ],
  );
});

test('the setting decides about suspected secrets; unreadable files are always omitted, unless the check is off', async () => {
  const outcome = async (mode: SecretRules['mode'], decisions: Record<string, SecretDecision> = {}) => {
    const { folder, steps } = inventedFolder(['a', 'a-secret', 'b-secret', 'c-locked'], mode);
    folder.decisions = decisions;
    const [prepared] = await prepareFolders(['invented'], steps, progress);
    return {
      sent: prepared?.selection.files.map((each) => each.path),
      undecided: prepared?.undecided.map((each) => each.path),
    };
  };
  assert.deepEqual(await outcome('block'), { sent: ['a'], undecided: ['a-secret', 'b-secret'] });
  assert.deepEqual(await outcome('warn', { a: 'exclude' }), {
    sent: ['a', 'b-secret'],
    undecided: ['b-secret'],
  });
  assert.deepEqual(await outcome('block', { b: 'send', a: 'exclude' }), {
    sent: ['a', 'b-secret'],
    undecided: [],
  });
  assert.deepEqual((await outcome('off')).sent, ['a', 'a-secret', 'b-secret', 'c-locked']);
});

test('a file excluded before the preview was opened is checked once it is included', async () => {
  const { folder, preview } = inventedFolder(['a', 'src/b', 'src/secret']);
  folder.choices = withChosen({}, 'src/', { isUploaded: false, isIgnored: false });
  await preview.open(['invented']);
  assert.deepEqual(folder.checked, ['a']);
  folder.choices = withChosen(folder.choices, 'src/secret', { isUploaded: true, isIgnored: false });
  await preview.applyChoices();
  assert.deepEqual(folder.checked, ['a', 'src/secret']);
  assert.deepEqual(
    preview.shown.flatMap(({ selection: { excluded } }) =>
      excluded.map((each) => [each.path, each.reason.kind]),
    ),
    [
      ['src/b', 'choice'],
      ['src/secret', 'secret'],
    ],
  );
});

test('the folder is selected again if the user includes ignored files', async () => {
  const { folder, preview } = inventedFolder(['a']);
  await preview.open(['invented']);
  folder.choices = withChosen({}, 'build/', { isUploaded: true, isIgnored: true });
  await preview.applyChoices();
  assert.equal(folder.selections, 2);
  await preview.applyChoices();
  assert.equal(folder.selections, 2);
});
