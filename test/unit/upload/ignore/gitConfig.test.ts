import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { isTrue, parseGitConfig } from '../../../../src/core/upload/ignore/gitConfig.ts';
import { testTree } from '../trees.ts';
import { propertyRuns } from '../../core/propertyRuns.ts';

test('a configuration file is read as git reads it', (t) => {
  const at = testTree(t);
  const file = join(at.home, 'config');
  const text = [
    '\ufeff; a comment',
    '[core]',
    '\tplain = value ; not this',
    '  spaced =   two  words   # nor this',
    'quoted = "a # b" ; c',
    'mixed = one" two "three',
    'escaped = "a\\tb\\n\\\\ \\" c"',
    'continued = first \\',
    '  second',
    'commented = "first # \\',
    'second" ; third \\',
    'alone',
    'empty =',
    'nothing = ""',
    '[Section "Sub \\"Section\\" ~/x"] Inline = yes',
    '[old.style]',
    'Key-Name = 1',
    '[core] plain = again\r',
    '',
  ].join('\n');
  assert.deepEqual(parseGitConfig(text), readByGit(file, text));
});

test('any values are read as git reads them', (t) => {
  const file = join(testTree(t).home, 'config');
  // Tabs are omitted, because git versions read them differently.
  const part = fc.constantFrom('a', ' ', '=', '"', '#', ';', '\\"', '\\\\', '\\n', '\\\n', '\\\r\n', 'é');
  const values = fc.array(fc.string({ unit: part, maxLength: 12 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(values, (values) => {
      const text = `[core]\n${values.map((value, at) => `k${String(at)} = ${value}\n`).join('')}`;
      const expected = readByGit(file, text);
      fc.pre(expected !== undefined);
      assert.deepEqual(parseGitConfig(text), expected);
    }),
    { numRuns: propertyRuns(20) },
  );
});

/** Returns undefined if git rejects the file. */
function readByGit(file: string, text: string): ReturnType<typeof parseGitConfig> | undefined {
  writeFileSync(file, text);
  const git = spawnSync('git', ['config', '--file', file, '--list', '-z'], { encoding: 'utf8' });
  if (git.status !== 0) return undefined;
  return git.stdout
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end < 0
        ? { name: entry, value: undefined }
        : { name: entry.slice(0, end), value: entry.slice(end + 1) };
    });
}

test('any text is read without an error', () => {
  const line = fc.string({
    unit: fc.constantFrom('[', ']', '"', '\\', '=', ' ', 'a', '#', ';', '.', '\t', '\n', '\r', '\0'),
  });
  fc.assert(
    fc.property(line, (text) => {
      assert.ok(Array.isArray(parseGitConfig(text)));
    }),
    { numRuns: 500 },
  );
});

test('a value is true as for git', (t) => {
  const file = join(testTree(t).home, 'config');
  const values = ['true', 'YES', 'on', '1', '-1', '10', '2k', '0x1', '-0XaM', '010', '+3m', '" 1"', '00x1'];
  values.push('""', 'false', 'no', 'off', '0', '00', '0k', '0x0', '0x00m', '-0', 'maybe', '0x', 'x1', '1x');
  for (const value of values) {
    writeFileSync(file, `[core]\n\tk = ${value}\n`);
    const git = spawnSync('git', ['config', '--file', file, '--type=bool', 'core.k'], { encoding: 'utf8' });
    const [entry] = parseGitConfig(`[core]\n\tk = ${value}\n`);
    assert.equal(isTrue(entry?.value), git.stdout.trim() === 'true', value);
  }
  assert.equal(isTrue(undefined), true);
});
