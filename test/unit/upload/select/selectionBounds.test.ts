import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { paths, select } from '../selecting.ts';
import { options, type TestTree, plant, plantMany, testTree, testRepository } from '../trees.ts';

/** Selects a folder in a child process, which may use ten times `boundMs` of processor time. */
function within(boundMs: number, at: TestTree, more: Parameters<typeof options>[1] = {}): unknown {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'selectingProcess.ts'), at.root, JSON.stringify(options(at, more))],
    { timeout: 100 * boundMs, encoding: 'utf8' },
  );
  assert.equal(status, 0, `took far too long, or failed: ${stderr}`);
  const { usedMs, ...selected } = JSON.parse(stdout) as { usedMs: number };
  assert.ok(usedMs <= 10 * boundMs, `used ${String(usedMs)} ms`);
  return selected;
}

/** The path has this many one-letter folders. */
const deep = (count: number): string => `${'a/'.repeat(count)}x`;

test('F120 rules with globstars take no longer for deeper paths', (t) => {
  const at = testRepository(t, { [deep(800)]: '', [`${'a/'.repeat(120)}q`]: '', 'c/a/d/a/e/pqr': '' });
  plant(at.root, { '.git/info/exclude': '**/a/**/a/**/p*q*r\n' });
  assert.deepEqual(within(2_000, at), { files: [deep(800), `${'a/'.repeat(120)}q`] });
  plant(at.root, { '.git/info/exclude': `${'**/a/'.repeat(100)}q\n**/a/**/*a*/**/b\n` });
  assert.deepEqual(within(2_000, at), { files: [deep(800), 'c/a/d/a/e/pqr'] });
});

test('F120 time is linear in the number of rules and of folders with rules', (t) => {
  const at = testRepository(t, {});
  const folders = Array.from({ length: 30 }, (_, index) => `f${String(index)}`);
  const rules = Array.from({ length: 20_000 }, (_, index) => `name-${String(index)}*x`).join('\n');
  plantMany(at.root, folders.map((folder) => `${folder}/.gitignore`), rules); // prettier-ignore
  plantMany(at.root, folders.flatMap((folder) => [`${folder}/y`, `${folder}/name-7-x`]), ''); // prettier-ignore
  assert.deepEqual(within(4_000, at), {
    files: folders.flatMap((folder) => [`${folder}/.gitignore`, `${folder}/y`]).sort(),
  });
});

test('F120 a file chosen below folders excluded by one of very many rules is selected quickly', (t) => {
  const folders = Array.from({ length: 19_000 }, (_, index) => `n${String(index)}/`);
  const chosen = `${folders.slice(0, 12).join('')}chosen`;
  const at = testRepository(t, { '.gitignore': folders.join('\n'), [chosen]: '' });
  assert.deepEqual(within(1_000, at, { include: [chosen] }), { files: ['.gitignore', chosen] });
});

test('F120 a selection with very many rules can be cancelled between two entries', async (t) => {
  const at = testTree(t);
  plant(at.root, { '.gitignore': Array.from({ length: 15_000 }, (_, index) => `*${'?*'.repeat(9)}${String(index)}q`).join('\n') }); // prettier-ignore
  plantMany(at.root, Array.from({ length: 300 }, (_, index) => `f${String(index)}`), ''); // prettier-ignore
  // The clock advances with each call, so that a time slice ends after a few entries on any
  // machine.
  let now = 0;
  t.mock.method(performance, 'now', () => now++);
  const stop = new AbortController();
  const reason = new Error('enough');
  let found = 0;
  const onProgress = (files: number): void => {
    found = files;
    stop.abort(reason);
  };
  await assert.rejects(select(at, { signal: stop.signal, onProgress }), reason);
  assert.ok(found < 32, `${String(found)} files were found before it could be cancelled`);
});

