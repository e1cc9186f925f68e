import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PathChoices } from '../../../../src/core/upload/choose/choices.ts';
import type { Suspicion } from '../../../../src/core/upload/secrets/scanFile.ts';
import { PreviewModel } from '../../../../src/core/upload/choose/previewModel.ts';
import type { SecretCheck } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import type { SelectedFile, Selection } from '../../../../src/core/upload/select/selection.ts';

/** The folders are invented. The test ends selections and checks. */
function stage() {
  const selecting = new Map<string, PromiseWithResolvers<Selection>>();
  const checks: (PromiseWithResolvers<SecretCheck> & { files: readonly SelectedFile[] })[] = [];
  const choices: Record<string, PathChoices> = {};
  const shown: string[] = [];
  const forgotten: number[] = [];
  let cancelling = new AbortController();
  const preview = new PreviewModel<string>({
    steps: {
      choicesOf: (folder) => choices[folder] ?? {},
      rules: () => ({ mode: 'block', decisionOf: () => undefined }),
      select: (folder) => {
        const asked = Promise.withResolvers<Selection>();
        selecting.set(folder, asked);
        return asked.promise;
      },
      check: (_root, files, { signal }) => {
        const asked = { ...Promise.withResolvers<SecretCheck>(), files };
        signal.addEventListener('abort', () => asked.reject(signal.reason));
        checks.push(asked);
        return asked.promise;
      },
      forget: () => forgotten.push(shown.length),
    },
    show: (prepared) => {
      const text = prepared.map(
        ({ folder, selection, unchecked }) =>
          `${folder}: ${selection.files.map(({ path }) => path).join(' ')}${unchecked.length > 0 ? ' (unchecked)' : ''}`,
      );
      shown.push(text.join('; '));
    },
    inProgress: (work) => {
      cancelling = new AbortController();
      return work({ signal: cancelling.signal, onStep: () => undefined });
    },
  });
  const selected = async (folder: string, paths: readonly string[]): Promise<void> => {
    const files = paths.map((path): SelectedFile => ({ path, bytes: 1, mode: 0o644 }));
    selecting.get(folder)?.resolve({
      root: folder,
      files,
      excluded: [],
      bytes: files.length,
      unreadRules: [],
      unreadIndexes: [],
    });
    await closed();
  };
  const checkEnds = async (...found: readonly Suspicion[]): Promise<void> => {
    const last = checks.at(-1);
    const results = last?.files.map(({ path }) => {
      const suspicions = found.filter((each) => each.path === path);
      return [path, { suspicions, sha256: path }] as const;
    });
    last?.resolve(new Map(results));
    await closed();
  };
  return {
    preview,
    choices,
    checks,
    shown,
    forgotten,
    selected,
    checkEnds,
    cancel: () => cancelling.abort(),
  };
}

function closed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const excluding = (...paths: string[]): PathChoices =>
  Object.fromEntries(paths.map((path) => [path, 'exclude']));
const token = { path: 'b', kind: 'content', rule: 'invented', line: 1, masked: '…', sha256: '0' } as const;

test('files are shown before the check, and a suspected secret is excluded once found', async () => {
  const { preview, shown, selected, checkEnds } = stage();
  const opening = preview.open(['one']);
  await selected('one', ['a', 'b']);
  assert.equal(shown.at(-1), 'one: a b (unchecked)');
  await checkEnds(token);
  await opening;
  assert.equal(shown.at(-1), 'one: a');
});

for (const order of [
  ['one', 'two'],
  ['two', 'one'],
]) {
  test(`of two overlapping previews the later is shown if the selections end in the order ${order.join(', ')}`, async () => {
    const { preview, shown, selected, checkEnds } = stage();
    const first = assert.rejects(preview.open(['one']), { name: 'AbortError' });
    const second = preview.open(['two']);
    for (const folder of order) await selected(folder, ['a']);
    await checkEnds();
    await Promise.all([first, second]);
    assert.equal(shown.at(-1), 'two: a');
    assert.ok(shown.every((text) => !text.startsWith('one')));
  });
}

