import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { paths, sameAsGit, select } from '../selecting.ts';
import { asNobody, options, type TestTree, plant, testRepository } from '../trees.ts';
import { withLinks, withPipes } from '../../core/systemSkips.ts';

/** PowerShell's `>` and `Out-File -Encoding BigEndianUnicode` write text like this. */
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16be = (text: string): Buffer => utf16(text).swap16();

test('F168 a .whiteboxignore in UTF-8 is read, also with a byte order mark', async (t) => {
  const at = testRepository(t, { 'a/secret/x': '', 'a/日本.txt': '', 'a/kept': '', 'a/b.key': '' });
  const text = 'secret/\r\n日本.*\r\n*.key\r\n';
  for (const content of [`\ufeff${text}`, text]) {
    plant(at.root, { '.whiteboxignore': content });
    assert.deepEqual(await paths(at), ['.whiteboxignore', 'a/kept']);
    plant(at.root, { '.whiteboxignore': '', 'a/.whiteboxignore': content });
    assert.deepEqual(await paths(at), ['.whiteboxignore', 'a/.whiteboxignore', 'a/kept']);
    rmSync(join(at.root, 'a/.whiteboxignore'));
  }
});

const unreadable: readonly [what: string, content: string | Uint8Array | { link: string }, code: string][] = [
  ['a link', { link: '../rules' }, 'EFTYPE'],
  ['a link to nothing', { link: 'gone' }, 'EFTYPE'],
  ['too large', 'x\n'.repeat(1 << 20).concat('y'), 'EFBIG'],
  ['too many rules', Array.from({ length: 20_001 }, (_, index) => `n${index}`).join('\n'), 'EFBIG'],
  ['a NUL', 'secret\n\0', 'EILSEQ'],
  ['UTF-16 without a mark', Buffer.from('secret\n', 'utf16le'), 'EILSEQ'],
  ['UTF-16', utf16('秘密'), 'EILSEQ'],
  ['UTF-16 in the other byte order', utf16be('secret\n'), 'EILSEQ'],
  ['Shift JIS', Buffer.from('94e996a72f0a', 'hex'), 'EILSEQ'],
];

for (const [what, content, detail] of unreadable)
  test(
    `F168 a .whiteboxignore that can't be read ends the selection: ${what}`,
    what.startsWith('a link') ? withLinks : {},
    async (t) => {
      const at = testRepository(t, { rules: 'secret\n', 'a/secret': '', 'a/.whiteboxignore': content });
      const expected = {
        kind: 'ignoreFileUnreadable',
        data: { subject: join(at.root, 'a/.whiteboxignore'), detail },
      };
      await assert.rejects(select(at), expected);
      plant(at.root, { 'a/below/x': '' });
      await assert.rejects(selectFiles(join(at.root, 'a/below'), options(at, { within: at.root })), expected);
    },
  );

async function endsSelection(at: TestTree, detail: string): Promise<void> {
  const subject = join(at.root, '.whiteboxignore');
  await assert.rejects(select(at), { kind: 'ignoreFileUnreadable', data: { subject, detail } });
}

test('F168 a .whiteboxignore that is a folder ends the selection', async (t) => {
  await endsSelection(testRepository(t, { secret: '', '.whiteboxignore/rules': 'secret\n' }), 'EFTYPE');
});

test(
  'F168 a .whiteboxignore that is a pipe, or that nobody may read, ends the selection',
  withPipes,
  async (t) => {
    const at = testRepository(t, { secret: '' });
    const file = join(at.root, '.whiteboxignore');
    spawnSync('mkfifo', [file]);
    await endsSelection(at, 'EFTYPE');
    rmSync(file);
    plant(at.root, { '.whiteboxignore': 'secret\n' });
    chmodSync(file, 0);
    await asNobody(at, () => endsSelection(at, 'EACCES'));
  },
);

test('F168 an ignored .whiteboxignore is not read', async (t) => {
  const at = testRepository(t, { '.gitignore': 'out/\n', 'out/.whiteboxignore': '\0', 'a.js': '' });
  assert.deepEqual(await paths(at), ['.gitignore', 'a.js']);
});

test("F168 ignore files of Git that it can't read are named, and mean what they mean to Git", async (t) => {
  const at = testRepository(t, {
    '.gitignore': utf16('secret\r\n*.key\r\n'),
    'a/.gitignore': utf16be('secret\n'),
    'b/.gitignore': 'secret\0x\nb.key\n',
    'c/.gitignore': 'secret\n',
    '.git/info/exclude': 'one\n\0two\n',
    ...Object.fromEntries(['a', 'b', 'c'].flatMap((folder) => [[`${folder}/secret`, ''], [`${folder}/b.key`, '']])),
    one: '',
    two: '',
  }); // prettier-ignore
  plant(at.home, { '.config/git/ignore': utf16('two\n') });
  assert.deepEqual((await select(at)).unreadRules, [
    { file: '.git/info/exclude', problem: 'nul' },
    { file: '.gitignore', problem: 'utf16' },
    { file: join(at.home, '.config/git/ignore'), problem: 'utf16' },
    { file: 'a/.gitignore', problem: 'utf16' },
    { file: 'b/.gitignore', problem: 'nul' },
  ].sort((one, other) => (one.file < other.file ? -1 : 1))); // prettier-ignore
  const sent = ['a/b.key', 'a/secret', 'c/b.key', 'two'];
  assert.deepEqual((await sameAsGit(at)).filter((path) => !path.endsWith('.gitignore')), sent); // prettier-ignore
});
