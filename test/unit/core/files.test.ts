import assert from 'node:assert/strict';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createExclusive,
  makePrivateFolder,
  fileStampOf,
  moveFile,
  quarantine,
  readIfThere,
  replaceFile,
  sweepTemporary,
  writeFileAtomic,
  writeProblem,
} from '../../../src/core/files.ts';
import { systemCode } from '../../../src/core/errors.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { withLinks, withRights } from './systemSkips.ts';

describe('files', () => {
  test('a move to another device copies, and a failed one leaves the target unchanged', async (t) => {
    const folder = await tempFolder(t);
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const elsewhere = {
      rename: () => Promise.reject(Object.assign(new Error(), { code: 'EXDEV' })),
      platform: process.platform,
    };
    await writeFile(from, 'new');
    await writeFile(to, 'old');
    await moveFile(from, to, elsewhere);
    assert.deepEqual(await readdir(folder), ['to']);
    assert.equal(await readFile(to, 'utf8'), 'new');
    await assert.rejects(moveFile(from, to, elsewhere), { code: 'ENOENT' });
    assert.deepEqual(await readdir(folder), ['to']);
    await writeFile(from, 'newer');
    await moveFile(from, to);
    assert.deepEqual(await readdir(folder), ['to']);
    assert.equal(await readFile(to, 'utf8'), 'newer');
  });

  test('an atomic write replaces the whole content and leaves no temporary file', async (t) => {
    const folder = await tempFolder(t);
    const path = join(folder, 'a.json');
    await writeFileAtomic(path, 'a long first content');
    await writeFileAtomic(path, new Uint8Array([0x6b, 0x6f]));
    assert.equal(await readFile(path, 'utf8'), 'ko');
    assert.deepEqual(await readdir(folder), ['a.json']);
  });

  test(
    'F116 a temporary file renamed during a sweep does not stop the sweep of others',
    withLinks,
    async (t) => {
      const folder = await tempFolder(t);
      // These are listed, but gone afterwards.
      for (const name of ['a.tmp', 'c.part']) await symlink('gone', join(folder, name));
      await writeFile(join(folder, 'b.tmp'), '');
      await utimes(join(folder, 'b.tmp'), 0, 0);
      await sweepTemporary(folder, Date.now());
      assert.deepEqual((await readdir(folder)).sort(), ['a.tmp', 'c.part']);
    },
  );

  test('a reader sees either the old or the new content during a replacement', async (t) => {
    const path = join(await tempFolder(t), 'a.json');
    const contents = ['x'.repeat(100_000), 'y'.repeat(100_000)];
    await writeFileAtomic(path, contents[0]!);
    let isDone = false;
    const writing = (async () => {
      for (let turn = 0; turn < 20; turn += 1) await writeFileAtomic(path, contents[turn % 2]!);
      isDone = true;
    })();
    const isOver = (): boolean => isDone;
    while (!isOver()) {
      const began = performance.now();
      assert.ok(contents.includes(await readFile(path, 'utf8')));
      // A file that is open most of the time is never replaced there.
      if (process.platform === 'win32') await sleep(Math.max(20, 5 * (performance.now() - began)));
    }
    await writing;
  });

  test('a failed atomic write keeps the old content and leaves no temporary file', async (t) => {
    const folder = await tempFolder(t);
    await mkdir(join(folder, 'taken'));
    await assert.rejects(writeFileAtomic(join(folder, 'taken'), 'text'));
    assert.deepEqual(await readdir(folder), ['taken']);
    await assert.rejects(writeFileAtomic(join(folder, 'missing', 'a.json'), 'text'), { code: 'ENOENT' });
  });

  test('written files are readable by their owner only', withRights, async (t) => {
    const folder = join(await tempFolder(t), 'one', 'two');
    await makePrivateFolder(folder);
    await makePrivateFolder(folder);
    await writeFileAtomic(join(folder, 'a'), '');
    await createExclusive(join(folder, 'b'), '');
    const modes = await Promise.all(
      ['..', '.', 'a', 'b'].map(async (name) => (await stat(join(folder, name))).mode & 0o777),
    );
    assert.deepEqual(modes, [0o700, 0o700, 0o600, 0o600]);
  });

  test('of many exclusive creations one succeeds, and its content is kept', async (t) => {
    const path = join(await tempFolder(t), 'lock');
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => createExclusive(path, String(index))),
    );
    assert.equal(made.filter(Boolean).length, 1);
    assert.equal(await readFile(path, 'utf8'), String(made.indexOf(true)));
    await assert.rejects(createExclusive(join(path, 'below a file'), ''), {
      code: process.platform === 'win32' ? 'ENOENT' : 'ENOTDIR',
    });
  });

  test('exclusive creation fails on a full disk and succeeds once there is space', async (t) => {
    const folder = await tempFolder(t);
    const path = join(folder, 'lock');
    const other = await open(join(folder, 'other'), 'w');
    await other.close();
    const full = t.mock.method(Object.getPrototypeOf(other) as FileHandle, 'writeFile', () =>
      Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
    );
    await assert.rejects(createExclusive(path, 'me'), { code: 'ENOSPC' });
    assert.deepEqual(await readdir(folder), ['other']);
    full.mock.restore();
    assert.equal(await createExclusive(path, 'me'), true);
  });

  test('a missing file has no text and no mark; a folder in its place is an error', async (t) => {
    const folder = await tempFolder(t);
    assert.equal(await readIfThere(join(folder, 'none')), undefined);
    assert.equal(await fileStampOf(join(folder, 'none')), undefined);
    await writeFileAtomic(join(folder, 'docs'), 'a file with the name of a folder');
    assert.equal(await fileStampOf(join(folder, 'docs', 'CODEOWNERS')), undefined);
    await assert.rejects(readIfThere(folder), { code: 'EISDIR' });
  });

  test('two versions of a file have different marks, even with the same length and time', async (t) => {
    const path = join(await tempFolder(t), 'a.json');
    // The texts follow each other: a disk gives the number of a file that is gone to a new one.
    for (const text of ['one', 'two', 'six', 'ten']) {
      const before = await fileStampOf(path);
      const fileStamp = await writeFileAtomic(path, text);
      assert.deepEqual([await fileStampOf(path), fileStamp === before], [fileStamp, false]);
    }
  });

  test('a file set aside keeps its content under a new name beside it', async (t) => {
    const path = join(await tempFolder(t), 'run.json');
    await writeFile(path, 'damaged');
    const aside = await quarantine(path, 1234);
    assert.equal(aside, `${path}.damaged-1234`);
    assert.equal(await readFile(aside, 'utf8'), 'damaged');
    assert.equal(await readIfThere(path), undefined);
  });
});