test('a preview closed during its preparation stays closed', async () => {
  const { preview, shown, selected } = stage();
  const opening = assert.rejects(preview.open(['one']), { name: 'AbortError' });
  preview.close();
  await selected('one', ['a']);
  await opening;
  assert.equal(shown.at(-1), '');
  assert.deepEqual(preview.shown, []);
});

test('a folder that has left the workspace is not shown, even during its check', async () => {
  const { preview, shown, selected, checkEnds } = stage();
  const opening = assert.rejects(preview.open(['one', 'two']), { name: 'AbortError' });
  await selected('one', ['a']);
  await selected('two', ['b']);
  const keeping = preview.keepOnly((folder) => folder === 'two');
  await opening;
  assert.equal(shown.at(-1), 'two: b (unchecked)');
  await selected('two', ['b', 'c']);
  await checkEnds();
  await keeping;
  assert.equal(shown.at(-1), 'two: b c');
  const times = shown.length;
  await preview.keepOnly(() => true);
  assert.equal(shown.length, times);
  await preview.keepOnly(() => false);
  assert.equal(shown.at(-1), '');
});

test('a file excluded during the check is excluded at once and stays excluded', async () => {
  const { preview, choices, checks, shown, selected, checkEnds } = stage();
  const opening = preview.open(['one']);
  await selected('one', ['a', 'b', 'c']);
  choices['one'] = excluding('c');
  await preview.applyChoices();
  assert.equal(shown.at(-1), 'one: a b (unchecked)');
  await checkEnds(token);
  await opening;
  assert.equal(shown.at(-1), 'one: a');
  assert.equal(checks.length, 1);
});

test('a file included during the check is checked after the others', async () => {
  const { preview, choices, checks, shown, selected, checkEnds } = stage();
  choices['one'] = excluding('b');
  const opening = preview.open(['one']);
  await selected('one', ['a', 'b']);
  choices['one'] = excluding();
  await preview.applyChoices();
  await checkEnds();
  assert.equal(shown.at(-1), 'one: a b (unchecked)');
  await checkEnds(token);
  await opening;
  assert.equal(shown.at(-1), 'one: a');
  assert.deepEqual(
    checks.map(({ files }) => files.map(({ path }) => path)),
    [['a'], ['b']],
  );
});

test('a cancelled check marks files as unchecked, and continues after the next choice', async () => {
  const { preview, choices, shown, selected, checkEnds, cancel } = stage();
  const opening = assert.rejects(preview.open(['one']), { name: 'AbortError' });
  await selected('one', ['a', 'b', 'c']);
  cancel();
  await opening;
  assert.equal(shown.at(-1), 'one: a b c (unchecked)');
  choices['one'] = excluding('c');
  const applying = preview.applyChoices();
  await checkEnds(token);
  await applying;
  assert.equal(shown.at(-1), 'one: a');
});

test('folders prepared for a start replace a preview in preparation', async () => {
  const one = stage();
  const opening = one.preview.open(['one']);
  await one.selected('one', ['a']);
  await one.checkEnds();
  await opening;
  const { preview, shown, selected } = stage();
  const other = assert.rejects(preview.open(['two']), { name: 'AbortError' });
  preview.adopt(one.preview.shown);
  await selected('two', ['b']);
  await other;
  assert.equal(shown.at(-1), 'one: a');
});

test('what was scanned for secrets is kept while the preview shows files, and let go when it closes', async () => {
  const { preview, forgotten, selected, checkEnds } = stage();
  const opening = preview.open(['one']);
  await selected('one', ['a']);
  await checkEnds();
  await opening;
  preview.adopt(preview.shown);
  assert.deepEqual(forgotten, []);
  preview.close();
  assert.equal(forgotten.length, 1);
});
