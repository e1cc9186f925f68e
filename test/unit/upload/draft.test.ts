import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  countDifferences,
  decide,
  newDraft,
  type SecretDecision,
  type SecretRules,
} from '../../../src/core/upload/draft.ts';
import { noChoices, withChosen, withRestored } from '../../../src/core/upload/folderChoices.ts';
import {
  checkPacked,
  packings,
  prepareFolders,
  type PreparationSteps,
} from '../../../src/core/upload/preparing.ts';
import { Previewing } from '../../../src/core/upload/previewing.ts';
import type { Suspicion } from '../../../src/core/upload/secretScan.ts';
import type { SelectedFile, Selection } from '../../../src/core/upload/selection.ts';

const waiting = { signal: new AbortController().signal, onStep: () => undefined };

function file(path: string): SelectedFile {
  return { path, bytes: path.length, mode: 0o644 };
}

function selection(paths: readonly string[]): Selection {
  const files = paths.toSorted().map(file);
  return { root: '/invented', files, leftOut: [], bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Of an invented content: by the file's name it holds a secret, cannot be read, or is clean. */
function suspicionsIn(path: string): Suspicion[] {
  if (!path.endsWith('secret')) return [];
  return [{ path, kind: 'content', rule: 'invented', line: 1, masked: '…', sha256: path.slice(0, 1) }];
}

/** An invented folder: its choices and decisions can be changed, and every look at the disk is counted. */
function inventedFolder(paths: readonly string[], mode: SecretRules['mode'] = 'block') {
  const folder = {
    choices: noChoices,
    decisions: {} as Record<string, SecretDecision>,
    selections: 0,
    checked: [] as string[],
  };
  const steps: PreparationSteps<string> = {
    choicesOf: () => folder.choices,
    rules: () => ({ mode, decisionOf: (sha256) => folder.decisions[sha256] }),
    select: () => {
      folder.selections++;
      return Promise.resolve(selection(paths));
    },
    check: (_root, files) => {
      folder.checked.push(...files.map(({ path }) => path));
      return Promise.resolve({
        suspicions: files.flatMap(({ path }) => suspicionsIn(path)),
        unchecked: files.flatMap(({ path }) =>
          path.endsWith('locked') ? [{ path, reason: 'unreadable' as const, code: 'EACCES' }] : [],
        ),
        hashes: new Map(files.map(({ path }) => [path, path])),
      });
    },
  };
  const previewing = new Previewing<string>({
    steps,
    show: () => undefined,
    inProgress: (work) => work(waiting),
  });
  return { folder, steps, previewing };
}

const name = fc.constantFrom('a', 'b');
const path = fc
  .tuple(fc.array(name, { maxLength: 3 }), name, fc.constantFrom('', '', 'secret', 'locked'))
  .map(([above, own, kind]) => [...above.map((each) => `${each}d`), own + kind].join('/'));
const step = fc.record({
  kind: fc.constantFrom('leaveOut', 'leaveOutFolder', 'restore', 'decide'),
  at: fc.nat(30),
});

test('after any choices the preview shows what a preparation from the start would send, without another look at the folder', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
      fc.array(step, { maxLength: 8 }),
      fc.constantFrom('block' as const, 'warn' as const),
      async (paths, changes, mode) => {
        const { folder, previewing } = inventedFolder(paths, mode);
        await previewing.open(['invented']);
        for (const { kind, at } of changes) {
          const [shown] = previewing.shown;
          assert.ok(shown);
          const pick = <T>(from: readonly T[]): T | undefined => from[at % Math.max(from.length, 1)];
          const { files, leftOut } = shown.selection;
          if (kind === 'leaveOut' || kind === 'leaveOutFolder') {
            const chosen = pick(files)?.path;
            const above = chosen?.slice(0, chosen.lastIndexOf('/') + 1);
            const what = kind === 'leaveOut' ? chosen : above;
            if (what !== undefined && what !== '')
              folder.choices = withChosen(folder.choices, what, { isSent: false, isIgnored: false });
          } else if (kind === 'restore') {
            const item = pick(leftOut.filter(({ reason }) => reason.kind === 'choice'));
            if (item === undefined) continue;
            const others = leftOut.filter(
              ({ reason, path: each }) => reason.kind === 'choice' && each !== item.path,
            );
            folder.choices = withRestored(folder.choices, item.path);
            await previewing.applyChoices();
            const now = previewing.shown[0]?.selection.leftOut ?? [];
            assert.deepEqual(
              now.filter(({ reason }) => reason.kind === 'choice'),
              others,
              'all else that was left out stays out',
            );
          } else {
            folder.decisions = {
              ...folder.decisions,
              [at % 2 === 0 ? 'a' : 'b']: at % 3 === 0 ? 'send' : 'leaveOut',
            };
          }
          await previewing.applyChoices();
          const fresh = inventedFolder(paths, mode);
          fresh.folder.choices = folder.choices;
          fresh.folder.decisions = folder.decisions;
          const [full] = await prepareFolders(['invented'], fresh.steps, waiting);
          const [now] = previewing.shown;
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

test('what a person leaves out is listed as their choice, and no longer counted; a folder is not the beginning of a name', () => {
  const all = selection(['a.txt', 'src/b.txt', 'src/deep/c.txt', 'srcs.txt']);
  const choices = { ...noChoices, leaveOut: ['src/', 'a.txt'] };
  const { selection: left } = decide(newDraft(all, []), choices, {
    mode: 'off',
    decisionOf: () => undefined,
  });
  assert.deepEqual(left.files, [file('srcs.txt')]);
  assert.equal(left.bytes, 8);
  assert.deepEqual(
    left.leftOut.map((each) => [each.path, each.reason.kind]),
    [
      ['a.txt', 'choice'],
      ['src/b.txt', 'choice'],
      ['src/deep/c.txt', 'choice'],
    ],
  );
});

test('what looks like a secret goes when the setting blocks it, what nobody could look into always, and neither with the check off', async () => {
  const outcome = async (mode: SecretRules['mode'], decisions: Record<string, SecretDecision> = {}) => {
    const { folder, steps } = inventedFolder(['a', 'a-secret', 'b-secret', 'c-locked'], mode);
    folder.decisions = decisions;
    const [prepared] = await prepareFolders(['invented'], steps, waiting);
    return {
      sent: prepared?.selection.files.map((each) => each.path),
      undecided: prepared?.undecided.map((each) => each.path),
    };
  };
  assert.deepEqual(await outcome('block'), { sent: ['a'], undecided: ['a-secret', 'b-secret'] });
  assert.deepEqual(await outcome('warn', { a: 'leaveOut' }), {
    sent: ['a', 'b-secret'],
    undecided: ['b-secret'],
  });
  assert.deepEqual(await outcome('block', { b: 'send', a: 'leaveOut' }), {
    sent: ['a', 'b-secret'],
    undecided: [],
  });
  assert.deepEqual((await outcome('off')).sent, ['a', 'a-secret', 'b-secret', 'c-locked']);
});

test('a file that was left out before the preview was opened is looked through once it is restored', async () => {
  const { folder, previewing } = inventedFolder(['a', 'src/b', 'src/secret']);
  folder.choices = withChosen(noChoices, 'src/', { isSent: false, isIgnored: false });
  await previewing.open(['invented']);
  assert.deepEqual(folder.checked, ['a']);
  folder.choices = withRestored(folder.choices, 'src/secret');
  await previewing.applyChoices();
  assert.deepEqual(folder.checked, ['a', 'src/secret']);
  assert.deepEqual(
    previewing.shown.flatMap(({ selection: { leftOut } }) =>
      leftOut.map((each) => [each.path, each.reason.kind]),
    ),
    [
      ['src/b', 'choice'],
      ['src/secret', 'secret'],
    ],
  );
});

test('what a person sends in spite of ignore files is looked for in the folder', async () => {
  const { folder, previewing } = inventedFolder(['a']);
  await previewing.open(['invented']);
  folder.choices = withChosen(noChoices, 'build/', { isSent: true, isIgnored: true });
  await previewing.applyChoices();
  assert.equal(folder.selections, 2);
  await previewing.applyChoices();
  assert.equal(folder.selections, 2);
});

test('files in one selection only, and those of another size, count as differences', () => {
  const before = selection(['a', 'b', 'c']);
  const now = { ...before, files: [file('a'), { ...file('b'), bytes: 99 }, file('d'), file('e')] };
  assert.equal(countDifferences(before, before), 0);
  assert.equal(countDifferences(before, now), 4, 'b, c, d, e');
  assert.equal(countDifferences(now, before), 4);
});

/** What packing these files came to; each holds its own name unless said otherwise. */
function packed(paths: readonly string[], contents: Readonly<Record<string, string>> = {}) {
  return [paths.map((each) => ({ path: each, sha256: contents[each] ?? each }))];
}

const pathsOf = (all: readonly { path: string }[] = []): string[] => all.map((each) => each.path);

test('F30 a file that came to hold a secret after it was decided upon is asked about before it leaves', async () => {
  const outcome = async (mode: SecretRules['mode']) => {
    const { steps } = inventedFolder(['a', 'b', 'c-locked'], mode);
    const decided = await prepareFolders(['invented'], steps, waiting);
    const looked: string[] = [];
    const check: typeof steps.check = (_root, files) => {
      looked.push(...pathsOf(files));
      const suspicions = suspicionsIn('b-secret').map((each) => ({ ...each, path: 'b' }));
      return Promise.resolve({ suspicions, unchecked: [], hashes: new Map([['b', 'changed']]) });
    };
    const archives = packed(['a', 'b'], { b: 'changed' });
    const { prepared, isAsPacked } = await checkPacked(
      decided,
      archives,
      { ...steps, check },
      { ...waiting, next: 2 },
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

test('F30 a file that held something else only while it was packed is packed anew, and stays out if it goes on like that', async () => {
  const { folder, steps } = inventedFolder(['a', 'b']);
  const decided = await prepareFolders(['invented'], steps, waiting);
  const archives = packed(['a', 'b'], { b: 'clear text' });
  for (let next = 2; next <= packings; next++) {
    const { prepared, isAsPacked } = await checkPacked(decided, archives, steps, { ...waiting, next });
    assert.deepEqual([pathsOf(prepared[0]?.selection.files), isAsPacked], [['a', 'b'], false]);
  }
  assert.deepEqual(folder.checked, ['a', 'b', 'b', 'b']);
  const { prepared, isAsPacked } = await checkPacked(decided, archives, steps, {
    ...waiting,
    next: packings + 1,
  });
  assert.equal(isAsPacked, false);
  const [last] = prepared;
  assert.deepEqual(pathsOf(last?.selection.files), ['a']);
  assert.deepEqual(last?.selection.leftOut, [{ path: 'b', reason: { kind: 'unreadable', code: 'changed' } }]);
  const end = await checkPacked(prepared, packed(['a']), steps, { ...waiting, next: packings + 2 });
  assert.ok(end.isAsPacked);
});

test('F30 what was packed is packed anew when one file may go no longer and another may instead', async () => {
  const { folder, steps } = inventedFolder(['a', 'b', 'c-secret']);
  const decided = await prepareFolders(['invented'], steps, waiting);
  const again = { ...waiting, next: 2 };
  assert.ok((await checkPacked(decided, packed(['a', 'b']), steps, again)).isAsPacked);
  folder.decisions = { c: 'send' };
  const check: typeof steps.check = () =>
    Promise.resolve({
      suspicions: suspicionsIn('b-secret').map((each) => ({ ...each, path: 'b' })),
      unchecked: [],
      hashes: new Map([['b', 'changed']]),
    });
  const archives = packed(['a', 'b'], { b: 'changed' });
  const { prepared, isAsPacked } = await checkPacked(decided, archives, { ...steps, check }, again);
  assert.deepEqual(pathsOf(prepared[0]?.selection.files), ['a', 'c-secret']);
  assert.ok(!isAsPacked);
});