describe('on Windows', () => {
  const busy = (code: string): Error => Object.assign(new Error('invented'), { code });

  test('a file that is open elsewhere is replaced after retries; other errors and systems fail at once', async () => {
    const calls = async (
      platform: NodeJS.Platform,
      code: string,
      refusals = Infinity,
    ): Promise<unknown[]> => {
      let count = 0;
      const rename = (): Promise<void> =>
        (count += 1) <= refusals ? Promise.reject(busy(code)) : Promise.resolve();
      const failed = await replaceFile('from', 'to', { rename, platform }).catch(systemCode);
      return [count, failed];
    };
    assert.deepEqual(await calls('win32', 'EBUSY', 2), [3, undefined]);
    assert.deepEqual(await calls('win32', 'EPERM'), [7, 'EPERM']);
    assert.deepEqual(await calls('win32', 'ENOSPC'), [1, 'ENOSPC']);
    assert.deepEqual(await calls('linux', 'EPERM'), [1, 'EPERM']);
  });

  test('F176 a file that a program holds open is read as soon as it is free, on Windows', async () => {
    let refusals = 2;
    const held = {
      platform: 'win32' as const,
      read: () => (refusals-- > 0 ? Promise.reject(busy('EBUSY')) : Promise.resolve('read')),
    };
    assert.equal(await readIfThere('file', held), 'read');
    refusals = 1;
    await assert.rejects(readIfThere('file', { ...held, platform: 'linux' }), { code: 'EBUSY' });
  });

  test('F176 whether a folder can be written is tried with a file, on Windows', async (t) => {
    const folder = await tempFolder(t);
    assert.equal(await writeProblem(folder, 'win32'), undefined);
    assert.deepEqual(await readdir(folder), []);
    await writeFile(join(folder, 'file'), '');
    assert.equal(await writeProblem(join(folder, 'file', 'runs')), 'ENOTDIR');
    // Its rights allow more than the system does.
    if (process.platform === 'linux') assert.equal(await writeProblem('/proc/self', 'win32'), 'ENOENT');
  });
});
