import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { select } from '../selecting.ts';
import { plant, plantRepository, testTree } from '../trees.ts';

/** There are sets of every kind. `é` and what follows are several bytes. */
const sets = [
  ...['[ab]', '[!a]', '[^a]', '[a-c]', '[c-a]', '[A-F]', '[!A-F]', '[A]', '[!A]', '[a-Z]', '[Z-a]', '[9-A]', '[!!]', '[^^]', '[!^]'],
  ...['[]]', '[!]]', '[]a]', '[]-a]', '[^]-a]', '[]{}]', '[-a]', '[a-]', '[--0]', '[a-c-e]', '[a--]', '[!-a]', '[,-.]', '[+--]'],
  ...['[\\]]', '[\\\\]', '[\\a]', '[\\A]', '[\\^]', '[\\!]', '[!\\^]', '[\\-z]', '[a\\-z]', '[\\a-\\c]', '[a-\\]]', '[\\]-a]', '[\\[-\\]]'],
  ...['[[:alnum:]]', '[[:alpha:]]', '[[:blank:]]', '[[:cntrl:]]', '[[:digit:]]', '[[:graph:]]', '[[:lower:]]', '[[:print:]]'],
  ...['[[:punct:]]', '[[:space:]]', '[[:upper:]]', '[[:xdigit:]]', '[![:alnum:]]', '[^[:upper:]]', '[[:digit:]a-c]', '[[:digit:]-z]'],
  ...['[a-[:digit:]]', '[[:digit:][:space:]]', '[a[:upper:]b]', '[[.a.]]', '[[=a=]]', '[[a]', '[[]', '[[:]', '[[:a]', '[[:alpha]', '[:alpha:]'],
  ...['[[:ALPHA:]]', '[[:bogus:]]', '[a[:bogus:]]', '[[::]]', '[[:alpha:', '[[:alpha:]', '[', '[!', '[]', '[!]', '[^]', '[a', '[a-', '[a\\', '[\\]'],
  ...['[\x01-\x1f]', '[\x7f]', '[!\x01-~]', '[\t]', '[\n]', '[ ]', '[*]', '[?]', '[!*?]', '[.]', '[#]', '[/]', '[a/]', '[!/]', '[.-0]', '[a/b]'],
  ...['[é]', '[!é]', '[à-ü]', '[a-é]', '[é-a]', '[\u0080-\u00ff]', '[😀]', '[^\u3042]'],
]; // prettier-ignore

/**
 * These bytes are on both sides of each limit of a class or of a range above, with all punctuation.
 */
const bytes = [
  ...[0x01, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x1f, 0x7f, 0x80, 0xa0, 0xa9, 0xbc, 0xbf, 0xc0, 0xc3, 0xe3, 0xf0, 0xff],
  ...Buffer.from(' !"#$%&\'()*+,-.:;<=>?@[\\]^_`{|}~0159AFGZaceflopgz'),
]; // prettier-ignore

test(
  'F166 a set matches the same bytes as in Git',
  { skip: process.platform !== 'linux' && 'elsewhere a name is not any bytes' },
  async (t) => {
    const at = testTree(t);
    const names = bytes.map((byte) => Buffer.of(0x78, byte, 0x79));
    for (const [index, set] of sets.entries()) {
      plant(at.root, { [`${index}/.gitignore`]: `x${set}y\n`, [`${index}/xy`]: '', [`${index}/a/xy`]: '' });
      for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${at.root}/${index}/`), name]), '');
    }
    for (const ignoreCase of [true, false]) {
      plantRepository(at.root, `\tignorecase = ${ignoreCase}\n`);
      const { excluded } = await select(at);
      const ours = excluded.flatMap(({ path, reason }) => (reason.kind === 'ignored' ? [path] : []));
      const { stdout } = spawnSync('git', ['ls-files', '-z', '--others', '--ignored', '--exclude-standard'], {
        cwd: at.root,
        env: { PATH: process.env['PATH'], HOME: at.home, GIT_CONFIG_NOSYSTEM: '1' },
      });
      const gits = stdout.toString('latin1').split('\0').map(asShown);
      for (const [index, set] of sets.entries()) {
        const [found, expected] = [ours, gits].map((paths) =>
          paths.filter((path) => path.startsWith(`${index}/`)).sort(),
        );
        assert.deepEqual(found, expected, `${JSON.stringify(set)}, ignorecase = ${ignoreCase}`);
      }
    }
  },
);

/** A selection lists bytes of a path that are not UTF-8 as `\xNN`. */
function asShown(path: string): string {
  return path.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}