test('F16 an ignore file with many or hostile rules is evaluated in bounded time', (t) => {
  const many = Array.from({ length: 15_000 }, (_, index) => `name-${String(index)}`).join('\n');
  const hostile = [
    `${'a*'.repeat(40)}b`,
    `${'*a'.repeat(40)}*b*`,
    `${'**/'.repeat(200)}zz`,
    `${'a/**/'.repeat(2)}b/c`,
    `${'?*'.repeat(30)}q`,
    `[${'a-z'.repeat(300)}]q`,
    `${' '.repeat(3000)}x${'\\'.repeat(999)}`,
  ].join('\n');
  const at = testRepository(t, {
    '.gitignore': many,
    'name-7': '',
    'x/.gitignore': hostile,
    [`x/${'a'.repeat(200)}`]: '',
    [`x/${deep(80)}`]: '',
  });
  assert.deepEqual(within(1_000, at), {
    files: ['.gitignore', 'x/.gitignore', `x/${deep(80)}`, `x/${'a'.repeat(200)}`],
  });
});

test('F16 ignore files of nothing but sets, or with one very long rule, are read in bounded time', (t) => {
  const mostBytes = 1_999_000;
  const fill = (part: string, start = ''): string =>
    start + part.repeat((mostBytes - start.length) / part.length);
  const hostile = [
    fill('[[:', 'a'), `${fill('[:a', 'a[')}]`, `${fill('\\x01-~', '*[')}]q`, fill('[!a]'), fill('[!a]/'),
    `${'[!q]'.repeat(25)}b\n`.repeat(3_000), fill('a'), fill('*a', '*'), fill('**/a/'),
  ]; // prettier-ignore
  const at = testRepository(t, {});
  const name = 'a'.repeat(200);
  for (const [index, rules] of hostile.entries()) {
    plant(at.root, {
      [`${index}/.gitignore`]: rules,
      [`${index}/${name}`]: '',
      [`${index}/${deep(20)}`]: '',
    });
  }
  const selected = hostile.flatMap((_, index) =>
    ['.gitignore', deep(20), name].map((path) => `${index}/${path}`),
  );
  assert.deepEqual(within(4_000, at), { files: selected });
});

test('F121 configuration that includes itself twice ends at once', (t) => {
  const at = testRepository(t, { a: '' });
  plant(at.home, { '.gitconfig': '[include]\n\tpath = .gitconfig\n\tpath = .gitconfig\n' });
  const file = join(at.home, '.gitconfig');
  assert.deepEqual(within(1_000, at), { failure: ['sourceUnreadable', file, 'EFBIG'] });
});

test('F121 reading configuration with very many includes can be cancelled', async (t) => {
  const at = testRepository(t, { a: '' });
  plant(at.home, { '.gitconfig': '[include]\n\tpath = .gitconfig\n' });
  const stop = new AbortController();
  const selecting = select(at, { signal: stop.signal });
  setImmediate(() => stop.abort());
  await assert.rejects(selecting, { name: 'AbortError' });
});

const endless = '/proc/self/pagemap';

test(
  'F121 an endless file with size zero is read up to the limit',
  { skip: !existsSync(endless) && 'there is no such file here' },
  (t) => {
    const at = testRepository(t, { a: '' });
    for (const config of ['[include]\n\tpath', '[core]\n\texcludesFile']) {
      plant(at.home, { '.gitconfig': `${config} = ${endless}\n` });
      assert.deepEqual(within(1_000, at), { failure: ['sourceUnreadable', endless, 'EFBIG'] });
    }
  },
);

test('F121 the patterns of the setting count towards the limit of rules', async (t) => {
  const at = testRepository(t, { a: '', b: '' });
  const patterns = Array.from({ length: 20_000 }, (_, index) => `p${String(index)}`);
  assert.deepEqual(await paths(at, { exclude: [[...patterns.slice(1), 'b']] }), ['a']);
  const failure = { kind: 'sourceUnreadable', data: { subject: 'whitebox.archive.exclude', detail: 'EFBIG', limit: 20_000, actual: 20_001 } }; // prettier-ignore
  await assert.rejects(select(at, { exclude: [[...patterns, 'b']] }), failure);
  await assert.rejects(select(at, { exclude: [['b'], [...patterns, 'b']] }), failure);
});
