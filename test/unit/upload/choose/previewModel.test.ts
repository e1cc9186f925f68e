import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FolderChoices, noChoices } from '../../../../src/core/upload/choose/choices.ts';
import type { Suspicion } from '../../../../src/core/upload/secrets/scanFile.ts';
import { PreviewModel } from '../../../../src/core/upload/choose/previewModel.ts';
import type { SecretCheck } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import type { SelectedFile, Selection } from '../../../../src/core/upload/select/selection.ts';

/** A preview of invented folders whose selections and checks end when the test says so. */
function stage() {
  const selecting = new Map<string, PromiseWithResolvers<Selection>>();
  const checks: (PromiseWithResolvers<SecretCheck> & { files: readonly SelectedFile[] })[] = [];
  const choices: Record<string, FolderChoices> = {};
  const shown: string[] = [];
  let person = new AbortController();
  const previewing = new PreviewModel<string>({
    steps: {
      choicesOf: (folder) => choices[folder] ?? noChoices,
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
    },
    show: (prepared) => {
      const text = prepared.map(
        ({ folder, selection, unchecked }) =>
          `${folder}: ${selection.files.map(({ path }) => path).join(' ')}${unchecked.length > 0 ? ' (unchecked)' : ''}`,
      );
      shown.push(text.join('; '));
    },
    inProgress: (work) => {
      person = new AbortController();
      return work({ signal: person.signal, onStep: () => undefined });
    },
  });
  const selected = async (folder: string, paths: readonly string[]): Promise<void> => {
    const files = paths.map((path): SelectedFile => ({ path, bytes: 1, mode: 0o644 }));
    selecting.get(folder)?.resolve({ root: folder, files, leftOut: [], bytes: files.length, widened: [] });
    await settled();
  };
  const checkEnds = async (...found: readonly Suspicion[]): Promise<void> => {
    const last = checks.at(-1);
    const results = last?.files.map(({ path }) => {
      const suspicions = found.filter((each) => each.path === path);
      return [path, { suspicions, sha256: path }] as const;
    });
    last?.resolve(new Map(results));
    await settled();
  };
  return { previewing, choices, checks, shown, selected, checkEnds, cancel: () => person.abort() };
}

/** Resolves when all that promises made ready has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const leavingOut = (...leaveOut: string[]): FolderChoices => ({ ...noChoices, leaveOut });
const token = { path: 'b', kind: 'content', rule: 'invented', line: 1, masked: '…', sha256: '0' } as const;

test('files are shown before they are looked through, and what looks like a secret goes once that is known', async () => {
  const { previewing, shown, selected, checkEnds } = stage();
  const opening = previewing.open(['one']);
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
  test(`of two previews that overlap the later counts, when selecting ends in the order ${order.join(', ')}`, async () => {
    const { previewing, shown, selected, checkEnds } = stage();
    const first = assert.rejects(previewing.open(['one']), { name: 'AbortError' });
    const second = previewing.open(['two']);
    for (const folder of order) await selected(folder, ['a']);
    await checkEnds();
    await Promise.all([first, second]);
    assert.equal(shown.at(-1), 'two: a');
    assert.ok(shown.every((text) => !text.startsWith('one')));
  });
}

test('a preview that is closed while it is prepared stays closed', async () => {
  const { previewing, shown, selected } = stage();
  const opening = assert.rejects(previewing.open(['one']), { name: 'AbortError' });
  previewing.close();
  await selected('one', ['a']);
  await opening;
  assert.equal(shown.at(-1), '');
  assert.deepEqual(previewing.shown, []);
});

test('a folder that is gone is shown no more, not even while it is still being looked through', async () => {
  const { previewing, shown, selected, checkEnds } = stage();
  const opening = assert.rejects(previewing.open(['one', 'two']), { name: 'AbortError' });
  await selected('one', ['a']);
  await selected('two', ['b']);
  const keeping = previewing.keepOnly((folder) => folder === 'two');
  await opening;
  assert.equal(shown.at(-1), 'two: b (unchecked)');
  await selected('two', ['b', 'c']);
  await checkEnds();
  await keeping;
  assert.equal(shown.at(-1), 'two: b c');
  const times = shown.length;
  await previewing.keepOnly(() => true);
  assert.equal(shown.length, times);
  await previewing.keepOnly(() => false);
  assert.equal(shown.at(-1), '');
});

test('a file left out while the others are looked through is gone at once, and stays gone', async () => {
  const { previewing, choices, checks, shown, selected, checkEnds } = stage();
  const opening = previewing.open(['one']);
  await selected('one', ['a', 'b', 'c']);
  choices['one'] = leavingOut('c');
  await previewing.applyChoices();
  assert.equal(shown.at(-1), 'one: a b (unchecked)');
  await checkEnds(token);
  await opening;
  assert.equal(shown.at(-1), 'one: a');
  assert.equal(checks.length, 1);
});

test('a file restored while the others are looked through is looked through after them', async () => {
  const { previewing, choices, checks, shown, selected, checkEnds } = stage();
  choices['one'] = leavingOut('b');
  const opening = previewing.open(['one']);
  await selected('one', ['a', 'b']);
  choices['one'] = leavingOut();
  await previewing.applyChoices();
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

test('a check that a person stops leaves the files marked as unchecked, and goes on with the next choice', async () => {
  const { previewing, choices, shown, selected, checkEnds, cancel } = stage();
  const opening = assert.rejects(previewing.open(['one']), { name: 'AbortError' });
  await selected('one', ['a', 'b', 'c']);
  cancel();
  await opening;
  assert.equal(shown.at(-1), 'one: a b c (unchecked)');
  choices['one'] = leavingOut('c');
  const applying = previewing.applyChoices();
  await checkEnds(token);
  await applying;
  assert.equal(shown.at(-1), 'one: a');
});

test('what was prepared for a start replaces a preview that is still being prepared', async () => {
  const one = stage();
  const opening = one.previewing.open(['one']);
  await one.selected('one', ['a']);
  await one.checkEnds();
  await opening;
  const { previewing, shown, selected } = stage();
  const other = assert.rejects(previewing.open(['two']), { name: 'AbortError' });
  previewing.adopt(one.previewing.shown);
  await selected('two', ['b']);
  await other;
  assert.equal(shown.at(-1), 'one: a');
});
